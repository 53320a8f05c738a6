import asyncio
import gc
import tracemalloc
import weakref

import pytest

from bt_runtime import (
    Action,
    BlackboardError,
    Guard,
    HotLoopError,
    Node,
    NoSettings,
    Recording,
    RunError,
    RunLoop,
    StalledError,
    Status,
    SystemClock,
    build,
    node,
)
from bt_runtime.parser import read_tree
from bt_runtime.registration import CHILD
from bt_runtime.testing import FakeClock, FakeHost, action_from, registry_of, scripted
from tests.bt_runtime.running import F, S, run_root, tree


def live(root, *, kinds=(), **options):
    registry = registry_of(kinds)
    return build(read_tree(tree(root), file="<test>", registry=registry), registry=registry, **options)


def waiting_tree(**options):
    options.setdefault("host", FakeHost())
    return live("loop: {guards: [condition: not cancel_requested], child: {action: wait}}", **options)


async def until_idle():
    for _ in range(20):
        await asyncio.sleep(0)


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


async def test_a_cancel_is_seen_by_a_guard_while_something_is_under_way():
    recording = Recording()
    loop = RunLoop(waiting_tree(substitutes={"loop/action": action_from(asyncio.Event().wait)}), observers=[recording])
    task = asyncio.create_task(loop.run())
    await until_idle()
    loop.cancel()
    result = await task
    assert result.status is S
    assert [record.cause for record in recording] == ["start", "delivery", "again"]
    assert list(recording)[1].deliveries == (("cancel_requested", True),)


async def test_a_delivery_before_the_run_is_told_at_the_first_tick():
    run = await run_root("condition: count == 3", started=lambda loop: loop.deliver("count", 3))
    assert run.status is S
    assert next(iter(run.recording)).cause == "start"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [("conut", 1, "no blackboard key 'conut'.*'count'"), ("count", "three", "'count' must be a whole number")],
)
async def test_a_wrong_delivery_is_an_error_of_who_delivers_and_of_nobody_else(key, value, told):
    def deliver(loop):
        with pytest.raises(BlackboardError, match=told):
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
        """RUNNING, for ever."""

        def update(self):
            return Status.RUNNING

    run = await run_root("sequence: [{parallel: [forgetful, {scripted: [SUCCESS]}]}]", kinds=[Forgetful.kind])
    assert isinstance(run.result.error, StalledError)
    assert run.result.error.paths == ("sequence/parallel/forgetful",)
    assert run.status is F
    assert set(run.recording.statuses().values()) == {Status.INVALID}, "the end is recorded, too"


async def test_a_hot_loop_is_found_within_bounded_ticks_and_lets_others_run():
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


async def test_a_node_that_asks_for_a_time_that_has_passed_is_a_hot_loop_too():
    @node("impatient", waits=True)
    class Impatient(Node[NoSettings]):
        """RUNNING, and wants to be ticked in the past."""

        def update(self):
            self.run.wake_at(self.index, self.run.now_s)
            return Status.RUNNING

    run = await run_root("impatient", kinds=[Impatient.kind])
    assert isinstance(run.result.error, HotLoopError)
    assert run.result.error.path == "impatient"


async def test_work_that_cannot_even_start_does_not_starve_others():
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


async def test_of_two_outcomes_around_a_deadline_the_tree_sees_the_earlier_one_in_time():
    clock = FakeClock(jump=False)
    both, recording = asyncio.Event(), Recording()

    async def late():
        await both.wait()
        asyncio.get_running_loop().call_soon(setattr, clock, "_now_s", 6.0)  # between the ends of the two

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
    told = [(record.at_s, [o.key for o in record.outcomes if o.state == "done"]) for record in recording]
    assert told[1] == (4.0, ["loop/parallel/action@1"])
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


async def test_a_request_that_is_withdrawn_in_the_tick_that_posted_it_never_starts():
    started = []

    async def work():
        started.append(1)

    run = await run_root(
        "parallel: {success: one, children: [{action: x}, {scripted: [SUCCESS]}]}",
        substitutes={"parallel/action": action_from(work)},
    )
    assert (run.status, run.result.ticks, started) == (S, 1, [])


