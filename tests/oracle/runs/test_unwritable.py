"""A database that cannot be written for a while: nothing grows, nothing hangs, nothing is lost."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import insert
from structlog.testing import capture_logs

from oracle.llm.protocol import ModelEvent, ModelRequest, TextDelta
from oracle.runs.options import RunOptions
from oracle.runs.storage import schema
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.store import Store, open_store
from oracle.testing import ScriptedCall, ScriptedModel, ScriptedTurn
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.running import PATIENCE_S, Gate, managed, settle
from tests.support.waiting import until

UNWRITABLE = "The answer could not be stored. Please ask again in a moment."
CAUSE = "the answer could not be stored, because the database cannot be written for now"


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Nobody else can write the database."""
    connection = sqlite3.connect(Path(url.removeprefix("sqlite:///")), isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


class Endless(ScriptedModel):
    """A model that says a first word, then, let loose, more and more until its stream is closed."""

    def __init__(self) -> None:
        super().__init__([])
        self.loose = asyncio.Event()
        self.closed = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Speak."""
        self.requests.append(request)
        yield TextDelta("First. ")
        try:
            await self.loose.wait()
            while True:
                yield TextDelta("more " * 10)
                await asyncio.sleep(0)
        finally:
            self.closed.set()


async def test_a_run_of_which_too_much_waits_is_ended_and_saved_when_that_is_possible(store: Store, url: str) -> None:
    model = Endless()
    async with managed(store, model=model, options=RunOptions(most_unsaved_bytes=20_000)) as it:
        live = await it.start(limits={"token_budget": 200_000})
        await it.until_text(live.record, "First.")
        with locked(url):
            model.loose.set()
            async with asyncio.timeout(PATIENCE_S):
                await model.closed.wait()
            assert (await store.runs.find(live.record.id)).status == "running"  # type: ignore[union-attr]
        told = await it.told(live.record)
    assert told.record.termination_reason == "error"
    error = f"{UNWRITABLE} Reference: {live.record.id}."
    assert told.record.error == {"error": error, "error_type": "internal", "cause": CAUSE, "detail": {}}
    assert told.text.endswith(f"\n\nStopped: {error}")
    assert 20_000 < sum(len(chunk["content"]) + 35 for chunk in told.chunks if chunk["type"] == "content") < 60_000


async def test_a_run_waits_as_long_as_nothing_can_be_written_and_goes_on(url: str) -> None:
    gate = Gate("found")
    async with (
        open_store(url, worker="w1", patience_s=0.01) as store,
        managed(store, [says("Looking.", calls("probe")), answers("Done.")], tools=[made_tool(gate)]) as it,
    ):
        live = await it.start()
        await gate.begun.wait()
        with locked(url):
            gate.open.set()
            for _ in range(2):  # the second caller is later than the run, and gives up all the same
                with pytest.raises(StoreUnavailableError):
                    await store.write(lambda _: None)
                await settle()
            assert it.harness.scripted is not None
            assert len(it.harness.scripted.requests) == 1  # nothing is asked that the log does not know
            assert it.manager.active == 1
        told = await it.told(live.record)
    assert (told.text, told.record.termination_reason) == ("Looking.\n\nDone.", "completed")


async def test_a_question_is_refused_soon_where_nothing_can_be_written(
    store: Store, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those who wait for other writes are more patient: half a minute."""
    monkeypatch.setattr("oracle.runs.storage.runs.ASKER_PATIENCE_S", 0.05)
    async with managed(store) as it:
        with locked(url):
            for _ in range(2):
                async with asyncio.timeout(PATIENCE_S):
                    with pytest.raises(StoreUnavailableError):
                        await it.start()
        assert it.manager.active == 0


async def test_a_drain_ends_in_time_though_nothing_can_be_written_and_the_next_start_makes_up_for_it(url: str) -> None:
    async with open_store(url, worker="first") as store, managed(store, [says("Half of the", hang=True)]) as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the")
        with locked(url):
            draining = asyncio.create_task(it.manager.drain())
            for seconds in (10, 2, 2):
                await settle()
                assert not draining.done()
                it.clock.advance(seconds)
            async with asyncio.timeout(PATIENCE_S):
                await draining
            assert it.manager.active == 1
    async with open_store(url, worker="next") as store, managed(store) as it:
        told = await it.told(live.record)
    assert told.text.startswith("Half of the\n\nStopped: ")
    assert told.record.termination_reason == "error"


async def test_a_run_with_an_event_that_can_never_be_written_is_ended_from_its_log(store: Store) -> None:
    async with managed(store, [says("Half of the", hang=True)]) as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the")
        taken = {"run_id": live.record.id, "seq": 1 + len(await store.log.events(live.record.id))}
        row = taken | {"kind": "tick", "data": b"{}", "at": 1.0}
        await store.write(lambda connection: connection.execute(insert(schema.event), row).close())
        with capture_logs() as logs:
            live.cancel()
            told = await it.told(live.record)
    assert (told.text, told.record.termination_reason) == ("Half of the", "user_cancelled")
    problem = (
        f"InternalError: the run {live.record.id!r} has something that cannot be written; it is ended from its log"
    )
    assert [each["problem"] for each in logs if each["event"] == "run.not_ended"] == [problem]


@pytest.mark.long("waits for the store's patience")
async def test_an_answer_that_cannot_be_saved_within_the_patience_is_saved_later(url: str) -> None:
    model = Endless()
    async with open_store(url, worker="w1", patience_s=0.1) as store, managed(store, model=model) as it:
        live = await it.start()
        await it.until_text(live.record, "First.")
        with locked(url):
            live.cancel()
            async with asyncio.timeout(PATIENCE_S):
                await model.closed.wait()
                await until(lambda: store.health.since_s is not None)
                await asyncio.wait({asyncio.create_task(live.wait())}, timeout=2.5)  # more than twice what one waits
        told = await it.told(live.record)  # holds the three texts against each other
    assert told.text == "First. "
    assert told.record.termination_reason == "user_cancelled"


@pytest.mark.parametrize("character", ["x", "\x01", "🌳"], ids=ascii)
@pytest.mark.parametrize("kind", ["text", "thinking"])
async def test_a_piece_that_no_budget_pays_for_ends_as_the_budget_though_all_is_well(
    store: Store, kind: str, character: str
) -> None:
    turn = ScriptedTurn(**{kind: character * 5_000_000})  # type: ignore[arg-type]
    async with managed(store, [turn]) as it:
        told = await it.ask(limits={"token_budget": 200_000})
    assert told.record.termination_reason == "token_budget"
    assert "error" not in told.types
    assert max(len(chunk.get("content", "")) for chunk in told.chunks) <= 16_384


@pytest.mark.long("takes a call of millions of characters")
async def test_a_call_that_no_budget_pays_for_is_dropped_and_ends_as_the_budget(store: Store) -> None:
    turn = ScriptedTurn("I write.", tool_calls=(ScriptedCall("list_files", {"path": "x" * 5_000_000}),))
    async with managed(store, [turn]) as it:
        told = await it.ask()
    assert told.record.termination_reason == "token_budget"
    assert told.text.startswith("I write.\n\nStopped: token budget reached (")
    assert {"tool_call", "error"}.isdisjoint(told.types)
