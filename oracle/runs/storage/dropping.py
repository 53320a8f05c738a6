"""Deletes the texts of runs and keeps the figures of their logs.

Rules:

- A run is first marked, in one small write that deletes the texts of its row; from then on its texts are not shown.
- Then its events are reduced, a portion at a time, so that a long run does not delay live commits. Chunks are deleted.
- Until that is done the row's answer is empty; then it is NULL. So `half_dropped` finds what a process that died has
  left, and reducing what was reduced before changes nothing.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from oracle.runs.storage.archive import read_events
from oracle.runs.storage.database import Database
from oracle.runs.storage.features import take_from_features
from oracle.runs.storage.records import LogEntry
from oracle.runs.storage.schema import event, run
from oracle.runs.storage.writer import Writer

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
