"""Trees, models, tools and decision trees that do what none should: for tests of what holds all the same.

Everything is drawn by hypothesis and plays the same again. Time stands still unless nothing else can happen; then the
clock jumps to the next deadline.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from math import ceil
from typing import Any

from hypothesis import strategies as st

from bt_runtime.testing import FakeClock
from bt_runtime.text import estimate_tokens
from oracle.agent.planning import message_characters
from oracle.decision import AgentConfig, AgentState, DefaultDecisionTree, decision_tree, rules
from oracle.features.claude.facts import ThinkingSettings
from oracle.features.claude.request import request_body
from oracle.llm.protocol import (
    ModelError,
    ModelEvent,
    ModelFault,
    ModelRequest,
    TextDelta,
    ToolCallRequested,
    ToolUse,
    TurnEnded,
    Usage,
)
from oracle.tools import Tool, ToolResult
from tests.acceptance.harness import Answered, Harness, harness, made_tool, signal_xml
from tests.support.provider.rules import complaint

OWN_STOP = "Stopped: the tree ended this run with the reason {reason}."
REASONS = [
    "completed",
    "stuck",
    "max_iterations",
    "token_budget",
    "timeout",
    "no_progress",
    "error_limit",
    "error",
    "user_cancelled",
]

# What models do, turn by turn; the last one again and again.
TURNS = ["answers", "tools", "same_tools", "more", "empty", "fails", "fails_late", "hangs", "floods", "stubborn"]
SCRIPTS = st.one_of(st.sampled_from(TURNS).map(lambda turn: [turn]), st.lists(st.sampled_from(TURNS), max_size=6))
LIMITS = st.fixed_dictionaries(
    {
        "max_iterations": st.integers(1, 6),
        "token_budget": st.sampled_from([1_000, 6_000, 50_000]),
        "timeout_seconds": st.sampled_from([10, 60]),
        "max_parallel_tools": st.integers(1, 3),
    }
)
CANCELS = st.one_of(st.none(), st.sampled_from([0.0, 0.3, 4.0, 9.9]))


@dataclass(slots=True)
class WildModel:
    """Plays a script of the words in `TURNS`, and obeys nothing but `max_tokens`.

    Args:
        script: one word for each request; the last one stays.
        release: ends the streams that ignore their cancellation.
    """

    script: Sequence[str]
    release: asyncio.Event
    name: str = "wild"
    has_web_search: bool = False
    requests: list[ModelRequest] = field(default_factory=list)

    async def aclose(self) -> None:
        """There is nothing to release."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next word."""
        self.requests.append(request)
        number = len(self.requests)
        word = self.script[min(number, len(self.script)) - 1] if self.script else "answers"
        if word == "fails":
            raise ModelError(ModelFault("provider_failed", "the provider is down"))
        text = {"empty": "", "more": f"Part {number}."}.get(word, f"Words of {number}.")
        room = request.max_tokens * 4
        if text:
            yield TextDelta(text[:room])
        if word == "fails_late":
            raise ModelError(ModelFault("provider_overloaded", "the provider is overloaded"))
        if word == "hangs":
            await asyncio.Event().wait()
        if word == "stubborn":
            while not self.release.is_set():
                with suppress(asyncio.CancelledError):
                    await self.release.wait()
            yield TextDelta("What nobody should hear.")
        while word == "floods":
            await asyncio.sleep(0)
            yield TextDelta("And so on. " * 40)
        async for event in self._end(word, number, text[:room], request):
            yield event

    async def _end(self, word: str, number: int, text: str, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        called = [] if word not in ("tools", "same_tools") else [{"n": number if word == "tools" else 0}] * 2
        calls = [ToolUse(f"call_{number}_{at}", "probe", arguments) for at, arguments in enumerate(called)]
        for call in calls:
            yield ToolCallRequested(call)
        tail = signal_xml("need_turn", reason=f"step {number}") if word == "more" and request.max_tokens > 60 else ""
        if tail:
            yield TextDelta(tail)
        said = [{"type": "text", "text": text + tail}] if text + tail else []
        used = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls]
        usage = Usage(input_tokens=20, output_tokens=min(request.max_tokens, 40))
        yield TurnEnded("tool_use" if calls else "end_turn", usage, (*said, *used), self.name)


def wild_tool(script: Sequence[str], clock: FakeClock, release: asyncio.Event) -> Tool:
    """A tool `probe` whose calls work, fail, take their time, hang, or ignore their cancellation."""
    numbers = count()

    async def call(arguments: Mapping[str, Any]) -> ToolResult:
        at = next(numbers)
        word = script[min(at, len(script) - 1)] if script else "works"
        if word == "slow":
            await clock.sleep(0.5)
        if word == "hangs":
            await asyncio.Event().wait()
        if word == "stubborn":
            while not release.is_set():
                with suppress(asyncio.CancelledError):
                    await release.wait()
        return ToolResult(f"result {arguments.get('n', 0)}", is_error=word == "fails")

    return made_tool(call)


