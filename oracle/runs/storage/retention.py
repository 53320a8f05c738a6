"""Retention of runs, by age and by size.

Deleted are events and texts of finished runs, oldest first; their rows keep the figures, and conversations stay until
they are deleted by name. With them goes what features do not need any more.
Texts alone can go earlier: then the log keeps its figures (`dropping`).

Size is the space in use. Both databases use freed space again before they take more, and do not return it to the system
at once (SQLite on `VACUUM`, PostgreSQL on `VACUUM FULL`), so the file may stay larger than the limit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import BigInteger, Connection, cast, func, select

from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import EVENT_BYTES, Dialect
from oracle.runs.storage.dropping import Reduce, drop_texts, half_dropped, reduce_events
from oracle.runs.storage.erasing import delete_events, erase, forgotten_with_events
from oracle.runs.storage.features import FEATURES
from oracle.runs.storage.schema import event, run
from oracle.runs.storage.tails import Tails
from oracle.runs.storage.writer import Writer

BATCH = 100
"""Runs that are marked in one write; their events are deleted in portions."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted.

    Args:
        runs: the number of runs whose texts were deleted.
        bytes: about how much space their events took.
    """

    runs: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Old:
    """A finished run, and about how much space its events take."""

    run_id: str
    bytes: int


class Retention:
    """Deletes texts that are too old or too many.

    Args:
        tails: of the runs that are followed here.
    """

    def __init__(self, database: Database, *, writer: Writer, tails: Tails) -> None:
        self._database = database
        self._writer = writer
        self._tails = tails

    async def prune(self, *, older_than_s: float | None, most_bytes: int | None) -> Pruned:
        """Delete events and texts of finished runs, never of running ones.

        Args:
            older_than_s: of runs that ended more than so many seconds ago; `None`: no limit.
            most_bytes: of the oldest runs, until no more than this is in use; `None`: no limit.

        Raises:
            StoreUnavailableError: the database cannot be used at present; a part may have been deleted.
        """
        # Left by a process that died while it was deleting.
        await delete_events(self._writer, await self._database.read(forgotten_with_events))
        pruned = Pruned()
        if older_than_s is not None:
            pruned = await self._prune_older(older_than_s)
        if most_bytes is not None:
            by_size = await self._prune_larger(most_bytes)
            pruned = Pruned(pruned.runs + by_size.runs, pruned.bytes + by_size.bytes)
        await self._writer.write(self._delete_leftovers, is_alone=True)
        await self._database.empty_wal()
        return pruned

    async def drop_texts(self, *, older_than_s: float, new_reducer: Callable[[], Reduce]) -> int:
        """Delete the texts of finished runs and keep the figures of their logs; returns the number of runs.

        A run that is being followed in this process keeps its texts for now.

        Args:
            older_than_s: of runs that ended more than so many seconds ago.
            new_reducer: makes what reduces the events of one run.

        Raises:
            StoreUnavailableError: the database cannot be used at present; a part may have been deleted.
        """
        await self.finish_dropping(new_reducer=new_reducer)
        before, dropped = self._database.now() - older_than_s, 0
        while run_ids := await self._database.read(partial(self._with_texts, before=before)):
            await drop_texts(self._database, self._writer, run_ids, new_reducer=new_reducer)
            dropped += len(run_ids)
        if dropped:
            await self._database.empty_wal()
        return dropped

    async def finish_dropping(self, *, new_reducer: Callable[[], Reduce]) -> None:
        """Reduce the logs that a process has left half reduced when it died.

        Args:
            new_reducer: makes what reduces the events of one run.

        Raises:
            StoreUnavailableError: the database cannot be used at present; a part may have been reduced.
        """
        for run_id in await self._database.read(half_dropped):
            await reduce_events(self._database, self._writer, run_id, reduce=new_reducer())

    def _with_texts(self, connection: Connection, *, before: float) -> Sequence[str]:
        oldest = (
            select(run.c.id)
            .where(run.c.status == "finished", run.c.forgotten_at.is_(None), run.c.texts_dropped_at.is_(None))
            .where(run.c.finished_at < before, run.c.id.not_in([tail.run_id for tail in self._tails]))
            .order_by(run.c.finished_at, run.c.id)
            .limit(BATCH)
        )
        return list(connection.scalars(oldest))

    async def _prune_older(self, older_than_s: float) -> Pruned:
        before = self._database.now() - older_than_s
        pruned = Pruned()
        while batch := await self._oldest(before=before):
            pruned = await self._erase(batch, pruned)
        return pruned

    async def _prune_larger(self, most_bytes: int) -> Pruned:
        used = await self._database.read(lambda connection: self._database.dialect.used_bytes(connection, most_bytes))
        over = used - most_bytes
        pruned = Pruned()
        while over > pruned.bytes and (batch := await self._oldest()):
            pruned = await self._erase(_as_many_as_needed(batch, over - pruned.bytes), pruned)
        return pruned

    async def _oldest(self, *, before: float | None = None) -> Sequence[_Old]:
        return await self._database.read(lambda connection: _oldest(connection, self._database.dialect, before=before))

    async def _erase(self, batch: Sequence[_Old], pruned: Pruned) -> Pruned:
        await erase(self._writer, [each.run_id for each in batch], at=self._database.now())
        return Pruned(pruned.runs + len(batch), pruned.bytes + sum(each.bytes for each in batch))

    def _delete_leftovers(self, connection: Connection) -> None:
        for feature in FEATURES:
            feature.tidy(connection, self._database.now())


def _oldest(connection: Connection, dialect: Dialect, *, before: float | None) -> Sequence[_Old]:
    oldest = (
        select(run.c.id)
        .where(run.c.status == "finished", run.c.forgotten_at.is_(None))
        .order_by(run.c.finished_at, run.c.id)
        .limit(BATCH)
    )
    if before is not None:
        oldest = oldest.where(run.c.finished_at < before)
    run_ids = list(connection.scalars(oldest))
    size = cast(func.sum(dialect.text_bytes(event.c.data) + EVENT_BYTES), BigInteger)
    sizes = select(event.c.run_id, size).where(event.c.run_id.in_(run_ids))
    found = {name: int(bytes_) for name, bytes_ in connection.execute(sizes.group_by(event.c.run_id))}
    return [_Old(run_id, found.get(run_id, 0)) for run_id in run_ids]


def _as_many_as_needed(batch: Sequence[_Old], over: int) -> Sequence[_Old]:
    taken: list[_Old] = []
    for each in batch:
        if over <= 0:
            break
        taken.append(each)
        over -= each.bytes
    return taken
