"""What the guards do as nodes; when their rules hold is tested beside the rules and in the acceptance tests."""

import pytest

from bt_runtime.record.status import Status
from bt_runtime.testing import FakeClock
from oracle.agent.nodes import REGISTRY
from tests.acceptance.harness import answers, calls, harness, says, signal_xml
from tests.oracle.agent.nodes.running import run_nodes, statuses, tree_of, written
from tests.oracle.features.scenarios.playing import played

GUARDS = ["cancelled", "turn_budget", "token_budget", "deadline", "no_progress", "error_limit"]
MORE = says("Half." + signal_xml("need_turn", reason="more"))


@pytest.mark.parametrize("guard", GUARDS)
def test_each_guard_is_of_the_category_guard_and_waits_for_nothing(guard: str) -> None:
    kind = REGISTRY.kind(guard)
    assert kind.category == "guard"
    assert not kind.waits
    assert not kind.acts


@pytest.mark.parametrize("guard", GUARDS)
async def test_a_guard_succeeds_while_there_is_no_reason_to_stop(guard: str) -> None:
    answered = await run_nodes(f"- {guard}\n- llm_turn\n- {guard}\n- stop: completed")
    assert set(statuses(answered, guard)) == {Status.SUCCESS}
    assert answered.reason == "completed"


async def test_the_first_guard_that_trips_writes_the_reason_and_the_order_is_the_priority() -> None:
    """Turns and tokens are used up in the same turn: what stands first counts."""
    limits = {"max_iterations": 1, "token_budget": 1_000}
    for guards, reason in (
        ("turn_budget, token_budget", "max_iterations"),
        ("token_budget, turn_budget", "token_budget"),
    ):
        nodes = f"- loop: {{guards: [{guards}], child: {{sequence: [llm_turn, grant_turn]}}}}"
        turn = says("Half." + signal_xml("need_turn", reason="more"), tokens=(2_000, 10))
        answered = await run_nodes(nodes, [turn], limits=limits)
        assert answered.reason == reason


async def test_a_removed_guard_no_longer_stops_anything() -> None:
    look = says("", calls("search_code", query="RetryPolicy"))
    nodes = "- loop: {{guards: [turn_budget{}], child: {{sequence: [llm_turn, run_tools]}}}}"
    with_guard = await run_nodes(nodes.format(", no_progress"), [look] * 6, limits={"max_iterations": 6})
    without = await run_nodes(nodes.format(""), [look] * 6, limits={"max_iterations": 6})
    assert (with_guard.reason, with_guard.done.turns) == ("no_progress", 3)
    assert (without.reason, without.done.turns) == ("max_iterations", 6)


async def test_a_lower_limit_of_turns_is_the_one_that_is_shown_and_wrapped_up_for() -> None:
    nodes = """
    - loop:
        until: termination_reason
        guards: [turn_budget: 3]
        child: {sequence: [warn_near_limits, llm_turn, grant_turn]}
    """
    answered = await run_nodes(nodes, [MORE] * 3, limits={"max_iterations": 9})
    assert answered.done.turns == 3
    assert answered.last_sentence == "Stopped: iteration limit reached (3/3)."
    assert answered.messages[0] == "Approaching iteration limit (1/3). Consider wrapping up your response."
    assert [request.wrap_up for request in answered.requests] == [False, False, True]
    assert written(answered, "turn_limit") == [3]


async def test_a_higher_limit_of_turns_than_the_users_changes_nothing() -> None:
    nodes = "- loop: {guards: [turn_budget: 8], child: {sequence: [llm_turn, grant_turn]}}"
    answered = await run_nodes(nodes, [MORE] * 3, limits={"max_iterations": 2})
    assert answered.last_sentence == "Stopped: iteration limit reached (2/2)."