TOOL_SCRIPTS = st.lists(st.sampled_from(["works", "works", "fails", "slow", "hangs", "stubborn"]), max_size=4)

# Trees: of all kinds, with and without sense.
_EXPRESSIONS = st.sampled_from(
    [
        "turn < turn_limit",
        "tool_calls > 0",
        "rounds < 3",
        "termination_reason",
        "not termination_reason",
        "signal == 'need_turn'",
        "failed",
        "true",
        "false",
        "score > 1",
    ]
)
_GUARDS = st.sampled_from(
    [
        "cancelled",
        "turn_budget",
        "token_budget",
        "deadline",
        "no_progress",
        "error_limit",
        {"turn_budget": 2},
        {"turn_budget": 40},
        {"deadline": 3},
        {"deadline": 900},
    ]
)
_TURNS = st.one_of(
    st.just("llm_turn"),
    st.fixed_dictionaries(
        {},
        optional={
            "hint": st.sampled_from(["Be brief.", "This is turn {turn} about {query_type}."]),
            "model": st.just("claude-haiku-4-5"),
            "prompt": st.just("summarization"),
            "timeout_s": st.sampled_from([0.5, 30]),
            "tools": st.booleans(),
            "visible": st.booleans(),
            "into": st.sampled_from(["found", "score"]),
        },
    ).map(lambda settings: {"llm_turn": settings}),
)
_LEAVES = st.one_of(
    _TURNS,
    _TURNS,
    _GUARDS,
    st.sampled_from(
        [
            "classify_query",
            "compose_prompt",
            "offer_all_reading_tools",
            "warn_near_limits",
            "run_tools",
            "run_tools",
            "refuse_tools",
            "hold_back_calls",
            "judge_context",
            "require_answer",
            "grant_turn",
            "classify_response",
            "explain_stop",
            "finish",
            {"offer_tools": ["vault_write", "probe"]},
            {"withhold_tools": ["search_code", "probe"]},
            {"condition": "seconds_left > 9 or pending_calls or pending_writes"},
            {"py_trees": "py_trees.behaviours.Running"},
            {"py_trees": {"behaviour": "py_trees.behaviours.SuccessEveryN", "with": {"n": 2}}},
            {"say": "Said by the tree."},
            {"notify": "Told by the tree."},
            {"note": "You have used {turn} turns."},
            {"try_strategy": {"name": "other_words", "hint": "These found nothing: {empty_searches}."}},
            {"run_tools": {"approve": ["probe"], "expires": None}},
            {"ask_user": {"question": "Which?", "into": "found", "expires": "1h"}},
            {"ask_user": {"question": "Which?", "into": "found", "options": ["a", "b"], "default": "b"}},
            {"wait": {"seconds": 2}},
            {"wait": {"until": "rounds >= 2", "timeout_s": 5}},
            {"set": {"rounds": "rounds + 1"}},
            {"set": {"hint": "'Try again.'"}},
            {"set": {"found": "found + 'x'"}},
            {"action": {"call": "probe", "with": {"n": "rounds"}, "into": "found"}},
            {"action": "list_files"},
        ]
    ),
    st.sampled_from(REASONS).map(lambda reason: {"stop": reason}),
    _EXPRESSIONS.map(lambda when: {"condition": when}),
    st.sampled_from(["use_tools", "continue_answer", "follow_signal", "fallback"]).map(lambda name: {"subtree": name}),
)


