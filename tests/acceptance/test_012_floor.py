"""The floor: cancel, deadline and limits hold below every control (decision 31; 012 FR-004, SC-002, SC-004)."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from itertools import count, repeat
from typing import Any

import pytest

from bt_runtime.testing import FakeClock
from oracle.decision import AgentConfig, AgentState, DefaultDecisionTree, decision_tree
from oracle.llm.protocol import ModelEvent, ModelFault, ModelRequest, TextDelta
from oracle.testing import ScriptedTurn
from oracle.tools import ToolResult
from tests.acceptance.harness import Answered, answers, calls, harness, made_tool, numbered, says
from tests.support.pace import slowness

DOWN = ScriptedTurn(fault=ModelFault("provider_failed", "the provider is down"))
HEAD = """\
tree: mine
blackboard: {found: {type: str, default: ''}, item: int, approved: {type: bool, from: delivery}}
root:
  sequence:
    - classify_query
    - compose_prompt
"""


def mine(*steps: str) -> str:
    return HEAD + "".join(f"    - {step}\n" for step in steps)


def working() -> Any:
    """Turns without end that call a tool in another way each time."""
    return (says(f"Step {at}.", calls("probe", n=at), tokens=(0, 60)) for at in count(1))


async def asked(tree: str, turns: Any, **options: Any) -> Answered:
    limits = options.pop("limits", {})
    async with harness(turns, wire=False, tools=[made_tool(numbered)], **options) as it:
        it.write_tree("mine", tree)
        return await it.ask(tree="mine", limits=limits)


@pytest.mark.parametrize(
    ("limits", "reason"), [({"max_iterations": 2}, "max_iterations"), ({"token_budget": 1_000}, "token_budget")]
)
async def test_a_loop_without_guards_ends_at_the_users_limits(limits: Mapping[str, int], reason: str) -> None:
    tree = mine("loop: {child: {sequence: [llm_turn, {force_success: run_tools}]}}")
    turns = (says(f"Step {at}.", calls("probe", n=at), tokens=(0, 300)) for at in count(1))
    answered = await asked(tree, turns, limits=limits)
    assert answered.reason == reason
    assert len(answered.requests) == answered.done.turns == 2
    assert not answered.results[-1].tool_result.startswith("result of")


async def test_a_looser_limit_of_the_tree_is_none() -> None:
    tree = mine(
        "loop: {until: termination_reason, guards: [turn_budget: 40, deadline: 500], "
        "child: {sequence: [llm_turn, {force_success: run_tools}]}}"
    )
    answered = await asked(tree, working(), limits={"max_iterations": 3})
    assert (answered.reason, answered.done.turns) == ("max_iterations", 3)


@pytest.mark.parametrize(
    "step",
    [
        "llm_turn",
        "retry: {attempts: 1000, child: llm_turn}",
        "force_success: {llm_turn: {visible: false}}",
        "parallel: [llm_turn: {visible: false}, loop: {guards: [cancelled, deadline], child: llm_turn}]",
        "loop: {guards: [cancelled, deadline], child: {finally: {child: llm_turn, then: {llm_turn: {tools: false}}}}}",
        "wait: {for: approved}",
        "guarded: {guards: [turn_budget], child: {wait: {until: turn > 90}}}",
        "parallel: {until: first_success, children: [llm_turn, {wait: 3600}]}",
        "retry: {attempts: 999, child: {on_halt: {child: llm_turn, then: {say: Interrupted.}}}}",
        "for_each: {in: [1], as: item, continue: true, child: {cooldown: {seconds: 9, wait: true, child: llm_turn}}}",
    ],
)
@pytest.mark.parametrize("way", ["cancel", "deadline"])
async def test_a_hanging_turn_ends_at_a_cancel_and_at_the_deadline(step: str, way: str) -> None:
    clock = FakeClock(jump=way == "deadline")
    async with harness(repeat(says("Half", hang=True)), wire=False, clock=clock) as it:
        it.write_tree("mine", mine(step, "llm_turn: {tools: false}"))
        underway = await it.start(tree="mine", limits={"timeout_seconds": 10})
        if way == "cancel":
            for _ in range(50):
                await asyncio.sleep(0)
            underway.cancel()
        answered = await underway.result()
    assert answered.reason == ("user_cancelled" if way == "cancel" else "timeout")
    assert answered.types[-1] == "done"
    assert clock.now() <= 10


class Stubborn:
    """A model that goes on for a while after it was cancelled."""

    name = "stubborn"
    has_web_search = False

    def __init__(self, release: asyncio.Event) -> None:
        self._release = release

    async def aclose(self) -> None:
        """Nothing to release."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield TextDelta("Half")
        while not self._release.is_set():
            try:
                await self._release.wait()
            except asyncio.CancelledError:
                continue
        yield TextDelta(" and what nobody wants to read any more")


