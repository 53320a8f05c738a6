"""A run whose process is gone is repeated from its record on another tree, and goes on there."""

import asyncio

import pytest

from bt_runtime import (
    Action,
    ContinuedClock,
    NoSettings,
    Outcome,
    Recording,
    Replaying,
    ResumedWork,
    RunLoop,
    Status,
    did_the_same,
    node,
)
from bt_runtime.testing import FakeClock, FakeHost
from tests.bt_runtime.running import F, S, live, until_idle


@node("job", acts=False)
class Job(Action[NoSettings]):
    """Does what the test has put down for its path; its result goes to the key `found`."""

    async def start(self):
        return await self.run.host.jobs[self.path]()

    def finish(self, value):
        self.run.blackboard.set("found", value)
        return Status.SUCCESS if value else Status.FAILURE

    def interrupted(self, value):
        self.run.blackboard.set("found", value)


class Jobs(FakeHost):
    """Works for nodes, by path."""

    def __init__(self, **jobs):
        super().__init__()
        self.begun = []
        self.jobs = {path.replace("__", "/"): self._noting(path, job) for path, job in jobs.items()}

    def _noting(self, path, job):
        async def work():
            self.begun.append(path)
            return await job()

        return work


async def forever():
    await asyncio.Event().wait()


def gives(value):
    async def work():
        return value

    return work


class Watching:
    """A supervisor that starts one request at a time, and notes what it is asked."""

    def __init__(self):
        self.seen = []

    def deadline_s(self):
        return None

    def judge(self, standing):
        self.seen.append((standing.now_s, [each.key for each in standing.posted], standing.rests))
        return standing.posted[: 0 if standing.under_way else 1]


async def record_of(root, host, *, events=(), clock=None, supervisor=None):
    """The ticks of a run that its process leaves; `events` happen to it, each when it is idle."""
    recording = Recording()
    tree = live(root, kinds=[Job.kind], host=host)
    loop = RunLoop(tree, clock=clock or FakeClock(jump=False), observers=[recording], supervisor=supervisor)
    task = asyncio.create_task(loop.run())
    await until_idle()
    for event in events:
        event(loop)
        await until_idle()
    records = tuple(recording)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return records


def repeated(root, records, host, *, supervisor=None):
    """The same tree after the same ticks."""
    tree = live(root, kinds=[Job.kind], host=host)
    replaying = Replaying(tree, supervisor)
    for recorded in records:
        assert did_the_same(replaying.play(recorded), recorded, tree.paths, tree.paths)
    assert not replaying.missing
    return tree, replaying


def resumed(root, records, host, *, outcome_of=lambda _request: None, supervisor=None, **options):
    """A run that goes on, and the record of its ticks here."""
    tree, replaying = repeated(root, records, host, supervisor=supervisor)
    recording = Recording(tree.paths)
    work = ResumedWork(replaying.hand_over(), outcome_of)
    options.setdefault("clock", FakeClock(start_s=records[-1].at_s if records else 0.0))
    return tree, RunLoop(tree, observers=[recording], resumed=work, **options), recording


TWO = "sequence: [{job: {name: one}}, {job: {name: two}}]"


async def test_work_that_was_under_way_and_has_no_known_end_starts_anew_and_the_run_goes_on():
    records = await record_of(TWO, Jobs(sequence__one=gives(1), sequence__two=forever))
    assert [record.tick for record in records] == [1, 2]
    host = Jobs(sequence__one=forever, sequence__two=gives(2))
    tree, loop, recording = resumed(TWO, records, host)
    result = await loop.run()
    assert (result.status, result.ticks) == (S, 3)
    assert host.begun == ["sequence__two"]
    assert [(record.tick, [o.key for o in record.outcomes]) for record in recording] == [(3, ["sequence/two@1"])]
    assert tree.blackboard["found"] == 2


