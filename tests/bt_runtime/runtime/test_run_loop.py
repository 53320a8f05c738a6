import asyncio

import pytest

from bt_runtime import (
    BlackboardError,
    HotLoopError,
    Node,
    NoSettings,
    Recording,
    RunError,
    RunLoop,
    StalledError,
    Status,
    SystemClock,
    node,
    replay,
    working_node,
)
from bt_runtime.testing import FakeClock, FakeHost, action_from, scripted
from tests.bt_runtime.running import F, InTime, S, live, run_root, until_idle


def waiting_tree(**options):
    options.setdefault("host", FakeHost())
    return live("loop: {guards: [condition: not cancel_requested], child: {action: wait}}", **options)


async def test_the_loop_sleeps_once_per_event_and_ticks_once_per_sleep():
    clock = FakeClock()
    run = await run_root(
        "repeat: {times: 5, child: {action: x}}",
        clock=clock,
        substitutes={"repeat/action": action_from(lambda: clock.sleep(10))},
    )
    assert run.status is S
    assert clock.now() == 50
    assert [record.cause for record in run.recording] == ["start", *["outcome", "again"] * 4, "outcome"]
    assert clock.waits == 5


async def test_work_knows_the_node_that_it_is_for():
    seen = []

    async def work():
        seen.append(working_node())
        seen.append(await asyncio.create_task(asyncio.to_thread(working_node)))

    await run_root("sequence: [action: {call: x, name: first}]", substitutes={"sequence/first": action_from(work)})
    assert seen == ["sequence/first"] * 2
    assert working_node() == ""


async def test_a_run_with_nothing_to_do_is_never_ticked():
    clock, recording = FakeClock(jump=False), Recording()
    loop = RunLoop(
        waiting_tree(substitutes={"loop/action": action_from(asyncio.Event().wait)}), clock=clock, observers=[recording]
    )
    task = asyncio.create_task(loop.run())
    for _ in range(1000):
        await asyncio.sleep(0)
    assert (len(recording), clock.waits) == (1, 1)
    loop.cancel()
    assert (await task).status is S
    assert not [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]


async def test_a_guard_sees_a_cancel_while_work_is_running():
    recording = Recording()
    loop = RunLoop(waiting_tree(substitutes={"loop/action": action_from(asyncio.Event().wait)}), observers=[recording])
    task = asyncio.create_task(loop.run())
    await until_idle()
    loop.cancel()
    result = await task
    assert result.status is S
    assert [record.cause for record in recording] == ["start", "delivery", "again"]
    assert list(recording)[1].deliveries == (("cancel_requested", True),)


async def test_a_delivery_before_the_run_is_part_of_the_first_tick():
    run = await run_root("condition: count == 3", started=lambda loop: loop.deliver("count", 3))
    assert run.status is S
    assert next(iter(run.recording)).cause == "start"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("conut", 1, "no blackboard key 'conut'.*'count'"), ("count", "three", "'count' must be a whole number")],
)
async def test_a_wrong_delivery_raises_only_in_the_caller(key, value, message):
    def deliver(loop):
        with pytest.raises(BlackboardError, match=message):
            loop.deliver(key, value)

    assert (await run_root("scripted: [SUCCESS]", started=deliver)).status is S


async def test_a_delivery_after_the_end_does_nothing():
    loops = []
    run = await run_root("scripted: [SUCCESS]", started=loops.append)
    loops[0].cancel()
    assert run.value("cancel_requested") is False


async def test_a_tree_is_run_once():
    built = live("scripted: [SUCCESS]")
    await RunLoop(built).run()
    with pytest.raises(RunError, match="has been run already"):
        await RunLoop(built).run()


async def test_nodes_that_nothing_will_wake_end_the_run_with_an_error_that_names_them():
    @node("forgetful", waits=True)
    class Forgetful(Node[NoSettings]):
        """Always RUNNING."""

        def update(self):
            return Status.RUNNING

    run = await run_root("sequence: [{parallel: [forgetful, {scripted: [SUCCESS]}]}]", kinds=[Forgetful.kind])
    assert isinstance(run.result.error, StalledError)
    assert run.result.error.paths == ("sequence/parallel/forgetful",)
    assert run.status is F
    assert set(run.recording.statuses().values()) == {Status.INVALID}, "the end is recorded, too"