@pytest.mark.parametrize("tree", ["mine", "oracle", "default"])
async def test_a_model_that_ignores_its_cancellation_does_not_hold_up_done(tree: str) -> None:
    release = asyncio.Event()
    async with harness(model=Stubborn(release)) as it:
        it.write_tree("mine", mine("llm_turn", "stop: completed"))
        underway = await it.start(tree=tree)
        await underway.until_content("Half")
        before = time.perf_counter()
        underway.cancel()
        answered = await underway.result()
        took_s = time.perf_counter() - before
        release.set()
        for _ in range(5):
            await asyncio.sleep(0)
    assert answered.reason == "user_cancelled"
    assert answered.answer == "Half"
    assert answered.types[-1] == "done"
    assert took_s < 0.1 * slowness()
    assert answered.done.tokens_used > 0


async def test_a_tool_of_the_tree_that_ignores_its_cancellation_does_not_hold_up_done() -> None:
    release, started = asyncio.Event(), asyncio.Event()

    async def stubborn(_: Mapping[str, Any]) -> ToolResult:
        started.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return ToolResult("late")

    async with harness([answers()], wire=False, tools=[made_tool(stubborn)]) as it:
        it.write_tree("mine", mine("action: {call: probe}", "llm_turn"))
        underway = await it.start(tree="mine")
        await started.wait()
        before = time.perf_counter()
        underway.cancel()
        answered = await underway.result()
        took_s = time.perf_counter() - before
        release.set()
    assert answered.reason == "user_cancelled"
    assert answered.results[0].tool_result == "Cancelled: the run was stopped before this call had ended."
    assert took_s < 0.1 * slowness()


@pytest.mark.parametrize(
    "steps",
    [
        ("llm_turn: {tools: false}", "stop: completed", "llm_turn: {hint: Once more.}", "say: More."),
        ("llm_turn: {tools: false}", "stop: completed", "action: {call: probe}"),
        ("llm_turn: {tools: false}", "stop: completed", "finish", "llm_turn"),
        ("llm_turn: {tools: false}", "finish", "llm_turn"),
        ("llm_turn: {tools: false}", "explain_stop", "llm_turn"),
        ("llm_turn: {tools: false}", "stop: completed", "parallel: [finish, llm_turn, action: {call: probe}]"),
    ],
)
async def test_once_a_reason_is_written_no_turn_and_no_tool_begins(steps: tuple[str, ...]) -> None:
    answered = await asked(mine(*steps), [answers("Here."), answers("Too late.")])
    assert answered.reason == "completed"
    assert answered.answer == "Here."
    assert len(answered.requests) == 1
    assert not answered.calls


async def test_after_a_reason_the_tree_still_has_the_last_word() -> None:
    tree = mine("finally: {child: {loop: {guards: [turn_budget: 1], child: llm_turn}}, then: {say: That was all.}}")
    answered = await asked(tree, [answers("Here.")])
    assert answered.answer == "Here.\n\nThat was all.\n\nStopped: iteration limit reached (1/1)."


@pytest.mark.parametrize(
    "step",
    [
        "retry: {attempts: 1000, child: llm_turn}",
        "loop: {until: turn > 3, child: {force_success: llm_turn}}",
        "loop: {guards: [cancelled, turn_budget, deadline], child: {force_success: {llm_turn: {visible: false}}}}",
        "parallel: {success: one, children: [llm_turn, retry: {attempts: 90, child: {llm_turn: {visible: false}}}]}",
    ],
)
async def test_a_provider_that_fails_is_not_asked_without_end(step: str) -> None:
    answered = await asked(mine(step, "stop: completed"), repeat(DOWN))
    assert answered.reason == "error"
    assert [(each.error_type, each.error) for each in answered.failures] == [
        ("provider_failed", "the provider is down")
    ]
    assert 10 <= len(answered.requests) <= 11


async def test_turns_that_the_tree_interrupts_itself_are_bounded_too() -> None:
    step = "retry: {attempts: 1000, child: {timeout: {seconds: 0.001, child: llm_turn}}}"
    answered = await asked(mine(step), repeat(says("Ha", hang=True)), clock=FakeClock())
    assert answered.reason == "error"
    assert len(answered.requests) == 10
    assert "10 turns in a row were interrupted" in answered.cause


