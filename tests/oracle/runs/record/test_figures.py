"""What remains of recorded runs when their texts are dropped: figures, and nothing that a person or a model said."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime import Outcome, TickRecord
from bt_runtime.record.recording import forced_key
from bt_runtime.testing import FakeClock
from bt_runtime.text import size_of
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.llm.protocol import ModelFault
from oracle.runs.options import TEXTS_GRACE_S, RunOptions
from oracle.runs.record.debug import Debugged
from oracle.runs.record.events import Resumed, TurnFinished, UnderWay, encode
from oracle.runs.record.figures import LogFigures
from oracle.runs.record.outcome_json import decode_outcome
from oracle.runs.record.ticks import decode_tick, encode_tick
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.store import Store, open_store
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.running import Gate, managed, settle

QUESTION = "Why does Rumpelstiltskin fail to log_in in the code?"
STUCK = '<signal type="stuck"><attempted>["Rumpelstiltskin"]</attempted><blocker>no Rumpelstiltskin</blocker></signal>'
WRITTEN = """\
tree: written
blackboard: {draft: {type: str, default: ""}}
root: {sequence: [classify_query, compose_prompt, {llm_turn: {into: draft}}, {set: {hint: draft}}, finish]}
"""


class Told(Gate):
    """A tool's call that returns a text of the user's."""

    def __init__(self) -> None:
        super().__init__("Rumpelstiltskin's file")
        self.open.set()


SCRIPTS: dict[str, list[ScriptedTurn]] = {
    "tools": [says("Rumpelstiltskin?", calls("probe", query="Rumpelstiltskin")), answers("Rumpelstiltskin.")],
    "a tool that does not exist": [says("", calls("Rumpelstiltskin")), answers("Rumpelstiltskin.")],
    "stuck": [says(f"Rumpelstiltskin. {STUCK}"), says(f"Still. {STUCK}")],
    "a fault": [ScriptedTurn("Half", fault=ModelFault("provider_failed", "No Rumpelstiltskin.", "Rumpelstiltskin"))],
    "a written text": [says("Rumpelstiltskin lives at number 7, " * 9)],
}


async def run_of(store: Store, name: str) -> RunRecord:
    async with managed(store, SCRIPTS[name], tools=[made_tool(Told())]) as it:
        it.harness.write_tree("written", WRITTEN)
        tree = {"tree": "written"} if name == "a written text" else {}
        return (await it.ask(QUESTION, **tree)).record


async def dropped(store: Store) -> int:
    return await store.retention.drop_texts(older_than_s=-1.0, new_reducer=LogFigures)


@pytest.mark.parametrize("name", SCRIPTS)
async def test_nothing_that_was_said_remains(store: Store, name: str) -> None:
    record = await run_of(store, name)
    before = await store.log.events(record.id)
    assert b"Rumpelstiltskin" in b"".join(event.data for event in before)
    assert await dropped(store) == 1
    after = await store.log.events(record.id)
    left = await store.runs.find(record.id)
    assert left is not None
    assert left.kept == "figures"
    assert "Rumpelstiltskin" not in str(left)
    assert "Rumpelstiltskin" not in str([event.data for event in after])
    assert [event.kind for event in after] == [event.kind for event in before if event.kind != "chunk"]
    assert [event.at for event in after] == [event.at for event in before if event.kind != "chunk"]


@pytest.mark.parametrize("name", SCRIPTS)
async def test_figures_are_those_of_the_run(store: Store, name: str) -> None:
    record = await run_of(store, name)
    before = await read(store, record)
    await dropped(store)
    after = await read(store, record)
    assert [(t.tick, t.at_s, t.cause, t.causes, t.visited, t.changes, t.took_ms) for t in after.ticks] == [
        (t.tick, t.at_s, t.cause, t.causes, t.visited, t.changes, t.took_ms) for t in before.ticks
    ]
    assert [figures_of(turn) for turn in after.turns] == [figures_of(turn) for turn in before.turns]
    assert [writes_of(tick, only=(bool, int, float)) for tick in after.ticks] == [
        writes_of(tick, only=(bool, int, float)) for tick in before.ticks
    ]
    left = await store.runs.find(record.id)
    assert left is not None
    assert (left.summary, left.termination_reason, left.turns) == (
        record.summary,
        record.termination_reason,
        record.turns,
    )


async def test_words_of_closed_vocabularies_stay_and_texts_become_their_length(store: Store) -> None:
    record = await run_of(store, "stuck")
    await dropped(store)
    written = [write for tick in (await read(store, record)).ticks for write in tick.writes]
    assert ("termination_reason", "stuck") in written
    assert ("signal", "stuck") in written
    assert ("blocker", {"characters": len("no Rumpelstiltskin")}) in written
    signals = [json.loads(event.data) for event in await store.log.events(record.id, kinds={"signal"})]
    assert {(signal["type"], signal["raw_xml"], str(signal["fields"])) for signal in signals} == {("stuck", None, "{}")}


async def test_a_text_that_an_outcome_has_becomes_its_length_as_well(store: Store) -> None:
    record = await run_of(store, "a written text")
    await dropped(store)
    written = [write for tick in (await read(store, record)).ticks for write in tick.writes]
    (draft,) = [value for key, value in written if key == "draft"]
    assert set(draft) == {"characters"}
    assert draft["characters"] > 300


async def test_tools_keep_their_names_unless_the_model_has_made_them_up(store: Store) -> None:
    for name, known in (("tools", "probe"), ("a tool that does not exist", "unknown")):
        record = await run_of(store, name)
        await dropped(store)
        (tools,) = (await read(store, record)).tools
        assert [(each.call.name, each.text, each.call.arguments) for each in tools.results] == [(known, "", {})]


async def test_reducing_twice_changes_nothing(store: Store) -> None:
    for name in SCRIPTS:
        record = await run_of(store, name)
        await dropped(store)
        again, events = LogFigures(), await store.log.events(record.id)
        assert [again(event) for event in events] == [event.data for event in events]


def test_what_a_debugger_did_stays_and_what_it_wrote_becomes_its_length() -> None:
    figures, written = LogFigures(), Debugged("set", 3, "olga", {"key": "hint", "value": "Rumpelstiltskin"})
    hit = {"breakpoint": "b1", "kind": "condition", "path": "root", "expression": "x == 'Rumpelstiltskin'"}
    reduced = []
    for event in (written, Debugged("paused", 3, None, {"hit": hit, "resumes_at": 9.0})):
        once = figures(LogEntry("run", 1, "debug", event.to_json(), 0.0))
        assert once is not None
        assert figures(LogEntry("run", 1, "debug", once, 0.0)) == once
        reduced.append(Debugged.from_json(once).more)
    assert reduced[0] == {"key": "hint", "value": {"characters": 15}}
    assert reduced[1]["hit"]["path"] == "root"
    assert "Rumpelstiltskin" not in str(reduced)


def test_what_was_under_way_keeps_no_name_that_the_model_has_made_up() -> None:
    resumed = Resumed(
        1, 2.0, 2.0, 9.0, (UnderWay("tool", "Rumpelstiltskin", "kept"), UnderWay("turn", "a", "repeated"))
    )
    reduced = LogFigures()(LogEntry("run", 1, resumed.kind, encode(resumed), 0.0))
    assert reduced is not None
    assert Resumed.from_json(json.loads(reduced)).under_way == (("tool", "unknown", "kept"), ("turn", "a", "repeated"))


def test_a_turn_that_goes_on_with_a_lost_one_keeps_no_text_of_it() -> None:
    turn = TurnFinished(Outcome("a@2", "done", TurnOutcome(goes_on_from="Rumpelstiltskin", duration_ms=7)))
    reduced = LogFigures()(LogEntry("run", 1, turn.kind, encode(turn), 0.0))
    assert reduced is not None
    assert decode_outcome(reduced).value == TurnOutcome(duration_ms=7)


def test_a_forced_result_stays() -> None:
    forced = TickRecord(1, 0.0, "delivery", (), (), ((forced_key("root/x"), "failure"),), (), (), (), ())
    event = LogEntry("run", 1, "tick", encode_tick(forced), 0.0)
    assert LogFigures()(event) == event.data


async def test_damaged_and_unknown_events_are_deleted() -> None:
    figures = LogFigures()
    for kind in ("opened", "request", "turn_end", "tool_end", "closing", "tick", "signal", "rule", "debug", "later"):
        assert figures(LogEntry("run", 1, kind, b'["Rumpelstiltskin"]', 0.0)) is None  # type: ignore[arg-type]


data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(data)
def test_a_size_holds_no_text_and_is_its_own_size(value: Any) -> None:
    size = size_of(value)
    assert size_of(size) == size
    assert not isinstance(size, str) or size == ""
    assert not isinstance(size, list)
    if isinstance(size, dict):
        assert set(size) in ({"characters"}, {"items"}, {"entries"})


async def test_texts_go_a_minute_after_the_end_where_none_are_wanted(url: str) -> None:
    wall, clock = [0.0], FakeClock(jump=False)
    options = RunOptions(retain_texts_s=0.0)
    async with (
        open_store(url, worker="w1", now=lambda: wall[0]) as store,
        managed(store, [answers()], options=options, clock=clock) as it,
    ):
        record = (await it.ask()).record
        for passed, kept in ((TEXTS_GRACE_S - 1, "whole"), (TEXTS_GRACE_S + 1, "figures")):
            wall[0] = passed
            async with asyncio.timeout(20):
                while True:
                    clock.advance(TEXTS_GRACE_S)  # a round that is under way sets its timer when it has ended
                    await settle()
                    found = await store.runs.find(record.id)
                    assert found is not None
                    if found.kept == kept:
                        break


class Read:
    """The figures of a run's log."""

    def __init__(self) -> None:
        self.ticks: list[TickRecord] = []
        self.turns: list[TurnOutcome] = []
        self.tools: list[ToolsOutcome] = []


async def read(store: Store, record: RunRecord) -> Read:
    found = Read()
    for event in await store.log.events(record.id):
        if event.kind == "tick":
            found.ticks.append(decode_tick(event.data))
        elif event.kind in ("turn_end", "tool_end"):
            value = decode_outcome(event.data).value
            (found.turns if isinstance(value, TurnOutcome) else found.tools).append(value)
    return found


def figures_of(turn: TurnOutcome) -> tuple[Any, ...]:
    fault = turn.fault and turn.fault.error_type
    return turn.tokens, turn.output_tokens, turn.duration_ms, turn.first_text_ms, turn.stop_reason, turn.model, fault


def writes_of(tick: TickRecord, *, only: tuple[type, ...]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in tick.writes if isinstance(value, only)]
