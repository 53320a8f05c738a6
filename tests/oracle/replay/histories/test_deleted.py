"""Histories of runs whose texts were deleted: figures, times and marks, and a plain sentence about the rest."""

from collections.abc import AsyncIterator

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.llm.protocol import ModelFault
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.diffs import diff_histories
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.model import History
from oracle.replay.histories.reading import read_history
from oracle.replay.recorded import UnreplayableError, read_run
from oracle.runs.record.figures import LogFigures
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store, open_store
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.record.test_figures import Told
from tests.oracle.runs.running import managed

SECRET = "Rumpelstiltskin"
SENTENCE = "its texts were deleted, so it cannot be replayed or explained; results, times and figures are left"
SIGNAL = f'<signal type="stuck"><attempted>["x"]</attempted><blocker>no {SECRET}</blocker></signal>'
SCRIPTS: dict[str, list[ScriptedTurn]] = {
    "tools": [says(f"{SECRET}?", calls("probe", query=SECRET)), answers(f"{SECRET}.")],
    "stuck": [says(f"{SECRET}. {SIGNAL}"), says(f"Still. {SIGNAL}")],
    "a fault": [ScriptedTurn("Half", fault=ModelFault("provider_failed", f"No {SECRET}.", SECRET))],
}


@pytest.fixture(params=["url", "postgresql_url"], ids=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """The address of an empty database of each kind."""
    address: str = request.getfixturevalue(request.param)
    return address


@pytest.fixture
async def store(database: str) -> AsyncIterator[Store]:
    """On each kind of database."""
    async with open_store(database, worker="w1") as opened:
        yield opened


async def asked(store: Store, name: str) -> RunRecord:
    async with managed(store, SCRIPTS[name], tools=[made_tool(Told())]) as it:
        return (await it.ask(f"Who is {SECRET}?")).record


async def read(store: Store, record: RunRecord) -> History:
    archive = Archive(store.database)
    return await read_history(archive, await archive.find(record.id), registry=REGISTRY)


async def left(store: Store, record: RunRecord) -> History:
    await store.retention.drop_texts(older_than_s=-1.0, new_reducer=LogFigures)
    return await read(store, record)


@pytest.mark.parametrize("name", SCRIPTS)
async def test_marks_times_causes_and_figures_are_those_of_the_run(store: Store, name: str) -> None:
    record = await asked(store, name)
    whole = await read(store, record)
    history = await left(store, record)
    assert (history.run.kept, history.problem) == ("figures", SENTENCE)
    assert SECRET not in history_to_json(history).decode()
    assert history_from_json(history_to_json(history)) == history
    assert [(t.tick, t.at_s, t.took_ms, t.turn, t.cause, t.causes, t.visited, t.changes) for t in history.ticks] == [
        (t.tick, t.at_s, t.took_ms, t.turn, t.cause, t.causes, t.visited, t.changes) for t in whole.ticks
    ]
    assert not any(tick.visits or tick.decision or tick.why for tick in history.ticks)
    assert all(tick.headline for tick in history.ticks if tick.cause == "outcome")
    figures = [
        (t.n, t.node, t.began_tick, t.ended_tick, t.began_s, t.ended_s, t.tokens, t.input_tokens, t.output_tokens)
        for t in history.turns
    ]
    assert figures == [
        (t.n, t.node, t.began_tick, t.ended_tick, t.began_s, t.ended_s, t.tokens, t.input_tokens, t.output_tokens)
        for t in whole.turns
    ]
    assert {turn.answer for turn in history.turns} == {None}
    assert [(t.signal.type, t.signal.confidence, t.signal.action) for t in history.turns if t.signal] == [
        (t.signal.type, t.signal.confidence, t.signal.action) for t in whole.turns if t.signal
    ]
    assert [
        (c.name, c.turn, c.node, c.began_tick, c.ended_tick, c.began_s, c.ended_s, c.ran) for c in history.calls
    ] == [(c.name, c.turn, c.node, c.began_tick, c.ended_tick, c.began_s, c.ended_s, c.ran) for c in whole.calls]
    assert {(call.arguments, call.result) for call in history.calls} <= {(None, None)}
    assert history.end is not None
    assert whole.end is not None
    assert (history.end.reason, history.end.tick) == (whole.end.reason, whole.end.tick)


async def test_a_failed_turn_is_the_kind_of_its_failure(store: Store) -> None:
    history = await left(store, await asked(store, "a fault"))
    assert history.turns[0].error == "provider_failed"
    assert history.end is not None
    assert history.end.sentence == "The model's provider failed in turn 1: provider_failed."


async def test_a_run_whose_log_still_has_texts_is_gone_until_they_are_deleted(store: Store) -> None:
    record = await asked(store, "tools")

    def broken() -> LogFigures:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await store.retention.drop_texts(older_than_s=-1.0, new_reducer=broken)
    events = await store.log.events(record.id)
    assert SECRET in str([event.data for event in events])
    marked = await read(store, record)
    assert (marked.run.kept, marked.ticks, marked.texts) == ("gone", [], [])
    assert SECRET not in history_to_json(marked).decode()


async def test_a_run_that_is_gone_has_its_row_and_the_sentence(store: Store) -> None:
    record = await asked(store, "tools")
    await store.conversations.forget(record.user_id, record.context_id)
    history = await read(store, record)
    assert (history.run.kept, history.ticks, history.turns) == ("gone", [], [])
    assert history.problem == "its texts and ticks were deleted; only its summary is left"


@pytest.mark.parametrize("kept", ["figures", "gone"])
async def test_what_is_left_cannot_be_repeated_and_the_error_says_why(store: Store, kept: str) -> None:
    record = await asked(store, "tools")
    if kept == "gone":
        await store.conversations.forget(record.user_id, record.context_id)
    history = await left(store, record)
    archive = Archive(store.database)
    with pytest.raises(UnreplayableError) as found:
        await read_run(archive, await archive.find(record.id))
    assert str(found.value) == history.problem


async def test_two_such_runs_are_compared_by_their_results(store: Store) -> None:
    first, second = await asked(store, "tools"), await asked(store, "stuck")
    again = await asked(store, "tools")
    await store.retention.drop_texts(older_than_s=-1.0, new_reducer=LogFigures)
    one, other = await read(store, first), await read(store, second)
    found = diff_histories(one, await read(store, again), registry=REGISTRY)
    assert (found.is_same, found.has_texts, found.input) == (True, False, None)
    whole = await asked(store, "tools")
    mixed = diff_histories(one, await read(store, whole), registry=REGISTRY)
    assert (mixed.is_same, mixed.has_texts) == (True, False)
    unlike = diff_histories(one, other, registry=REGISTRY)
    assert unlike.way is not None
    assert unlike.new_end == "stuck"
