"""The event log: everything that runs said and did, in order; written by `RunLog`, read and followed here."""

import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence

from sqlalchemy import Connection, func, select

from oracle.storage import schema
from oracle.storage.database import Database
from oracle.storage.records import Event, EventKind, RunRecord, StoredChunk
from oracle.storage.run_log import RunLog
from oracle.storage.tails import Tail, Tails
from oracle.storage.writer import Writer

PAGE = 1000
"""Chunks in one batch at most."""

_event = schema.event


class EventLog:
    """The log of all runs.

    Args:
        database: where it is read.
        writer: what writes it.
        tails: of the runs under way.
        now: seconds since the epoch.
    """

    def __init__(
        self, database: Database, *, writer: Writer, tails: Tails, now: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._writer = writer
        self._tails = tails
        self._now = now

    def writer(self, run: RunRecord, *, seq: int = 0, chunk_n: int = 0) -> RunLog:
        """The writing end of a run of this worker, behind the given numbers."""
        return RunLog(
            run,
            writer=self._writer,
            tail=self._tails.take(run.id),
            on_released=self._tails.release,
            seq=seq,
            chunk_n=chunk_n,
            now=self._now,
        )

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncIterator[Sequence[StoredChunk]]:
        """The committed chunks behind number `after`, in batches as large as what is there, until the last one.

        Ends at once for a run that does not exist, or whose texts were forgotten.

        Raises:
            StoreUnavailableError: the database cannot be read for now.
        """
        with self._tails.using(run_id) as tail:
            while True:
                news = tail.news()  # asked for before we look, so that nothing is missed
                try:
                    batch = await self._behind(tail, after)
                    if batch:
                        after = batch[-1].n
                        yield batch
                    elif tail.is_ended:
                        return
                    elif not tail.is_written_here and not await self._is_running(run_id):
                        final = await self._read(run_id, after)  # written between the two looks
                        if not final:
                            return
                        after = final[-1].n
                        yield final
                    else:
                        await news
                finally:
                    tail.ignore(news)

    async def last_chunk(self, run_id: str) -> int:
        """The number of the last committed chunk; 0 if there is none.

        Raises:
            StoreUnavailableError: the database cannot be read for now.
        """

        def work(connection: Connection) -> int:
            query = select(func.max(_event.c.chunk_n)).where(_event.c.run_id == run_id)
            return connection.execute(query).scalar_one() or 0

        return await self._database.read(work)

    async def events(
        self, run_id: str, *, kinds: Collection[EventKind] | None = None, after_seq: int = 0, limit: int = 1000
    ) -> list[Event]:
        """The committed events behind number `after_seq`, in order.

        Args:
            run_id: of which run.
            kinds: of these kinds only; `None` means all.
            after_seq: the number before the first one.
            limit: at most so many.

        Raises:
            StoreUnavailableError: the database cannot be read for now.
        """
        wanted = (_event.c.run_id == run_id) & (_event.c.seq > after_seq)
        if kinds is not None:
            wanted &= _event.c.kind.in_(sorted(kinds))
        columns = (_event.c.run_id, _event.c.seq, _event.c.kind, _event.c.data)
        query = select(*columns, _event.c.at, _event.c.chunk_n, _event.c.step_key).where(wanted)

        def work(connection: Connection) -> list[Event]:
            found = connection.execute(query.order_by(_event.c.seq).limit(limit))
            return [Event(run, seq, kind, data.encode(), at, n, key) for run, seq, kind, data, at, n, key in found]

        return await self._database.read(work)

    async def _behind(self, tail: Tail, after: int) -> Sequence[StoredChunk]:
        here = tail.after(after, limit=PAGE)
        return await self._read(tail.run_id, after) if here is None else here

    async def _read(self, run_id: str, after: int) -> Sequence[StoredChunk]:
        query = (
            select(_event.c.chunk_n, _event.c.data)
            .where((_event.c.run_id == run_id) & (_event.c.chunk_n > after))
            .order_by(_event.c.chunk_n)
            .limit(PAGE)
        )

        def work(connection: Connection) -> list[StoredChunk]:
            return [StoredChunk(n, data.encode()) for n, data in connection.execute(query)]

        return await self._database.read(work)

    async def _is_running(self, run_id: str) -> bool:
        query = select(schema.run.c.status).where(schema.run.c.id == run_id)
        return await self._database.read(lambda connection: connection.execute(query).scalar()) == "running"
