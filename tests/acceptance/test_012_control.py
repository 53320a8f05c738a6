"""Control that can be exchanged: decision trees in Python, trees that are edited (012 US4, FR-012 to 015, SC-008)."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from oracle.core.errors import UserError
from oracle.decision import AgentConfig, AgentState, DecisionTree, DefaultDecisionTree, decision_tree
from tests.acceptance.harness import (
    NEED_TURN,
    Answered,
    answers,
    calls,
    hangs,
    harness,
    made_tool,
    numbered,
    says,
    text_of,
    text_of_request,
)
from tests.acceptance.requests import can_call

AUTH = calls("search_code", query="auth")


@decision_tree("test-one-tool")
class OneTool(DefaultDecisionTree):
    """A skill that is content with one tool's result, and keeps a note of its own."""

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        if state.extensions.get("found"):
            return False, "completed"
        return super().should_continue(state)

    def on_tool_result(self, state: AgentState, result: Mapping[str, Any]) -> AgentState:
        return super().on_tool_result(state, result).extended(found=result["text"])

    def get_config(self) -> AgentConfig:
        return AgentConfig(max_iterations=7)


@decision_tree("test-unstoppable")
class Unstoppable(DefaultDecisionTree):
    """Never wants to stop."""

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        return True, ""


class Faulty(DefaultDecisionTree):
    """A skill with a mistake."""

    def should_continue(self, state: AgentState) -> Any:
        raise KeyError("found")


class Wordy(DefaultDecisionTree):
    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        return state.turn < 1, "I am content"


class Forgetful(DefaultDecisionTree):
    def on_turn_start(self, state: AgentState) -> Any:
        return None


class Mute(DefaultDecisionTree):
    def should_continue(self, state: AgentState) -> Any:
        return None


for _name, _class in {"faulty": Faulty, "wordy": Wordy, "forgetful": Forgetful, "mute": Mute}.items():
    decision_tree(f"test-{_name}")(_class)


def endless() -> Any:
    """Turns without end that call a tool in another way each time."""
    return (says(f"Step {at}.", calls("probe", n=at)) for at in count(1))


def told(answered: Answered) -> list[Any]:
    """What a client sees, times and names of the query apart."""
    seen = []
    for chunk in answered.wire:
        kept = {name: value for name, value in chunk.items() if name not in ("run_id", "context_id", "duration_ms")}
        seen.append(kept)
    return seen


@pytest.mark.parametrize(
    "turns",
    [
        [answers()],
        [says("Looking.", AUTH), answers()],
        [says("More." + NEED_TURN), answers()],
        [says(f"Step {at}.", calls("probe", n=at)) for at in range(5)],
        [says("Again.", AUTH)] * 3,
        [says("", calls("read_file", path=f"no/{at}")) for at in range(3)],
        [says("Half", stop_reason="refusal")],
    ],
    ids=["answer", "tool", "need_turn", "max_iterations", "no_progress", "error_limit", "error"],
)
async def test_012_us4_1_the_default_decision_tree_and_the_yaml_tree_behave_alike(turns: Any) -> None:
    seen = []
    for control in ("tree", "loop"):
        async with harness(turns, control=control, tools=[made_tool(numbered)]) as it:
            seen.append(told(await it.ask(limits={"max_iterations": 5})))
    assert seen[0] == seen[1]


async def test_012_us4_2_a_custom_decision_tree_controls_the_query_that_names_it() -> None:
    async with harness(endless(), wire=False, tools=[made_tool(numbered)]) as it:
        answered = await it.ask(tree="test-one-tool")
    assert answered.reason == "completed"
    assert answered.done.turns == 1
    assert answered.results[0].tool_result == "result of {'n': 1}"


async def test_012_us4_3_a_workflow_reads_and_writes_its_own_state_without_touching_the_core() -> None:
    async with harness(endless(), wire=False, tools=[made_tool(numbered)]) as it:
        answered = await it.ask(tree="test-one-tool")
        default = await it.ask(tree="default", limits={"max_iterations": 1})
    state = answered.agent.state
    assert state.extensions == {"found": "result of {'n': 1}"}
    assert default.agent.state.extensions == {}
    assert replace(state, extensions={}).recent_actions[0].tool == "probe"


