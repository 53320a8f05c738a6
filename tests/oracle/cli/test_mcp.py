"""Tools of MCP servers, from the command line: a real server, the real SDK, and the command itself."""

import json
import os
import sys
from pathlib import Path

import pytest

from oracle.llm.scripted import ScriptedCall, ScriptedTurn
from tests.support.provider import StandInProvider

ROOT = str(Path(__file__).parents[3])
SERVER = [sys.executable, "-m", "tests.support.mcp_server"]
DONE = ScriptedTurn(text="There are two: T-1 and T-2.")


@pytest.fixture
def servers(tmp_path, monkeypatch):
    """Write the file of servers, and name it in the settings."""

    def write(text):
        file = tmp_path / "servers.yaml"
        file.write_text(text)
        monkeypatch.setenv("ORACLE_MCP_SERVERS", str(file))
        return file

    return write


def of_tickets(kind="tickets", *, more="", file=""):
    args = json.dumps([*SERVER[1:], kind, *([str(file)] if file else [])])
    return (
        f"servers:\n  tickets:\n    command: {SERVER[0]}\n    args: {args}\n    env: {{PYTHONPATH: {ROOT!r}}}\n"
        f"    query_types: always\n{more}"
    )


@pytest.mark.long("starts a process")
async def test_the_model_calls_a_tool_of_a_server(start, servers, provided):
    servers(of_tickets())
    asked = ScriptedTurn(tool_calls=(ScriptedCall("tickets__search", {"query": "login"}),))
    async with StandInProvider([asked, DONE]) as provider:
        provided(provider)
        process = await start("ask", "Which tickets are about the login?", "--json", env=os.environ)
        out, err = await process.communicate()
    assert process.returncode == 0, err
    chunks = [json.loads(line) for line in out.splitlines()]
    (call,) = [each for each in chunks if each["type"] == "tool_call"]
    (result,) = [each for each in chunks if each["type"] == "tool_result"]
    assert (call["tool_call"]["name"], call["tool_call"]["arguments"]) == ("tickets.search", {"query": "login"})
    assert (result["tool_result"], result["is_error"]) == ("Two tickets about login: T-1, T-2", False)
    first, second = [each.body for each in provider.requests]
    assert "tickets__search" in [each["name"] for each in first["tools"]]
    (sent,) = [each for each in second["messages"][-2]["content"] if each["type"] == "tool_use"]
    assert sent["name"] == "tickets__search"


@pytest.mark.long("starts processes")
def test_what_servers_offer_is_listed_and_what_changed_is_approved(oracle, servers, tmp_path):
    servers(of_tickets("renaming", file=tmp_path / "starts"))
    first = oracle("mcp", "tools")
    assert first.code == 0
    assert "tickets.notes [writes]" in first.out
    second = oracle("mcp", "tools")
    assert second.code == 1
    assert "tickets.notes has changed and is not offered" in second.out
    assert "oracle mcp tools --approve tickets.notes" in second.out
    assert oracle("mcp", "tools", "--approve", "tickets.notes").out == "tickets.notes: approved\n"
    assert oracle("mcp", "tools", "--approve", "tickets.notes").out == "tickets.notes: was already approved\n"
    assert "there is no tool 'tickets.gone'" in oracle("mcp", "tools", "--approve", "tickets.gone").err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("servers: {t: {comand: x}}", "'server' has no setting 'comand'"),
        ("servers: {t: {command: x, url: 'http://a/b'}}", "either a 'command' or a 'url'"),
        ("servers: {t: {url: 'ftp://a/b'}}", "must be like https://example.com/mcp"),
        ("servers: {T: {command: x}}", "cannot name a server"),
        ("servers: {t: {command: x, timeout_s: soon}}", "'timeout_s' must be a number, not 'soon'"),
        ("servers: {t: {command: x, env: {A: '${'}}}", "begins the name of a variable"),
        ("servers: {t: {command: x, group: code}}", "that of built-in tools"),
        ("servers: {t: {command: x, query_types: [nothing]}}", "'query_types"),
        ("servers: [t]", "'servers' must be a mapping"),
        ("servers: 5\nmore: 1", "the file has no field 'more'"),
        ("a: &a [*a]", "contains itself"),
        (
            "a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [" + "*b," * 900 + "]",
            "more than 20,000 values",
        ),
        ("[" * 200, "nested more than 100"),
    ],
)
def test_a_wrong_file_ends_the_start_with_the_places_of_its_mistakes(oracle, servers, text, message):
    servers(text)
    ran = oracle("mcp", "tools")
    assert ran.code == 1
    assert message in ran.err
    assert "servers.yaml:" in ran.err


def test_a_file_that_is_not_there_is_named(oracle, monkeypatch):
    monkeypatch.setenv("ORACLE_MCP_SERVERS", "/nowhere/servers.yaml")
    assert "'/nowhere/servers.yaml' cannot be read: No such file" in oracle("mcp", "tools").err


def test_without_servers_the_command_says_what_to_set(oracle):
    assert "ORACLE_MCP_SERVERS" in oracle("mcp", "tools").err


@pytest.mark.long("starts a process")
def test_trees_may_name_tools_that_were_approved(oracle, servers, tmp_path):
    servers(of_tickets())
    tree = tmp_path / "tickets.yaml"
    tree.write_text("name: tickets\nroot:\n  sequence:\n    - action: {call: tickets.search, with: {query: login}}\n")
    assert "there is no action 'tickets.search'" in oracle("trees", "check", tree).out
    assert oracle("mcp", "tools").code == 0
    assert "there is no action" not in oracle("trees", "check", tree).out


def test_a_settings_file_cannot_name_the_file_of_servers(oracle, tmp_path, monkeypatch):
    monkeypatch.delenv("ORACLE_MCP_SERVERS", raising=False)
    started = tmp_path / "started"
    (tmp_path / "servers.yaml").write_text(f"servers: {{evil: {{command: [touch, '{started}']}}}}\n")
    (tmp_path / ".env").write_text("ORACLE_MCP_SERVERS=servers.yaml\n")
    monkeypatch.chdir(tmp_path)
    ran = oracle("ask", "Where are the tests?")
    assert "ORACLE_MCP_SERVERS decides which code runs, so it has no effect in a settings file" in ran.err
    assert not started.exists()
