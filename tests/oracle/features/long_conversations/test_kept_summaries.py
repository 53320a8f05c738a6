"""A summary that a store keeps: repeated from the log, the same in another process, and erased with what it tells."""

import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bt_runtime.text import iso
from oracle.agent.conversations.protocol import Exchange
from oracle.agent.nodes import REGISTRY
from oracle.core.features import features
from oracle.features.long_conversations.compacting import Compact
from oracle.replay.histories.reading import read_history
from oracle.replay.recorded import read_run, repeat
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.store import Store, open_store
from tests.acceptance.harness import CODE_QUESTION, answers
from tests.oracle.features.long_conversations.test_compact import LONG, SUMMARY, TREE
from tests.oracle.runs.running import Managed, Told, managed
from tests.oracle.runs.test_every_cut import ends_of

TURNS = (answers(SUMMARY), answers("Red."))
KINDS = REGISTRY.extended([Compact.kind])


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    async with open_store(url, worker="first") as opened:
        yield opened


async def ask(it: Managed, context_id: str | None = None, question: str = CODE_QUESTION) -> Told:
    it.harness.write_tree("sample", TREE)
    return await it.ask(question, tree="sample", context_id=context_id)


async def begun(store: Store) -> str:
    """A conversation that is long enough for a summary."""
    context_id = (await store.conversations.create("local")).context_id
    for number, answer in enumerate(LONG, start=1):
        exchange = Exchange(f"Question {number}?", answer, iso(0), iso(0), "completed", f"earlier-{number}")
        await store.conversations.append("local", context_id, exchange)
    return context_id


def covers(told: Told) -> list[int]:
    """What the summaries cover that were made."""
    return [chunk["metadata"]["covers"] for chunk in told.chunks if chunk.get("system_type") == "summarized"]


async def test_a_replay_without_the_conversation_repeats_each_tick(store: Store, url: str) -> None:
    context_id = await begun(store)
    async with managed(store, TURNS, kinds=[Compact.kind]) as it:
        told = await ask(it, context_id)
    assert covers(told) == [12]
    async with open_archive(url) as archive:
        replayed = repeat(await read_run(archive, told.record), registry=KINDS)
        history = await read_history(archive, told.record, registry=KINDS)
    assert replayed.diverged_at is None
    assert not replayed.missing
    assert not replayed.unanswered
    shown = f"{history.ticks} {history.turns}"
    assert "A summary of the older messages of this conversation" in shown
    assert "A summary stands for the older messages." in shown
    assert "first 0 messages" not in shown


@pytest.mark.long("a store for each place")
async def test_a_run_that_is_cut_anywhere_goes_on_with_the_same_summary(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    async with open_store(f"sqlite:///{whole}", worker="first") as store:
        context_id = await begun(store)
        async with managed(store, TURNS, kinds=[Compact.kind]) as it:
            ends = ends_of(it)
            told = await ask(it, context_id)
            sent = it.harness.scripted.requests[1].messages if it.harness.scripted else ()
    for place in ends[1:]:
        file = tmp_path / f"cut-{place}.db"
        shutil.copy(whole, file)
        turns = cut(file, told.record.id, after=place)
        async with (
            open_store(f"sqlite:///{file}", worker="second") as store,
            managed(store, TURNS[turns:], kinds=[Compact.kind]) as it,
        ):
            again = await it.told(told.record)
            asked = it.harness.scripted.requests if it.harness.scripted else ()
        assert (covers(again), again.record.turns) == ([12], 2), place
        assert again.text.startswith("Red."), place
        assert all(request.messages[: len(sent)] == sent for request in asked[1 - turns : 2 - turns]), place


def cut(file: Path, run_id: str, *, after: int) -> int:
    """Leave the run as a process has that died after this event; returns how many of its turns have ended."""
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM event WHERE seq > ?", (after,))
        connection.execute("DELETE FROM message WHERE run_id = ?", (run_id,))
        connection.execute("UPDATE run SET status = 'running', attempts = 0, finished_at = NULL")
        found = connection.execute("SELECT count(*) FROM event WHERE kind = 'turn_end'").fetchone()
    connection.close()
    return int(found[0])


async def test_who_forgets_a_run_forgets_the_summaries_that_were_made_after_it(store: Store) -> None:
    assert any(feature.name == "long-conversations" for feature in features())
    context_id = await begun(store)
    turns = [answers("Blue."), *TURNS, answers("Still red."), *TURNS]
    async with managed(store, turns, kinds=[Compact.kind]) as it:
        it.harness.write_tree("plain", TREE.replace("- compact: {above: 1000}", "").replace("sample", "plain"))
        plain = await it.ask("Which colour?", tree="plain", context_id=context_id)
        first, second = [await ask(it, context_id) for _ in range(2)]
        assert (covers(first), covers(second)) == ([12], [])
        assert await store.conversations.forget_run("local", plain.record.id)
        found = await store.conversations.load("local", context_id)
        assert found is not None
        assert SUMMARY not in str(found.messages)
        # It is made anew, of what is left.
        assert covers(await ask(it, context_id)) == [12]


@pytest.mark.long("PostgreSQL")
async def test_postgresql_forgets_them_too(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="first") as store:
        await test_who_forgets_a_run_forgets_the_summaries_that_were_made_after_it(store)
