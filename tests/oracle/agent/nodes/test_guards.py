"""What the guards do as nodes; when their rules hold is tested beside the rules and in the acceptance tests."""

import pytest

from bt_runtime.record.status import Status
from bt_runtime.testing import FakeClock
from oracle.agent.nodes import REGISTRY
from tests.acceptance.harness import answers, calls, harness, says, signal_xml
from tests.oracle.agent.nodes.running import run_nodes, statuses, tree_of, written

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
