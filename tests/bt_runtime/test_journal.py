"""When a journal gets outcomes: before the tree."""

import asyncio

import pytest

from bt_runtime import Recording, RunLoop
from bt_runtime.testing import FakeHost, action_from
from tests.bt_runtime.running import S, live, until_idle


class _Journal:
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


async def test_an_outcome_is_durable_before_the_tree_gets_it():
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
    class Failing:
        async def keep(self, outcomes):
            raise OSError("no space left")

    async def work():
        return "found"

    both = {"parallel/action": action_from(work), "parallel/action#2": action_from(asyncio.Event().wait)}
    tree = live("parallel: [{action: one}, {action: two}]", host=FakeHost(), substitutes=both)
    with pytest.raises(OSError, match="no space left"):
        await RunLoop(tree, journal=Failing()).run()
    assert not [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