async def test_a_known_end_of_work_is_an_event_and_a_failure_of_it_too():
    records = await record_of(TWO, Jobs(sequence__one=gives(1), sequence__two=forever))
    for state, value, status in (("done", "kept", S), ("failed", None, F)):
        asked = []

        def kept(request, state=state, value=value, asked=asked):
            asked.append(request.key)
            return Outcome(request.key, state, value, error=None if value else "ModelError: lost", at_s=4.0)

        host = Jobs()
        _, loop, recording = resumed(TWO, records, host, outcome_of=kept)
        result = await loop.run()
        assert (result.status, host.begun, asked) == (status, [], ["sequence/two@1"])
        (record,) = recording
        assert (record.cause, record.at_s, record.outcomes[0].value) == ("outcome", 4.0, value)


async def test_what_the_last_tick_had_halted_is_settled_with_what_was_kept_before_anything_starts():
    root = "selector: [{timeout: {seconds: 5, child: {job: {name: slow}}}}, {job: {name: other}}]"
    clock = FakeClock(jump=False)
    host = Jobs(selector__timeout__slow=forever, selector__other=forever)
    records = await record_of(root, host, clock=clock, events=[lambda _: clock.advance(5)])
    assert [record.cause for record in records] == ["start", "deadline"]
    for partial in ("half", None):
        kept, begun = [], Jobs(selector__other=gives("other"))

        class Journal(RecordingJournal):
            async def keep(self, outcomes, kept=kept, begun=begun):
                kept.extend((outcome.key, outcome.state, outcome.value, tuple(begun.begun)) for outcome in outcomes)

        def outcome_of(request, partial=partial):
            return Outcome(request.key, "done", partial, at_s=4.0) if partial and "slow" in request.key else None

        _, loop, recording = resumed(root, records, begun, outcome_of=outcome_of, journal=Journal())
        assert (await loop.run()).status is S
        assert kept[0] == ("selector/timeout/slow@1", "cancelled", partial, ())
        (record,) = recording
        assert [outcome.key for outcome in record.outcomes] == ["selector/timeout/slow@1", "selector/other@1"]
        assert [value for _, value in record.writes] == [*([partial] if partial else []), "other"]


class RecordingJournal:
    """A journal that makes nothing durable."""

    async def keep(self, outcomes):
        pass

    def begin_tick(self):
        pass

    def end_tick(self):
        pass

    async def flush(self):
        pass


async def test_a_run_that_had_ended_is_not_ticked_again_and_one_without_ticks_begins():
    host = Jobs(sequence__one=gives(1), sequence__two=gives(2))
    records = await record_of(TWO, host)
    _, loop, recording = resumed(TWO, records, host)
    result = await loop.run()
    assert (result.status, result.ticks, len(recording)) == (S, 3, 0)
    _, loop, recording = resumed(TWO, (), host)
    assert (await loop.run()).status is S
    assert [record.cause for record in recording] == ["start", "outcome", "outcome"]


async def test_a_deadline_that_came_meanwhile_is_the_next_event():
    root = "timeout: {seconds: 5, child: {job: {name: slow}}}"
    records = await record_of(root, Jobs(timeout__slow=forever))
    clock = ContinuedClock(FakeClock())
    clock.go_on(7.0)
    host = Jobs(timeout__slow=forever)
    _, loop, recording = resumed(root, records, host, clock=clock)
    assert (await loop.run()).status is F
    assert [(record.cause, record.at_s) for record in recording] == [("deadline", 7.0), ("end", 7.0)]
    assert host.begun == [], "work that its deadline had ended was begun once more"


PAIR = "parallel: [{job: {name: one}}, {job: {name: two}}]"


async def test_what_a_supervisor_had_held_is_held_again_while_what_was_under_way_starts_anew():
    first = Jobs(parallel__one=forever, parallel__two=forever)
    records = await record_of(PAIR, first, supervisor=Watching())
    assert first.begun == ["parallel__one"]
    gate = asyncio.Event()
    host = Jobs(parallel__one=gate.wait, parallel__two=gives(True))
    _, loop, _ = resumed(PAIR, records, host, supervisor=Watching())
    task = asyncio.create_task(loop.run())
    await until_idle()
    assert host.begun == ["parallel__one"]
    gate.set()
    assert (await task).status is S
    assert host.begun == ["parallel__one", "parallel__two"]


