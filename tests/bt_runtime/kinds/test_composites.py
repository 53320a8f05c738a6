import asyncio

import pytest

from bt_runtime import Status, TreeFileError
from bt_runtime.testing import FakeClock, action_from, scripted
from tests.bt_runtime.running import F, S, run_root

SEQUENCES = [
    pytest.param("[{scripted: [SUCCESS]}, {scripted: [SUCCESS]}]", S, 2, id="all succeed"),
    pytest.param("[{scripted: [SUCCESS]}, {scripted: [FAILURE]}, {scripted: [SUCCESS]}]", F, 2, id="one fails"),
    pytest.param("[{scripted: [RUNNING, SUCCESS]}, {scripted: [SUCCESS]}]", S, 2, id="waits for a running child"),
    pytest.param("[{scripted: [RUNNING, RUNNING, FAILURE]}, {scripted: [SUCCESS]}]", F, 1, id="a running child fails"),
]


@pytest.mark.parametrize(("children", "status", "ended"), SEQUENCES)
async def test_a_sequence_continues_while_its_children_succeed(children, status, ended):
    run = await run_root(f"sequence: {children}")
    assert run.status is status
    assert sum(each is not Status.INVALID for each in list(run.recording.statuses().values())[1:]) == ended


SELECTORS = [
    pytest.param(
        "[{scripted: [FAILURE]}, {scripted: [SUCCESS]}, {scripted: [SUCCESS]}]", S, 2, id="the first that can"
    ),
    pytest.param("[{scripted: [FAILURE]}, {scripted: [FAILURE]}]", F, 2, id="all fail"),
    pytest.param("[{scripted: [RUNNING, FAILURE]}, {scripted: [SUCCESS]}]", S, 2, id="waits for a running child"),
]


@pytest.mark.parametrize(("children", "status", "ended"), SELECTORS)
async def test_a_selector_tries_its_children_until_one_does_not_fail(children, status, ended):
    run = await run_root(f"selector: {children}")
    assert run.status is status
    assert sum(each is not Status.INVALID for each in list(run.recording.statuses().values())[1:]) == ended


@pytest.mark.parametrize(("kind", "first"), [("sequence", "SUCCESS"), ("selector", "FAILURE")])
async def test_with_memory_a_child_that_has_ended_is_not_ticked_again(kind, first):
    run = await run_root(f"{kind}: [{{scripted: [{first}]}}, {{scripted: [RUNNING, RUNNING, SUCCESS]}}]")
    assert run.ticks_of(f"{kind}/scripted") == [1]
    assert run.ticks_of(f"{kind}/scripted#2") == [1, 2, 3]


async def test_a_reactive_sequence_ticks_its_conditions_again_and_halts_the_running_child():
    clock = FakeClock()
    run = await run_root(
        "sequence: {memory: false, children: [condition: turn < 9, action: slow]}",
        clock=clock,
        substitutes={"sequence/action": action_from(lambda: clock.sleep(100))},
        started=lambda loop: asyncio.get_running_loop().call_soon(loop.deliver, "turn", 10),
    )
    assert run.status is F
    assert clock.now() == 0
    assert run.recording.statuses()["sequence/action"] is Status.INVALID
    assert run.ticks_of("sequence/condition") == [1, 2]


async def test_a_reactive_selector_lets_a_higher_priority_preempt_and_forgets_the_rest():
    run = await run_root(
        "selector: {memory: false, children: [{scripted: [FAILURE, FAILURE, SUCCESS]}, {scripted: [FAILURE]},"
        " {scripted: [RUNNING]}]}"
    )
    assert run.status is S
    assert list(run.recording.statuses().values()) == [S, S, Status.INVALID, Status.INVALID]
    assert run.tree.nodes[3].halts == 1


async def test_an_action_before_running_work_in_a_reactive_sequence_is_refused_by_the_reader():
    with pytest.raises(TreeFileError, match="would be run again at every tick"):
        await run_root("sequence: {memory: false, children: [set: {count: 1}, action: slow]}")


async def test_a_reactive_sequence_whose_children_all_succeed_ticks_each_once_a_tick():
    run = await run_root(
        "sequence: {memory: false, children: [{scripted: [SUCCESS]}, {scripted: [RUNNING, SUCCESS]}]}",
    )
    assert run.status is S
    assert run.ticks_of("sequence/scripted") == [1, 2]


