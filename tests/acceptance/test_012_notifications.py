"""Warnings before limits (012 US2-1, US2-2, FR-008, FR-009, FR-011, SC-003; decisions 4, 6, 24)."""

from itertools import count
from math import ceil

import pytest

from oracle.core.chunks import SystemNotice, ToolCalled
from oracle.decision import AgentConfig
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import (
    ControlName,
    answers,
    calls,
    harness,
    made_tool,
    numbered,
    says,
)

ITERATION_7_OF_10 = "Approaching iteration limit (7/10). Consider wrapping up your response."


def busy(*, tokens: int = 10) -> list[ScriptedTurn]:
    """Turns without end that search for something new each time."""
    return [
        says(f"Step {number}.", calls("search_code", query="RetryPolicy", limit=number), tokens=tokens)
        for number in range(1, 60)
    ]


async def test_012_us2_2_token_warning_at_80_percent_when_the_next_turn_begins(control: ControlName) -> None:
    async with harness([*busy(tokens=8_200)[:5], answers()], control=control) as it:
        answered = await it.ask(limits={"token_budget": 50_000})
    assert [notice.to_wire() for notice in answered.notices] == [
        {
            "type": "system",
            "system_type": "limit_warning",
            "system_message": ("Approaching token budget (41,000/50,000 tokens). Consider being more concise."),
            "severity": "warning",
            "metadata": {"current_value": 41_000, "limit_value": 50_000, "percent": 82, "limit_type": "token"},
            "timestamp": "2026-01-02T03:04:05.000+00:00",
        }
    ]
    assert answered.reason == "completed"
    warned_at = answered.position(SystemNotice)
    assert sum(isinstance(chunk, ToolCalled) for chunk in answered.chunks[:warned_at]) == 5


async def test_012_fr_011_every_limit_message_has_current_value_limit_value_and_advice(control: ControlName) -> None:
    async with harness(busy(tokens=4_500), control=control) as it:
        answered = await it.ask(limits={"max_iterations": 10, "token_budget": 50_000})
    assert answered.messages == [
        ITERATION_7_OF_10,
        "Approaching token budget (40,500/50,000 tokens). Consider being more concise.",
        "Maximum iterations reached (10/10). Saving partial response.",
    ]
    for notice in answered.notices:
        assert {"current_value", "limit_value", "percent", "limit_type"} <= notice.metadata.keys()


async def test_decision_06_the_token_warning_comes_after_the_iteration_warning(control: ControlName) -> None:
    async with harness(busy(tokens=11_000), control=control) as it:
        answered = await it.ask(limits={"max_iterations": 6, "token_budget": 50_000})
    assert answered.messages[:2] == [
        "Approaching iteration limit (4/6). Consider wrapping up your response.",
        "Approaching token budget (44,000/50,000 tokens). Consider being more concise.",
    ]
    (note,) = answered.bodies[4]["messages"][-1]["content"]
    assert note["text"].startswith("This is turn 5 of 6. Tools are still run in this turn; the next one is the last")


async def test_decision_06_no_token_warning_when_80_and_100_percent_fall_into_the_same_turn(
    control: ControlName,
) -> None:
    async with harness(busy(tokens=26_000), control=control) as it:
        answered = await it.ask(limits={"token_budget": 50_000})
    assert answered.messages == ["Token budget reached (52,000/50,000 tokens). Saving partial response."]


def warned_after(limit: int, percent: int) -> int | None:
    """The turn count at which the warning is due, said another way than the code says it: counted up turn by turn."""
    if limit == 1:
        return None
    return next(turn for turn in count(1) if turn * 100 >= limit * percent or turn + 2 >= limit)


@pytest.mark.parametrize("percent", [50, 70, 89])
async def test_012_sc_003_the_warning_comes_once_and_two_turns_before_any_limit(
    control: ControlName, percent: int
) -> None:
    endless = (says("More.", calls("probe", n=number)) for number in count())
    config = AgentConfig(soft_warning_percent=percent)
    async with harness(endless, control=control, wire=False, config=config, tools=[made_tool(numbered)]) as it:
        for limit in (1, 2, 3, 4, 5, 6, 7, 10, 11, 15, 20, 30, 31, 50):
            answered = await it.ask(limits={"max_iterations": limit})
            effective = min(limit, 30) if control == "tree" else limit
            assert answered.done.turns == effective
            _check_warning(answered.messages, effective, percent)


def _check_warning(messages: list[str], limit: int, percent: int) -> None:
    turn = warned_after(limit, percent)
    warnings = [message for message in messages if message.startswith("Approaching iteration")]
    expected = f"Approaching iteration limit ({turn}/{limit}). Consider wrapping up your response."
    assert warnings == ([] if turn is None else [expected])
    if turn is not None:
        assert limit - turn >= min(2, limit - 1)
        assert turn <= max(1, ceil(limit * percent / 100))
