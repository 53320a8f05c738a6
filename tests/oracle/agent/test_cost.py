"""What a request costs where the provider may have the conversation in its cache (decision 13)."""

import pytest

from oracle.agent.outcomes import TurnOutcome
from oracle.agent.planning import InputEstimate, RequestCost


@pytest.mark.parametrize(
    ("now_s", "expected"), [(299.95, 10), (300.0, 1_010)], ids=["within five minutes", "five minutes later"]
)
def test_decision_13_the_cache_holds_a_conversation_for_five_minutes_from_the_start_of_the_request(
    now_s: float, expected: int
) -> None:
    cost = RequestCost()
    cost.note(TurnOutcome(input_tokens=1_000, caches=True, duration_ms=100_000), shape="tools", now_s=100.0)
    estimate = cost.estimate(unsent=40, prompt=400, shape="tools", now_s=now_s)
    assert estimate == InputEstimate(whole=1_010, expected=expected)
