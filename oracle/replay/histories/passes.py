"""Runs that are explained while they are read: pages of their ticks, and the ticks of runs under way as they come.

Rules:

- A `Pass` goes through the log of a run once, from its first event on, and is shared by all who read there. Nothing
  goes on in the background: who needs the next tick has it explained, for all. A pass whose readers are slow waits.
- The latest ticks of a pass are in memory, up to a number of bytes. Who has fallen behind them reads another pass.
- Runs are explained in one thread, a few milliseconds at a time in turn, so that no run delays the others, and the
  event loop none of its streams.
"""

import asyncio
import time
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import islice
from typing import TypeVar

from bt_runtime import Registry
from oracle.core.errors import InternalError
from oracle.replay.histories.encoding import ExplainedTick, Parts, TickEncoder, encode
from oracle.replay.histories.explaining import Explainer
from oracle.runs.record.reading import prompts_of
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.store import Store

T = TypeVar("T")

BATCH_BYTES = 256 * 1024
"""That a reader is given at a time, unless one tick is larger."""
_SLICE_S = 0.01
_READ_EVENTS = 500
_READ_BYTES = 256 * 1024


class FallenBehindError(InternalError):
    """The ticks that a reader wants next are not in the memory of its pass any more."""


class Pass:
    """One way through the log of a run.

    Args:
        record: the row of the run.
        store: where its log is read.
        registry: the node kinds of today.
        thread: the one thread in which all runs are explained.
        kept_bytes: how many bytes of explained ticks stay in memory.
        has_reasons: its ticks are explained; without, nothing is repeated, and they have what was recorded alone.

    Attributes:
        record: as it was read last.
        kept: what the store had of the run when the pass began.
        last: the number of the last explained tick; 0 before the first.
        is_complete: the run has ended, and all its ticks are explained.
        readers: how many use it.
    """

    def __init__(
        self,
        record: RunRecord,
        *,
        store: Store,
        registry: Registry,
        thread: Executor,
        kept_bytes: int,
        has_reasons: bool = True,
    ) -> None:
        self.record = record
        self.has_reasons = has_reasons
        self.kept = record.kept
        self.last = 0
        self.is_complete = False
        self.readers = 0
        self._store = store
        self._registry = registry
        self._thread = thread
        self._kept_bytes = kept_bytes
        self._seq = 0
        self._prompts: set[str] = set()  # that its requests name
        self._ahead: Sequence[LogEntry] = ()  # events that were read and not explained yet
        self._ticks: deque[ExplainedTick] = deque()  # their numbers grow, and have gaps where the log is damaged
        self._dropped = 0  # the number of the last tick that is not in memory any more
        self._bytes = 0
        self._begun: tuple[Explainer, TickEncoder] | None = None
        self._reading: asyncio.Task[bool] | None = None

    def reaches(self, tick: int) -> bool:
        """Whether the tick after that number is in memory, or still to come."""
        return self._dropped <= tick

    async def after(self, tick: int) -> Sequence[ExplainedTick]:
        """Some of the ticks after that number, the next one at least; none if it has not come yet.

        Raises:
            FallenBehindError: they are not in memory any more.
            StoreUnavailableError: the database cannot be read at present.
        """
        while True:
            if not self.reaches(tick):
                raise FallenBehindError
            if tick < self.last:
                return self._batch(tick)
            if self.is_complete or not await self._read_on():
                return ()

    async def page(self, after: int, *, limit: int, max_bytes: int) -> tuple[list[ExplainedTick], bool]:
        """The ticks after that number, within both bounds; at least one, if it is there.

        Returns:
            The ticks, and whether there may be more at once.

        Raises:
            FallenBehindError: they are not in memory any more.
            StoreUnavailableError: the database cannot be read at present.
        """
        page: list[ExplainedTick] = []
        size = 0
        while True:
            try:
                batch = await self.after(after)
            except FallenBehindError:  # another reader has read on while this one read
                if not page:
                    raise
                return page, True
            for tick in batch:
                size += tick.size
                if page and (len(page) == limit or size > max_bytes):
                    return page, True
                page.append(tick)
                after = tick.n
            if not batch:
                return page, False

    async def follow(self, after: int) -> AsyncGenerator[Sequence[ExplainedTick], None]:
        """The ticks after that number, in batches, as they come, until the end of the run.

        Raises:
            FallenBehindError: the reader was too slow; go on in another pass.
            StoreUnavailableError: the database cannot be read at present, or the store is closed.
        """
        with self._store.log.watching(self.record.id) as watch:
            while True:
                commits = watch.commits
                batch = await self.after(after)
                if batch:
                    after = batch[-1].n
                    yield batch
                elif self.is_complete:
                    return
                else:
                    await watch.wait(commits)

    async def facts(self, *names: str) -> list[bytes]:
        """Fields of the history as it is now, as JSON.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        while not self.last and await self._read_on():
            pass  # before the first tick no value of the blackboard is known
        explainer, _ = await self._parts()
        return await self._run(lambda: [encode(getattr(explainer.history, name)) for name in names])

    async def rest(self) -> Parts:
        """What has come since the last tick, and what is under way, as JSON.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        _, encoder = await self._parts()
        return await self._run(encoder.rest)

    async def _read_on(self) -> bool:
        """Explain a slice of what comes next; whether there was something.

        One slice, as its ticks stay in memory until the next one. The work is shared by those who wait for it, and is
        not cancelled with one of them.
        """
        if self.is_complete:
            return False
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
            self._reading.add_done_callback(_take_error)
        return await asyncio.shield(self._reading)

    async def _read(self) -> bool:
        explainer, encoder = await self._parts()
        if not self._ahead:
            self._ahead = await self._events()
            await self._find_prompts(encoder.prompts)
        if not self._ahead:
            found = await self._store.runs.find(self.record.id)
            is_over = found is None or found.status == "finished" or found.forgotten_at is not None
            if not is_over:
                return False
            self._ahead = await self._events()  # the last ones may have come with the end
            await self._find_prompts(encoder.prompts)
            if not self._ahead:
                self.record = found or self.record
                await self._run(lambda: explainer.ended(self.record))
                self.is_complete = True
                return True
        done = await self._run(partial(self._explain, explainer, encoder, self._ahead))
        self._ahead = self._ahead[done:]
        return True

    async def _events(self) -> list[LogEntry]:
        return await self._store.log.events(
            self.record.id, after_seq=self._seq, limit=_READ_EVENTS, max_bytes=_READ_BYTES
        )

    async def _find_prompts(self, prompts: dict[str, str]) -> None:
        """Read the system prompts that requests name; one that is not kept yet is looked for again."""
        self._prompts.update(prompts_of(self._ahead))
        for sha in self._prompts.difference(prompts):
            text = await self._store.prompts.find(sha)
            if text is not None:
                prompts[sha] = text

    async def _parts(self) -> tuple[Explainer, TickEncoder]:
        if self._begun is None:
            sha = self.record.tree_sha
            version = await self._store.trees.find(sha) if sha else None
            ticks = None if self.has_reasons else range(0)
            explainer = await self._run(partial(Explainer, self.record, version, registry=self._registry, ticks=ticks))
            self._begun = explainer, TickEncoder(explainer)
        return self._begun

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _explain(self, explainer: Explainer, encoder: TickEncoder, events: Sequence[LogEntry]) -> int:
        """Explain events for the time of a slice; returns how many. Runs in the thread."""
        until_s = time.monotonic() + _SLICE_S
        explained: list[ExplainedTick] = []
        done = 0
        for event in events:
            tick = explainer.feed(event)
            done += 1
            if tick is not None:
                explained.append(encoder.take(tick, seq=event.seq))
                if time.monotonic() >= until_s:
                    break
                time.sleep(0)  # lets the event loop have the interpreter
        self._seq = events[done - 1].seq
        self._keep(explained)
        return done

    def _batch(self, after: int) -> list[ExplainedTick]:
        ticks = self._ticks
        batch, size = list[ExplainedTick](), 0
        for tick in islice(ticks, bisect_right(ticks, after, key=lambda each: each.n), None):
            size += tick.size
            if batch and size > BATCH_BYTES:
                break
            batch.append(tick)
        return batch

    def _keep(self, explained: Sequence[ExplainedTick]) -> None:
        """Add ticks, and drop the oldest beyond the bound; the new ones stay until they were read."""
        if not explained:
            return
        ticks = self._ticks.copy()
        ticks.extend(explained)
        self._bytes += sum(tick.held_size for tick in explained)
        while self._bytes > self._kept_bytes and len(ticks) > len(explained):
            dropped = ticks.popleft()
            self._bytes -= dropped.held_size
            self._dropped = dropped.n
        self._ticks, self.last = ticks, explained[-1].n  # at once, as it is read in the event loop


def _take_error(task: "asyncio.Task[bool]") -> None:
    """Mark the error as seen: it is raised where readers wait, and there may be none any more."""
    if not task.cancelled():
        task.exception()
