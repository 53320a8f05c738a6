"""The timers of a process: for its runs, for runs that wait, and for those whose process has died.

- The heartbeat shows that this worker still has its runs.
- Runs that wait for a worker are claimed as soon as there is a place for them, and those of dead workers as well: a few
  at a time, so that all workers have their share of them. Each is continued, or ended from its log.
- A single worker takes over, in the background, the runs that were running before its start. Readers wait until a run
  continues.
- A run that could not be ended is tried again, and one that may have been started without an answer is removed.
- A run whose question nobody has answered in time continues.
- Texts of old runs are deleted.

Heartbeats are times of the database's clock, and are not compared with another clock. Otherwise a clock that is set, by
hand or by a time server after a suspend, would make live workers look silent, and their runs would be ended.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, Self

import structlog

from bt_runtime import Clock
from bt_runtime.text.data import dataclass
from oracle.core.chunks import Done
from oracle.core.metrics import Metrics
from oracle.core.retry import Retry, pause
from oracle.runs.continuing import NotContinuedError
from oracle.runs.live import log_end
from oracle.runs.options import TEXTS_GRACE_S, RunOptions
from oracle.runs.record.figures import LogFigures
from oracle.runs.recovery import Recovery
from oracle.runs.storage.claims import GRACE_S, Sighting
from oracle.runs.storage.errors import RunLostError, StorageError, StoreUnavailableError
from oracle.runs.storage.records import NewRun, Places, RunRecord
from oracle.runs.storage.store import Store


@dataclass(frozen=True, slots=True)
class _Seen:
    """A heartbeat, when it was seen first, and whether the worker's lock was free the last time."""

    beat_at: float
    since_s: float
    was_free: bool


class SilentWorkers:
    """The observations of one worker about the others.

    If it could not look for a while, or not write its own heartbeat, it starts to watch the others again: they may have
    been stopped as well, or cannot write theirs.

    Args:
        silent_s: how long a heartbeat may stay the same.
        heartbeat_s: between two heartbeats of this observer.
        clock: monotonic time.
    """

    def __init__(self, *, silent_s: float, heartbeat_s: float, clock: Clock) -> None:
        self._silent_s = silent_s
        self._longest_gap_s = _BLIND * silent_s
        self._heartbeat_s = heartbeat_s
        self._clock = clock
        self._seen: dict[str, _Seen] = {}
        self._beaten_s = self._noted_s = clock.now()

    def beaten(self) -> None:
        """The observer has written its own heartbeat."""
        self._beaten_s = self._clock.now()

    def note(self, workers: Mapping[str, Sighting], *, by_locks: bool) -> dict[str, float]:
        """Note what is seen now; returns the last heartbeat of each worker that has died.

        Args:
            workers: the heartbeat and lock of each worker, by its name.
            by_locks: that a lock was free twice in a row, without a heartbeat between, is a sign of death as well.
        """
        now_s, before, dead = self._clock.now(), self._seen, {}
        gap_s = max(now_s - self._noted_s, now_s - self._beaten_s - self._heartbeat_s)
        if gap_s > self._longest_gap_s:
            before = {}
        self._seen, self._noted_s = {}, now_s
        for name, sighting in workers.items():
            seen = before.get(name)
            is_same = seen is not None and seen.beat_at == sighting.beat_at
            since_s = seen.since_s if seen is not None and is_same else now_s
            is_free = by_locks and sighting.is_free
            self._seen[name] = _Seen(sighting.beat_at, since_s, is_free)
            if now_s - since_s >= self._silent_s or (seen is not None and is_same and is_free and seen.was_free):
                dead[name] = sighting.beat_at
        return dead


log = structlog.get_logger(__name__)

_BLIND: Final = 0.4
"""For this share of `silent_s` a worker may miss what it sees of others, and still judge them."""
EXPIRY_S: Final = 1.0
"""Between two looks for what nobody has answered in time."""
_ENDING = Retry(first_s=1.0, longest_s=60.0)