async def test_a_hot_loop_is_detected_within_bounded_ticks_and_other_tasks_run():
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    run = await run_root("sequence: [{loop: {name: hot, child: {set: {count: count + 1}}}}]")
    task.cancel()
    assert isinstance(run.result.error, HotLoopError)
    assert run.result.error.path == "sequence/hot"
    assert 1000 <= run.result.ticks <= 1003
    assert turns >= 15


def costly(clock, cost_s):
    """The kind of a leaf whose ticks take time of a clock."""

    @node("costly", category="condition")
    class Costly(Node[NoSettings]):
        """SUCCESS, at a price."""

        def update(self):
            clock.advance(cost_s)
            return Status.SUCCESS

    return Costly.kind


async def test_a_hot_loop_of_many_nodes_ends_after_as_many_visits_as_one_of_few_nodes():
    leaves = ", ".join(["{set: {count: count + 1}}"] * 300)
    run = await run_root(f"loop: {{name: hot, child: {{sequence: [{leaves}]}}}}")
    assert isinstance(run.result.error, HotLoopError)
    assert (run.result.error.path, run.result.error.unit) == ("hot", "nodes")
    assert 50_000 < run.result.error.count <= 50_000 + 302


async def test_hot_loops_hold_the_event_loop_for_milliseconds_however_many_they_are():
    clock = FakeClock(jump=False)
    leaf_s, leaves, loops = 0.0001, 100, 8
    text = f"loop: {{child: {{sequence: [{', '.join(['costly'] * leaves)}]}}}}"
    trees = [live(text, kinds=[costly(clock, leaf_s)]) for _ in range(loops)]
    looked_s, longest_s = clock.now(), 0.0

    async def other():
        nonlocal looked_s, longest_s
        while True:
            longest_s, looked_s = max(longest_s, clock.now() - looked_s), clock.now()
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    results = await asyncio.gather(*(RunLoop(tree, clock=clock).run() for tree in trees))
    task.cancel()
    assert all(isinstance(result.error, HotLoopError) for result in results)
    assert clock.now() > 30
    assert longest_s < 2.5 * loops * leaves * leaf_s


async def test_a_deadline_in_the_past_at_every_tick_is_a_hot_loop():
    @node("impatient", waits=True)
    class Impatient(Node[NoSettings]):
        """RUNNING, and wants to be ticked in the past."""

        def update(self):
            self.run.wake_at(self.index, self.run.now_s)
            return Status.RUNNING

    run = await run_root("impatient", kinds=[Impatient.kind])
    assert isinstance(run.result.error, HotLoopError)
    assert run.result.error.path == "impatient"


async def test_work_that_fails_to_start_does_not_block_others():
    others = 0

    def broken():
        raise OSError("cannot start")

    async def other(loop):
        nonlocal others
        while others < 50:
            others += 1
            await asyncio.sleep(0)
        loop.cancel()

    tasks = []
    run = await run_root(
        "loop: {guards: [condition: not cancel_requested], child: {force_success: {action: x}}}",
        substitutes={"loop/force_success/action": action_from(broken)},
        started=lambda loop: tasks.append(asyncio.get_running_loop().create_task(other(loop))),
    )
    await asyncio.gather(*tasks)
    assert run.status is S
    assert run.result.errors[0].error == "OSError: cannot start"


async def test_an_outcome_that_came_before_the_deadline_counts_even_if_both_are_due():
    clock = FakeClock(jump=False)
    done = asyncio.Event()
    built = live(
        "timeout: {seconds: 5, child: {sequence: [{action: x}, {set: {count: 1}}]}}",
        substitutes={"timeout/sequence/action": action_from(done.wait)},
    )
    task = asyncio.create_task(RunLoop(built, clock=clock).run())
    await until_idle()
    clock.advance(4.9)
    done.set()
    await asyncio.sleep(0)  # the work ends now ...
    await asyncio.sleep(0)
    clock.advance(10)  # ... but the loop looks late
    result = await task
    assert result.status is S
    assert built.context.now_s == pytest.approx(4.9)


