"""A query of a model with a small context window: prompt, conversation and results of tools fit into it."""

from collections.abc import Mapping
from typing import Any

import pytest

from bt_runtime.text import estimate_tokens
from oracle.agent.conversations.protocol import Exchange
from oracle.tools import ToolResult
from tests.acceptance.harness import (
    CHAT,
    CODE_QUESTION,
    ControlName,
    answers,
    calls,
    harness,
    made_tool,
    says,
    text_of_request,
)
from tests.acceptance.test_020_us4_prompts import QUESTIONS, holds, system_of

WINDOW = 8_192


def windows(model: str | None) -> int | None:
    """The window of the configured model; that of others is not known."""
    return WINDOW if model is None else None


@pytest.mark.parametrize("query_type", QUESTIONS)
async def test_the_prompt_is_short_for_a_small_window_and_whole_for_another_model(query_type: str) -> None:
    async with harness([answers(), answers()], context_tokens=windows) as it:
        short = await it.ask(QUESTIONS[query_type])
        whole = await it.ask(QUESTIONS[query_type], model="claude-opus-5")
    assert estimate_tokens(len(system_of(short))) < 3_000
    assert not holds(system_of(short), "base")
    assert holds(system_of(whole), "base")


@pytest.mark.parametrize("window", [WINDOW, 200_000])
async def test_the_conversation_takes_at_most_a_third_of_the_window_and_the_user_is_told(window: int) -> None:
    async with harness([answers()], context_tokens=lambda _: window) as it:
        kept = await it.conversations.create("local")
        for number in range(8):
            exchange = Exchange(f"Question {number}?", "x" * 2_000, "t", "t", "completed", f"run-{number}")
            await it.conversations.append("local", kept.context_id, exchange)
        answered = await it.ask(CHAT, context_id=kept.context_id)
    sent = estimate_tokens(len(text_of_request(answered.bodies[0])) - len(system_of(answered)))
    if window == WINDOW:
        assert WINDOW // 3 - 600 < sent < WINDOW // 3 + 100  # and the question
        assert "oldest messages are left out" in answered.messages[0]
    else:
        assert sent > 4_000
        assert not answered.messages


@pytest.mark.parametrize("window", [WINDOW, None])
async def test_results_leave_a_quarter_of_the_window_to_the_answer(control: ControlName, window: int | None) -> None:
    async def much(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult("x" * 60_000)

    turns = [says("", calls("probe"), tokens=(2_700, 10)), says("", calls("probe", n=2), tokens=(4_500, 10)), answers()]
    async with harness(turns, control=control, tools=[made_tool(much)], context_tokens=lambda _: window) as it:
        answered = await it.ask(CODE_QUESTION)
    assert answered.reason == "completed"
    sizes = [estimate_tokens(len(text_of_request(body))) for body in answered.bodies]
    if window is None:
        assert sizes[1] > WINDOW
    else:
        assert window // 2 < sizes[1] < sizes[2] <= window - window // 4
        assert sizes[2] - sizes[1] > 500, "there is room for what is looked for next"
