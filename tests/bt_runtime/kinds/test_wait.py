import asyncio

import pytest

from bt_runtime import RunLoop, StalledError, Status, TreeFileError, build
from bt_runtime.library.named import read_tree
from bt_runtime.testing import FakeClock, action_from, registry_of, run_text
from tests.bt_runtime.running import F, R, S, live, run_root, until_idle

APPROVAL = """\
tree: approval
blackboard:
  approved: {type: bool, from: delivery, description: What the user decided.}
  count: {type: int, default: 0}
root:
"""


@pytest.mark.parametrize("seconds", ["7", "turn + 2", "7.0"])
async def test_a_wait_for_a_time_is_one_sleep(seconds):
    clock = FakeClock()
    run = await run_root(f"wait: {seconds}", clock=clock)
    assert (run.status, clock.now(), run.result.ticks, clock.waits) == (S, 7, 2, 1)


async def test_a_wait_of_no_time_is_over_at_once():
    run = await run_root("wait: 0")
    assert (run.status, run.result.ticks) == (S, 1)


async def test_a_condition_that_is_true_is_not_waited_for():
    run = await run_root("wait: {until: turn > 3}")
    assert (run.status, run.result.ticks) == (S, 1)


@pytest.mark.parametrize("order", ["wait first", "wait last"])
async def test_a_wait_notices_a_key_that_changes_in_the_same_tick(order):
    children = ["{wait: {until: count > 0}}", "{set: {count: 1}}"]
    if order == "wait last":
        children.reverse()
    run = await run_root(f"parallel: [{', '.join(children)}]")
    assert (run.status, run.result.ticks) == (S, 2 if order == "wait first" else 1)
    assert [record.cause for record in run.recording] == ["start", "again"][: run.result.ticks]


async def test_a_wait_is_not_ticked_for_keys_that_it_does_not_name():
    run = await run_root("""
parallel:
  - wait: {until: count > 2}
  - sequence: [set: {hint: "'a'"}, {set: {count: 1}}, {scripted: [RUNNING, SUCCESS]}, {set: {count: 3}}]
""")
    assert run.status is S
    assert [record.cause for record in run.recording] == ["start", "again", "again"]


async def test_a_wait_is_woken_by_the_outcome_of_other_work():
    clock = FakeClock()

    async def work():
        await clock.sleep(4)

    run = await run_root(
        "parallel: [{wait: {until: count == 1, timeout_s: 9}}, {sequence: [{action: x}, {set: {count: 1}}]}]",
        clock=clock,
        substitutes={"parallel/sequence/action": action_from(work)},
    )
    assert (run.status, clock.now()) == (S, 4)


async def test_a_timeout_fails_and_a_condition_that_comes_true_with_it_succeeds():
    clock = FakeClock()
    run = await run_root("wait: {until: count > 0, timeout_s: turn}", clock=clock)
    assert (run.status, clock.now(), run.tree.root.feedback_message) == (F, 5, "the time is over")
    run = await run_root(
        "parallel: [{sequence: [{wait: 5}, {set: {count: 1}}]}, {wait: {until: count > 0, timeout_s: 5}}]"
    )
    assert run.status is S


async def test_a_wait_that_nothing_can_end_is_an_error_that_names_it():
    run = await run_root("wait: {until: count > 0}")
    assert isinstance(run.result.error, StalledError)
    assert run.result.error.paths == ("wait",)


async def test_an_expression_that_cannot_be_evaluated_is_an_error_and_failure():
    run = await run_root("wait: {until: found > 0}")
    assert run.status is F
    assert "null" in run.result.errors[0].error


async def test_a_halt_ends_the_wait():
    run = await run_root("timeout: {seconds: 2, child: {wait: {until: cancel_requested, timeout_s: 50}}}")
    assert run.status is F
    assert run.tree.context.next_deadline_s() is None
    assert not run.tree.context.awaits_delivery()


@pytest.mark.parametrize("approved", [True, False])
async def test_a_delivery_ends_the_wait_for_it_whatever_its_value(approved):
    clock = FakeClock()

    async def deliver(loop):
        await clock.sleep(3600)
        loop.deliver("approved", approved)

    tasks = []
    run = await run_text(
        APPROVAL + "  sequence: [{wait: {for: approved}}, {condition: approved}]",
        clock=clock,
        started=lambda loop: tasks.append(asyncio.create_task(deliver(loop))),
    )
    assert (run.status, clock.now()) == (S if approved else F, 3600)
    assert [(record.cause, record.deliveries) for record in run.recording] == [
        ("start", ()),
        ("delivery", (("approved", approved),)),
    ]


async def test_a_tree_that_waits_for_a_delivery_is_not_stuck_and_can_be_cancelled():
    registry = registry_of()
    text = APPROVAL + "  guarded: {guards: [condition: not cancel_requested], child: {wait: {for: approved}}}"
    built = build(read_tree(text, file="<test>", registry=registry), registry=registry)
    loop = RunLoop(built, clock=FakeClock())
    task = asyncio.create_task(loop.run())
    await until_idle()
    assert not task.done()
    assert built.root.status is R
    loop.cancel()
    assert (await task).status is F
    assert {node.status for node in built.nodes[2:]} == {Status.INVALID}


async def test_a_second_wait_needs_a_second_delivery_where_the_key_was_emptied():
    clock = FakeClock()

    async def deliver(loop):
        for _ in range(2):
            await clock.sleep(10)
            loop.deliver("approved", value=True)

    tasks = []
    run = await run_text(
        APPROVAL + "  repeat: {times: 2, child: {sequence: [{wait: {for: approved}}, {set: {approved: null}}, "
        "{set: {count: count + 1}}]}}",
        clock=clock,
        started=lambda loop: tasks.append(asyncio.create_task(deliver(loop))),
    )
    assert (run.status, run.value("count"), clock.now()) == (S, 2, 20)


async def test_a_run_without_a_deadline_waits_for_a_cancel_without_polling():
    built, clock = live("wait: {until: cancel_requested}"), FakeClock()
    loop = RunLoop(built, clock=clock)
    task = asyncio.create_task(loop.run())
    await until_idle()
    assert clock.waits == 1
    loop.cancel()
    assert (await task).status is S


MISTAKES = [
    ("wait", "it waits for one thing"),
    ("wait: {}", "it waits for one thing"),
    ("wait: {seconds: 1, until: count > 0}", "it waits for one thing"),
    ("wait: {seconds: 1, timeout_s: 2}", "'timeout_s' bounds 'until' and 'for'"),
    ("wait: -1", "'seconds' must be at least 0, not -1"),
    ("wait: {until: cuont > 0}", "did you mean 'count'"),
    ("wait: {for: aproved}", "there is no blackboard key 'aproved'"),
    ("wait: {for: count}", "nothing from outside writes the blackboard key 'count'"),
    ("wait: {for: cancel_requested}", "'cancel_requested' has a value from the start, false"),
]


@pytest.mark.parametrize(("node", "message"), MISTAKES)
async def test_mistakes_are_reported(node, message):
    with pytest.raises(TreeFileError, match=message):
        await run_root(node)


async def test_a_key_comes_from_a_delivery_or_from_the_tree():
    with pytest.raises(TreeFileError, match="'from' must be 'delivery', not 'user'"):
        await run_text("tree: demo\nblackboard: {a: {type: bool, from: user}}\nroot: {wait: 1}\n")
    with pytest.raises(TreeFileError, match="'a' has no 'from'"):
        await run_text("tree: demo\nparameters: {a: {type: bool, from: delivery}}\nroot: {wait: 1}\n")