PARALLELS = [
    pytest.param("all", "unreachable", "SUCCESS SUCCESS", S, id="all succeed"),
    pytest.param("all", "unreachable", "SUCCESS FAILURE", F, id="all, one fails"),
    pytest.param("one", "unreachable", "FAILURE SUCCESS", S, id="one of two"),
    pytest.param("one", "unreachable", "FAILURE FAILURE", F, id="none of two"),
    pytest.param("2", "unreachable", "SUCCESS FAILURE SUCCESS", S, id="two of three"),
    pytest.param("2", "unreachable", "SUCCESS FAILURE FAILURE", F, id="two of three out of reach"),
    pytest.param("1", "one", "FAILURE RUNNING", F, id="gives up at the first failure"),
    pytest.param("1", "one", "FAILURE SUCCESS", S, id="enough successes outweigh a failure of the same tick"),
]


@pytest.mark.parametrize(("success", "failure", "script", "status"), PARALLELS)
async def test_a_parallel_ends_by_its_policies(success, failure, script, status):
    children = ", ".join(f"{{scripted: [{each}]}}" for each in script.split())
    run = await run_root(f"parallel: {{success: {success}, failure: {failure}, children: [{children}]}}")
    assert run.status is status


async def test_a_parallel_with_more_successes_than_children_is_refused():
    with pytest.raises(TreeFileError, match="5 children must succeed, and there are 2"):
        await run_root("parallel: {success: 5, children: [{scripted: [SUCCESS]}, {scripted: [SUCCESS]}]}")


async def test_the_children_of_a_parallel_are_counted_only_when_all_of_them_could_be_read():
    with pytest.raises(TreeFileError) as caught:
        await run_root("parallel: {success: 2, children: [{scripted: [SUCCESS]}, xyzzy]}")
    assert [mistake.message for mistake in caught.value.mistakes] == ["there is no node kind 'xyzzy'"]


@pytest.mark.parametrize("success", ["0", "-1", "some", "true", "1.5"])
async def test_a_parallel_refuses_an_impossible_number_of_successes(success):
    with pytest.raises(TreeFileError, match="'success' must be"):
        await run_root(f"parallel: {{success: {success}, children: [{{scripted: [SUCCESS]}}]}}")


async def test_a_parallel_that_ends_halts_and_awaits_the_children_that_are_running():
    clock, ends = FakeClock(), []

    async def slow():
        try:
            await clock.sleep(100)
        finally:
            ends.append(clock.now())

    run = await run_root(
        "parallel: {success: one, children: [{action: {name: slow, call: a}}, {action: {name: fast, call: b}}]}",
        clock=clock,
        substitutes={"parallel/slow": action_from(slow), "parallel/fast": action_from(lambda: clock.sleep(2))},
    )
    assert run.status is S
    assert ends == [2.0]
    assert run.recording.statuses()["parallel/slow"] is Status.INVALID


async def test_a_parallel_limits_its_running_children_and_starts_them_in_order():
    clock = FakeClock()
    now: list[str] = []
    most, order = 0, []

    def work(name, seconds):
        async def doing():
            nonlocal most
            now.append(name)
            order.append(name)
            most = max(most, len(now))
            await clock.sleep(seconds)
            now.remove(name)

        return doing

    names = "abcdef"
    children = ", ".join(f"{{action: {{name: {name}, call: x}}}}" for name in names)
    run = await run_root(
        f"parallel: {{max_concurrent: 2, children: [{children}]}}",
        clock=clock,
        substitutes={
            f"parallel/{name}": action_from(work(name, seconds))
            for name, seconds in zip(names, (5, 1, 1, 3, 2, 1), strict=True)
        },
    )
    assert run.status is S
    assert (most, "".join(order)) == (2, names)
    assert clock.now() == 7


async def test_a_child_that_has_ended_is_not_ticked_again_by_a_parallel():
    run = await run_root("parallel: [{scripted: [SUCCESS]}, {scripted: [RUNNING, RUNNING, SUCCESS]}]")
    assert run.ticks_of("parallel/scripted") == [1]


@pytest.mark.parametrize("kind", ["sequence", "selector", "parallel"])
async def test_a_composite_starts_again_in_every_round(kind):
    run = await run_root(
        f"repeat: {{times: 3, child: {{{kind}: [{{scripted: [SUCCESS]}}]}}}}",
        substitutes={f"repeat/{kind}/scripted": scripted("SUCCESS")},
    )
    assert run.status is S
    assert run.ticks_of(f"repeat/{kind}/scripted") == [1, 2, 3]