async def test_012_fr_012_the_config_of_a_decision_tree_is_in_force() -> None:
    async with harness([answers()], wire=False) as it:
        answered = await it.ask(tree="test-one-tool")
    assert answered.agent.state.config.max_iterations == 7


async def test_012_fr_014_a_registered_decision_tree_goes_before_a_yaml_tree_of_its_name() -> None:
    async with harness(endless(), wire=False, tools=[made_tool(numbered)]) as it:
        it.write_tree("test_one", "tree: test_one\nroot: {stop: stuck}\n")
        yaml = await it.ask(tree="test_one")
        python = await it.ask(tree="test-one-tool")
    assert yaml.reason == "stuck"
    assert python.reason == "completed"


async def test_012_fr_014_an_unknown_tree_is_refused_with_the_nearest_name() -> None:
    async with harness() as it:
        with pytest.raises(UserError, match="there is no tree 'orcale'; did you mean 'oracle'"):
            await it.ask(tree="orcale")


@pytest.mark.parametrize(
    ("limits", "reason"), [({"max_iterations": 4}, "max_iterations"), ({"token_budget": 1_000}, "token_budget")]
)
async def test_012_sc_002_limits_hold_whatever_a_decision_tree_answers(limits: Any, reason: str) -> None:
    turns = (says("More.", calls("probe", n=at), tokens=(0, 240)) for at in count())
    async with harness(turns, wire=False, tools=[made_tool(numbered)]) as it:
        answered = await it.ask(tree="test-unstoppable", limits=limits)
    assert answered.reason == reason


async def test_012_sc_002_cancel_and_deadline_hold_whatever_a_decision_tree_answers() -> None:
    async with harness([hangs(says("Half")), hangs(says("Half"))]) as it:
        cancelled = await it.start(tree="test-unstoppable")
        await cancelled.until_content("Half")
        cancelled.cancel()
        assert (await cancelled.result()).reason == "user_cancelled"
        late = await it.start(tree="test-unstoppable", limits={"timeout_seconds": 10})
        await late.until_content("Half")
        it.clock.advance(10)
        assert (await late.result()).reason == "timeout"


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ("test-faulty", "should_continue raised KeyError"),
        ("test-wordy", "gave the reason 'I am content'"),
        ("test-forgetful", "on_turn_start answered None"),
        ("test-mute", "should_continue answered None"),
    ],
)
async def test_012_fr_014_a_mistake_in_a_decision_tree_ends_the_query_as_tree_failed(tree: str, problem: str) -> None:
    async with harness([says("One.", AUTH), answers()]) as it:
        answered = await it.ask(tree=tree)
    assert answered.reason == "error"
    assert answered.failures[0].error_type == "tree_failed"
    assert problem in answered.cause


def test_012_fr_013_the_default_decision_tree_is_a_decision_tree() -> None:
    assert isinstance(DefaultDecisionTree(), DecisionTree)


async def test_012_sc_008_a_guard_that_is_removed_from_the_file_no_longer_guards_the_next_query() -> None:
    async with harness([*[says("Again.", AUTH)] * 9], tools=[made_tool(numbered)]) as it:
        guarded = await it.ask(limits={"max_iterations": 6})
        it.drop_from_tree("oracle", "- no_progress")
        free = await it.ask(limits={"max_iterations": 6})
    assert guarded.reason == "no_progress"
    assert free.reason == "max_iterations"
    assert free.done.turns == 6


async def test_012_sc_008_the_order_of_guards_in_the_file_is_their_priority() -> None:
    async with harness([says("Again.", calls("read_file", path="no/such.py")) for _ in range(6)]) as it:
        before = await it.ask()
        it.drop_from_tree("oracle", "- error_limit")
        it.edit_tree("oracle", "- no_progress #", "- error_limit\n              - no_progress #")
        after = await it.ask()
    assert (before.reason, after.reason) == ("no_progress", "error_limit")


