import pytest

from bt_runtime import NodeError, Outcome, Status, TickRecord
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.runs import decode_tick, encode_tick
from oracle.runs.tick_json import is_kept_apart

TURN = Outcome("root/llm_turn@1", "done", TurnOutcome(tokens=7, model="m"), at_s=1.5)
TOOLS = Outcome("root/run_tools@1", "cancelled", ToolsOutcome(), at_s=1.6)
CALLED = Outcome("root/search@1", "done", "text of the tool", at_s=1.7)
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


def test_a_record_is_restored_from_a_tick_and_its_kept_outcomes():
    original = record(TURN, TOOLS, CALLED, FAILED, FINISHED)
    kept = {each.key: each for each in original.outcomes if is_kept_apart(each)}
    assert decode_tick(encode_tick(original), kept) == original


def test_values_with_events_of_their_own_are_not_in_the_tick():
    assert b"text of the tool" not in encode_tick(record(CALLED))
    assert [is_kept_apart(each) for each in (TURN, TOOLS, CALLED, FAILED, FINISHED)] == [True] * 4 + [False]


def test_a_tick_can_be_decoded_without_its_outcomes():
    (outcome,) = decode_tick(encode_tick(record(TURN))).outcomes
    assert outcome == Outcome("root/llm_turn@1", "done", at_s=1.5)


@pytest.mark.parametrize("data", ["{}", "[]", "3", '{"tick": 1}', "nonsense"])
def test_other_json_is_refused_as_a_tick(data):
    with pytest.raises(ValueError):  # noqa: PT011  the decoder of JSON has messages of its own
        decode_tick(data)