class _Keeper(Action[NoSettings]):
    """Keeps what interrupted work returns."""

    async def start(self):
        return await self.run.host()

    def finish(self, value):
        self.run.blackboard.set("found", ["finished", value])
        return Status.SUCCESS

    def interrupted(self, value):
        self.run.blackboard.set("found", ["interrupted", value])


async def test_what_a_halted_task_kept_is_recorded_also_when_the_run_ends_with_the_halt():
    clock = FakeClock()
    keeper = node("keeper")(_Keeper).kind

    async def work():
        try:
            await clock.sleep(60)
        except asyncio.CancelledError:
            return "half an answer"

    run = await run_root("timeout: {seconds: 3, child: keeper}", kinds=[keeper], clock=clock, host=work)
    assert run.status is F
    assert run.value("found") == ["interrupted", "half an answer"]
    last = list(run.recording)[-1]
    assert (last.cause, last.visited, last.writes) == ("end", (), (("found", ["interrupted", "half an answer"]),))
    assert last.tick == run.result.ticks == 3


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("order", ["cancel first", "cancel between", "cancel later"])
async def test_an_outcome_that_comes_together_with_a_cancel_is_given_back_not_lost(fails, order):
    keeper = node("keeper")(_Keeper).kind
    done = asyncio.Event()

    async def work():
        await done.wait()
        if order == "cancel between":  # after the end of the work, before the tree can be told
            asyncio.get_running_loop().call_soon(loop.cancel)
        if fails:
            raise OSError("broken")
        return "an answer"

    built = live("loop: {guards: [condition: not cancel_requested], child: keeper}", kinds=[keeper], host=work)
    loop = RunLoop(built, clock=FakeClock())
    task = asyncio.create_task(loop.run())
    await until_idle()
    done.set()
    if order == "cancel first":
        loop.cancel()
    if order == "cancel later":
        await asyncio.sleep(0)
        loop.cancel()
    result = await task
    assert result.status is S
    assert built.blackboard["found"] == ["interrupted", None if fails else "an answer"]
    assert [error.error for error in result.errors] == (["OSError: broken"] if fails else [])


@node("in_time")
class InTime(Guard[NoSettings]):
    """Trips at 5 s."""

    def trips(self):
        self.run.wake_at(self.index, 5.0)
        return "timeout" if self.run.now_s >= 5 else None


async def test_an_outcome_that_nobody_was_told_of_yet_is_given_back_when_its_node_is_halted():
    clock, both, recording = FakeClock(jump=False), asyncio.Event(), Recording()
    keeper = node("keeper")(_Keeper).kind

    async def late():
        await both.wait()
        asyncio.get_running_loop().call_soon(setattr, clock, "_now_s", 6.0)
        return "an answer"

    built = live(
        "loop: {guards: [in_time], until: found, child: {parallel: {success: one, children: [{action: a}, keeper]}}}",
        kinds=[InTime.kind, keeper],
        host=late,
        substitutes={"loop/parallel/action": action_from(both.wait)},
    )
    task = asyncio.create_task(RunLoop(built, clock=clock, observers=[recording]).run())
    await until_idle()
    clock._now_s = 4.0
    both.set()
    assert (await task).status is S
    assert built.blackboard["found"] == ["interrupted", "an answer"]
    told = [(o.key, o.state) for record in recording for o in record.outcomes]
    assert told == [("loop/parallel/action@1", "done"), ("loop/parallel/keeper@1", "cancelled")]


async def test_a_deadline_is_told_once():
    @node("once", waits=True)
    class Once(Node[NoSettings]):
        """Waits for 5 s, then for nothing."""

        def update(self):
            if self.run.now_s < 5:
                self.run.wake_at(self.index, 5.0)
            return Status.RUNNING

    run = await run_root("once", kinds=[Once.kind])
    assert isinstance(run.result.error, StalledError)
    assert [record.cause for record in run.recording] == ["start", "deadline", "end"]


async def test_an_action_that_has_ended_leaves_no_deadline_behind():
    @node("bounded")
    class Bounded(Action[NoSettings]):
        """Wants to be ticked at 50 s, but is done before."""

        async def start(self):
            await clock.sleep(1)

        def update(self):
            self.run.wake_at(self.index, 50.0)
            return super().update()

    clock = FakeClock()
    run = await run_root("bounded", kinds=[Bounded.kind], clock=clock)
    assert (run.status, run.tree.context.deadlines) == (S, {})


