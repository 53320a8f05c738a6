import asyncio

import pytest

from bt_runtime import HotLoopError, Status, TreeFileError
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import F, S, run_root

JOIN = "{set: {hint: hint + question + ' '}}"


async def test_each_item_is_in_its_key_while_the_child_runs():
    run = await run_root(
        f"for_each: {{in: [a, b, c], as: question, index: count, child: {{sequence: [{JOIN}, condition: count < 3]}}}}"
    )
    assert (run.status, run.value("hint"), run.value("question"), run.value("count")) == (S, "a b c ", "c", 2)
    assert run.result.ticks == 3


async def test_the_list_may_be_an_expression_and_is_evaluated_once():
    run = await run_root(
        f"for_each: {{in: \"sources + ['z']\", as: question, child: {{sequence: [{JOIN}, set: {{sources: '[]'}}]}}}}",
        values={"sources": ["x", "y"]},
    )
    assert (run.status, run.value("hint"), run.value("sources")) == (S, "x y z ", [])


async def test_items_may_be_any_data_even_null():
    run = await run_root("for_each: {in: [1, null, {a: [2]}], as: found, child: {set: {sources: 'sources + [found]'}}}")
    assert (run.status, run.value("sources")) == (S, [1, None, {"a": [2]}])


@pytest.mark.parametrize("items", ["[]", "sources"])
async def test_an_empty_list_succeeds_without_a_tick_of_the_child(items):
    run = await run_root(f"for_each: {{in: {items}, as: question, child: {{scripted: [FAILURE]}}}}")
    assert (run.status, run.result.ticks, run.recording.visited()) == (S, 1, [["for_each"]])
    assert run.value("question") == "q"


async def test_the_first_failure_ends_it():
    run = await run_root("for_each: {in: [1, 2, 3], as: count, child: {condition: count < 2}}")
    assert (run.status, run.value("count")) == (F, 2)


@pytest.mark.parametrize(("limit", "status"), [(2, F), (9, S)])
async def test_with_continue_all_items_are_tried_and_a_failure_counts_at_the_end(limit, status):
    run = await run_root(f"""
for_each:
  in: [1, 2, 3]
  as: count
  continue: true
  child: {{sequence: [set: {{sources: 'sources + [count]'}}, condition: count != {limit}]}}
""")
    assert (run.status, run.value("sources")) == (status, [1, 2, 3])


async def test_items_are_handled_one_after_the_other():
    clock, log = FakeClock(), []

    async def work():
        log.append(clock.now())
        await clock.sleep(2)

    run = await run_root(
        "for_each: {in: [1, 2, 3], as: count, child: {action: x}}",
        clock=clock,
        substitutes={"for_each/action": action_from(work)},
    )
    assert (run.status, log, clock.now()) == (S, [0, 2, 4], 6)


async def test_after_a_halt_it_begins_with_the_first_item():
    clock, log = FakeClock(), []

    async def work():
        log.append(run_values()["count"])
        await clock.sleep(2)

    def run_values():
        return trees[0].blackboard

    trees = []
    each = "for_each: {in: [1, 2], as: count, child: {action: x}}"
    run = await run_root(
        f"retry: {{attempts: 2, child: {{timeout: {{seconds: 3, child: {{{each}}}}}}}}}",
        clock=clock,
        substitutes={"retry/timeout/for_each/action": action_from(work)},
        started=lambda loop: trees.append(loop._tree),
    )
    assert (run.status, log) == (F, [1, 2, 1, 2])
    assert Status.RUNNING not in {node.status for node in run.tree.nodes}


WRONG = [
    ("in: turn, as: count", "'in' must be a list, not 5"),
    ("in: question, as: count", "'in' must be a list, not 'q'"),
    ("in: found, as: count", "'in' must be a list, not null"),
    ("in: [one], as: count", "'count' must be a whole number, not 'one'"),
    ("in: [1], as: count, index: hint", "'hint' must be text, not 0"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
async def test_a_wrong_list_or_item_is_an_error_of_the_node(settings, message):
    run = await run_root(f"for_each: {{{settings}, child: {{scripted: [SUCCESS]}}}}")
    assert run.status is F
    assert message in run.result.errors[0].error


MISTAKES = [
    ("in: [1], as: itme", "there is no blackboard key 'itme'"),
    ("in: [1], as: termination_reason", "can only be read"),
    ("in: surces, as: count", "did you mean 'sources'"),
    ("as: count", "'for_each' needs 'in'"),
    ("in: [1]", "'for_each' needs 'as'"),
    ("in: [1], as: count, index: i", "there is no blackboard key 'i'"),
    ("in: 3, as: count", "'in' must be text or a list, not 3"),
    ("in: [1], as: count, continue: 1", "'continue' must be true or false, not 1"),
]


@pytest.mark.parametrize(("settings", "message"), MISTAKES)
async def test_mistakes_are_reported(settings, message):
    with pytest.raises(TreeFileError, match=message):
        await run_root(f"for_each: {{{settings}, child: {{scripted: [SUCCESS]}}}}")


async def test_a_long_list_without_anything_that_takes_time_ends_the_run():
    run = await run_root(
        "for_each: {in: sources, as: count, child: {inverter: {condition: count < 0}}}",
        values={"sources": list(range(2000))},
    )
    assert isinstance(run.result.error, HotLoopError)
    assert run.value("count") == 1000


async def test_a_long_list_whose_items_take_time_is_handled_to_its_end():
    run = await run_root(
        "for_each: {in: sources, as: count, child: {action: x}}",
        values={"sources": list(range(1500))},
        substitutes={"for_each/action": action_from(lambda: asyncio.sleep(0))},
    )
    assert (run.status, run.value("count")) == (S, 1499)
