from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime import NodeError, Outcome, Status, TickRecord, TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.core.encoding import from_json
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.playing import Player
from oracle.runs.record.ticks import (
    decode_statuses,
    decode_tick,
    encode_tick,
    is_kept_apart,
    refers_to_outcomes,
)
from signals import parse
from tests.support.shares import some
from trees import FOLDER

LONG = "What the model wrote, at length. " * 5
TURN = Outcome("root/llm_turn@1", "done", TurnOutcome(tokens=7, model="m"), at_s=1.5)
SAID = Outcome("root/llm_turn@2", "done", TurnOutcome(parsed=parse(LONG)), at_s=1.5)
TOOLS = Outcome("root/run_tools@1", "cancelled", ToolsOutcome(), at_s=1.6)
CALLED = Outcome("root/search@1", "done", "text of the tool " * 8, at_s=1.7)
FAILED = Outcome("root/search@2", "failed", error="HostError: no", at_s=1.8)
FINISHED = Outcome("root/finish@1", "done", at_s=1.9)


def record(*outcomes: Outcome) -> TickRecord:
    return TickRecord(
        tick=3,
        at_s=2.0,
        cause="outcome",
        causes=("root/llm_turn@1",),
        outcomes=outcomes,
        deliveries=(("cancel_requested", True),),
        visited=(0, 1, 4),
        changes=((0, Status.RUNNING), (4, Status.SUCCESS), (5, Status.INVALID)),
        writes=(("turn", 1), ("sources", ["code"]), ("hint", "")),
        errors=(NodeError("root/set", "ValueError: no"),),
    )


def kept_of(tick: TickRecord) -> dict[str, Outcome]:
    return {each.key: each for each in tick.outcomes if is_kept_apart(each)}


values = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.lists(st.text(), max_size=3)
keys = st.text(min_size=1, max_size=20)
outcomes = st.builds(
    Outcome,
    key=keys,
    state=st.sampled_from(["done", "failed", "cancelled"]),
    value=st.none() | st.text(max_size=200),
    error=st.none() | st.text(max_size=20),
    at_s=st.floats(0, 1e6),
)
changes = st.dictionaries(st.integers(0, 500), st.sampled_from(list(Status)), max_size=400)


@st.composite
def records(draw: st.DrawFn) -> TickRecord:
    came = tuple(draw(st.lists(outcomes, max_size=3, unique_by=lambda each: each.key)))
    texts = [each.value for each in came if isinstance(each.value, str)]
    written = values | st.sampled_from(texts) if texts else values
    causes = st.just(tuple(each.key for each in came)) | st.lists(keys, max_size=2).map(tuple)
    # Mostly runs of neighbours, as trees are walked.
    spans = draw(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), max_size=6))
    return TickRecord(
        tick=draw(st.integers(1, 10**6)),
        at_s=draw(st.floats(0, 1e6)),
        cause=draw(st.sampled_from(["start", "outcome", "deadline", "delivery", "again", "end"])),
        causes=draw(causes),
        outcomes=came,
        deliveries=tuple(draw(st.lists(st.tuples(keys, values), max_size=2))),
        visited=tuple(index for first, count in spans for index in range(first, first + count)),
        changes=tuple(sorted(draw(changes).items())),
        writes=tuple(draw(st.lists(st.tuples(keys, written), max_size=3))),
        errors=tuple(NodeError(path, error) for path, error in draw(st.lists(st.tuples(keys, keys), max_size=2))),
        took_ms=draw(st.floats(0, 1e4).map(lambda ms: round(ms, 3))),
    )


@given(records())
def test_every_record_is_restored_from_its_tick_and_its_kept_outcomes(original: TickRecord):
    restored = decode_tick(encode_tick(original), kept_of(original))
    assert restored == original
    assert restored.took_ms == original.took_ms
    assert encode_tick(restored) == encode_tick(original)


