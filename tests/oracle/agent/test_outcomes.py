"""What the outcome of a turn means (decisions 2, 5, 14, 17)."""

from typing import Any

import pytest

import signals
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.decision import ToolAction
from oracle.llm.protocol import ModelFault, ToolUse

SIGNALLED = signals.parse('So.\n\n<signal type="need_turn"><reason>more</reason></signal>')
MALFORMED = signals.parse('So.\n\n<signal type="need_turn"></signal>')
CALL = ToolUse("1", "probe", {})
FAULT = ModelFault("provider_failed", "It broke.")


@pytest.mark.parametrize(
    ("outcome", "is_answer"),
    [
        (TurnOutcome(parsed=SIGNALLED), True),
        (TurnOutcome(parsed=SIGNALLED, calls=(CALL,)), False),
        (TurnOutcome(parsed=SIGNALLED, cut_off=True), False),
        (TurnOutcome(parsed=SIGNALLED, interrupted=True), False),
        (TurnOutcome(parsed=SIGNALLED, fault=FAULT), False),
    ],
)
def test_an_answer_is_whole_and_calls_no_tools(outcome: TurnOutcome, is_answer: bool) -> None:
    assert outcome.is_answer == is_answer


def test_the_signal_of_a_response_that_broke_off_does_not_count() -> None:
    assert TurnOutcome(parsed=SIGNALLED).signal is not None
    assert TurnOutcome(parsed=SIGNALLED, cut_off=True).signal is None
    assert TurnOutcome(parsed=MALFORMED).malformed_signal
    assert not TurnOutcome(parsed=MALFORMED, interrupted=True).malformed_signal
    assert not TurnOutcome().malformed_signal


def test_the_text_is_the_visible_text() -> None:
    assert TurnOutcome(parsed=SIGNALLED).text == "So."
    assert TurnOutcome().text == ""


def result(**changes: Any) -> CallResult:
    given: dict[str, Any] = {"is_error": False, "counts": True, "is_empty": False, "began": True} | changes
    return CallResult(call=CALL, text="x", group="code", action=ToolAction("probe", "{}"), **given)


@pytest.mark.parametrize(
    ("results", "found_nothing"),
    [
        ([], False),
        ([result(counts=False, is_error=True)], False),
        ([result(is_empty=True)], True),
        ([result(is_empty=True), result(is_error=True)], True),
        ([result(is_empty=True), result()], False),
    ],
)
def test_tools_found_nothing_if_some_ran_and_none_brought_anything(
    results: list[CallResult], found_nothing: bool
) -> None:
    assert ToolsOutcome(tuple(results)).found_nothing == found_nothing
