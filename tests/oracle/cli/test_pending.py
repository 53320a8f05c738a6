"""`oracle pending`, and what a person decides at the terminal."""

import asyncio
import io
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from oracle.cli.people import Prompter, decide
from oracle.core.chunks import ApprovalRequested, Interrupt
from oracle.runs.storage.store import open_store
from tests.oracle.runs.storage.runs_made import begun
from tests.oracle.runs.storage.test_interrupts import asked, question
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.conftest import database_url, start  # noqa: F401  fixtures
from tests.oracle.server.api.test_people import HANGS, asking, interrupt
from tests.support.stores import sqlite_url


def says(*lines: str) -> Callable[[str], str]:
    """A person who writes these lines, and nothing more."""
    left: Iterable[str] = iter(lines)
    return lambda _: next(iter(left), "")


@pytest.mark.parametrize(
    ("interrupt", "lines", "decision"),
    [
        (asked(), ["y"], {"decision": "approve"}),
        (asked(), ["what?", "c"], {"decision": "approve", "for": "conversation"}),
        (asked(), ["n", "Not there."], {"decision": "refuse", "comment": "Not there."}),
        (asked(), ["n"], {"decision": "refuse"}),
        (asked(), ["e", "{", '{"path": 1}', '{"path": "b.md"}'], {"decision": "edit", "arguments": {"path": "b.md"}}),
        (asked(), ["e"], None),
        (asked(), [], None),
        (asked(tool_name=None, may=("approve", "refuse")), ["c", "e", "y"], {"decision": "approve"}),
        (question(), ["x", "7"], {"decision": "answer", "answer": 7}),
        (question(), [], None),
        (question() | {"response_schema": {"type": "string", "enum": ["a", "b"]}}, ["c", "b"], {"answer": "b"}),
    ],
)
def test_what_a_person_decides(interrupt: Any, lines: list[str], decision: dict[str, Any] | None) -> None:
    found = decide(interrupt, says(*lines))
    assert found == (decision and {"decision": "answer"} | decision)


async def test_a_prompter_asks_one_thing_after_the_other_and_takes_no_answer_as_none_in_time() -> None:
    got: list[Any] = []
    done = asyncio.Event()

    def deliver(answers: Any) -> None:
        got.append(answers)
        if len(got) == 2:
            done.set()

    prompter = Prompter(
        deliver, clear=lambda: None, ask=lambda each: {"decision": "approve"} if each["id"] == "a" else None
    )
    for name in ("a", "b"):
        prompter.take(ApprovalRequested(Interrupt(**{**interrupt(name), "may": ("approve",)})))
    await done.wait()
    assert [(name, each["decision"], each["by"]) for answers in got for name, each in answers.items()] == [
        ("a", "approve", "local"),
        ("b", "expire", "local"),
    ]


def test_where_nobody_can_be_asked_the_query_goes_on_by_what_the_tree_says(oracle, tmp_path, monkeypatch):
    write_trees(tmp_path)
    monkeypatch.setenv("ORACLE_TREES_DIR", str(tmp_path))
    ran = oracle("ask", "Which branch?", "--tree", "question", "--json")
    kinds = [json.loads(line) for line in ran.out.splitlines()]
    [answered] = [each for each in kinds if each["type"] == "answered"]
    assert answered["interrupt"]["status"] == "expired"
    assert kinds[-1]["type"] == "done"


async def test_what_waits_is_listed_and_answered_in_the_database(oracle, tmp_path, monkeypatch):
    url = sqlite_url(tmp_path / "oracle.db")
    monkeypatch.setenv("ORACLE_DATABASE_URL", url)
    assert (await asyncio.to_thread(oracle, "pending")).err == "Nothing waits for a person.\n"
    async with open_store(url, worker="w") as store:
        run, log = await begun(store, user_id="local")
        await store.write(store.interrupts.noting(run, asked(message="May\x1b[2J I?")))
        await store.write(store.interrupts.noting(run, asked("i2", answerers="not_asker")))
        await log.leave(is_parked=True, decide=store.interrupts.parking(run.id, delivered=()))
    listed = await asyncio.to_thread(oracle, "pending")
    assert "May\\x1b[2J I?" in listed.out
    assert 'vault_write(path="a \\u0000 ünï.md")' in listed.out
    assert "to be answered by another person (not_asker)" in listed.out
    found = json.loads((await asyncio.to_thread(oracle, "pending", "--json")).out)
    assert [each["may_answer"] for each in found["pending"]] == [True, False]
    refused = await asyncio.to_thread(oracle, "pending", "--answer")
    assert (refused.code, "needs a terminal" in refused.err) == (1, True)
    monkeypatch.setattr("oracle.cli.people.can_decide", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert (await asyncio.to_thread(oracle, "pending", "--answer")).code == 0
    async with open_store(url, worker="w") as store:
        assert (await store.interrupts.of_run(run.id))["i1"].status == "approved"
        assert (await store.runs.find(run.id)).status == "queued"


async def test_what_waits_is_listed_and_answered_over_http(oracle, start, monkeypatch):  # noqa: F811
    service = await start([HANGS])
    url = f"http://127.0.0.1:{service.port}"
    async with asking(service, interrupt()) as run_id:
        monkeypatch.setattr("oracle.cli.people.can_decide", lambda: True)
        monkeypatch.setattr(sys, "stdin", io.StringIO("n\nNo.\n"))
        ran = await asyncio.to_thread(oracle, "pending", "--answer", "--url", url)
        assert (ran.code, run_id in ran.out) == (0, True)
        assert (await service.parts.store.interrupts.of_run(run_id))["i1"].answer["comment"] == "No."