@given(records())
def test_the_statuses_alone_are_those_of_the_record(original: TickRecord):
    visited, changed = decode_statuses(encode_tick(original))
    assert (tuple(visited), tuple(changed)) == (original.visited, original.changes)


def test_a_record_is_restored_from_a_tick_and_its_kept_outcomes():
    original = record(TURN, TOOLS, CALLED, FAILED, FINISHED)
    assert decode_tick(encode_tick(original), kept_of(original)) == original


def test_values_with_events_of_their_own_are_not_in_the_tick():
    assert b"text of the tool" not in encode_tick(record(CALLED))
    assert [is_kept_apart(each) for each in (TURN, TOOLS, CALLED, FAILED, FINISHED)] == [True] * 4 + [False]


@pytest.mark.parametrize(("outcome", "text"), [(SAID, LONG), (CALLED, CALLED.value)], ids=["turn", "tool"])
def test_a_long_text_that_an_outcome_has_is_not_stored_again(outcome: Outcome, text: str):
    written = replace(record(FINISHED, outcome), writes=(("draft", text), ("short", "x")))
    data = encode_tick(written)
    assert from_json(data)["writes"] == [["draft", None, 1], ["short", "x"]]
    assert refers_to_outcomes(data)
    assert decode_tick(data, kept_of(written)) == written
    assert decode_tick(data).writes == (("draft", None), ("short", "x"))
    assert not refers_to_outcomes(encode_tick(record(outcome)))


def test_a_tick_of_a_large_tree_is_small():
    large = replace(
        record(),
        visited=tuple(range(400)),
        changes=tuple((index, Status.FAILURE if index % 5 else Status.SUCCESS) for index in range(400)),
    )
    assert len(encode_tick(large)) < 1_000
    halted = replace(large, changes=tuple((index, Status.INVALID) for index in range(400)))
    assert from_json(encode_tick(halted))["changes"] == [0, "I400"]
    assert from_json(encode_tick(halted))["visited"] == [0, 400]


def test_the_ticks_of_the_scenarios_that_ship_are_restored_and_small():
    player = Player(TreeLibrary([FOLDER], registry=REGISTRY))
    ticks, sizes = 0, 0
    for path in sorted((FOLDER / "scenarios").glob("*.yaml")):
        for scenario in some(read_scenario_file(path)):
            played = [fact for fact in player.play(scenario).facts if isinstance(fact, TickRecord)]
            for tick in played:
                data = encode_tick(tick)
                assert encode_tick(decode_tick(data, kept_of(tick))) == data
                assert len(data) < 1_000
                ticks, sizes = ticks + 1, sizes + len(data)
    assert sizes / ticks < 400


def test_a_tick_can_be_decoded_without_its_outcomes():
    (outcome,) = decode_tick(encode_tick(record(TURN))).outcomes
    assert outcome == Outcome("root/llm_turn@1", "done", at_s=1.5)


def test_what_a_tick_took_is_left_out_where_records_are_compared():
    quick, slow = replace(record(), took_ms=0.1), replace(record(), took_ms=70.12345)
    assert quick == slow
    assert encode_tick(quick, is_timed=False) == encode_tick(slow, is_timed=False)
    assert from_json(encode_tick(slow))["took_ms"] == 70.123


WRONG = ["{}", "[]", "3", '{"tick": 1}', "nonsense", '{"form":2}', '{"form":2,"tick":1,"at_s":0,"cause":"again",']
WRONG += ['{"form":2,"tick":1,"at_s":0,"cause":"again","visited":[1]}']
WRONG += ['{"form":2,"tick":1,"at_s":0,"cause":"again","writes":[["a",null,3]]}']


@pytest.mark.parametrize("data", WRONG)
def test_other_json_is_refused_as_a_tick(data):
    with pytest.raises(ValueError):  # noqa: PT011  the decoder of JSON has messages of its own
        decode_tick(data)
