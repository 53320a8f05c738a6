"""The histories of runs as they were made when they were first opened: what happened, and why.

A history has the texts of its run, and goes with them.
"""

from sqlalchemy import Column, Connection, String, Table, delete, insert, select

from oracle.runs.storage.parts import Keeping, rows_of_runs
from oracle.runs.storage.schema import EncodedJson, metadata, run

history = Table(
    "history",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("made_by", String(64), nullable=False),  # the version of the program; another one makes it anew
    Column("data", EncodedJson, nullable=False),
)

KEEPING = Keeping(tables=(history,), with_runs=rows_of_runs(history))


def find_history(connection: Connection, *, run_id: str, made_by: str) -> bytes | None:
    """The history of a run, if that version of the program has made it."""
    kept = (history.c.run_id == run_id) & (history.c.made_by == made_by)
    data: bytes | None = connection.scalar(select(history.c.data).where(kept))
    return data


def put_history(connection: Connection, run_id: str, data: bytes, *, made_by: str) -> None:
    """Keep the history of a run in the place of an earlier one, unless its texts have been deleted meanwhile."""
    has_texts = run.c.forgotten_at.is_(None) & run.c.texts_dropped_at.is_(None)
    locked = select(run.c.id).where((run.c.id == run_id) & has_texts).with_for_update()
    if connection.scalar(locked) is not None:
        connection.execute(delete(history).where(history.c.run_id == run_id))
        connection.execute(insert(history), {"run_id": run_id, "made_by": made_by, "data": data})
