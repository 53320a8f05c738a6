"""When a journal gets outcomes, before the tree; and what waits until they are durable."""

import asyncio

import pytest

from bt_runtime import Action, Journal, NoSettings, Recording, RunLoop, Status
from bt_runtime.testing import FakeClock, FakeHost, action_from
from tests.bt_runtime.running import S, live, until_idle


class _Journal(Journal):
    def __init__(self, recording=None):
        self.recording = recording
        self.kept = []
        self.ticks_seen = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def keep(self, outcomes):
        self.kept += outcomes
        self.ticks_seen.append(len(self.recording) if self.recording is not None else None)
        await self.gate.wait()


async def test_the_journal_gets_an_outcome_before_the_tree():
    recording = Recording()
    journal = _Journal(recording)
    journal.gate.clear()

    async def work():
        return "found"

    tree = live("action: work", host=FakeHost(), substitutes={"action": action_from(work)})
    task = asyncio.create_task(RunLoop(tree, observers=[recording], journal=journal).run())
    await until_idle()
    assert [outcome.value for outcome in journal.kept] == ["found"]
    assert len(recording) == 1, "the tree was ticked before the journal had kept the outcome"
    journal.gate.set()
    assert (await task).status is S
    assert journal.ticks_seen == [1]
    assert [outcome for record in recording for outcome in record.outcomes] == journal.kept


async def test_the_partial_result_of_a_halted_node_is_in_the_journal_once():
    journal = _Journal()

    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "half"

    tree = live(
        "loop: {guards: [condition: not cancel_requested], child: {action: work}}",
        host=FakeHost(),
        substitutes={"loop/action": action_from(work)},
    )
    loop = RunLoop(tree, journal=journal)
    task = asyncio.create_task(loop.run())
    await until_idle()
    loop.cancel()
    await task
    assert [(outcome.state, outcome.value) for outcome in journal.kept] == [("cancelled", "half")]


async def test_a_failing_journal_ends_the_run_and_leaves_no_task():
    class Failing(Journal):
        async def keep(self, outcomes):
            raise OSError("no space left")

    async def work():
        return "found"

    both = {"parallel/action": action_from(work), "parallel/action#2": action_from(asyncio.Event().wait)}
    tree = live("parallel: [{action: one}, {action: two}]", host=FakeHost(), substitutes=both)
    with pytest.raises(OSError, match="no space left"):
        await RunLoop(tree, journal=Failing()).run()
    assert not [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]


class Steps(Journal):
    """Notes the order of what happens around ticks."""

    def __init__(self):
        self.noted = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def keep(self, outcomes):
        self.noted.append("keep")

    def begin_tick(self):
        self.noted.append("(")

    def on_tick(self, record):
        self.noted.append(record.cause)

    def end_tick(self):
        self.noted.append(")")

    async def flush(self):
        self.noted.append("flush")
        await self.gate.wait()

    def does(self, what):
        async def work():
            self.noted.append(what)
            return True

        return action_from(work)


async def test_a_tick_is_framed_for_the_journal_with_all_that_watches_it():
    steps = Steps()
    tree = live("sequence: [{action: one}]", host=FakeHost(), substitutes={"sequence/action": steps.does("one")})
    await RunLoop(tree, observers=[steps], journal=steps).run()
    assert steps.noted == ["(", "start", ")", "one", "keep", "(", "outcome", ")", "(", ")"]


WRITES = """
sequence:
  - force_success: {loop: {guards: [condition: not cancel_requested], child: {action: asks}}}
  - action: {call: write, name: writes}
  - action: {call: write, name: more}
"""


async def test_what_nodes_do_with_partial_results_and_at_the_end_is_framed_too():
    class Says(Action[NoSettings]):
        async def start(self):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "half"

        def interrupted(self, value):
            steps.noted.append(value)

    steps = Steps()
    root = "sequence: [{force_success: {timeout: {seconds: 5, child: {action: one}}}}, "
    root += "{on_halt: {child: {action: two}, then: {notify: bye}}}]"

    class Host(FakeHost):
        def notify(self, *, message, **_):
            steps.noted.append(message)

    paths = ("sequence/force_success/timeout/action", "sequence/on_halt/action")
    tree = live(root, host=Host(), substitutes=dict.fromkeys(paths, Says))
    clock = FakeClock(jump=False)
    task = asyncio.create_task(RunLoop(tree, clock=clock, observers=[steps], journal=steps).run())
    await until_idle()
    clock.advance(5)
    await until_idle()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert steps.noted == [
        *("(", "start", ")"),
        *("(", "deadline", ")", "keep", "(", "half", ")", "flush"),
        *("(", "bye", ")", "keep", "(", "half", ")", "end"),
    ]


async def test_what_is_delivered_while_an_outcome_is_kept_comes_with_it_and_is_recorded_so():
    class Telling(Journal):
        async def keep(self, outcomes):
            loop.deliver("cancel_requested", value=True)

        def begin_tick(self):
            pass

        def end_tick(self):
            pass

        async def flush(self):
            pass

    text = "sequence: [{action: one}, {condition: cancel_requested}]"
    tree = live(text, host=FakeHost(), substitutes={"sequence/action": Steps().does("one")})
    recording = Recording()
    loop = RunLoop(tree, observers=[recording], journal=Telling())
    assert (await loop.run()).status is Status.SUCCESS
    taken = list(recording)[1]
    assert (taken.cause, taken.causes) == ("delivery", ("cancel_requested",))
    assert taken.deliveries == (("cancel_requested", True),)
    assert [outcome.state for outcome in taken.outcomes] == ["done"]


async def test_work_begins_after_the_outcome_that_it_rests_on_is_durable_and_the_tick_does_not_wait_for_that():
    steps = Steps()
    steps.gate.clear()
    paths = {"sequence/action": steps.does("one"), "sequence/action#2": steps.does("two")}
    tree = live("sequence: [{action: one}, {action: two}]", host=FakeHost(), substitutes=paths)
    task = asyncio.create_task(RunLoop(tree, observers=[steps], journal=steps).run())
    await until_idle()
    assert steps.noted == ["(", "start", ")", "one", "keep", "(", "outcome", ")", "flush"]
    steps.gate.set()
    assert (await task).status is S
    assert steps.noted[9:] == ["two", "keep", "(", "outcome", ")", "(", ")"]


async def test_work_begins_after_the_delivery_that_it_rests_on_is_durable_also_ticks_later():
    steps = Steps()
    steps.gate.clear()
    asks = action_from(asyncio.Event().wait)
    substitutes = {"sequence/force_success/loop/action": asks, "sequence/writes": steps.does("write")}
    tree = live(WRITES, host=FakeHost(), substitutes=substitutes | {"sequence/more": steps.does("more")})
    loop = RunLoop(tree, observers=[steps], journal=steps)
    task = asyncio.create_task(loop.run())
    await until_idle()
    loop.cancel()
    await until_idle()
    assert steps.noted[3:9] == ["(", "delivery", ")", "keep", "(", ")"]
    assert steps.noted[9:] == ["(", "again", ")", "flush"]
    steps.gate.set()
    assert (await task).status is S
    assert steps.noted[12:14] == ["flush", "write"]
    assert steps.noted[14:] == ["keep", "(", "outcome", ")", "flush", "more", "keep", "(", "outcome", ")", "(", ")"]