async def test_a_supervisor_sees_the_repeated_ticks_and_cannot_end_them():
    class Ending(Watching):
        ends = False

        def judge(self, standing):
            super().judge(standing)
            return None if self.ends else standing.posted

    records = await record_of(TWO, Jobs(sequence__one=gives(1), sequence__two=gives(2)))
    supervisor = Ending()
    supervisor.ends = True
    tree, _ = repeated(TWO, records, FakeHost(), supervisor=supervisor)
    assert tree.root.status is S
    assert [(keys, rests) for _, keys, rests in supervisor.seen] == [
        (["sequence/one@1"], False),
        (["sequence/two@1"], False),
    ]
    supervisor = Ending()
    _, loop, _ = resumed(TWO, records[:2], Jobs(), supervisor=supervisor)
    supervisor.ends = True
    result = await loop.run()
    assert result.is_stopped
    assert supervisor.seen[-1] == (0.0, ["sequence/two@1"], True)


async def test_errors_of_the_repeated_ticks_count_as_those_of_the_run():
    root = "sequence: [{force_success: {job: {name: one}}}, {job: {name: two}}]"
    path = "sequence__force_success__one"

    async def breaks():
        raise OSError("gone")

    records = await record_of(root, Jobs(**{path: breaks, "sequence__two": forever}))
    _, loop, _ = resumed(root, records, Jobs(sequence__two=gives(2)))
    (error,) = (await loop.run()).errors
    assert error.error == "OSError: gone"


async def test_a_delivery_of_a_repeated_tick_wakes_nothing_and_a_new_one_does():
    root = "loop: {guards: [condition: not cancel_requested], child: {job: {name: one}}}"
    records = await record_of(root, Jobs(loop__one=forever))
    _, loop, recording = resumed(root, records, Jobs(loop__one=forever))
    task = asyncio.create_task(loop.run())
    await until_idle()
    loop.cancel()
    await task
    assert [record.cause for record in recording][:1] == ["delivery"]


ROUNDS = """
repeat:
  times: 3
  child:
    sequence:
      - parallel: [{job: {name: one}}, {job: {name: two}}]
      - wait: 2
      - force_success: {timeout: {seconds: 3, child: {job: {name: three}}}}
      - notify: done
"""
TAKES_S = {
    "parallel/one": (1.0, 4.0, 2.0),
    "parallel/two": (4.0, 1.0, 2.0),
    "force_success/timeout/three": (1.0, 9.0, 9.0),
}


class Waiting:
    """Whether a run may be parked, and how often it was asked."""

    def __init__(self, says=True):
        self.says, self.asked = says, 0

    def __call__(self):
        self.asked += 1
        return self.says


ASKS = """
sequence:
  - parallel: [{wait: {until: cancel_requested}}, {job: {name: one}}]
  - job: {name: two}
"""


async def test_a_run_that_waits_for_a_delivery_alone_is_parked_without_being_halted_and_goes_on_from_its_record():
    gate, recording, waiting = asyncio.Event(), Recording(), Waiting()
    tree = live(ASKS, kinds=[Job.kind], host=Jobs(sequence__parallel__one=gate.wait))
    loop = RunLoop(tree, clock=FakeClock(start_s=3.0, jump=False), observers=[recording], may_park=waiting)
    task = asyncio.create_task(loop.run())
    await until_idle()
    assert waiting.asked == 0, "work is under way"
    gate.set()
    result = await task
    assert (result.status, result.is_parked, result.ticks, result.error) == (Status.RUNNING, True, 2, None)
    assert [record.cause for record in recording] == ["start", "outcome"]
    records = list(recording)

    host = Jobs(sequence__two=gives(2))
    _, again, _ = resumed(ASKS, records, host, may_park=waiting)
    assert (await again.run()).is_parked, "nothing was delivered, so it is parked at once"
    _, again, rest = resumed(ASKS, records, host, may_park=waiting)
    again.cancel()
    result = await again.run()
    assert (result.status, result.is_parked) == (S, False)
    assert [(record.tick, record.cause, record.deliveries) for record in rest] == [
        (3, "delivery", (("cancel_requested", True),)),
        (4, "outcome", ()),
    ]