async def test_012_sc_008_a_guard_with_a_limit_of_its_own_is_the_effective_limit() -> None:
    async with harness(endless(), wire=False, tools=[made_tool(numbered)]) as it:
        it.edit_tree("oracle", "- turn_budget #", "- turn_budget: 5 #")
        answered = await it.ask()
    assert answered.done.turns == 5
    assert answered.messages == [
        "Approaching iteration limit (3/5). Consider wrapping up your response.",
        "Maximum iterations reached (5/5). Saving partial response.",
    ]
    assert [request.wrap_up for request in answered.requests] == [False] * 4 + [True]


async def test_012_sc_008_a_deadline_with_a_time_of_its_own_is_the_effective_one() -> None:
    async with harness([hangs(says("Half"))]) as it:
        it.edit_tree("oracle", "- deadline #", "- deadline: 4 #")
        query = await it.start()
        await query.until_content("Half")
        it.clock.advance(4)
        answered = await query.result()
    assert answered.messages == ["Time limit reached (4/4 s). Saving partial response."]
    assert answered.last_sentence == "Stopped: time limit reached (4 s)."


async def test_012_sc_008_a_notification_that_is_added_to_the_file_is_sent() -> None:
    async with harness([says("One.", AUTH), answers()]) as it:
        it.edit_tree(
            "oracle",
            "- warn_near_limits #",
            '- notify: {message: "Turn {turn} is over.", topic: fallback}\n                - warn_near_limits #',
        )
        answered = await it.ask()
    assert answered.messages == ["Turn 0 is over.", "Turn 1 is over."]
    assert answered.notices[1].metadata == {"turn": 1}


async def test_012_sc_008_max_turns_lowered_in_the_file_holds_for_the_next_query_alone() -> None:
    async with harness(endless(), wire=False, tools=[made_tool(numbered)]) as it:
        running = await it.start()
        it.edit_tree("oracle", "default: 30", "default: 2")
        first, second = await running.result(), await it.ask()
    assert first.done.turns == 15
    assert second.done.turns == 2


MINIMAL = """
tree: mine
root:
  sequence:
    - classify_query
    - compose_prompt
    {steps}
"""


def mine(*steps: str) -> str:
    return MINIMAL.replace("{steps}", "\n    ".join(f"- {step}" for step in steps))


async def test_decision_09_a_tree_without_finish_ends_with_one_done_and_is_saved() -> None:
    async with harness([answers("Here.")]) as it:
        it.write_tree("mine", mine("llm_turn"))
        answered = await it.ask(tree="mine")
    assert answered.reason == "completed"
    assert answered.kept == "Here."


async def test_decision_10_a_tree_that_only_finishes_explains_why_it_stopped_all_the_same() -> None:
    async with harness([says("Here.", AUTH)]) as it:
        it.write_tree("mine", mine("llm_turn", "stop: max_iterations", "finish"))
        answered = await it.ask(tree="mine", limits={"max_iterations": 1})
    assert answered.answer == "Here.\n\nStopped: iteration limit reached (1/1)."


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        (("llm_turn", "action: {call: nowhere}"), "There is no tool 'nowhere'"),
        (("llm_turn", 'set: {hint: "question[100000]"}'), "ExpressionError"),
        (("llm_turn", "loop: {child: {set: {hint: \"'again'\"}}}"), "without waiting for anything"),
        (("loop: {child: {set: {hint: \"'again'\"}}}",), "without waiting for anything"),
        (('condition: "turn > 5"',), "it ended before the model had answered"),
    ],
    ids=["node-raises", "expression-fails", "hot-loop-after-the-answer", "hot-loop-before-it", "says-nothing"],
)
async def test_decision_09_a_tree_that_fails_ends_with_one_done_and_tree_failed(
    steps: tuple[str, ...], problem: str
) -> None:
    async with harness([answers("Here.")]) as it:
        it.write_tree("mine", mine(*steps))
        answered = await it.ask(tree="mine")
    assert answered.reason == "error"
    assert [failure.error_type for failure in answered.failures] == ["tree_failed"]
    assert problem in answered.cause
    assert answered.cause.startswith("the control of the run (mine) failed")
    assert answered.last_sentence.startswith("Stopped: The control of this run failed.")
    if "llm_turn" in steps:
        assert answered.kept.startswith("Here.")


