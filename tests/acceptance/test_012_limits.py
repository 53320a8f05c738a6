"""Turn limits, tool call limits, and the end that they bring (012 US2-3, FR-003 to FR-005, FR-007, SC-002, SC-005)."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from oracle.agent.notes import WRAP_UP
from oracle.core.chunks import Content, SystemNotice
from oracle.testing import ScriptedTurn
from oracle.tools import ToolResult
from tests.acceptance.harness import (
    ControlName,
    answers,
    calls,
    harness,
    made_tool,
    says,
    signal_xml,
    text_of,
    tool_results_of,
)
from tests.acceptance.requests import can_call

REFUSED = "Not run: the limits leave no turn to read the result."


def busy(number: int) -> list[ScriptedTurn]:
    """So many turns, each of which searches for something new."""
    return [says(f"Step {at}.", calls("search_code", query="RetryPolicy", limit=at)) for at in range(1, number + 1)]


async def test_012_edge_max_iterations_of_1_completes_when_the_one_turn_answers(control: ControlName) -> None:
    async with harness([answers("Yes.")], control=control) as it:
        answered = await it.ask(limits={"max_iterations": 1})
    assert answered.reason == "completed"
    assert answered.answer == "Yes."
    assert not answered.notices


async def test_decision_01_the_lower_of_user_and_tree_counts_and_is_what_is_shown() -> None:
    async with harness(busy(4)) as it:
        it.edit_tree("oracle", "default: 30", "default: 4")
        answered = await it.ask(limits={"max_iterations": 15})
    assert answered.done.turns == 4
    assert answered.messages == [
        "Approaching iteration limit (2/4). Consider wrapping up your response.",
        "Maximum iterations reached (4/4). Saving partial response.",
    ]


async def test_decision_05_calls_beyond_the_limit_of_a_turn_are_answered_and_not_run(control: ControlName) -> None:
    ran: list[Any] = []

    async def count(arguments: Mapping[str, Any]) -> ToolResult:
        ran.append(arguments["n"])
        return ToolResult(f"result {arguments['n']}")

    turn = says("All at once.", *(calls("probe", n=number) for number in range(1, 8)))
    async with harness([turn, answers()], control=control, tools=[made_tool(count)]) as it:
        answered = await it.ask()
    assert ran == [1, 2, 3, 4, 5]
    assert [result.is_error for result in answered.results] == [False] * 5 + [True] * 2
    for result in answered.results[5:]:
        assert result.tool_result == (
            "Not run: at most 5 tool calls are run in a turn. Ask for the rest in the next turn."
        )
    assert len(tool_results_of(answered.bodies[1])) == 7
    assert answered.agent.state.error_streak == 0
    assert len(answered.agent.state.recent_actions) == 5
    assert answered.reason == "completed"


@pytest.mark.parametrize("limit", [1, 20])
async def test_012_fr_003_max_tool_calls_per_turn_holds_at_its_bounds(control: ControlName, limit: int) -> None:
    turn = says("", *(calls("search_code", query=f"w{number}") for number in range(25)))
    async with harness([turn, answers()], control=control, wire=False) as it:
        answered = await it.ask(limits={"max_tool_calls_per_turn": limit})
    assert sum(not result.is_error for result in answered.results) == limit
    assert len(answered.results) == 25


@pytest.mark.parametrize("limit", [1, 3, 10])
async def test_012_sc_002_no_more_tools_run_at_a_time_than_max_parallel_tools(control: ControlName, limit: int) -> None:
    running: list[int] = []
    now = 0
    gate = asyncio.Event()
    reached = asyncio.Event()

    async def wait(arguments: Mapping[str, Any]) -> ToolResult:
        nonlocal now
        now += 1
        running.append(now)
        if now == limit:
            reached.set()
        await gate.wait()
        now -= 1
        return ToolResult(f"result {arguments['n']}")

    turn = says("", *(calls("probe", n=number) for number in range(12)))
    async with harness([turn, answers()], control=control, wire=False, tools=[made_tool(wait)]) as it:
        query = await it.start(limits={"max_parallel_tools": limit, "max_tool_calls_per_turn": 12})
        await reached.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        assert now == limit
        gate.set()
        answered = await query.result()
    assert max(running) == limit
    assert len(answered.results) == 12


async def test_decision_12_parallel_calls_count_in_the_models_order_whatever_ends_first(control: ControlName) -> None:
    second_done = asyncio.Event()

    async def backwards(arguments: Mapping[str, Any]) -> ToolResult:
        if arguments["n"] == 1:
            await second_done.wait()
        else:
            second_done.set()
        return ToolResult(f"result {arguments['n']}")

    turn = says("", calls("probe", n=1), calls("probe", n=2))
    async with harness([turn, answers()], control=control, tools=[made_tool(backwards)]) as it:
        answered = await it.ask()
    assert [result.tool_result for result in answered.results] == ["result 2", "result 1"]
    assert [action.arguments for action in answered.agent.state.recent_actions] == ['{"n":1}', '{"n":2}']
    assert [block["content"] for block in tool_results_of(answered.bodies[1])] == ["result 1", "result 2"]


async def test_decision_13_the_last_turn_has_a_note_and_keeps_tools_and_tool_choice(control: ControlName) -> None:
    async with harness([*busy(2), answers("What there is.")], control=control) as it:
        answered = await it.ask(limits={"max_iterations": 3})
    assert all(map(can_call, answered.bodies))
    assert [body["tools"] for body in answered.bodies] == [answered.bodies[0]["tools"]] * 3
    assert [WRAP_UP in text_of(body["messages"][-1]) for body in answered.bodies] == [False, False, True]
    assert answered.reason == "completed"
    assert answered.answer == "Step 1.\n\nStep 2.\n\nWhat there is."


@pytest.mark.parametrize(
    "text", ["Half." + signal_xml("partial_answer", missing="the rest"), "An answer without a signal."]
)
async def test_012_fr_004_2_an_answer_in_the_last_turn_goes_before_the_limit(control: ControlName, text: str) -> None:
    async with harness([*busy(1), says(text)], control=control) as it:
        answered = await it.ask(limits={"max_iterations": 2})
    assert answered.reason == "completed"
    assert "Stopped" not in answered.answer


async def test_012_fr_004_3_max_iterations_goes_before_the_token_budget(control: ControlName) -> None:
    turns = [says(f"Step {at}.", calls("search_code", query=f"w{at}"), tokens=800) for at in range(2)]
    async with harness(turns, control=control) as it:
        answered = await it.ask(limits={"max_iterations": 2, "token_budget": 1_600})
    assert answered.reason == "max_iterations"


async def test_012_sc_005_all_main_chain_content_is_kept_and_the_save_comes_before_done(control: ControlName) -> None:
    async with harness(busy(5), control=control) as it:
        answered = await it.ask(limits={"max_iterations": 5})
    assert answered.saved_at_done == len(answered.conversation.messages)
    assert [message.role for message in answered.conversation.messages] == ["user", "system", "system", "assistant"]
    assert answered.kept == "".join(chunk.content for chunk in answered.of(Content))


async def test_012_edge_conflicting_limits_the_one_that_is_hit_first_wins(control: ControlName) -> None:
    turns = [says(f"Step {at}.", calls("search_code", query=f"w{at}"), tokens=600) for at in range(9)]
    async with harness(turns, control=control) as it:
        answered = await it.ask(limits={"max_iterations": 50, "timeout_seconds": 10, "token_budget": 1_000})
    assert answered.reason == "token_budget"
    assert isinstance(answered.chunks[answered.position(SystemNotice)], SystemNotice)
