"""Servers that are processes, tidy and hostile: each thing that they do costs at most its call."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.oracle.features.mcp_client.conftest import call, program

pytestmark = pytest.mark.long("starts processes")


async def test_tools_are_offered_and_called(joined):
    async with joined(tickets=program("tickets", writes=True, trusts_annotations=True)) as hub:
        tools = {tool.name: tool for tool in hub.tools()}
        assert set(tools) == {"tickets.search", "tickets.close_ticket", "tickets.get_ticket"}
        assert [name for name, tool in tools.items() if not tool.writes] == ["tickets.search"]
        assert tools["tickets.search"].group == "tickets"
        assert tools["tickets.search"].description == "(In the words of the MCP server 'tickets':) Search the tickets."
        assert (await call(hub, "tickets.search", query="login")).text == "Two tickets about login: T-1, T-2"
        assert '"number":7' in (await call(hub, "tickets.get_ticket", number=7)).text.replace(" ", "").replace("\n", "")
        wrong = await call(hub, "tickets.search")
        assert wrong.is_error
        assert "query" in wrong.text
        assert hub.missing() == []


async def test_a_hostile_server_costs_its_calls_alone(joined):
    settings = program("hostile", largest_bytes=200_000, timeout_s=20.0, deny=("never",))
    async with joined({"PATH": os.environ["PATH"], "HOME": "/", "SECRET": "x"}, hostile=settings) as hub:
        (instructs,) = [tool for tool in hub.tools() if tool.name == "hostile.instructs"]
        assert [each for each in ("\x1b", "<signal", "<control_note") if each in instructs.description] == []
        assert "hostile.never" not in {tool.name for tool in hub.tools()}

        huge, fine = await asyncio.gather(call(hub, "hostile.huge", megabytes=100), call(hub, "hostile.instructs"))
        assert (huge.is_error, huge.text) == (
            True,
            "hostile.huge failed: the server has sent more than 200,000 bytes at once",
        )
        assert fine.text == "fine"
        for _ in range(3):
            assert (await call(hub, "hostile.fails")).text == "no such ticket"
            assert (await call(hub, "hostile.fails")).is_error
        silent = await call(hub, "hostile.fails_without_a_word")
        assert (silent.is_error, silent.text) == (True, "The server says that it failed, and not why.")
        assert (await call(hub, "hostile.picture")).text == "[Left out: image/png. Only text can be read here.]"
        assert "SECRET" not in (await call(hub, "hostile.environment")).text
        assert {"PATH", "HOME"} <= set((await call(hub, "hostile.environment")).text.split(","))
        assert (await call(hub, "hostile.prints")).text == "printed"
        assert hub.missing() == []


async def test_a_tool_that_never_answers_ends_with_its_time(joined):
    async with joined(hostile=program("hostile", timeout_s=4.0)) as hub:
        result = await call(hub, "hostile.never")
        assert result.is_error


async def test_a_server_that_dies_in_a_call_is_started_again(joined):
    async with joined(hostile=program("hostile")) as hub:
        (connection,) = hub.connections
        dead = await call(hub, "hostile.dies")
        assert dead.is_error
        assert dead.text.startswith("hostile.dies failed: ")
        async with asyncio.timeout(30):
            while (await call(hub, "hostile.instructs")).is_error:
                connection.settled.clear()  # so that the next call waits for the next attempt
        assert connection.problem == ""


async def test_processes_end_with_the_service(joined):
    async with joined(tickets=program("tickets")) as hub:
        assert hub.missing() == []
        (pid,) = (int(each) for each in _children() if b"tests.support.mcp_server" in _read(each, "cmdline"))
    assert not Path(f"/proc/{pid}").exists()  # noqa: ASYNC240  no disk


def _children():
    own = str(os.getpid()).encode()
    found = [each.name for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [each for each in found if _read(each, "stat").rpartition(b")")[2].split()[1:2] == [own]]


def _read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


async def test_what_cannot_be_started_or_has_no_variable_costs_only_itself(joined):
    async with joined(
        tickets=program("tickets"),
        nothing=program("x", command="/nowhere/server"),
        unset=program("tickets", args=("${NOT_SET}",)),
        echo=program("x", command="cat", args=(), timeout_s=0.5),
        noisy=program("x", command="yes", args=(), timeout_s=0.5),
    ) as hub:
        assert hub.missing() == ["nothing", "unset", "echo", "noisy"]
        problems = {each.name: each.problem for each in hub.connections}
        assert problems["unset"] == "the variable NOT_SET is not set in the environment of this process"
        assert "/nowhere/server" in problems["nothing"]
        assert {tool.name.split(".")[0] for tool in hub.tools()} == {"tickets"}


async def test_a_tool_that_changed_is_taken_out_until_it_is_approved(joined, pins, tmp_path):
    settings = program("renaming", tmp_path / "starts")
    async with joined(renaming=settings) as hub:
        assert {tool.name for tool in hub.tools()} == {"renaming.notes", "renaming.other_0"}
    async with joined(renaming=settings) as hub:
        assert {tool.name for tool in hub.tools()} == {"renaming.other_1"}
        assert {tool.name for tool in hub.known()} == {"renaming.notes", "renaming.other_0", "renaming.other_1"}
        assert hub.missing() == ["renaming.notes"]
        (state,) = hub.states()
        assert (state.is_connected, state.left_out) == (True, {"notes": "it differs from what was approved"})
        assert pins.approve("renaming", "notes")
        (notes,) = [tool for tool in hub.tools() if tool.name == "renaming.notes"]
        assert notes.description.endswith("Reads notes, 1.")
        assert hub.missing() == []
