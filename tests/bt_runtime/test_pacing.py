"""A run that is held between its ticks, whose values are changed and whose results are forced meanwhile."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bt_runtime import PausableClock, Recording, RunError, RunLoop, Status, SystemClock, build, forced_path, replay
from bt_runtime.library.named import read_tree
from bt_runtime.replays.replaying import Retrace, event_ticks
from bt_runtime.replays.tracing import Trace
from bt_runtime.testing import FakeClock, action_from, registry_of
from tests.bt_runtime.replays.test_replaying import TREES, Work
from tests.bt_runtime.running import F, S, live, until_idle


class Hold:
    """Holds a run at chosen ticks (0 is before the first) until it is let go."""

    def __init__(self, *ticks):
        self.ticks = set(ticks)
        self.held = []
        self.go_on = asyncio.Event()
        self.is_released = False

    async def before_first_tick(self):
        await self.hold(0)

    async def before_tick(self, given):
        return False

    async def after_tick(self, record, posted):
        await self.hold(record.tick, [request.key for request in posted])

    async def hold(self, tick, posted=()):
        if tick in self.ticks and not self.is_released:
            self.held.append((tick, list(posted)))
            self.go_on.clear()
            await self.go_on.wait()

    def release(self):
        self.is_released = True
        self.go_on.set()


def saying(board_of, said):
    async def work():
        said.append(board_of()["hint"])

    return work


async def test_a_value_that_is_changed_while_a_run_is_held_counts_for_the_request_that_its_tick_has_posted():
    said, recording, pacer = [], Recording(), Hold(1)
    built = live(
        "sequence: [{set: {count: 1}}, action: x]",
        substitutes={"sequence/action": action_from(saying(lambda: built.blackboard, said))},
    )
    loop = RunLoop(built, clock=FakeClock(), observers=[recording], pacer=pacer)
    running = asyncio.create_task(loop.run())
    await until_idle()
    assert (pacer.held, said) == ([(1, ["sequence/action@1"])], [])
    loop.deliver("hint", "changed")
    await until_idle()
    assert not said
    pacer.go_on.set()
    assert (await running).status is S
    assert said == ["changed"]
    assert [(record.cause, record.causes) for record in recording] == [
        ("start", ()),
        ("delivery", ("hint",)),
        ("outcome", ("sequence/action@1",)),
    ]
    assert replay(_again("sequence: [{set: {count: 1}}, action: x]"), recording).records == tuple(recording)


async def test_a_forced_node_returns_the_result_once_and_its_request_is_never_started():
    root, recording, pacer, started = "selector: [action: x, action: y]", Recording(), Hold(1), []

    async def work():
        started.append("y")

    built = live(root, substitutes={"selector/action#2": action_from(work), "selector/action": action_from(work)})
    loop = RunLoop(built, clock=FakeClock(), observers=[recording], pacer=pacer)
    running = asyncio.create_task(loop.run())
    await until_idle()
    loop.force("selector/action", "failure")
    pacer.go_on.set()
    assert (await running).status is S
    assert started == ["y"]
    forced = recording._records[1]
    assert forced.deliveries == (("force:selector/action", "failure"),)
    assert forced_path(forced.deliveries[0][0]) == "selector/action"
    assert dict(forced.changes) == {1: F, 2: Status.RUNNING}
    assert replay(_again(root), recording).records == tuple(recording)


async def test_a_forced_result_waits_until_its_node_is_ticked_and_is_used_once():
    built = live("repeat: {times: 3, child: {sequence: [{scripted: [RUNNING, SUCCESS]}, {set: {count: count + 1}}]}}")
    loop = RunLoop(built, clock=FakeClock(), pacer=(pacer := Hold(0)))
    running = asyncio.create_task(loop.run())
    await until_idle()
    loop.force("repeat/sequence/set", "success")
    pacer.go_on.set()
    assert (await running).status is S
    assert built.blackboard["count"] == 2


async def test_a_forced_node_with_running_nodes_below_is_halted_first():
    ended = []

    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    built = live("selector: [{sequence: [action: x]}]", substitutes={"selector/sequence/action": action_from(work)})
    loop = RunLoop(built, clock=FakeClock())
    running = asyncio.create_task(loop.run())
    await until_idle()
    loop.force("selector/sequence", "success")
    assert (await running).status is S
    assert ended == ["cancelled"]
    assert {each.status for each in built.nodes[2:]} == {Status.INVALID}


async def test_a_node_that_the_tree_does_not_have_cannot_be_forced():
    loop = RunLoop(live("condition: turn > 3"), clock=FakeClock())
    with pytest.raises(RunError, match="has no node 'other'"):
        loop.force("other", "success")


async def test_a_replay_of_an_edited_tree_records_that_a_forced_node_is_gone():
    recording = Recording()
    built = live("sequence: [{scripted: [RUNNING, SUCCESS]}]")
    loop = RunLoop(built, clock=FakeClock(), observers=[recording])
    loop.force("sequence/scripted", "failure")
    assert (await loop.run()).status is F
    replayed = replay(_again("sequence: [{condition: turn > 3}]"), recording, paths=built.paths)
    assert replayed.diverged_at == 1
    assert replayed.records[0].errors[0].error == ("a result cannot be forced: there is no node 'sequence/scripted'")


async def test_a_cancel_ends_the_hold_and_reaches_the_tree_before_anything_starts():
    started, pacer = [], Hold(1)

    async def work():
        started.append("x")

    built = live(
        "loop: {guards: [{condition: not cancel_requested}], child: {action: x}}",
        substitutes={"loop/action": action_from(work)},
    )
    loop = RunLoop(built, clock=FakeClock(), pacer=pacer)
    running = asyncio.create_task(loop.run())
    await until_idle()
    loop.cancel()
    result = await running
    assert (result.ticks, started) == (3, [])  # one more, after the request is known to have ended


async def test_a_hold_before_the_first_tick_lets_values_be_set_for_it():
    recording, pacer = Recording(), Hold(0)
    loop = RunLoop(live("condition: count == 7"), clock=FakeClock(), observers=[recording], pacer=pacer)
    running = asyncio.create_task(loop.run())
    await until_idle()
    assert not len(recording)
    loop.deliver("count", 7)
    pacer.go_on.set()
    assert (await running).status is S
    assert recording._records[0].deliveries == (("count", 7),)


async def test_a_hold_that_is_cancelled_ends_the_run_and_leaves_no_task():
    loop = RunLoop(live("sequence: [action: x]"), clock=FakeClock(), pacer=Hold(1))
    running = asyncio.create_task(loop.run())
    await until_idle()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


class HoldBefore(Hold):
    """Holds a run once before a tick."""

    async def before_tick(self, given):
        if self.held:
            return False
        self.held.append((given.cause, []))
        await self.go_on.wait()
        return True


async def test_a_value_that_is_changed_while_a_tick_is_held_is_an_input_of_that_tick():
    recording, pacer = Recording(), HoldBefore()
    loop = RunLoop(live("condition: count == 7"), clock=FakeClock(), observers=[recording], pacer=pacer)
    running = asyncio.create_task(loop.run())
    await until_idle()
    assert (pacer.held, len(recording)) == ([("start", [])], 0)
    loop.deliver("count", 7)
    pacer.go_on.set()
    assert (await running).status is S
    assert [(record.cause, record.deliveries) for record in recording] == [("start", (("count", 7),))]
    assert replay(_again("condition: count == 7"), recording).records == tuple(recording)


# The clock


async def test_a_stopped_clock_stands_still_and_what_it_missed_does_not_count():
    base = FakeClock(10, jump=False)
    clock = PausableClock(base)
    base.advance(5)
    clock.stop()
    clock.stop()
    base.advance(100)
    assert (clock.now(), clock.is_stopped) == (15, True)
    assert clock.go() == 100
    assert clock.go() == 0
    base.advance(2)
    assert (clock.now(), clock.is_stopped) == (17, False)


async def test_a_wait_that_began_before_a_stop_ends_so_much_later():
    base = FakeClock(jump=False)
    clock, times = PausableClock(base), []

    async def wait():
        event = asyncio.Event()
        while clock.now() < 10:
            event.clear()
            await clock.wait(event, until_s=10)
        times.append(base.now())

    waiting = asyncio.create_task(wait())
    for step in (4, "stop", 100, "go", 5, 1):
        await until_idle()
        if isinstance(step, str):
            getattr(clock, step)()
        else:
            base.advance(step)
    await waiting
    assert times == [110]


async def test_deadlines_of_a_held_run_stand_still():
    base, recording, pacer = FakeClock(jump=False), Recording(), Hold(1)
    clock = PausableClock(base)
    built = live("timeout: {seconds: 10, child: {action: x}}", substitutes={"timeout/action": action_from(_for_ever)})
    running = asyncio.create_task(RunLoop(built, clock=clock, observers=[recording], pacer=pacer).run())
    await until_idle()
    clock.stop()
    base.advance(3600)
    await until_idle()
    assert len(recording) == 1
    clock.go()
    pacer.go_on.set()
    await until_idle()
    base.advance(9)
    await until_idle()
    assert len(recording) == 1
    base.advance(1)
    assert (await running).status is F
    assert [record.at_s for record in recording][:2] == [0, 10]


async def test_a_pausable_clock_waits_like_the_one_behind_it():
    event = asyncio.Event()
    event.set()
    clock = PausableClock(SystemClock())
    await clock.wait(event, until_s=clock.now() + 3600)
    await clock.wait(event, until_s=None)
    assert not clock._waiting


async def _for_ever():
    await asyncio.Event().wait()


def _again(root):
    return live(root)


# Random trees, random commands


class RandomDebugger:
    """Holds a run at ticks, each time for a while in which it changes values and forces results."""

    def __init__(self, plan, clock, base):
        self.plan, self.clock, self.base = dict(plan), clock, base
        self.loop = None
        self.recording = ()
        self.paths = ()
        self.is_released = False
        self.wake = asyncio.Event()

    async def before_first_tick(self):
        await self.hold(0)

    async def before_tick(self, given):
        at = ("before", len(self.recording))
        is_held = at in self.plan and not self.is_released
        await self.hold(at)
        self.plan.pop(at, None)
        return is_held

    async def after_tick(self, record, posted):
        await self.hold(record.tick)

    async def hold(self, tick):
        if tick not in self.plan or self.is_released:
            return
        seconds, commands = self.plan[tick]
        self.clock.stop()
        for kind, at, value in commands:
            if kind == "force":
                self.loop.force(self.paths[at % len(self.paths)], ["success", "failure"][value % 2])
            else:
                self.loop.deliver("count", value)
        until_s = self.base.now() + seconds
        while self.base.now() < until_s and not self.is_released:
            self.wake.clear()
            await self.base.wait(self.wake, until_s=until_s)
        self.clock.go()

    def release(self):
        self.is_released = True
        self.wake.set()


COMMANDS = st.lists(
    st.tuples(st.sampled_from(["force", "force", "set"]), st.integers(0, 30), st.integers(0, 9)), max_size=3
)
HELD = st.integers(0, 6) | st.tuples(st.just("before"), st.integers(0, 6))
PLANS = st.lists(st.tuples(HELD, st.tuples(st.sampled_from([0, 1, 2.5, 10]), COMMANDS)), max_size=5)


async def _debugged(text, plan):
    registry = registry_of([Work.kind])
    definition = read_tree(text, file="<test>", registry=registry)
    base = FakeClock()
    clock = PausableClock(base)
    built = build(definition, registry=registry, host=base)
    debugger = RandomDebugger(plan, clock, base)
    recording = Recording(built.paths)
    loop = RunLoop(built, clock=clock, observers=[recording], pacer=debugger, max_ticks_without_event=60)
    debugger.loop, debugger.paths, debugger.recording = loop, built.paths, recording

    async def outside():
        await base.sleep(1000)
        loop.cancel()
        await base.sleep(1000)
        run.cancel()

    run, teller = asyncio.create_task(loop.run()), asyncio.create_task(outside())
    await asyncio.wait([run])
    teller.cancel()
    await asyncio.wait([teller])
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    return definition, registry, built, recording, left


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(TREES, PLANS)
def test_a_run_that_was_held_changed_and_forced_replays_to_the_identical_record(spec, plan):
    text = json.dumps(
        {"tree": "demo", "blackboard": {"count": {"type": "int", "default": 0}, "found": "any"}, "root": spec}
    )
    definition, registry, ran, recording, left = asyncio.run(_debugged(text, plan))
    assert not left
    again = build(definition, registry=registry)
    replayed = replay(again, recording)
    assert replayed.records == tuple(recording)
    assert replayed.diverged_at is None
    assert not replayed.missing
    assert dict(again.blackboard) == dict(ran.blackboard)
    assert [each.status for each in again.nodes] == [each.status for each in ran.nodes]


async def test_the_events_of_a_forced_run_lead_to_the_same_end_in_a_retrace():
    root, recording, pacer = "selector: [{sequence: [action: x]}, {set: {count: 9}}]", Recording(), Hold(1)
    built = live(root, substitutes={"selector/sequence/action": action_from(_for_ever)})
    loop = RunLoop(built, clock=FakeClock(), observers=[recording], pacer=pacer)
    running = asyncio.create_task(loop.run())
    await until_idle()
    loop.force("selector/sequence/action", "failure")
    pacer.go_on.set()
    await running
    again = _again(root)
    retrace = Retrace(again, recording)
    for event in event_ticks(recording):
        retrace.step(event)
    assert not retrace.is_running
    assert again.blackboard["count"] == 9


async def test_a_trace_sees_a_forced_step_and_says_that_it_was_forced():
    root, recording, pacer = "selector: [{condition: turn > 3}, {set: {count: 9}}]", Recording(), Hold(0)
    loop = RunLoop(live(root), clock=FakeClock(), observers=[recording], pacer=pacer)
    running = asyncio.create_task(loop.run())
    await until_idle()
    loop.force("selector/condition", "failure")
    pacer.go_on.set()
    await running
    trace = Trace()
    again = live(root, trace=trace)
    trace.watch(again)
    assert replay(again, recording).records == tuple(recording)
    visits = trace.take()
    assert [(visit.index, visit.status) for visit in visits] == [(0, S), (1, F), (2, S)]
    assert visits[1].words.text == "an operator has forced this result"
    assert not any(node.is_forced for node in again.nodes)


async def test_a_request_that_was_held_and_is_withdrawn_in_a_later_tick_counts_as_cancelled():
    """A race waits for the end of what it halts; whether that had been started is in no record."""
    root = "parallel: {until: first_success, children: [{action: x}, {action: y}]}"
    recording, pacer = Recording(), Hold(1)
    work = {f"parallel/action{n}": action_from(_for_ever) for n in ("", "#2")}
    loop = RunLoop(live(root, substitutes=work), clock=FakeClock(), observers=[recording], pacer=pacer)
    running = asyncio.create_task(loop.run())
    await until_idle()
    loop.force("parallel/action", "success")
    pacer.go_on.set()
    assert (await running).ticks == 3
    assert [(each.key, each.state) for each in recording._records[2].outcomes] == [
        ("parallel/action@1", "cancelled"),
        ("parallel/action#2@1", "cancelled"),
    ]
    assert replay(_again(root), recording).records == tuple(recording)