async def test_a_run_that_may_not_be_parked_waits_and_one_that_waits_for_a_time_alone_is_not_asked():
    waiting = Waiting(says=False)
    loop = RunLoop(live("wait: {until: cancel_requested}"), clock=FakeClock(), may_park=waiting)
    task = asyncio.create_task(loop.run())
    await until_idle()
    assert waiting.asked == 1
    loop.cancel()
    assert (await task).status is S
    waiting = Waiting()
    assert (await RunLoop(live("wait: 5"), clock=FakeClock(), may_park=waiting).run()).status is S
    assert waiting.asked == 0


async def test_a_run_with_held_work_is_not_parked():
    supervisor, waiting = Watching(), Waiting()
    supervisor.judge = lambda _standing: ()
    tree = live(ASKS, kinds=[Job.kind], host=Jobs())
    loop = RunLoop(tree, clock=FakeClock(), supervisor=supervisor, may_park=waiting)
    task = asyncio.create_task(loop.run())
    await until_idle()
    assert waiting.asked == 0
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class Sleeping:
    """A clock that works can sleep on."""

    def __init__(self, clock):
        self.clock = clock
        self.now = clock.now

    async def sleep(self, seconds):
        await self.clock.wait(asyncio.Event(), until_s=self.now() + seconds)


def timed_jobs(clock, starts, *, is_first=False):
    """Works that end at the same times, whoever does them; `starts` has when those of a path have begun first."""

    def work_of(path, takes_s):
        async def work():
            begun = starts.setdefault(path, [])
            if is_first:
                begun.append(clock.now())
            nth = sum(began_s <= clock.now() for began_s in begun) - 1
            ends_s = begun[nth] + takes_s[nth]
            await clock.sleep(ends_s - clock.now())
            return ends_s

        return work

    paths = {f"repeat/sequence/{path}": takes_s for path, takes_s in TAKES_S.items()}
    return Jobs(**{path.replace("/", "__"): work_of(path, takes_s) for path, takes_s in paths.items()})


async def test_wherever_a_run_is_left_its_two_halves_are_the_whole_run_tick_by_tick():
    clock, whole, starts = FakeClock(), Recording(), {}
    tree = live(ROUNDS, kinds=[Job.kind], host=timed_jobs(clock, starts, is_first=True))
    assert (await RunLoop(tree, clock=clock, observers=[whole]).run()).status is S
    records = list(whole)
    assert {record.cause for record in records} == {"start", "outcome", "deadline", "again", "end"}
    for cut in range(len(records) + 1):
        first = records[:cut]
        clock = ContinuedClock(FakeClock(start_s=77.0))
        clock.go_on(first[-1].at_s if first else 0.0)
        host = timed_jobs(Sleeping(clock), starts)
        _, loop, rest = resumed(ROUNDS, first, host, clock=clock)
        assert (await loop.run()).status is S
        assert first + list(rest) == records, f"left after tick {cut}"


async def test_a_continued_clock_shows_what_it_is_set_to_and_then_passes():
    base = FakeClock(start_s=1_000.0, jump=False)
    clock = ContinuedClock(base, 3.0)
    assert clock.now() == 3.0
    clock.show(8.5)
    base.advance(60)
    assert clock.now() == 8.5
    with pytest.raises(RuntimeError, match="stands still"):
        await clock.wait(asyncio.Event(), until_s=9.0)
    clock.go_on(10.0)
    base.advance(2)
    assert clock.now() == 12.0
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), until_s=15.0))
    await until_idle()
    base.advance(2.5)
    await until_idle()
    assert not waiting.done()
    base.advance(0.5)
    await waiting