async def test_decision_09_nothing_is_sent_after_done_even_if_the_tree_goes_on() -> None:
    async with harness([answers("Here."), answers("Too late.")]) as it:
        it.write_tree("mine", mine("llm_turn", "finish", "llm_turn", "say: Still here."))
        answered = await it.ask(tree="mine")
    assert answered.answer == "Here."


SIDE_WORK = mine(
    "set: {hint: \"'Name three files.'\"}",
    "llm_turn: {visible: false, into: note}",
    "set: {hint: \"'The subagent says: ' + note\"}",
    "llm_turn",
).replace("root:", "blackboard:\n  note: {type: str, default: ''}\nroot:")


async def test_012_us2_4_work_of_a_subagent_is_not_saved_when_a_limit_ends_the_query() -> None:
    async with harness([says("SECRET", thinking="hidden", piece_chars=2), hangs(says("Main"))]) as it:
        it.write_tree("mine", SIDE_WORK.replace("    - llm_turn\n", "    - timeout: {seconds: 5, child: llm_turn}\n"))
        query = await it.start(tree="mine")
        await query.until_content("Main")
        it.clock.advance(5)
        answered = await query.result()
    assert "SECRET" not in str(answered.wire)
    assert "hidden" not in str(answered.wire)
    assert "SECRET" not in str(answered.conversation)
    assert answered.answer.startswith("Main")


async def test_012_fr_006_invisible_turns_are_neither_streamed_nor_saved_but_count() -> None:
    turns = [says("SECRET" + NEED_TURN, AUTH, thinking="hidden", tokens=(10, 5)), answers("Main.", tokens=(10, 5))]
    async with harness(turns) as it:
        it.write_tree("mine", SIDE_WORK)
        answered = await it.ask(tree="mine")
    assert [chunk.type for chunk in answered.chunks] == ["content", "done"]
    assert answered.answer == answered.kept == "Main."
    assert (answered.done.turns, answered.done.tokens_used) == (2, 30)
    side, main = answered.bodies
    assert not can_call(side)
    assert "Name three files." in text_of(side["messages"][-1])
    assert "The subagent says: SECRET" in text_of(main["messages"][-1])
    assert [message["role"] for message in main["messages"]] == ["user", "system"]


async def test_012_fr_006_an_interrupted_invisible_turn_leaves_no_trace_either() -> None:
    async with harness([hangs(says("SECRET", thinking="hidden", tokens=(10, 1)))]) as it:
        it.write_tree("mine", mine("loop: {guards: [cancelled], child: {llm_turn: {visible: false}}}"))
        query = await it.start(tree="mine")
        await it.wire.wait_request()
        for _ in range(50):
            await asyncio.sleep(0)
        query.cancel()
        answered = await query.result()
    assert answered.types == ["done"]
    assert answered.reason == "user_cancelled"
    assert answered.done.tokens_used > 0
    assert "SECRET" not in str(answered.conversation)


async def test_decision_24_a_warning_that_is_due_goes_to_the_main_turn_not_to_work_beside_it() -> None:
    steps = (*("llm_turn",) * 4, "warn_near_limits", "llm_turn: {visible: false}", "llm_turn")
    async with harness([*(says("One."),) * 4, says("SECRET"), answers("Two.")]) as it:
        it.write_tree("mine", mine(*steps))
        answered = await it.ask(tree="mine", limits={"max_iterations": 8, "soft_warning_percent": 50})
    assert ["Approaching" in text_of_request(body) for body in answered.bodies] == [*(False,) * 5, True]


async def test_a_turn_that_takes_longer_than_the_tree_allows_fails_and_keeps_the_text() -> None:
    async with harness([hangs(says(("Half of", " the <")))]) as it:
        it.edit_tree("oracle", "- llm_turn #", "- llm_turn: {timeout_s: 20} #")
        query = await it.start()
        await query.until_content("Half of")
        it.clock.advance(20)
        answered = await query.result()
        await it.wire.wait_disconnected()
    assert answered.failures[0].error == "The language model took longer than 20 s. Please ask again."
    assert answered.last_sentence == "Stopped: The language model took longer than 20 s. Please ask again."
    assert answered.answer.startswith("Half of")