async def test_a_turn_counts_also_where_its_text_does_not_fit_the_key_that_wants_it() -> None:
    tree = mine("retry: {attempts: 1000, child: {llm_turn: {into: score, visible: false}}}")
    tree = tree.replace("blackboard: {", "blackboard: {score: int, ")
    answered = await asked(tree, repeat(answers(tokens=(0, 50))), limits={"max_iterations": 3})
    assert (answered.reason, answered.done.turns, answered.done.tokens_used) == ("max_iterations", 3, 150)
    assert len(answered.requests) == 3


@pytest.mark.parametrize(
    ("step", "node"),
    [
        ("loop: {child: {action: {call: probe, with: {n: turn}, into: found}}}", "sequence/loop/action"),
        (
            "retry: {attempts: 1000, child: {force_failure: {action: {call: probe}}}}",
            "sequence/retry/force_failure/action",
        ),
        ("loop: {child: {notify: Still here.}}", "sequence/loop"),
        ("loop: {child: {say: Still here.}}", "sequence/loop"),
        ("repeat: {times: 900, child: {parallel: [say: One., notify: Two.]}}", "sequence/repeat"),
        ("loop: {child: run_tools}", "sequence/loop/run_tools"),
        (f"for_each: {{in: {list(range(900))}, as: item, child: {{notify: 'Item {{item}}.'}}}}", "sequence/for_each"),
        (
            "loop: {child: {if: {when: turn > 0, then: {switch: {value: turn, cases: {'1': {say: One.}}}}}}}",
            "sequence/loop",
        ),
        ("loop: {child: {cooldown: {seconds: 0, wait: true, child: {notify: Again.}}}}", "sequence/loop"),
        (
            "repeat: {times: turn * 900, child: {parallel: {until: first_end, children: [say: One.]}}}",
            "sequence/repeat",
        ),
        ("loop: {guards: [notify: Tick.], child: {action: {call: probe}}}", "sequence/loop/child"),
    ],
)
async def test_work_that_no_turn_pays_for_ends_and_names_the_node(step: str, node: str) -> None:
    answered = await asked(mine("llm_turn: {tools: false}", step), [answers("Here.")])
    assert answered.reason == "error"
    assert answered.failures[0].error_type == "tree_failed"
    assert "without waiting for anything" in answered.cause
    if not node.endswith("child"):
        assert f"'{node}' went on for 200 requests and messages" in answered.cause
    assert len(answered.chunks) < 900


async def test_a_tree_may_poll_what_takes_its_time() -> None:
    clock = FakeClock()
    polls = count(1)

    async def slow(_: Mapping[str, Any]) -> ToolResult:
        await clock.sleep(0.2)
        return ToolResult("ready" if next(polls) >= 400 else "not yet")

    step = "loop: {until: found == 'ready', child: {action: {call: probe, into: found}}}"
    async with harness([answers()], wire=False, clock=clock, tools=[made_tool(slow)]) as it:
        it.write_tree("mine", mine(step, "llm_turn"))
        answered = await it.ask(tree="mine")
    assert answered.reason == "completed"
    assert len(answered.calls) == 400


SPIN = "loop: {child: {set: {hint: question}}}"
LOOK = calls("probe")


@pytest.mark.parametrize(
    ("steps", "turns", "reason", "sentence"),
    [
        (("stop: completed",), [], "error", "failed: it stopped before there was an answer."),
        (("llm_turn: {visible: false}", "stop: completed"), [answers()], "error", "before there was an answer."),
        (
            ("llm_turn", "stop: completed"),
            [answers("")],
            "stuck",
            "could not get further - the model's last response was empty.",
        ),
        (("llm_turn",), [says(" ")], "stuck", "could not get further - the model's last response was empty."),
        (
            ("llm_turn: {tools: false}", "stop: completed"),
            [says("", stop_reason="max_tokens")],
            "stuck",
            "could not get further - the model's last response was cut off.",
        ),
        (
            ("llm_turn", "stop: completed"),
            [says("", calls("probe"))],
            "stuck",
            "could not get further - the model called tools and wrote no answer.",
        ),
        (
            ("llm_turn: {tools: false}", "grant_turn"),
            [says('One part. <signal type="need_turn"><reason>more</reason></signal>')],
            "stuck",
            "could not get further - the model asked for another turn.",
        ),
        (("llm_turn",), [says("Let me see.", calls("probe"))], "error", "it ended before the model had answered."),
        (("force_success: llm_turn", "stop: completed"), [DOWN], "error", "Stopped: the provider is down."),
        (("llm_turn", "stop: completed", SPIN), [says("", LOOK)], "error", "without waiting for anything."),
        (("llm_turn", "stop: completed", SPIN), [says("Let me see.", LOOK)], "error", "without waiting for anything."),
        (("llm_turn", "stop: user_cancelled"), [answers()], "error", "the user had cancelled, but nobody had."),
        (("llm_turn", "stop: error"), [answers()], "error", "failed: it gave no reason."),
    ],
)
async def test_the_reason_is_true(steps: tuple[str, ...], turns: Any, reason: str, sentence: str) -> None:
    answered = await asked(mine(*steps), turns)
    assert answered.reason == reason
    assert sentence in f"{answered.cause}. {answered.last_sentence}", "operators read the cause, users the sentence"
    assert [chunk.type for chunk in answered.chunks].count("error") == (reason == "error")


