"""The timers of a process, for its runs and for those of processes that have died.

- The heartbeat shows that this worker still has its runs.
- The reaper takes over the runs of silent workers, and ends them from their logs.
- The only worker takes over all running queries at its start. They are ended in the background, a few at a time: until
  then they are running, their readers wait, and their conversations are busy.
- A run that could not be ended is tried again, and one that may have been started without an answer is removed.
- Texts of old runs are deleted.

Heartbeats are times of the database's clock, and are not compared with another clock. Otherwise a clock that is set, by
hand or by a time server after a suspend, would make live workers look silent, and their runs would be ended.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self

import structlog

from bt_runtime import Clock
from oracle.core.chunks import Done
from oracle.core.metrics import Metrics
from oracle.core.retry import Retry
from oracle.runs.ends import log_end
from oracle.runs.options import TEXTS_GRACE_S, RunOptions
from oracle.runs.record.figures import LogFigures
from oracle.runs.recovery import Recovery
from oracle.runs.storage.errors import RunLostError, StoreUnavailableError
from oracle.runs.storage.records import NewRun, RunRecord
from oracle.runs.storage.store import Store
from oracle.runs.traced import log_fields
from oracle.runs.waiting import repeat


@dataclass(frozen=True, slots=True)
class _Seen:
    """A heartbeat, and when it was seen first."""

    beat: float
    since_s: float


class SilentWorkers:
    """The heartbeats that one observer has seen.

    Args:
        silent_s: how long a heartbeat may stay the same.
        clock: monotonic time.
    """

    def __init__(self, *, silent_s: float, clock: Clock) -> None:
        self._silent_s = silent_s
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    def note(self, beats: Mapping[str, float]) -> dict[str, float]:
        """Note the latest heartbeat of each worker; returns those of the silent workers."""
        now_s = self._clock.now()
        fresh = {worker: _Seen(beat, now_s) for worker, beat in beats.items()}
        self._seen = {
            worker: before if (before := self._seen.get(worker)) is not None and before.beat == seen.beat else seen
            for worker, seen in fresh.items()
        }
        return {worker: seen.beat for worker, seen in self._seen.items() if now_s - seen.since_s >= self._silent_s}

    def forget(self) -> None:
        """Start again: the observer was stopped itself, and does not know what it has missed."""
        self._seen = {}


log = structlog.get_logger(__name__)

_ENDING = Retry(first_s=1.0, longest_s=60.0)


class Upkeep:
    """The timers of a process. Entering it starts them, and ends interrupted runs; leaving it stops them.

    Args:
        recovery: ends them from their logs.
        options: intervals.
        clock: monotonic time.
    """

    def __init__(
        self, store: Store, recovery: Recovery, *, options: RunOptions, clock: Clock, metrics: Metrics
    ) -> None:
        self._store = store
        self._recovery = recovery
        self._options = options
        self._clock = clock
        self._metrics = metrics
        self._places = asyncio.Semaphore(options.recover_at_once)
        self._endings: dict[str, asyncio.Task[None]] = {}
        self._doubtful: dict[str, NewRun] = {}
        self._recovering: set[str] = set()
        self._silence = SilentWorkers(silent_s=options.silent_s, clock=clock)
        self._beaten_s = clock.now()
        self._timers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        if self._store.is_shared:
            self._silence.note(await self._store.runs.heartbeats())
        else:
            await self._reap(None)
            self._recovering.update(self._endings)
        self._start("heartbeat", self._beat, every_s=self._options.heartbeat_s)
        self._start("reaper", self.look, every_s=self._options.reap_s)
        # Also without limits of retention: a process may have died while it was deleting.
        self._start("retention", self._prune, every_s=self._options.prune_s)
        if self._options.retain_texts_s is not None:
            self._start("texts", self._drop_texts, every_s=min(TEXTS_GRACE_S, self._options.prune_s))
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [*self._timers, *self._endings.values()]
        for task in tasks:
            task.cancel()
        self._recovering.clear()
        await asyncio.wait(tasks)

    @property
    def recovering(self) -> int:
        """The number of runs that were interrupted before the start and have not been ended yet."""
        return len(self._recovering)

    def doubt(self, new: NewRun) -> None:
        """Remove a run later: it may have been started without an answer, or may not have been removed."""
        self._doubtful[new.id] = new

    def is_doubtful(self, run_id: str) -> bool:
        """Whether the run may have been started without an answer."""
        return run_id in self._doubtful

    async def end(self, record: RunRecord) -> None:
        """End a run of this worker from its log; returns when that is written, or another worker has it."""
        await asyncio.wait({self._ending(record)})

    async def look(self) -> None:
        """Run the reaper once."""
        for new in tuple(self._doubtful.values()):
            await self._store.runs.abandon(new.id, created_conversation=new.created_conversation)
            self._doubtful.pop(new.id, None)
        if self._store.is_shared:
            await self._beat()
            silent = self._silence.note(await self._store.runs.heartbeats())
            if silent:
                await self._reap(silent)

    async def _beat(self) -> None:
        """Write the heartbeat.

        If this worker was silent itself, because the database or the machine was stopped, it starts to watch the
        others again: they may have been stopped as well.
        """
        await self._store.runs.beat()
        now_s = self._clock.now()
        if now_s - self._beaten_s > max(self._options.silent_s, self._options.heartbeat_s):
            self._silence.forget()
        self._beaten_s = now_s

    async def _reap(self, silent: Mapping[str, float] | None) -> None:
        found = await self._store.runs.take_over(silent)
        if found:
            log.warning("runs.taken_over", runs=[record.id for record in found])
        for record in found:
            self._ending(record)

    def _ending(self, record: RunRecord) -> "asyncio.Task[None]":
        """The task that ends the run from its log."""
        task = self._endings.get(record.id)
        if task is None:
            task = asyncio.create_task(self._end(record), name=f"ending:{record.id}")
            self._endings[record.id] = task
            task.add_done_callback(lambda _: self._endings.pop(record.id, None))
        return task

    async def _end(self, record: RunRecord) -> None:
        structlog.contextvars.bind_contextvars(**log_fields(record))
        done = await _ENDING.call(
            partial(self._try_to_end, record), clock=self._clock, when=Exception, on_failure=_log_failure
        )
        if done is not None:
            self._metrics.run_recovered()
            log_end(done, tree=record.tree, recovered=True)

    async def _try_to_end(self, record: RunRecord) -> Done | None:
        try:
            async with self._places:
                return await self._recovery.end(record)
        except RunLostError:
            return None
        finally:
            self._recovering.discard(record.id)  # a run that cannot be ended does not delay readiness

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
