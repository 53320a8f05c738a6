"""What users think of answers: kept in the rows of their runs, as long as the texts of these."""

from dataclasses import asdict

from sqlalchemy import Connection, update

from oracle.runs.storage.records import Feedback
from oracle.runs.storage.schema import run


def rate(connection: Connection, run_id: str, *, user_id: str, feedback: Feedback | None) -> bool:
    """Keep what a user thinks of an own run, in the place of what was kept before; `None` withdraws it.

    Returns:
        Whether it is kept; `False`: the user has not asked such a run, or its texts have been deleted.
    """
    own = (run.c.id == run_id) & (run.c.user_id == user_id) & run.c.shadow_of.is_(None)
    own &= run.c.forgotten_at.is_(None) & run.c.texts_dropped_at.is_(None)
    change = update(run).where(own).values(feedback=feedback and asdict(feedback))
    return connection.execute(change).rowcount == 1
