"""The token budget beside the provider's prompt cache (decisions 6, 13): the real SDK, a cache by the published table.

Whatever the cache forgets, a query exceeds its budget by no more than the input of one turn, and says so.
"""

from collections.abc import Mapping
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bt_runtime.testing import FakeClock
from oracle.agent.notes import WRAP_UP
from oracle.tools import ToolResult
from tests.acceptance.harness import Answered, ControlName, Harness, calls, harness, made_tool, says, text_of_request
from tests.support.provider.cache import Lookup, PromptCache

LATER = {"timeout_seconds": 600, "max_iterations": 20}


class ForgetfulCache(PromptCache):
    """Loses everything right before the requests of these numbers (from 1)."""

    forgets: frozenset[int] = frozenset()
    number: int = 0

    def look_up(self, body: Mapping[str, Any], *, workspace: str) -> Lookup:
        """As the provider does, unless it has forgotten."""
        self.number += 1
        if self.number in self.forgets:
            self._entries.clear()
        return super().look_up(body, workspace=workspace)


def forgetful(clock: FakeClock, *numbers: int) -> ForgetfulCache:
    cache = ForgetfulCache(clock.now)
    cache.forgets = frozenset(numbers)
    return cache


def reading(characters: int) -> Any:
    """A tool that brings so many characters, each time others."""
    numbers = count(1)

    async def call(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult(f"{next(numbers)} ".ljust(characters, "x"))

    return made_tool(call)


def looking() -> Any:
    """Turns that look further each time, as long as they may; the provider reports what its cache says."""
    return (says(f"Step {at}.", calls("probe", n=at), tokens=None) for at in count(1))


def whole_inputs(it: Harness) -> list[int]:
    return [request.cached.whole for request in it.wire.requests if request.cached]


def check_budget(it: Harness, answered: Answered, budget: int) -> None:
    used = answered.done.tokens_used
    assert used <= budget + whole_inputs(it)[-1]
    if answered.reason == "token_budget":
        assert f"({used:,}/{budget:,} tokens)" in answered.last_sentence
        assert answered.messages[-1] == f"Token budget reached ({used:,}/{budget:,} tokens). Saving partial response."
    if used >= budget:
        assert answered.reason == "token_budget"
    last = answered.agent.turn.outcome
    assert last is not None
    if 80 * budget <= 100 * (used - last.tokens) < 100 * budget and answered.done.turns > 1:
        assert any(message.startswith("Approaching token budget") for message in answered.messages)


async def test_decision_13_every_request_but_the_first_reads_the_whole_one_before_it_from_the_cache(
    control: ControlName,
) -> None:
    clock = FakeClock(jump=False)
    async with harness(looking(), control=control, tools=[reading(4_000)], clock=clock, cache=forgetful(clock)) as it:
        await it.ask(limits={"max_iterations": 8, "token_budget": 200_000})
        used = [request.cached for request in it.wire.requests]
    assert len(used) == 8
    for before, after in pairwise(used):
        assert before is not None
        assert after is not None
        assert after.read_tokens == before.read_tokens + before.creation_tokens


async def test_decision_13_without_misses_a_query_keeps_within_its_budget(control: ControlName) -> None:
    clock = FakeClock(jump=False)
    async with harness(looking(), control=control, tools=[reading(8_000)], clock=clock, cache=forgetful(clock)) as it:
        answered = await it.ask(limits={**LATER, "token_budget": 50_000})
    assert answered.reason == "token_budget"
    assert answered.done.tokens_used < 50_000
    assert WRAP_UP in text_of_request(answered.bodies[-1])
    check_budget(it, answered, 50_000)


@pytest.mark.parametrize("forgets", [(3,), (5,), (6,), (2, 4, 6), range(1, 50)], ids=str)
async def test_decision_13_whatever_the_cache_forgets_the_budget_is_exceeded_by_one_turn_at_most(
    control: ControlName, forgets: tuple[int, ...]
) -> None:
    clock = FakeClock(jump=False)
    async with harness(
        looking(), control=control, tools=[reading(12_000)], clock=clock, cache=forgetful(clock, *forgets)
    ) as it:
        answered = await it.ask(limits={**LATER, "token_budget": 40_000})
        check_budget(it, answered, 40_000)
    assert WRAP_UP in text_of_request(answered.bodies[-1])


async def test_decision_13_a_cache_whose_time_is_over_is_foreseen(control: ControlName) -> None:
    """A tool takes longer than the cache lives: what the next request costs is known, and it wraps up in time."""
    clock = FakeClock(jump=False)

    async def slow(_: Mapping[str, Any]) -> ToolResult:
        clock.advance(301)
        return ToolResult("x" * 4_000)

    turns = [says("Slow.", calls("probe"), tokens=None), says("So it is.", tokens=None)]
    async with harness(turns, control=control, tools=[made_tool(slow)], clock=clock, cache=forgetful(clock)) as it:
        first = await it.ask(limits=LATER)
        room = whole_inputs(it)[0]
        assert [request.cached.read_tokens for request in it.wire.requests if request.cached] == [0, 0]
    async with harness(
        [says("Slow.", calls("probe"), tokens=None), says("So it is.", tokens=None)],
        control=control,
        tools=[made_tool(slow)],
        clock=clock,
        cache=forgetful(clock),
    ) as it:
        tight = await it.ask(limits={**LATER, "token_budget": 3 * room})
        check_budget(it, tight, 3 * room)
    assert WRAP_UP not in text_of_request(first.bodies[1])
    assert WRAP_UP in text_of_request(tight.bodies[1])
    assert (first.reason, tight.reason) == ("completed", "completed")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    forgets=st.sets(st.integers(1, 14), max_size=8),
    characters=st.sampled_from([200, 3_000, 20_000, 60_000]),
    budget=st.sampled_from([5_000, 20_000, 50_000, 90_000]),
)
async def test_decision_13_in_any_case_the_budget_is_exceeded_by_one_turn_at_most(
    forgets: set[int], characters: int, budget: int
) -> None:
    clock = FakeClock(jump=False)
    async with harness(looking(), tools=[reading(characters)], clock=clock, cache=forgetful(clock, *forgets)) as it:
        answered = await it.ask(limits={**LATER, "token_budget": budget})
        check_budget(it, answered, budget)