async def test_an_outcome_from_before_a_deadline_is_in_time_and_a_later_one_is_not():
    clock = FakeClock(jump=False)
    both, recording = asyncio.Event(), Recording()

    async def late():
        await both.wait()
        clock._now_s = 6.0  # between the ends of the two

    built = live(
        "loop: {guards: [in_time], child: {parallel: [{action: a}, {action: b}]}}",
        kinds=[InTime.kind],
        substitutes={"loop/parallel/action": action_from(both.wait), "loop/parallel/action#2": action_from(late)},
    )
    task = asyncio.create_task(RunLoop(built, clock=clock, observers=[recording]).run())
    await until_idle()
    clock._now_s = 4.0  # without waking the loop
    both.set()
    assert (await task).status is S
    message = [(record.at_s, [o.key for o in record.outcomes if o.state == "done"]) for record in recording]
    assert message[1] == (4.0, ["loop/parallel/action@1"])
    assert built.blackboard["termination_reason"] == "timeout"


async def test_requests_start_in_the_order_in_which_they_were_posted():
    order = []

    def work(name):
        async def doing():
            order.append(name)

        return doing

    names = [f"n{number}" for number in range(20)]
    children = ", ".join(f"{{action: {{name: {name}, call: x}}}}" for name in names)
    await run_root(
        f"parallel: [{children}]", substitutes={f"parallel/{name}": action_from(work(name)) for name in names}
    )
    assert order == names


async def test_a_deadline_causes_one_tick():
    @node("five", waits=True)
    class Five(Node[NoSettings]):
        """Waits for 5 s, then for nothing."""

        def update(self):
            if self.run.now_s < 5:
                self.run.wake_at(self.index, 5.0)
            return Status.RUNNING

    run = await run_root("five", kinds=[Five.kind])
    assert isinstance(run.result.error, StalledError)
    assert [record.cause for record in run.recording] == ["start", "deadline", "end"]


async def test_an_observer_that_raises_is_dropped_and_the_others_stay(capsys):
    class Broken:
        calls = 0

        def __eq__(self, other):
            return True

        __hash__ = None

        def on_tick(self, record):
            self.calls += 1
            raise RuntimeError("no disk")

    broken, recording = Broken(), Recording()
    result = await RunLoop(live("scripted: [RUNNING, SUCCESS]"), observers=[recording, broken]).run()
    assert (result.status, broken.calls, len(recording)) == (S, 1, 2)
    assert "observer.dropped" in capsys.readouterr().out


async def test_real_time_wakes_a_run_without_polling():
    recording = Recording()
    built = live("retry: {attempts: 2, backoff_s: 0.001, child: {scripted: [FAILURE, SUCCESS]}}")
    result = await RunLoop(built, clock=SystemClock(), observers=[recording]).run()
    assert (result.status, len(recording)) == (S, 2)
    assert [record.cause for record in recording] == ["start", "deadline"]


async def test_substitutes_replace_the_nodes_at_their_paths():
    run = await run_root(
        "sequence: [{action: x}, {retry: {attempts: 1, child: {action: y}}}]",
        substitutes={"sequence/action": scripted("RUNNING", "SUCCESS"), "sequence/retry": scripted("FAILURE")},
    )
    assert run.status is F
    assert run.ticks_of("sequence/action") == [1, 2]
    assert run.ticks_of("sequence/retry/action") == []


async def test_each_tick_tells_how_long_it_took_and_a_replay_is_equal_all_the_same():
    tree = "repeat: {times: 2, child: {action: x}}"
    options = {"substitutes": {"repeat/action": action_from(lambda: asyncio.sleep(0))}, "host": FakeHost()}
    run = await run_root(tree, **options)
    records = tuple(run.recording)
    assert all(record.took_ms > 0 for record in records)
    replayed = replay(live(tree, **options), records)
    assert replayed.records == records
    assert {record.took_ms for record in replayed.records} == {0.0}
