"""Retention of runs, by age and by size.

Deleted are events and texts of finished runs, oldest first; their rows keep the figures, and conversations stay until
they are deleted by name. With them goes what features do not need any more.

Size is the space in use. Both databases use freed space again before they take more, and do not return it to the system
at once (SQLite on `VACUUM`, PostgreSQL on `VACUUM FULL`), so the file may stay larger than the limit.

Texts alone can go earlier; then the log keeps its figures:

- A run is first marked, in one small write that deletes the texts of its row; from then on its texts are not shown.
- Then its events are reduced, a portion at a time, so that a long run does not delay live commits. Chunks are deleted.
- Until that is done the row's answer is empty; then it is NULL. So `half_dropped` finds what a process that died has
  left, and reducing what was reduced before changes nothing.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, cast, delete, func, select, update

from bt_runtime.text.data import dataclass
from oracle.runs.storage.archive import read_events
from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import EVENT_BYTES, Dialect
from oracle.runs.storage.erasing import delete_events, erase, forgotten_with_events
from oracle.runs.storage.features import FEATURES, take_from_features
from oracle.runs.storage.records import LogEntry
from oracle.runs.storage.schema import event, run
from oracle.runs.storage.tails import Tails
from oracle.runs.storage.writer import Writer

BATCH = 100
"""Runs that are marked in one write; their events are deleted in portions."""

PORTION = 500
"""Events that are read, and written, at a time."""

Reduce = Callable[[LogEntry], bytes | None]
"""The figures of an event; `None`: it has none, and is deleted. Called with the events of one run, in order."""

_INPUT = ("model", "tree", "limits", "turn_limit")
_ERROR = ("error_type",)

_SET = (
    update(event)
    .where(event.c.run_id == bindparam("of_run"), event.c.seq == bindparam("number"))
    .values(data=bindparam("figures"))
)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted.

    Args:
        runs: the number of runs whose texts were deleted.
        bytes: about how much space their events took, and what features had of them.
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
            older_than_s: only of runs that ended more than this many seconds ago; `None`: no limit.
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
            older_than_s: only of runs that ended more than this many seconds ago.
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
    beside = [feature.sizes(connection, run_ids) for feature in FEATURES]
    return [_Old(each, found.get(each, 0) + sum(sizes.get(each, 0) for sizes in beside)) for each in run_ids]


def _as_many_as_needed(batch: Sequence[_Old], over: int) -> Sequence[_Old]:
    taken: list[_Old] = []
    for each in batch:
        if over <= 0:
            break
        taken.append(each)
        over -= each.bytes
    return taken


def half_dropped(connection: Connection) -> list[str]:
    """Marked runs whose events have not all been reduced."""
    marked = run.c.texts_dropped_at.is_not(None) & run.c.answer.is_not(None)  # these conditions have an index
    return list(connection.scalars(select(run.c.id).where(marked, run.c.forgotten_at.is_(None))))


async def drop_texts(
    database: Database, writer: Writer, run_ids: Sequence[str], *, new_reducer: Callable[[], Reduce]
) -> None:
    """Delete the texts of these finished runs.

    Args:
        database: the database from which the events are read.
        writer: takes each portion as a small transaction.
        run_ids: finished runs that have not been marked yet.
        new_reducer: makes what reduces the events of one run.

    Raises:
        StoreUnavailableError: the database cannot be used at present; a part may have been deleted.
    """
    await writer.write(partial(_mark, run_ids=run_ids, at=database.now()), is_alone=True)
    for run_id in run_ids:
        await reduce_events(database, writer, run_id, reduce=new_reducer())


async def reduce_events(database: Database, writer: Writer, run_id: str, *, reduce: Reduce) -> None:
    """Reduce the events of a marked run.

    Raises:
        StoreUnavailableError: the database cannot be used at present; a part may have been reduced.
    """
    after = 0
    while portion := await database.read(read_events(run_id, after_seq=after, limit=PORTION)):
        after = portion[-1].seq
        reduced = {each.seq: None if each.kind == "chunk" else reduce(each) for each in portion}
        await writer.write(partial(_write, run_id=run_id, reduced=reduced), is_alone=True)
    done = update(run).where(run.c.id == run_id, run.c.forgotten_at.is_(None)).values(answer=None)
    await writer.write(lambda connection: connection.execute(done).close())


def _mark(connection: Connection, *, run_ids: Collection[str], at: float) -> None:
    take_from_features(connection, run_ids, "reduced")
    wanted = run.c.id.in_(run_ids) & run.c.forgotten_at.is_(None) & run.c.texts_dropped_at.is_(None)
    for row in connection.execute(select(run.c.id, run.c.input, run.c.error).where(wanted)).all():
        figures = {
            "input": _only(row.input, _INPUT),
            "error": None if row.error is None else _only(row.error, _ERROR),
            "answer": "",
            "texts_dropped_at": at,
        }
        connection.execute(update(run).where(run.c.id == row.id, run.c.forgotten_at.is_(None)).values(figures))


def _only(fields: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in names}


def _write(connection: Connection, *, run_id: str, reduced: Mapping[int, bytes | None]) -> None:
    kept = [
        {"of_run": run_id, "number": seq, "figures": figures} for seq, figures in reduced.items() if figures is not None
    ]
    if kept:
        connection.execute(_SET, kept)
    for first, last in _rows([seq for seq, figures in reduced.items() if figures is None]):
        connection.execute(delete(event).where(event.c.run_id == run_id, event.c.seq.between(first, last)))


def _rows(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The numbers as ranges: most of a log are chunks in a row."""
    first = last = None
    for number in numbers:
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number
    if first is not None and last is not None:
        yield first, last
