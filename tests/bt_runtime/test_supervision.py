"""The seam by which a host bounds a run from outside its tree."""

import asyncio

import pytest

from bt_runtime import HotLoopError, Recording, RunLoop, replay
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import F, S, live, until_idle


class Warden:
    """Starts the requests that it is configured for, and records each standing."""

    def __init__(self, *, until_s=None, may_start=lambda standing: standing.posted, raises=None):
        self.until_s, self.may_start, self.raises = until_s, may_start, raises
        self.seen = []

    def deadline_s(self):
        return self.until_s

    def judge(self, standing):
        self.seen.append(
            (standing.now_s, [r.key for r in standing.posted], [r.key for r in standing.under_way], standing.rests)
        )
        if self.raises is not None:
            raise self.raises
        if self.until_s is not None and standing.now_s >= self.until_s:
            return None
        return self.may_start(standing)


def waiting(ends):
    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    return work


async def test_the_deadline_of_a_supervisor_wakes_a_waiting_tree_and_ends_it():
    ends, recording, clock = [], Recording(), FakeClock()
    built = live(
        "sequence: [action: x, {set: {count: 1}}]", substitutes={"sequence/action": action_from(waiting(ends))}
    )
    warden = Warden(until_s=7.5)
    result = await RunLoop(built, clock=clock, observers=[recording], supervisor=warden).run()
    assert (result.status, result.is_stopped, result.error) == (F, True, None)
    assert (ends, clock.now(), built.blackboard["count"]) == (["cancelled"], 7.5, 0)
    assert [(record.cause, record.at_s) for record in recording] == [("start", 0), ("deadline", 7.5), ("end", 7.5)]
    assert [row[1:] for row in warden.seen] == [(["sequence/action@1"], [], True), ([], ["sequence/action@1"], True)]


async def test_a_run_that_a_supervisor_ended_is_replayed_without_it():
    recording = Recording()
    built = live("parallel: [action: x, sequence: [action: y, action: z]]", substitutes=_work())
    held = lambda standing: [r for r in standing.posted if not r.key.startswith("parallel/sequence/action#2")]  # noqa: E731
    result = await RunLoop(
        built, clock=FakeClock(), observers=[recording], supervisor=Warden(until_s=5, may_start=held)
    ).run()
    assert result.is_stopped
    again = live("parallel: [action: x, sequence: [action: y, action: z]]", substitutes=_work())
    replayed = replay(again, recording)
    assert (replayed.diverged_at, replayed.missing, replayed.unanswered) == (None, (), ())
    assert replayed.records == tuple(recording)


def _work():
    async def done():
        return "done"

    return {
        "parallel/action": action_from(asyncio.Event().wait),
        "parallel/sequence/action": action_from(done),
        "parallel/sequence/action#2": action_from(done),
    }


async def test_a_held_request_is_offered_again_and_can_start_later():
    order = []

    def work(name):
        async def run():
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

        return run

    built = live(
        "parallel: [action: a, action: b]",
        substitutes={"parallel/action": action_from(work("a")), "parallel/action#2": action_from(work("b"))},
    )
    one_by_one = Warden(may_start=lambda standing: [] if standing.under_way else standing.posted[:1])
    result = await RunLoop(built, clock=FakeClock(), supervisor=one_by_one).run()
    assert result.status is S
    assert order == ["a begins", "a ends", "b begins", "b ends"]
    assert one_by_one.seen[0][1] == ["parallel/action@1", "parallel/action#2@1"]
    assert one_by_one.seen[1][1] == ["parallel/action#2@1"]


async def test_a_held_request_of_a_halted_node_never_starts():
    begun = []

    async def work():
        begun.append(1)

    built = live(
        "sequence: [{force_success: {timeout: {seconds: 3, child: {action: x}}}}, {set: {count: 1}}]",
        substitutes={"sequence/force_success/timeout/action": action_from(work)},
    )
    result = await RunLoop(built, clock=FakeClock(), supervisor=Warden(may_start=lambda standing: [])).run()
    assert (result.status, begun, built.blackboard["count"]) == (S, [], 1)


async def test_an_error_of_the_supervisor_ends_the_run_with_it():
    built = live("action: x", substitutes={"action": action_from(waiting([]))})
    result = await RunLoop(built, clock=FakeClock(), supervisor=Warden(raises=HotLoopError("a", 9, "chunks"))).run()
    assert (result.status, result.is_stopped) == (F, False)
    assert str(result.error) == "'a' went on for 9 chunks in a row without waiting for anything"
    await until_idle()


@pytest.mark.parametrize("delivered_s", [3.0, 8.0])
async def test_events_from_before_a_deadline_are_handled_before_it(delivered_s):
    clock, recording = FakeClock(jump=False), Recording()
    built = live("action: x", substitutes={"action": action_from(waiting([]))})
    loop = RunLoop(built, clock=clock, observers=[recording], supervisor=Warden(until_s=5.0))
    task = asyncio.create_task(loop.run())
    await until_idle()
    clock.advance(delivered_s)
    loop.deliver("count", 1)
    clock.advance(10)
    await task
    ticks = [(record.cause, record.at_s) for record in recording][1:-1]
    assert ticks == ([("delivery", 3.0), ("deadline", 13.0)] if delivered_s < 5 else [("delivery", 8.0)])
