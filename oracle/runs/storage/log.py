"""The event log: everything that runs have sent and done, in order. `EventLog` reads it; a `RunLog` writes to it."""

import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from sqlalchemy import Connection, func, select

from bt_runtime import Clock
from oracle.core.retry import Retry
from oracle.runs.storage import schema
from oracle.runs.storage.archive import read_events
from oracle.runs.storage.database import Database, may_be_id
from oracle.runs.storage.dialect import PAGE
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.records import ChunkPage, EventKind, LogEntry, RunRecord, StoredChunk
from oracle.runs.storage.run_log import EndObserver, RunLog
from oracle.runs.storage.tails import Tail, Tails
from oracle.runs.storage.writer import PATIENCE_S, Writer

_RETRY = Retry(first_s=0.1, longest_s=2.0)
_LARGEST = 2**31 - 1  # the greatest number in the log

_event = schema.event


class LogWatch:
    """Wakes the readers of all events of a run, after each commit of one."""

    def __init__(self, tail: Tail, tails: Tails) -> None:
        self._tail = tail
        self._tails = tails

    @property
    def commits(self) -> int:
        """How many wakes there have been; asked before the events are read, so that none is missed."""
        return self._tail.commits

    async def wait(self, commits: int) -> None:
        """Wait until there have been more wakes than `commits`.

        Raises:
            StoreUnavailableError: the store is closed.
        """
        if not self._tails.is_closed:
            await self._tail.committed_since(commits)
        if self._tails.is_closed:
            raise StoreUnavailableError("the store is closed; the run may go on")


class EventLog:
    """The log of all runs.

    Args:
        clock: monotonic time.
        now: seconds since the epoch.
        patience_s: how long a follower retries while the database cannot be read.
        observer: writes what follows from the ends of runs.
    """

    def __init__(
        self,
        database: Database,
        *,
        writer: Writer,
        tails: Tails,
        clock: Clock,
        now: Callable[[], float] = time.time,
        observer: EndObserver,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._observer = observer
        self._database = database
        self._writer = writer
        self._tails = tails
        self._clock = clock
        self._now = now
        self._patience_s = patience_s

    def writer(self, run: RunRecord, *, seq: int = 0, chunk_n: int = 0) -> RunLog:
        """The log of a run of this worker, to append to after the given numbers."""
        return RunLog(
            run,
            writer=self._writer,
            tail=self._tails.take(run.id),
            on_released=self._tails.release,
            seq=seq,
            chunk_n=chunk_n,
            now=self._now,
            observer=self._observer,
        )

    async def page(self, run_id: str, *, user_id: str | None = None, after: int = 0) -> ChunkPage | None:
        """The first committed chunks after that number.

        Returns:
            `None` if the user (`None`: any user) has no such run, or its texts were deleted.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(run_id):
            return None
        page_after = self._database.dialect.page_after
        return await self._database.read(lambda connection: page_after(connection, run_id, after, user_id))

    async def follow(
        self, run_id: str, *, after: int = 0, first: ChunkPage | None = None, tells_rest: bool = False
    ) -> AsyncGenerator[Sequence[StoredChunk], None]:
        """The committed chunks after that number, in batches as large as what is available, until the last one.

        Ends at once for a run that does not exist, or whose texts were deleted.

        Args:
            run_id: names the run; one that does not exist has nothing.
            after: the number before the first chunk.
            first: the chunks after it as they were read before.
            tells_rest: an empty batch comes each time before it waits; the run may have been parked, of which no chunk
                tells.

        Raises:
            StoreUnavailableError: the database could not be read for longer than the patience, or the store is closed.
        """
        if not may_be_id(run_id):
            return
        after = min(max(after, 0), _LARGEST)
        if first is not None:
            if first.chunks:
                after = first.chunks[-1].n
                yield first.chunks
            if first.is_last:
                return
        with self._tails.using(run_id) as tail:
            while True:
                changes = tail.changes  # before the chunks are read, so that no change is missed
                batch, is_last = await self._next(tail, after)
                if batch:
                    after = batch[-1].n
                    yield batch
                if is_last:
                    return
                if not batch:
                    if tells_rest:
                        yield batch
                    await self._wait(tail, changes)

    async def _wait(self, tail: Tail, changes: int) -> None:
        if not self._tails.is_closed:
            await tail.changed(changes)
        if self._tails.is_closed:
            raise StoreUnavailableError("the store is closed; the run may go on")

    @contextmanager
    def watching(self, run_id: str) -> Iterator["LogWatch"]:
        """Watch all events of a run, while this is entered."""
        with self._tails.using(run_id) as tail:
            yield LogWatch(tail, self._tails)

    async def last_chunk(self, run_id: str) -> int:
        """The number of the last committed chunk; 0 if there is none.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(run_id):
            return 0

        def work(connection: Connection) -> int:
            of_run = (_event.c.run_id == run_id) & _event.c.chunk_n.is_not(None)
            query = select(_event.c.chunk_n).where(of_run).order_by(_event.c.seq.desc()).limit(1)
            return connection.execute(query).scalar() or 0

        return await self._database.read(work)

    async def events(
        self,
        run_id: str,
        *,
        kinds: Collection[EventKind] | None = None,
        after_seq: int = 0,
        limit: int = 1000,
        max_bytes: int | None = None,
    ) -> list[LogEntry]:
        """The committed events after number `after_seq`, in order.

        Args:
            run_id: names the run; one that does not exist has nothing.
            kinds: only of these kinds; `None`: all.
            after_seq: the number before the first event.
            limit: the greatest number of events.
            max_bytes: of their data together; the first event is there even if it is larger. `None`: no bound.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(run_id):
            return []
        size = None if max_bytes is None else (max_bytes, self._database.dialect.read_bytes(_event.c.data))
        return await self._database.read(read_events(run_id, kinds=kinds, after_seq=after_seq, limit=limit, size=size))

    async def has_more(self, event: LogEntry) -> bool:
        """Whether there is a later event of the same kind in the run.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        later = (_event.c.run_id == event.run_id) & (_event.c.seq > event.seq) & (_event.c.kind == event.kind)
        query = select(_event.c.seq).where(later).order_by(_event.c.seq).limit(1)
        return await self._database.read(lambda connection: connection.execute(query).first() is not None)

    async def count(self, run_id: str, *, kind: EventKind, up_to_seq: int) -> int:
        """How many events of a kind there are up to a number.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(run_id):
            return 0
        wanted = (_event.c.run_id == run_id) & (_event.c.seq <= up_to_seq) & (_event.c.kind == kind)
        query = select(func.count()).where(wanted)
        return await self._database.read(lambda connection: connection.execute(query).scalar_one())

    async def _next(self, tail: Tail, after: int) -> ChunkPage:
        """The next page: from memory, or else from the database."""
        here = tail.after(after, limit=PAGE)
        if here is None:
            return await self._read(tail.run_id, after)
        last_n = here[-1].n if here else after
        return ChunkPage(here, tail.is_ended and last_n >= tail.last_n)

    async def _read(self, run_id: str, after: int) -> ChunkPage:
        """The next page from the database; retries for a time."""
        page = await _RETRY.call(
            partial(self.page, run_id, after=after),
            clock=self._clock,
            when=StoreUnavailableError,
            unless=lambda: self._tails.is_closed,
            for_s=self._patience_s,
        )
        return page or ChunkPage((), is_last=True)
