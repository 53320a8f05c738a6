"""What holds for every query, whatever the model does and the limits are (012 SC-002, SC-005; decisions 5, 8, 9)."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.core.chunks import ToolCalled
from oracle.features.claude.facts import ThinkingSettings
from oracle.features.claude.request import request_body
from oracle.llm.protocol import ModelFault, ModelRequest, Usage
from oracle.testing import ScriptedCall, ScriptedTurn
from oracle.tools import ToolResult
from tests.acceptance.harness import CODE_QUESTION, NEED_TURN, SUFFICIENT, Answered, harness, made_tool, signal_xml
from tests.support.provider.rules import complaint

TAILS = [
    "",
    NEED_TURN,
    SUFFICIENT,
    signal_xml("stuck", attempted="one, two", blocker="no way"),
    signal_xml("need_capability", capability="a shell", reason="to run it"),
    signal_xml("partial_answer", missing="a part", confidence=0.1),
    signal_xml("delegation_recommended", reason="it is long", scope="all of it"),
    '\n<signal type="need_turn"><reas',
    '<signal type="nonsense"></signal>',
    " `<signal type='stuck'>` ",
]


async def mixed(arguments: Mapping[str, Any]) -> ToolResult:
    """Works, finds nothing, or fails, as its arguments say."""
    kind = arguments.get("kind", 0)
    return ToolResult(f"result {arguments.get('n', 0)}", is_error=kind == 2, is_empty=kind == 1)


TOOL_CALLS = st.one_of(
    st.builds(
        lambda kind, n: ScriptedCall("probe", {"kind": kind, "n": n}),
        st.integers(0, 2),
        st.integers(0, 3),
    ),
    st.sampled_from(
        [ScriptedCall("no_such_tool"), ScriptedCall("probe", '{"n": '), ScriptedCall("vault_write", {"path": "x"})]
    ),
)
TEXTS = st.one_of(st.just(""), st.just(" \n"), st.text(max_size=40), st.just("x" * 5_000))
USAGES = st.one_of(
    st.none(),
    st.builds(
        Usage,
        input_tokens=st.one_of(st.none(), st.integers(0, 6_000)),
        cache_creation_tokens=st.integers(0, 500),
        cache_read_tokens=st.integers(0, 500),
        output_tokens=st.one_of(st.none(), st.integers(0, 2_000)),
    ),
)
TURNS = st.builds(
    lambda text, tail, thinking, tool_calls, usage, piece_chars, stop_reason, fault: ScriptedTurn(
        text=text + tail,
        thinking=thinking,
        tool_calls=tuple(tool_calls),
        usage=usage,
        piece_chars=piece_chars,
        stop_reason=stop_reason,
        fault=ModelFault("provider_failed", "The script says so.") if fault else None,
    ),
    TEXTS,
    st.sampled_from(TAILS),
    st.sampled_from(["", "Hm."]),
    st.lists(TOOL_CALLS, max_size=7),
    USAGES,
    st.integers(0, 9),
    st.sampled_from([None] * 12 + ["max_tokens", "refusal", "broken"]),
    st.sampled_from([False] * 14 + [True]),
)
LIMITS = st.fixed_dictionaries(
    {
        "max_iterations": st.integers(1, 8),
        "token_budget": st.sampled_from([1_000, 5_000, 20_000, 200_000]),
        "max_tool_calls_per_turn": st.integers(1, 6),
        "max_parallel_tools": st.integers(1, 3),
        "soft_warning_percent": st.integers(50, 90),
        "token_warning_percent": st.integers(50, 95),
    }
)


@settings(
    max_examples=settings().max_examples * 6 // 5,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    turns=st.lists(TURNS, min_size=1, max_size=8),
    limits=LIMITS,
    control=st.sampled_from(["tree", "loop"]),
)
@pytest.mark.long("asks whole queries of many scripts")
async def test_012_sc_002_and_sc_005_hold_for_any_script_and_any_limits(
    turns: list[ScriptedTurn], limits: dict[str, int], control: Any
) -> None:
    async with harness(cycle(turns), control=control, wire=False, tools=[made_tool(mixed)]) as it:
        first = await it.ask(CODE_QUESTION, limits=limits)
        second = await it.ask("And the other one?", limits=limits, context_id=first.done.context_id)
    for answered in (first, second):
        check_limits(answered, limits)
        check_answer(answered)
        for request in answered.requests:
            assert accepted(request) is None


def check_limits(answered: Answered, limits: Mapping[str, int]) -> None:
    assert answered.done.turns <= limits["max_iterations"]
    assert len(answered.requests) <= limits["max_iterations"] + 1
    per_turn: dict[str, int] = {}
    ran = {result.tool_call_id for result in answered.results if not result.tool_result.startswith("Not run")}
    for chunk in answered.chunks:
        if isinstance(chunk, ToolCalled) and chunk.tool_call.id in ran:
            turn = chunk.tool_call.id.split("_")[1]
            per_turn[turn] = per_turn.get(turn, 0) + 1
    assert all(number <= limits["max_tool_calls_per_turn"] for number in per_turn.values())
    assert all(1 <= request.max_tokens <= limits["token_budget"] for request in answered.requests)
    warnings = [
        notice.system_message.split("(")[0] for notice in answered.notices if notice.system_type == "limit_warning"
    ]
    assert len(warnings) == len(set(warnings))


def check_answer(answered: Answered) -> None:
    assert answered.done.tokens_used == answered.agent.state.tokens_used
    assert [chunk.type for chunk in answered.chunks].count("error") == (answered.reason == "error")
    assert len(answered.answer) < 60_000


def accepted(request: ModelRequest) -> str | None:
    """What the provider would complain about."""
    body = request_body(request, model="claude-sonnet-5-5", max_tokens=request.max_tokens, thinking=ThinkingSettings())
    return complaint(body)