def _inner(child: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    children = st.lists(child, min_size=1, max_size=4)
    return st.one_of(
        children.map(lambda nodes: {"sequence": nodes}),
        children.map(lambda nodes: {"sequence": nodes}),
        children.map(lambda nodes: {"selector": nodes}),
        st.builds(lambda kind, nodes: {kind: {"memory": False, "children": nodes}}, _REACTIVE, children),
        st.builds(
            lambda success, failure, most, nodes: {
                "parallel": {"success": success, "failure": failure, "max_concurrent": most, "children": nodes}
            },
            st.sampled_from(["all", "one", 1]),
            st.sampled_from(["one", "unreachable"]),
            st.sampled_from([None, 1, 2]),
            children,
        ),
        st.builds(_loop, st.none() | _EXPRESSIONS, st.lists(_GUARDS | child, max_size=3), child),
        st.builds(_loop, st.just("termination_reason"), st.just(["cancelled", "turn_budget", "deadline"]), child),
        st.builds(_wrap("repeat", "times"), st.sampled_from([2, 900]), child),
        st.builds(_wrap("retry", "attempts"), st.sampled_from([2, 1000]), child),
        st.builds(
            lambda wait_s, below: {"retry": {"attempts": 3, "backoff_s": wait_s, "child": below}},
            st.sampled_from([0.1, 20]),
            child,
        ),
        st.builds(_wrap("timeout", "seconds"), st.sampled_from([0.001, 2, 500]), child),
        st.builds(lambda first, then: {"finally": {"child": first, "then": then}}, child, child),
        st.builds(lambda kind, below: {kind: below}, _FORCED, child),
        *_newer(child),
    )


def _newer(child: st.SearchStrategy[Any]) -> tuple[st.SearchStrategy[Any], ...]:
    """The kinds that choose, ration, and watch."""
    return (
        st.builds(lambda when, one, two: {"if": {"when": when, "then": one, "else": two}}, _EXPRESSIONS, child, child),
        st.builds(lambda one, two: {"switch": {"value": "rounds", "cases": {"1": one}, "default": two}}, child, child),
        child.map(lambda below: {"for_each": {"in": "['a', 'b', 'c']", "as": "found", "child": below}}),
        st.builds(
            lambda guards, below: {"guarded": {"guards": guards, "child": below}},
            st.lists(_GUARDS, min_size=1, max_size=2),
            child,
        ),
        st.builds(
            lambda seconds, waits, below: {"cooldown": {"seconds": seconds, "wait": waits, "child": below}},
            st.sampled_from([0.5, 20]),
            st.booleans(),
            child,
        ),
        child.map(lambda below: {"once": below}),
        child.map(lambda below: {"approve": {"message": "May this be done?", "child": below}}),
        child.map(lambda below: {"on_halt": {"child": below, "then": {"say": "Halted."}}}),
    )


_REACTIVE = st.sampled_from(["sequence", "selector"])
_FORCED = st.sampled_from(["inverter", "force_success", "force_failure"])


def _loop(until: str | None, guards: list[Any], child: Any) -> Any:
    return {"loop": {"until": until, "guards": guards, "child": child}}


def _wrap(kind: str, setting: str) -> Any:
    return lambda value, child: {kind: {setting: value, "child": child}}


_ANY = st.recursive(_LEAVES, _inner, max_leaves=14)
ROOTS = st.one_of(
    _ANY,
    st.builds(lambda turn, root: {"sequence": [{"force_success": turn}, "run_tools", root]}, _TURNS, _ANY),
    _ANY.map(lambda root: {"loop": {"child": {"sequence": ["llm_turn", "run_tools", {"force_success": root}]}}}),
    _ANY.map(lambda root: {"loop": {"child": {"parallel": ["llm_turn", {"force_success": root}]}}}),
)


def tree_file(root: Any, *, max_turns: int | None = None) -> dict[str, Any]:
    """The tree `wild` with this root, as JSON, which is YAML."""
    keys: dict[str, Any] = {
        "rounds": {"type": "int", "default": 0},
        "found": {"type": "str", "default": ""},
        "score": "int",
    }
    if max_turns is not None:
        keys["max_turns"] = {"type": "int", "default": max_turns}
    return {"tree": "wild", "blackboard": keys, "root": {"sequence": ["classify_query", "compose_prompt", root]}}


@dataclass(frozen=True, slots=True)
class WildControl(DefaultDecisionTree):
    """A skill that says what a script says: a reason, `on`, or what the default would."""

    script: Sequence[str]
    config: AgentConfig

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        """The next word, by the turn."""
        word = self.script[min(state.turn, len(self.script) - 1)]
        if word == "default":
            return DefaultDecisionTree(self.config).should_continue(state)
        return (True, "") if word == "on" else (False, word)

    def on_turn_start(self, state: AgentState) -> AgentState:
        """Forget all that counts."""
        return AgentState(user_id="other", config=AgentConfig(max_iterations=50, token_budget=200_000))

    def get_config(self) -> AgentConfig:
        """As much as there is."""
        return self.config


_skill: list[WildControl] = []


@decision_tree("test-wild")
def _wild_control(_: AgentConfig) -> WildControl:
    return _skill[-1]


CONTROLS = st.builds(
    WildControl,
    st.lists(st.sampled_from(["on", "on", "default", *REASONS]), min_size=1, max_size=5),
    st.builds(AgentConfig, max_iterations=st.sampled_from([1, 3, 50]), timeout_seconds=st.sampled_from([10, 600])),
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a wild query ended.

    Args:
        answered: what came of it.
        at_s: when `done` was sent, by the clock.
        cancelled: the user had cancelled.
        took_s: from the cancel to the end, in real seconds; 0 without a cancel.
    """

    answered: Answered
    at_s: float
    cancelled: bool
    took_s: float


async def play(
    control: WildControl | Mapping[str, Any] | str,
    *,
    script: Sequence[str],
    tools: Sequence[str],
    limits: Mapping[str, int],
    cancel_at_s: float | None,
    text: str = "",
) -> Ended:
    """Ask once.

    Args:
        control: a skill, a tree file, or the name of a tree, whose `text` is written before if there is any.
        script: what the model does.
        tools: what the tool `probe` does.
        limits: of the query.
        cancel_at_s: when the user cancels.
        text: of the tree.
    """
    clock, release = FakeClock(), asyncio.Event()
    model = WildModel(script, release)
    async with harness(model=model, clock=clock, tools=[wild_tool(tools, clock, release)]) as it:
        name = _prepare(it, control, text)
        decisions = cycle(DECISIONS)
        underway = await it.start(tree=name, limits=dict(limits), decide=lambda _: next(decisions))
        ends: list[float] = []
        emit = underway.query.agent.output.emit

        def watch(chunk: Any) -> None:
            emit(chunk)
            if chunk.type == "done":
                ends.append(clock.now())

        underway.query.agent.output.emit = watch
        took_s, cancelled = 0.0, False
        if cancel_at_s is not None:
            waits = asyncio.create_task(clock.sleep(cancel_at_s))
            await asyncio.wait({waits, underway._task}, return_when=asyncio.FIRST_COMPLETED)
            cancelled = not ends
            waits.cancel()
        before = time.perf_counter()
        if cancelled:
            underway.cancel()
        answered = await underway.result()
        took_s = time.perf_counter() - before if cancelled else 0.0
        answered.requests = model.requests
        said = len(answered.chunks)
        release.set()
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(answered.chunks) == said
    return Ended(answered, ends[0], cancelled, took_s)


DECISIONS: Sequence[Mapping[str, Any]] = (
    {"decision": "approve"},
    {"decision": "answer", "answer": "a"},
    {"decision": "refuse", "comment": "No."},
    {"decision": "edit", "arguments": {"n": 9}},
    {"decision": "expire"},
    {"decision": "approve", "for": "conversation"},
    {"decision": ["none"], "comment": 7},
)
"""What people decide, in turn, whether it is possible or not."""


def _prepare(it: Harness, control: WildControl | Mapping[str, Any] | str, text: str) -> str:
    if isinstance(control, WildControl):
        _skill[:] = [control]
        return "test-wild"
    if isinstance(control, str):
        if text:
            it.write_tree(control, text)
        return control
    it.write_tree("wild", json.dumps(control))
    return "wild"


def check_bounds(ended: Ended, limits: Mapping[str, int]) -> None:
    """Cancel, deadline, turns and tokens held."""
    answered, state = ended.answered, ended.answered.agent.state
    assert ended.at_s <= limits["timeout_seconds"]
    assert answered.done.turns <= limits["max_iterations"]
    assert len(answered.requests) <= (limits["max_iterations"] + 1) * rules.MOST_BROKEN_TURNS
    one_turn = max((_input_of(request) for request in answered.requests), default=0) + 200
    assert state.tokens_used <= limits["token_budget"] + one_turn
    assert len(answered.chunks) < 12_000


def _input_of(request: ModelRequest) -> int:
    return ceil(estimate_tokens(message_characters(request.messages) + len(request.system)))


def check_reason(ended: Ended, limits: Mapping[str, int]) -> None:
    """The reason is true, and the answer is there if it says so."""
    answered, reason, state = ended.answered, ended.answered.reason, ended.answered.agent.state
    assert answered.types.count("error") == (reason == "error")
    if reason == "completed":
        assert answered.answer.strip()
    elif reason == "user_cancelled":
        assert ended.cancelled
    elif answered.last_sentence == OWN_STOP.format(reason=reason):
        assert not rules.is_true(reason, state)
    elif reason == "max_iterations":
        assert limits["max_iterations"] >= answered.done.turns >= state.turn_limit
    elif reason == "timeout":
        assert ended.at_s >= state.time_limit_s
    else:
        assert rules.is_true(reason, state)


def check_requests(ended: Ended) -> None:
    """The provider would take each request."""
    for request in ended.answered.requests:
        body = request_body(
            request, model="claude-sonnet-5-5", max_tokens=request.max_tokens, thinking=ThinkingSettings()
        )
        assert complaint(body) is None
