import asyncio

import pytest

from bt_runtime import (
    Action,
    NoSettings,
    Recording,
    RunLoop,
    Status,
    node,
)
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import F, InTime, S, live, run_root, until_idle


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


async def test_the_partial_result_of_a_task_that_is_halted_at_the_end_is_recorded():
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
async def test_an_outcome_that_arrives_with_a_cancel_is_given_back(fails, order):
    keeper = node("keeper")(_Keeper).kind
    done = asyncio.Event()

    async def work():
        await done.wait()
        if order == "cancel between":  # after the end of the work, before the tree gets it
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


async def test_an_outcome_that_no_tick_has_got_is_given_back_when_its_node_is_halted():
    clock, both, recording = FakeClock(jump=False), asyncio.Event(), Recording()
    keeper = node("keeper")(_Keeper).kind

    async def late():
        await both.wait()
        clock._now_s = 6.0  # between the ends of the two
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
    outcomes = [(o.key, o.state) for record in recording for o in record.outcomes]
    assert outcomes == [("loop/parallel/action@1", "done"), ("loop/parallel/keeper@1", "cancelled")]


async def test_an_action_that_has_ended_leaves_no_deadline():
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
    assert (run.status, run.tree.context.next_deadline_s()) == (S, None)


async def test_an_exception_during_cancellation_is_in_the_record():
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


async def test_a_task_that_ignores_its_cancellation_is_abandoned_after_the_grace_period(capsys):
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


async def test_a_task_cancelled_from_within_has_failed_and_the_run_continues():
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
