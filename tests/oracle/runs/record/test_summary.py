"""What only the run itself knows: requests, when turns and tools began, times to the first text, and the summary."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime import Outcome
from bt_runtime.testing import FakeClock
from oracle.agent.answering import Ask
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.agent.turn import OpenTurn
from oracle.core.chunks import SystemNotice
from oracle.llm.protocol import TextDelta, TurnEnded, Usage
from oracle.runs.record.events import ChunkSent, TurnFinished
from oracle.runs.record.outcome_json import decode_outcome
from oracle.runs.record.record import Record, merged
from oracle.runs.storage.records import MOST_SPANS, RunRecord, RunSummary, Span
from oracle.runs.storage.store import Store, open_store
from oracle.testing import ScriptedTurn
from oracle.tools import ToolResult
from tests.acceptance.harness import CODE_QUESTION, answers, calls, harness, made_tool, says
from tests.oracle.runs.running import Gate, managed


class Slow:
    """A tool's call that takes two seconds of the run's clock."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock

    async def __call__(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Take the time, then fail."""
        self.clock.advance(2)
        return ToolResult("it failed", is_error=True)


async def outcomes(store: Store, record: RunRecord) -> list[Outcome]:
    events = await store.log.events(record.id, kinds={"turn_end", "tool_end"})
    return [decode_outcome(event.data) for event in events]


async def requests(store: Store, record: RunRecord) -> list[dict[str, Any]]:
    return [json.loads(event.data) for event in await store.log.events(record.id, kinds={"request"})]


@pytest.fixture
def script() -> list[ScriptedTurn]:
    return [says("Looking.", calls("probe")), answers("Done.")]


async def ran(store: Store, script: list[ScriptedTurn], **options: Any) -> RunRecord:
    clock = FakeClock(jump=False)
    async with managed(store, script, tools=[made_tool(Slow(clock))], clock=clock, **options) as it:
        return (await it.ask()).record


async def test_a_run_has_a_summary_of_its_figures(store: Store, script: list[ScriptedTurn]) -> None:
    record = await ran(store, script)
    ticks = await store.log.events(record.id, kinds={"tick"})
    assert record.summary is not None
    assert record.summary.shape == (Span("turn", 0, 0), Span("tool", 0, 2000), Span("turn", 2000, 0))
    assert (record.summary.tools, record.summary.tool_errors, record.summary.ticks) == (1, 1, len(ticks))
    assert (record.summary.notices, record.summary.node_errors) == (0, 0)


async def test_notices_are_in_the_shape(store: Store) -> None:
    async with managed(store, [says("", calls("search_code"))] * 3) as it:
        record = (await it.ask(limits={"max_iterations": 3})).record
    assert record.summary is not None
    kinds = [span.kind for span in record.summary.shape]
    assert kinds.count("notice") == record.summary.notices > 0


async def test_outcomes_tell_when_tools_began_and_how_many_tokens_came_out(
    store: Store, script: list[ScriptedTurn]
) -> None:
    record = await ran(store, script)
    first, tools, last = [outcome.value for outcome in await outcomes(store, record)]
    assert isinstance(first, TurnOutcome)
    assert isinstance(tools, ToolsOutcome)
    assert 0 < first.output_tokens < first.tokens
    assert last.output_tokens > 0
    (result,) = tools.results
    opened = json.loads((await store.log.events(record.id, kinds={"opened"}))[0].data)
    assert (result.started_s, result.duration_ms) == (opened["start_s"], 2000)


@pytest.mark.parametrize(
    ("pieces", "first_ms"),
    [
        (["Hm, ", "well", "."], 1000),
        (["<sig", "nal"], 4000),
        (['<signal type="stuck">', "<blocker>b</blocker>", "</signal>"], None),
        ([], None),
    ],
    ids=["at once", "held back until the end", "a signal alone", "nothing"],
)
async def test_the_time_to_the_first_visible_text_is_measured(pieces: list[str], first_ms: int | None) -> None:
    clock = FakeClock(jump=False)
    async with harness(clock=clock, wire=False) as it:
        turn = OpenTurn((await it.oracle.open(Ask(CODE_QUESTION), emit=lambda _: None)).agent)
        for piece in pieces:
            clock.advance(1)
            turn.play([TextDelta(piece)])
        clock.advance(4 - len(pieces))
        turn.play([TurnEnded("end_turn", Usage(), (), "model")])
        outcome = turn.end()
    assert (outcome.first_text_ms, outcome.duration_ms) == (first_ms, 4000)


async def test_the_request_of_each_turn_is_in_the_log_before_its_outcome(
    store: Store, script: list[ScriptedTurn]
) -> None:
    record = await ran(store, script)
    log = await store.log.events(record.id, kinds={"request", "turn_end", "tool_end"})
    assert [event.kind for event in log] == ["request", "turn_end", "tool_end", "request", "turn_end"]
    first, second = await requests(store, record)
    assert [first["step"], second["step"]] == [event.step_key for event in log if event.kind == "turn_end"]
    assert (first["messages"], first["new_messages"]) == (1, 1)
    assert (second["messages"], second["new_messages"]) == (3 + second["notes"], 2 + second["notes"])
    assert (first["tool_choice"], first["wrap_up"], first["is_side"], first["hint"]) == ("auto", False, False, "")
    assert "probe" in first["tools"]
    assert first["segments"][0] == "base"
    assert first["max_tokens"] > 0
    assert second["at_s"] == first["at_s"] + 2


async def test_the_plain_loop_records_its_requests_as_well(store: Store, script: list[ScriptedTurn]) -> None:
    record = await ran(store, script, control="loop")
    ends = await store.log.events(record.id, kinds={"turn_end"})
    assert [each["step"] for each in await requests(store, record)] == [event.step_key for event in ends]
    assert record.summary is not None
    assert [span.kind for span in record.summary.shape] == ["turn", "tool", "turn"]


async def test_the_prompt_is_kept_once_for_all_runs_until_no_run_needs_it(store: Store) -> None:
    async with managed(store, [answers(), answers()]) as it:
        one, two = (await it.ask()).record, (await it.ask()).record
        ((first,), (second,)) = [await requests(store, each) for each in (one, two)]
        assert first["prompt"] == second["prompt"]
        text = await store.prompts.find(first["prompt"])
        assert text is not None
        assert "<signal" in text
        assert text not in "".join(str(event.data) for event in await store.log.events(one.id))
        await it.manager.forget(one.user_id, one.context_id)
        assert await store.prompts.find(first["prompt"]) == text
        await it.manager.forget(two.user_id, two.context_id)
    assert await store.prompts.find(first["prompt"]) is None


async def test_a_killed_run_has_a_summary_from_its_log(url: str) -> None:
    gate = Gate()
    script = [says("Looking.", calls("probe"))]
    async with (
        open_store(url, worker="killed") as store,
        managed(store, script, goes_on=False, tools=[made_tool(gate)]) as it,
    ):
        record = (await it.start()).record
        await gate.begun.wait()
    async with open_store(url, worker="next") as store, managed(store) as it:
        ended = (await it.told(record)).record
        ticks = await store.log.events(record.id, kinds={"tick"})
    assert ended.summary is not None
    assert (ended.summary.tools, ended.summary.tool_errors, ended.summary.ticks) == (1, 1, len(ticks))
    assert [span.kind for span in ended.summary.shape][:1] == ["turn"]


async def test_a_turn_that_was_under_way_when_the_process_died_is_in_the_summary(url: str) -> None:
    async with (
        open_store(url, worker="killed") as store,
        managed(store, [says("Half of the", hang=True)], goes_on=False) as it,
    ):
        record = (await it.start()).record
        await it.until_text(record, "Half of the")
    async with open_store(url, worker="next") as store, managed(store) as it:
        ended = (await it.told(record)).record
    assert ended.summary is not None
    assert [span.kind for span in ended.summary.shape] == ["turn"]


async def test_the_log_tells_the_wall_clock_of_each_tick_and_chunk(url: str) -> None:
    wall = [1_000_000.0]
    async with open_store(url, worker="w1", now=lambda: wall[0]) as store, managed(store, [says("a", hang=True)]) as it:
        live = await it.start()
        await it.until_text(live.record, "a")
        wall[0] += 50
        live.cancel()
        await it.told(live.record)
        events = await store.log.events(live.record.id, kinds={"tick", "chunk"})
    first_tick = next(event for event in events if event.kind == "tick")
    said = next(event for event in events if b'"content":"a"' in event.data)
    assert (first_tick.at, said.at, events[-1].at) == (1_000_000.0, 1_000_000.0, 1_000_050.0)


@pytest.mark.long("folds a long run")
def test_a_long_run_has_a_short_shape() -> None:
    record = Record()
    notice = SystemNotice("fallback", "Hm.", "info", timestamp="2026-01-01T00:00:00Z")
    for number in range(5_000):
        turn = Outcome(f"turn@{number}", "done", TurnOutcome(duration_ms=500), at_s=number + 0.5)
        record.add(TurnFinished(turn), at_s=number + 0.5)
        record.add(ChunkSent(notice), at_s=number + 0.75)
    summary = record.summary()
    assert isinstance(summary, RunSummary)
    assert len(summary.shape) == MOST_SPANS
    assert summary.notices == 5_000
    assert max(span.end_ms for span in summary.shape) == 4_999_750


spans = st.builds(
    Span,
    st.sampled_from(["turn", "tool", "notice"]),
    st.integers(min_value=0, max_value=10_000),
    st.integers(min_value=0, max_value=5_000),
)


@given(st.lists(spans, max_size=200))
def test_a_shape_is_bounded_in_order_and_covers_the_same_time(all_spans: list[Span]) -> None:
    shape = merged(all_spans)
    assert len(shape) == min(len(all_spans), MOST_SPANS)
    assert [span.start_ms for span in shape] == sorted(span.start_ms for span in shape)
    if all_spans:
        assert shape[0].start_ms == min(span.start_ms for span in all_spans)
        assert max(span.end_ms for span in shape) == max(span.end_ms for span in all_spans)
    assert RunSummary.from_json(RunSummary(shape=tuple(shape)).to_json()).shape == tuple(shape)


def test_the_shortest_neighbours_are_merged_and_the_longer_one_gives_the_kind() -> None:
    long, short, other = Span("turn", 0, 900), Span("tool", 900, 10), Span("turn", 5_000, 500)
    assert merged([long, short, other], most=2) == [Span("turn", 0, 910), other]