async def test_a_task_that_raises_while_it_is_cancelled_is_told_in_the_record():
    clock = FakeClock()

    async def work():
        try:
            await clock.sleep(60)
        finally:
            raise ValueError("untidy")

    run = await run_root(
        "force_success: {timeout: {seconds: 3, child: {action: x}}}",
        clock=clock,
        substitutes={"force_success/timeout/action": action_from(work)},
    )
    assert run.status is S
    assert [(e.path, e.error) for e in run.result.errors] == [("force_success/timeout/action", "ValueError: untidy")]


async def test_a_task_that_ignores_its_cancellation_is_left_behind_after_the_grace(capsys):
    release = asyncio.Event()

    async def stubborn():
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    clock = FakeClock()
    built = live(
        "sequence: [{force_success: {timeout: {seconds: 1, child: {action: x}}}}, {set: {count: 1}}]",
        substitutes={"sequence/force_success/timeout/action": action_from(stubborn)},
    )
    result = await RunLoop(built, clock=clock, halt_grace_s=0.0).run()
    assert (result.status, built.blackboard["count"]) == (S, 1)
    assert "task.left_behind" in capsys.readouterr().out
    release.set()
    await until_idle()


async def test_a_task_cancelled_from_within_has_failed_and_the_run_goes_on():
    async def work():
        raise asyncio.CancelledError

    run = await run_root(
        "selector: [{action: x}, {set: {count: 1}}]", substitutes={"selector/action": action_from(work)}
    )
    assert (run.status, run.value("count")) == (S, 1)
    assert run.result.errors[0].error.startswith("CancelledError")