async def test_a_hot_loop_behind_a_whole_answer_takes_nothing_from_it() -> None:
    answered = await asked(
        mine("llm_turn", "stop: completed", "loop: {child: {set: {hint: question}}}"), [answers("Yes.")]
    )
    assert (answered.reason, answered.answer) == ("completed", "Yes.")


async def test_two_visible_turns_side_by_side_come_one_after_the_other() -> None:
    one, two = "sequence: [condition: turn == 0, llm_turn]", "selector: [condition: turn > 0, llm_turn]"
    tree = mine(f"parallel: [{one}, {two}]", "llm_turn")
    turns = [says("One.", calls("probe", n=1)), says("Two.", calls("probe", n=2)), answers("Three.")]
    answered = await asked(tree, turns)
    assert answered.answer == "One.\n\nTwo.\n\nThree."
    assert [result.tool_result for result in answered.results] == ["Not run: the control goes on without it."] * 2
    assert len(answered.requests[1].messages) == 3


async def test_invisible_turns_side_by_side_never_use_more_than_the_limits() -> None:
    side = "llm_turn: {visible: false}"
    tree = mine(f"force_success: {{parallel: [{side}, {side}, {side}]}}", "llm_turn")
    answered = await asked(tree, [says("x", tokens=(0, 10))] * 3, limits={"max_iterations": 2})
    assert (answered.reason, answered.done.turns, len(answered.requests)) == ("max_iterations", 2, 2)
    answered = await asked(tree, repeat(says("x", tokens=(0, 600))), limits={"token_budget": 1_000})
    assert answered.reason == "token_budget"
    assert [request.max_tokens for request in answered.requests] == [1_000, 400]  # the second one waited


async def test_tools_are_run_once_however_often_the_tree_runs_them() -> None:
    tree = mine("llm_turn", "parallel: [run_tools, run_tools]", "run_tools", "refuse_tools", "llm_turn")
    answered = await asked(tree, [says("Looking.", calls("probe", n=1), calls("probe", n=2)), answers()])
    assert [result.tool_result for result in answered.results] == ["result of {'n': 1}", "result of {'n': 2}"]
    (results,) = [message for message in answered.requests[1].messages if "tool_result" in str(message)]
    assert len(results["content"]) == 2
    assert len(answered.agent.state.recent_actions) == 2


@decision_tree("test-greedy")
class Greedy(DefaultDecisionTree):
    """Wants more than the user, and rewrites what it is shown."""

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        return True, ""

    def on_turn_start(self, state: AgentState) -> AgentState:
        return AgentState(user_id="other", config=AgentConfig(max_iterations=50), extensions={"seen": state.turn})

    def get_config(self) -> AgentConfig:
        return AgentConfig(max_iterations=50, token_budget=200_000, timeout_seconds=600)


@decision_tree("test-modest")
class Modest(DefaultDecisionTree):
    """Stops early, and calls that by the name of a limit."""

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        return state.turn < 2, "max_iterations"


async def test_a_decision_tree_can_neither_raise_the_limits_nor_rewrite_what_counts_against_them() -> None:
    async with harness(working(), wire=False, tools=[made_tool(numbered)]) as it:
        answered = await it.ask(tree="test-greedy", limits={"max_iterations": 3})
    assert (answered.reason, answered.done.turns) == ("max_iterations", 3)
    assert answered.agent.state.user_id == "local"
    assert answered.agent.state.extensions == {"seen": 2}


@pytest.mark.parametrize("tree", ["test-modest", "mine"])
async def test_a_control_that_stops_for_a_reason_of_its_own_shows_no_numbers(tree: str) -> None:
    async with harness(working(), wire=False, tools=[made_tool(numbered)]) as it:
        it.write_tree("mine", mine("llm_turn", "run_tools", "llm_turn", "stop: max_iterations"))
        answered = await it.ask(tree=tree)
    assert (answered.reason, answered.done.turns) == ("max_iterations", 2)
    assert answered.messages == ["The tree ended this run with the reason max_iterations. Saving partial response."]
    assert answered.notices[0].severity == "info"
    assert answered.notices[0].metadata == {}
    assert answered.last_sentence == "Stopped: the tree ended this run with the reason max_iterations."
