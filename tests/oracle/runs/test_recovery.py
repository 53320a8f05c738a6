"""Runs of a killed process are ended from their logs by the next one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Connection, delete, select, update
from structlog.testing import capture_logs

from oracle.classify import classify_query
from oracle.runs.options import RunOptions
from oracle.runs.recovery import Recovery
from oracle.runs.storage import schema
from oracle.runs.storage.errors import ConversationBusyError
from oracle.runs.storage.records import NewRun, RunRecord
from oracle.runs.storage.store import Store, open_store
from tests.acceptance.harness import ACTION_QUESTION, CODE_QUESTION, answers, calls, made_tool, says
from tests.oracle.runs.running import Gate, Managed, managed, settle, told
from tests.oracle.runs.test_unwritable import locked

SENTENCE = "Stopped: The service was interrupted before the answer was complete. Please ask again."


def classified(question, encoded, previous):
    return classify_query(question)


async def until_killed(url: str, turns: list[Any], **oracle: Any) -> RunRecord:
    """Begin a query, and leave it as a process that is killed once the text has been written."""
    async with open_store(url, worker="killed") as store, managed(store, turns, goes_on=False, **oracle) as it:
        live = await it.start()
        await it.until_text(live.record, turns[-1].text)
        return live.record


@asynccontextmanager
async def restarted(url: str, turns: list[Any] | None = None) -> AsyncIterator[Managed]:
    async with open_store(url, worker=f"next-{uuid4().hex}") as store, managed(store, turns or []) as it:
        yield it


async def test_an_interrupted_run_is_ended_with_its_content_kept(url: str) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])
    with capture_logs() as logs:
        async with restarted(url) as it:
            ended = await it.told(record)
            await settle()
            figures = it.metrics.exposition().decode()
    assert ended.text == f"Half of the\n\n{SENTENCE}"
    assert ended.types[-4:] == ["error", "content", "content", "done"]
    assert ended.record.termination_reason == "error"
    assert ended.record.error == {
        "error": "The service was interrupted before the answer was complete. Please ask again.",
        "error_type": "interrupted",
    }
    assert (ended.record.tokens_used, ended.record.tokens_estimated, ended.record.turns) == (3, True, 0)
    assert ended.record.model_used == "scripted"
    assert ended.record.worker.startswith("next-")
    (line,) = [each for each in logs if each["event"] == "run.finished"]
    assert (line["reason"], line["tree"], line["recovered"]) == ("error", "oracle", True)
    assert "oracle_runs_recovered_total 1.0" in figures.splitlines()


READS = "Interrupted: the service stopped before this call had ended."
WRITES = f"{READS} It is not known whether it was carried out; check that before it is repeated."


@pytest.mark.parametrize(
    ("writes", "still_exists", "expected"),
    [
        pytest.param(False, True, READS, id="one that reads"),
        pytest.param(True, True, WRITES, id="one that writes"),
        pytest.param(False, False, WRITES, id="one that no longer exists"),
    ],
)
async def test_turns_tokens_and_open_calls_of_an_interrupted_run_are_reported(
    url: str, *, writes: bool, still_exists: bool, expected: str
) -> None:
    gate = Gate()
    probe = replace(made_tool(gate), writes=writes)
    turns = [says("Looking.", calls("probe"), model="model-1")]
    async with open_store(url, worker="killed") as store, managed(store, turns, goes_on=False, tools=[probe]) as it:
        record = (await it.start(ACTION_QUESTION if writes else CODE_QUESTION)).record
        await gate.begun.wait()
    async with open_store(url, worker="next") as store, managed(store, tools=[probe] * still_exists) as it:
        ended = await it.told(record)
    result = next(chunk for chunk in ended.chunks if chunk["type"] == "tool_result")
    assert (result["is_error"], result["tool_result"]) == (True, expected)
    assert (ended.record.turns, ended.record.tokens_used, ended.record.tokens_estimated) == (1, 50, False)
    assert ended.record.model_used == "model-1"


async def test_the_conversation_can_be_continued_after_an_interruption(url: str) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])
    async with restarted(url, [answers("The rest.")]) as it:
        await it.told(record)
        ended = await it.ask("And the rest, in the code?", context_id=record.context_id)
    assert ended.text == "The rest."
    assert ended.conversation is not None
    assert [message.role for message in ended.conversation.messages] == ["user", "assistant"] * 2


async def test_an_interrupted_run_is_running_and_its_conversation_busy_until_recovery(url: str) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])
    nobody_ends = RunOptions(claim_at_once=0)
    async with open_store(url, worker="next") as store, managed(store, options=nobody_ends) as it:
        assert it.manager.recovering == 1
        reading = asyncio.create_task(it.told(record))
        with pytest.raises(ConversationBusyError):
            await it.start("And the rest?", context_id=record.context_id)
        assert (await store.runs.find(record.id)).status == "running"  # type: ignore[union-attr]
        await it.manager.cancel(record)
        assert not reading.done()
        reading.cancel()
    async with restarted(url) as it:
        assert (await it.told(record)).text == f"Half of the\n\n{SENTENCE}"
        async with asyncio.timeout(20):
            while it.manager.recovering:
                await settle()


async def test_a_run_without_any_event_begins_anew(url: str) -> None:
    async with open_store(url, worker="killed") as store:
        record = await begin(store)
    async with restarted(url, [answers("Here.")]) as it:
        ended = await it.told(record)
    assert (ended.text, ended.record.termination_reason, ended.record.attempts) == ("Here.", "completed", 1)


async def test_a_run_without_any_event_whose_tree_is_gone_is_ended(url: str) -> None:
    async with open_store(url, worker="killed") as store:
        record = await begin(store, tree="gone")
    async with restarted(url) as it:
        ended = await it.told(record)
    assert ended.text == SENTENCE
    assert ended.types == ["error", "content", "done"]


async def test_tokens_of_a_turn_that_never_ended_are_estimated(url: str) -> None:
    async with open_store(url, worker="killed") as store:
        record = await begin(store)
        log = store.log.writer(record)
        log.chunk(b'{"type":"content","content":"Half of the"}')
        await log.flush()
    async with restarted(url) as it:
        ended = await it.told(record)
    assert ended.text == f"Half of the\n\n{SENTENCE}"
    assert (ended.record.tokens_used, ended.record.tokens_estimated, ended.record.turns) == (3, True, 0)


async def test_a_run_whose_answer_was_saved_keeps_its_reason(url: str) -> None:
    async with open_store(url, worker="first") as store, managed(store, [answers()], goes_on=False) as it:
        whole = await it.ask()
    await cut(url, whole.record, chunks=1, forgets_answer=False)
    async with restarted(url) as it:
        ended = await it.told(whole.record)
    assert ended.chunks == whole.chunks


async def test_a_limit_that_the_answer_gives_stays_the_reason(url: str) -> None:
    turns = [says("Looking.", calls("probe"))]
    async with (
        open_store(url, worker="first") as store,
        managed(store, turns, goes_on=False, tools=[made_tool(Gate())]) as it,
    ):
        whole = await it.ask(limits={"max_iterations": 1})
    assert whole.record.termination_reason == "max_iterations"
    await cut(url, whole.record, chunks=1, forgets_answer=True)
    async with restarted(url) as it:
        ended = await it.told(whole.record)
    assert ended.chunks == whole.chunks


@pytest.mark.parametrize("forgets_answer", [True, False])
async def test_a_recovery_that_only_lacks_done_is_completed(url: str, *, forgets_answer: bool) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])
    async with restarted(url) as it:
        whole = await it.told(record)
    await cut(url, record, chunks=1, forgets_answer=forgets_answer)
    async with restarted(url) as it:
        assert (await it.told(record)).chunks == whole.chunks


async def test_a_recovery_that_is_interrupted_anywhere_has_the_same_result(url: str) -> None:
    record = await until_killed(url, [says("Half of the", calls("probe"), hang=True)])
    async with restarted(url) as it:
        whole = await it.told(record)
    assert whole.types[-5:] == ["tool_result", "error", "content", "content", "done"]
    for missing in range(2, 6):
        await cut(url, record, chunks=missing, forgets_answer=True)
        async with restarted(url) as it:
            assert (await it.told(record)).chunks == whole.chunks


async def cut(url: str, record: RunRecord, *, chunks: int, forgets_answer: bool) -> None:
    """Remove the last chunks of an ended run from a database, as if its worker had been killed before them."""

    def back(connection: Connection) -> None:
        of_run = (schema.event.c.run_id == record.id) & schema.event.c.chunk_n.is_not(None)
        numbers = select(schema.event.c.seq).where(of_run).order_by(schema.event.c.chunk_n.desc()).limit(chunks)
        first = min(connection.scalars(numbers))
        connection.execute(delete(schema.event).where(schema.event.c.run_id == record.id, schema.event.c.seq >= first))
        ended = dict.fromkeys(["termination_reason", "answer", "error", "finished_at", "turns", "tokens_used"])
        connection.execute(update(schema.run).where(schema.run.c.id == record.id).values(status="running", **ended))
        if forgets_answer:
            connection.execute(delete(schema.message).where(schema.message.c.run_id == record.id))

    async with open_store(url, worker="killed") as store:
        await store.write(back)


async def begin(store: Store, **values: Any) -> RunRecord:
    fields = {"id": "r1", "user_id": "local", "context_id": "c1", "tree": "oracle", "limits": {}, "timeout_s": 120.0}
    new = NewRun(**{**fields, "input": {"question": CODE_QUESTION, "model": None}, **values})
    return await store.runs.begin(new)


async def test_recovery_includes_what_this_process_has_yet_to_write(store: Store, url: str) -> None:
    new = NewRun("run-1", "local", "context-1", "oracle", {"question": CODE_QUESTION}, {}, timeout_s=120.0)
    record = await store.runs.begin(new)
    log = store.log.writer(record)
    recovery = Recovery(
        store,
        default_model="scripted",
        writes=lambda _: False,
        now=lambda: 1.0,
        classified=classified,
    )
    with locked(url):
        log.chunk(b'{"type":"content","content":"Said, and not written yet."}')
        ending = asyncio.create_task(recovery.end(record))
        await asyncio.wait({ending}, timeout=0.5)  # for what it might read before it may
        await settle()
    await ending
    assert (await told(store, record)).text == f"Said, and not written yet.\n\n{SENTENCE}"