async def test_a_cancel_of_the_run_itself_leaves_no_task_and_records_the_end():
    ends, recording = [], Recording()

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            ends.append("ended")

    built = live(
        "parallel: [{action: a}, {action: b}]",
        substitutes={"parallel/action": action_from(work), "parallel/action#2": action_from(work)},
    )
    task = asyncio.create_task(RunLoop(built, observers=[recording]).run())
    await until_idle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends == ["ended", "ended"]
    assert not [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
    assert [record.cause for record in recording] == ["start", "end"]
    assert {node.status for node in built.nodes} == {Status.INVALID}


async def test_an_observer_that_raises_is_dropped_and_the_others_go_on(capsys):
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


def broken_kind(method, error):
    class Broken(Node[NoSettings]):
        """Raises in one of its methods."""

        def update(self):
            return Status.SUCCESS

    def fail(self, *_arguments):
        raise error

    setattr(Broken, method, fail)
    return node("broken")(Broken).kind


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError("cannot say")


ERRORS = [
    ValueError("bad"),
    asyncio.CancelledError("odd"),
    RecursionError(),
    UnspeakableError(),
    KeyError("x" * 10_000),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("method", ["update", "initialise", "terminate"])
async def test_an_exception_in_a_node_is_a_failure_in_the_record_and_nothing_else(method, error):
    clock, ends = FakeClock(), []

    async def slow():
        try:
            await clock.sleep(100)
        finally:
            ends.append("halted")

    run = await run_root(
        """
selector:
  - parallel:
      failure: one
      children:
        - action: x
        - sequence: [{action: y}, broken]
  - set: {count: 1}
""",
        kinds=[broken_kind(method, error)],
        clock=clock,
        substitutes={
            "selector/parallel/action": action_from(slow),
            "selector/parallel/sequence/action": action_from(lambda: clock.sleep(1)),
        },
    )
    assert (run.status, run.value("count"), ends, clock.now()) == (S, 1, ["halted"], 1)
    (told,) = run.result.errors
    assert told.path == "selector/parallel/sequence/broken"
    assert told.error.startswith(type(error).__name__)
    assert len(told.error) <= 2000


@pytest.mark.parametrize("method", ["finish", "interrupted", "failed", "start"])
async def test_an_exception_in_a_part_of_an_action_is_recorded_under_its_path(method):
    clock = FakeClock()

    class Broken(Action[NoSettings]):
        """Raises in one of its methods."""

        async def start(self):
            if method == "failed":
                raise OSError("first")
            await clock.sleep(10 if method == "interrupted" else 1)

    def fail(self, *_arguments):
        raise ValueError("bad")

    setattr(Broken, method, fail)
    run = await run_root(
        "force_success: {timeout: {seconds: 5, child: broken}}", kinds=[node("broken")(Broken).kind], clock=clock
    )
    assert run.status is S
    assert [(e.path, e.error) for e in run.result.errors] == [("force_success/timeout/broken", "ValueError: bad")]


@pytest.mark.parametrize("answer", [None, True, "SUCCESS", Status.INVALID])
async def test_an_update_that_answers_something_else_is_a_failure_that_says_so(answer):
    class Odd(Node[NoSettings]):
        """Answers something else."""

        def update(self):
            return answer

    run = await run_root("selector: [odd, {scripted: [SUCCESS]}]", kinds=[node("odd")(Odd).kind])
    assert run.status is S
    assert "must answer SUCCESS, FAILURE or RUNNING" in run.result.errors[0].error


async def test_an_error_above_a_running_action_withdraws_its_request():
    clock, ends = FakeClock(), []

    class Overseer(Node[NoSettings]):
        """Ticks its child, then raises."""

        def update(self):
            self.children[0].step()
            raise ValueError("bad")

    async def work():
        try:
            await clock.sleep(10)
        finally:
            ends.append(clock.now())

    run = await run_root(
        "sequence: [{force_success: {overseer: {child: {action: x}}}}, {action: y}]",
        kinds=[node("overseer", category="decorator", slots=CHILD)(Overseer).kind],
        clock=clock,
        substitutes={
            "sequence/force_success/overseer/action": action_from(work),
            "sequence/action": action_from(lambda: clock.sleep(1)),
        },
    )
    assert (run.status, ends) == (S, [])  # withdrawn before it started
    assert run.recording.statuses()["sequence/force_success/overseer/action"] is Status.INVALID


async def test_real_time_wakes_a_run_without_polling():
    recording = Recording()
    built = live("retry: {attempts: 2, backoff_s: 0.001, child: {scripted: [FAILURE, SUCCESS]}}")
    result = await RunLoop(built, clock=SystemClock(), observers=[recording]).run()
    assert (result.status, len(recording)) == (S, 2)
    assert [record.cause for record in recording] == ["start", "deadline"]


async def _one_run(number):
    clock = FakeClock()
    built = live(
        """
sequence:
  - timeout: {seconds: 5, child: {action: x}}
  - loop: {until: count > 2, child: {set: {count: count + 1}}}
""",
        substitutes={"sequence/timeout/action": action_from(lambda: clock.sleep(number % 9))},
    )
    await RunLoop(built, clock=clock, observers=[Recording(built.paths)]).run()
    return weakref.ref(built.root)


async def test_a_tree_that_nobody_holds_is_gone_without_the_collector():
    await _one_run(0)
    gc.collect()
    gc.disable()
    try:
        roots = [await _one_run(number) for number in range(30)]
        await asyncio.sleep(0)
        assert [root() for root in roots] == [None] * 30
    finally:
        gc.enable()


async def _grown_objects(runs):
    for number in range(50):
        await _one_run(number)
    gc.collect()
    before = len(gc.get_objects())
    for number in range(runs):
        await _one_run(number)
    gc.collect()
    return len(gc.get_objects()) - before


async def test_runs_leave_nothing_in_memory():
    assert await _grown_objects(300) < 100


@pytest.mark.soak
async def test_ten_thousand_runs_leave_nothing_in_memory():
    for number in range(200):
        await _one_run(number)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    assert await _grown_objects(10_000) < 100
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 500_000


async def test_substitutes_stand_at_their_paths():
    run = await run_root(
        "sequence: [{action: x}, {retry: {attempts: 1, child: {action: y}}}]",
        substitutes={"sequence/action": scripted("RUNNING", "SUCCESS"), "sequence/retry": scripted("FAILURE")},
    )
    assert run.status is F
    assert run.ticks_of("sequence/action") == [1, 2]
    assert run.ticks_of("sequence/retry/action") == []
