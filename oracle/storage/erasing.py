"""Deletes the texts of runs; their rows keep the figures.

Rules:

- A run is first marked as forgotten, in one small write; from then on its texts are not shown.
- Then its events are deleted, a portion at a time, so that a long deletion does not delay live commits.
- If the process dies between the two, `forgotten_with_events` finds the rest; retention deletes it.
"""

from collections.abc import Collection, Sequence
from functools import partial

from sqlalchemy import Connection, delete, func, select, update

from oracle.storage.prompts import release_prompts
from oracle.storage.schema import breakpoint_, command, event, request_key, run
from oracle.storage.writer import Writer

PORTION = 1000
"""Events deleted in one write."""


def mark_forgotten(connection: Connection, run_ids: Collection[str], *, at: float) -> None:
    """Delete the texts in the rows of these runs; a run that was marked before keeps the time of that.

    With them go the prompts that no other run names, breakpoints of these runs alone, and commands that were not read.
    """
    connection.execute(delete(command).where(command.c.run_id.in_(run_ids)))
    connection.execute(delete(breakpoint_).where(breakpoint_.c.run_id.in_(run_ids)))
    release_prompts(connection, run_ids)
    connection.execute(update(request_key).where(request_key.c.run_id.in_(run_ids)).values(body=""))
    connection.execute(
        update(run)
        .where(run.c.id.in_(run_ids))
        .values(forgotten_at=func.coalesce(run.c.forgotten_at, at), input={}, answer=None, error=None)
    )


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
        first = connection.scalar(select(func.min(event.c.seq)).where(event.c.run_id == run_id))
        while first is not None:
            if room <= 0:
                return run_ids[at:]
            gone = connection.execute(delete(event).where(event.c.run_id == run_id, event.c.seq < first + room))
            room -= gone.rowcount
            first = connection.scalar(select(func.min(event.c.seq)).where(event.c.run_id == run_id))
    return ()


async def erase(writer: Writer, run_ids: Sequence[str], *, at: float) -> None:
    """Mark these runs as forgotten, and delete their events.

    Raises:
        StoreUnavailableError: the database cannot be written at present.
    """
    await writer.write(lambda connection: mark_forgotten(connection, run_ids, at=at), is_alone=True)
    await delete_events(writer, run_ids)