async def test_a_shorter_deadline_is_the_one_that_is_shown() -> None:
    clock = FakeClock()
    nodes = "- loop: {guards: [deadline: 2.5], child: llm_turn}"
    answered = await run_nodes(nodes, [says("Ha", hang=True)], clock=clock, limits={"timeout_seconds": 60})
    assert answered.reason == "timeout"
    assert answered.kept == "Ha\n\nStopped: time limit reached (2.5 s)."
    assert clock.now() == 2.5


async def test_a_longer_deadline_than_the_users_changes_nothing() -> None:
    clock = FakeClock()
    nodes = "- loop: {guards: [deadline: 500], child: llm_turn}"
    answered = await run_nodes(nodes, [says("Ha", hang=True)], clock=clock, limits={"timeout_seconds": 10})
    assert answered.last_sentence == "Stopped: time limit reached (10 s)."
    assert clock.now() == 10


async def test_without_a_guard_that_asks_for_it_a_cancel_is_obeyed_all_the_same() -> None:
    async with harness([says("Ha", hang=True)], wire=False) as it:
        it.write_tree("sample", tree_of("- llm_turn\n- stop: completed"))
        underway = await it.start(tree="sample")
        await underway.until_content("Ha")
        underway.cancel()
        answered = await underway.result()
    assert answered.reason == "user_cancelled"
    assert answered.answer == "Ha"


async def test_a_guard_of_a_subtree_stops_the_whole_query() -> None:
    async with harness([MORE, answers()], wire=False) as it:
        it.write_tree("strict", "tree: strict\nroot: {sequence: [turn_budget: 1]}\n")
        it.write_tree(
            "sample",
            tree_of(
                "- loop: {until: termination_reason, child: {sequence: [llm_turn, {subtree: strict}, grant_turn]}}"
            ),
        )
        answered = await it.ask(tree="sample")
    assert answered.reason == "max_iterations"
    assert answered.done.turns == 1


LIMITED = """\
tree: limited
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: termination_reason
        guards: [cancelled, {guard}, token_budget, deadline]
        child: {{ sequence: [warn_near_limits: {{ time: 50 }}, llm_turn, subtree: follow_signal] }}
"""
HALF = "{ text: Half., signal: need_turn, delay_s: 20 }"


def limited(tmp_path, guard, model, expect):
    (tmp_path / "limited.yaml").write_text(LIMITED.format(guard=guard))
    limits = "{ max_iterations: 9, timeout_seconds: 60 }"
    verdict = played(
        f"scenarios: [{{ name: A, tree: limited, limits: {limits}, model: {model}, expect: {expect} }}]", tmp_path
    )
    assert verdict.passed, verdict.report("")


@pytest.mark.parametrize(
    "guard",
    ["turn_budget: '2 if query_type == \"code\" else 5'", "if: { when: turn > 0, then: { turn_budget: 1 + 1 } }"],
)
def test_a_limit_of_turns_is_an_expression_or_depends_on_a_condition(tmp_path, guard) -> None:
    last = "{ text: The rest., signal: need_turn }"
    expect = "{ reason: max_iterations, answer: { ends: 'Stopped: iteration limit reached (2/2).' } }"
    limited(tmp_path, guard, f"[{HALF}, {last}]", expect)


def test_a_limit_of_time_is_an_expression_over_the_limit(tmp_path) -> None:
    expect = "{ reason: timeout, elapsed_s: 15, answer: { ends: 'Stopped: time limit reached (15 s).' } }"
    limited(tmp_path, "deadline: time_limit / 4", "[{ text: Half., hang: true }]", expect)


def test_the_time_is_warned_of_once_where_the_tree_says_from_when_on(tmp_path) -> None:
    message = "Approaching time limit (30/60 s). Consider wrapping up your response."
    expect = (
        f"{{ reason: completed, notices: [limit_warning: {message!r}], "
        f"requests: [{{ nth: 3, note: {{ contains: {message!r} }} }}] }}"
    )
    turn = HALF.replace("20", "15")
    limited(
        tmp_path,
        "turn_budget",
        f"[{turn}, {turn}, {{ text: More., signal: {{ need_turn: {{ reason: tests }} }} }}, The rest.]",
        expect,
    )
