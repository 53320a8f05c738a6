"""Deletes the texts of runs; their rows keep the figures.

Rules:

- A run is first marked as forgotten, in one small write; from then on its texts are not shown.
- Then its events are deleted, a portion at a time, so that a long deletion does not delay live commits.
- What shadows a run goes with it. One that is under way is removed altogether, so that nothing more of it is written.
- If the process dies between the two, `forgotten_with_events` finds the rest; retention deletes it.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from oracle.runs.storage.features import take_from_features
from oracle.runs.storage.parts import Loss
from oracle.runs.storage.schema import event, run
from oracle.runs.storage.writer import Writer

PORTION = 1000
"""Events deleted in one write."""


def mark_forgotten(
    connection: Connection, run_ids: Collection[str], *, at: float, loss: Loss = "forgotten"
) -> list[str]:
    """Delete the texts in the rows of these runs and of their shadows; one that was marked before keeps the time.

    With them goes what features have of them.

    Returns:
        The runs that were marked, whose events are to be deleted.
    """
    _mark(connection, run_ids, at=at, loss=loss)  # first: a shadow begins only while its run is not marked
    shadows = connection.execute(select(run.c.id, run.c.status).where(run.c.shadow_of.in_(run_ids))).all()
    for shadow in shadows:
        if shadow.status == "running":
            remove_run(connection, shadow.id)
    ended = [shadow.id for shadow in shadows if shadow.status != "running"]
    if ended:
        _mark(connection, ended, at=at, loss=loss)
    return [*run_ids, *ended]


def remove_run(connection: Connection, run_id: str) -> None:
    """Delete a run with everything of it; its worker is refused whatever it has still to write."""
    take_from_features(connection, [run_id], "removed")
    connection.execute(delete(event).where(event.c.run_id == run_id))
    connection.execute(delete(run).where(run.c.id == run_id))


def _mark(connection: Connection, run_ids: Collection[str], *, at: float, loss: Loss) -> None:
    take_from_features(connection, run_ids, loss)
    forgotten_at = func.coalesce(run.c.forgotten_at, at)
    values: dict[str, Any] = {"forgotten_at": forgotten_at, "input": {}, "answer": None, "error": None}
    connection.execute(update(run).where(run.c.id.in_(run_ids)).values(values))


def forgotten_with_events(connection: Connection) -> list[str]:
    """Forgotten runs that still have events."""
    has_events = select(event.c.seq).where(event.c.run_id == run.c.id).exists()
    return list(connection.scalars(select(run.c.id).where(run.c.forgotten_at.is_not(None), has_events)))


async def delete_events(writer: Writer, run_ids: Sequence[str]) -> None:
    """Delete all events of these runs.

    Raises:
        StoreUnavailableError: the database cannot be written at present.
    """
    left = run_ids
    while left:
        left = await writer.write(partial(_delete_portion, run_ids=left), is_alone=True)


def _delete_portion(connection: Connection, run_ids: Sequence[str]) -> Sequence[str]:
    """Delete a portion; returns the runs that may have more."""
    room = PORTION
    for at, run_id in enumerate(run_ids):
        while (first := connection.scalar(select(func.min(event.c.seq)).where(event.c.run_id == run_id))) is not None:
            if room <= 0:
                return run_ids[at:]
            gone = connection.execute(delete(event).where(event.c.run_id == run_id, event.c.seq < first + room))
            room -= gone.rowcount
    return ()


async def erase(writer: Writer, run_ids: Sequence[str], *, at: float) -> None:
    """Mark these runs as forgotten, and delete their events; ratings stay.

    Raises:
        StoreUnavailableError: the database cannot be written at present.
    """
    mark = partial(mark_forgotten, run_ids=run_ids, at=at, loss="pruned")
    marked = await writer.write(mark, is_alone=True)
    await delete_events(writer, marked)