class Upkeep:
    """The timers of a process. Entering it starts them, and claims what waits; leaving it stops them.

    Args:
        recovery: ends runs from their logs.
        claimed: told of a run as soon as it is claimed.
        go_on: continues a claimed run; returns false if it must be ended from its log instead.
        places: the bounds of runs at present.
        options: intervals.
        clock: monotonic time.
    """

    def __init__(
        self,
        store: Store,
        recovery: Recovery,
        *,
        claimed: Callable[[RunRecord], None],
        go_on: Callable[[RunRecord], Awaitable[bool]],
        places: Callable[[], Places],
        options: RunOptions,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._store = store
        self._claimed = claimed
        self._go_on = go_on
        self._places = places
        self._recovery = recovery
        self._options = options
        self._clock = clock
        self._metrics = metrics
        self._endings: dict[str, asyncio.Task[None]] = {}
        self._left: set[str] = set()  # claimed, and neither continued nor ended yet
        self._doubtful: dict[str, NewRun] = {}
        self._silence = SilentWorkers(silent_s=options.silent_s, heartbeat_s=options.heartbeat_s, clock=clock)
        self._dead: Mapping[str, float] = {}
        self._takes_suspect = True  # one per check
        self._may_wait = asyncio.Event()
        self._has_more = self._is_starting = self._has_stopped = False
        self._timers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._store.claims.subscribe(self._may_wait.set)
        await self.beat()
        if not self._store.is_shared:
            self._is_starting = True
            self._dead = {name: seen.beat_at for name, seen in (await self._store.claims.sightings()).workers.items()}
        await self.claim()
        self._timers.append(asyncio.create_task(self._claim_on(), name="claims"))
        self._start("heartbeat", self.beat, every_s=self._options.heartbeat_s)
        self._start("reaper", self.look, every_s=self._options.look_s)
        self._start("expiry", self._store.interrupts.expire, every_s=EXPIRY_S)
        # Also without limits of retention: a process may have died while it was deleting.
        self._start("retention", self._prune, every_s=self._options.prune_s)
        if self._options.retain_texts_s is not None:
            self._start("texts", self._drop_texts, every_s=min(TEXTS_GRACE_S, self._options.prune_s))
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [*self._timers, *self._endings.values()]
        for task in tasks:
            task.cancel()
        self._is_starting = False
        await asyncio.wait(tasks)

    @property
    def recovering(self) -> int:
        """The number of claimed runs that neither go on nor have been ended, until there were none since the start."""
        return max(1, len(self._left)) if self._is_starting else 0

    def doubt(self, new: NewRun) -> None:
        """Remove a run later: it may have been started without an answer, or may not have been removed."""
        self._doubtful[new.id] = new

    def is_doubtful(self, run_id: str) -> bool:
        """Whether the run may have been started without an answer."""
        return run_id in self._doubtful

    async def end(self, record: RunRecord) -> None:
        """End a run of this worker from its log; returns when that is written, or another worker has it."""
        await asyncio.wait({self._ending(record, is_left=False)})

    def take(self, record: RunRecord) -> None:
        """Continue a run that was claimed, or end it."""
        self._left.add(record.id)
        self._claimed(record)
        self._ending(record, is_left=True)

    def note_place(self) -> None:
        """A run has ended here, so another one may start."""
        if self._has_more:
            self._may_wait.set()

    def stop_claiming(self) -> None:
        """Claim nothing from now on, and leave what was claimed to others."""
        self._has_stopped = True

    async def look(self) -> None:
        """Look for runs that nobody answers."""
        for new in tuple(self._doubtful.values()):
            await self._store.runs.abandon(new.id, created_conversation=new.created_conversation)
            self._doubtful.pop(new.id, None)
        has_queued, self._takes_suspect = False, True
        if self._store.is_shared:
            seen, presence = await self._store.claims.sightings(), self._store.claims.presence
            self._dead = self._silence.note(seen.workers, by_locks=presence.can_judge and seen.up_s >= GRACE_S)
            has_queued = seen.has_queued
        if self._dead or has_queued:
            self._may_wait.set()

    async def beat(self) -> None:
        """Write the heartbeat."""
        await self._store.claims.beat()
        self._silence.beaten()

    async def _claim_on(self) -> None:
        while True:
            await self._may_wait.wait()
            self._may_wait.clear()
            try:
                await self.claim()
            except Exception as error:  # noqa: BLE001  whatever it is, the next look tries again
                log.warning("runs.not_claimed", problem=f"{type(error).__name__}: {error}")

    async def claim(self) -> None:
        """Claim what waits and what dead workers had, a few at a time; the others of these workers take their share."""
        while not self._has_stopped:
            places = self._places()
            room = self._options.claim_at_once - len(self._left)
            room = room if places.here is None else min(room, places.here)
            self._has_more = room <= 0 or places.are_shared
            if room <= 0:
                return
            found = await self._take_over(room) if self._dead else []
            if found:
                log.warning("runs.taken_over", runs=[record.id for record in found])
            else:
                found = await self._store.claims.claim(room, places)
            for record in found:
                self.take(record)
            if not found:
                self._is_starting &= bool(self._left)
                return

    async def _take_over(self, room: int) -> list[RunRecord]:
        """Take over the runs of dead workers; of those that may have killed them, one per check, to protect others."""
        found = await self._store.claims.take_over(self._dead, most=room, suspects=False)
        if not found and self._takes_suspect:
            self._takes_suspect = False
            found = await self._store.claims.take_over(self._dead, most=1, suspects=True)
            if not found:
                self._dead = {}
        return found

    def _ending(self, record: RunRecord, *, is_left: bool) -> "asyncio.Task[None]":
        """The task that ends a run from its log, or goes on with one that another worker has left."""
        task = self._endings.get(record.id)
        if task is None:
            task = asyncio.create_task(self._end(record, is_left=is_left), name=f"ending:{record.id}")
            self._endings[record.id] = task
            task.add_done_callback(lambda _: self._endings.pop(record.id, None))
        return task

    async def _end(self, record: RunRecord, *, is_left: bool) -> None:
        structlog.contextvars.bind_contextvars(**record.log_fields)
        try_to_end = partial(self._try_to_end, record, is_left=is_left)
        done = await _ENDING.call(try_to_end, clock=self._clock, when=Exception, on_failure=_log_failure)
        if done is not None:
            self._metrics.run_recovered()
            self._metrics.used(done.model_used, done.usage)
            log_end(done, tree=record.tree, recovered=True)

    async def _try_to_end(self, record: RunRecord, *, is_left: bool) -> Done | None:
        try:
            if is_left and self._has_stopped:
                await self._store.claims.give_back(record)
                return None
            fault = None
            try:
                if is_left and await self._go_on(record):
                    return None
            except NotContinuedError as error:
                log.error("run.not_continued", tick=error.tick, node=error.node)  # noqa: TRY400  where, and no texts
                fault = error.fault
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001  a record that repeats no better the next time, be it damaged or not
                log.error("run.not_continued", problem=f"{type(error).__name__}: {error}")  # noqa: TRY400  a short line
                fault = NotContinuedError("what can be repeated", f"a {type(error).__name__}").fault
            if fault is not None:
                self._metrics.run_not_continued()
            return await self._recovery.end(record, fault=fault)
        except RunLostError:
            return None
        finally:
            # A run that cannot be ended at present delays no other, and no readiness.
            self._left.discard(record.id)
            if self._has_more or self._is_starting:
                self._may_wait.set()

    async def _prune(self) -> None:
        if self._options.retain_texts_s is None:  # it may have been set in the process that died
            await self._store.retention.finish_dropping(new_reducer=LogFigures)
        pruned = await self._store.retention.prune(
            older_than_s=self._options.retain_s, most_bytes=self._options.retain_bytes
        )
        if pruned.runs:
            log.info("runs.pruned", runs=pruned.runs, bytes=pruned.bytes)

    async def _drop_texts(self) -> None:
        older_than_s = max(TEXTS_GRACE_S, self._options.retain_texts_s or 0.0)
        runs = await self._store.retention.drop_texts(older_than_s=older_than_s, new_reducer=LogFigures)
        if runs:
            log.info("texts.dropped", runs=runs)

    def _start(self, name: str, work: Callable[[], Awaitable[object]], *, every_s: float) -> None:
        timer = asyncio.create_task(repeat(work, every_s=every_s, clock=self._clock, name=name), name=name)
        self._timers.append(timer)


def _log_failure(error: Exception) -> None:
    if isinstance(error, StoreUnavailableError):
        log.warning("run.not_read", problem=str(error))
    else:
        log.error("run.not_recovered", exc_info=error)


async def repeat(work: Callable[[], Awaitable[object]], *, every_s: float, clock: Clock, name: str) -> None:
    """Run the work at intervals until cancelled; what it raises is logged."""
    while True:
        await pause(every_s, clock=clock)
        try:
            await work()
        except Exception as error:  # noqa: BLE001  upkeep goes on after any failure of one round
            log.warning("upkeep.failed", work=name, problem=f"{type(error).__name__}: {error}")
