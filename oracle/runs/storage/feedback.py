"""What users think of answers, in the rows of their runs: the rating is a figure, its text goes with the run's."""

from collections.abc import Collection
from dataclasses import asdict
from typing import get_args

from sqlalchemy import Connection, case, literal, null, update

from oracle.runs.storage.parts import Keeping, Loss
from oracle.runs.storage.records import Feedback, Rating
from oracle.runs.storage.run_pages import is_rated
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


def _take(connection: Connection, run_ids: Collection[str], loss: Loss) -> None:
    """The text goes with those of the run, the rating only where its user wants it."""
    ratings = [(is_rated(each), literal(asdict(Feedback(each)), run.c.feedback.type)) for each in get_args(Rating)]
    left = null() if loss == "forgotten" else case(*ratings)
    rated = run.c.id.in_(run_ids) & run.c.feedback.is_not(None)
    connection.execute(update(run).where(rated).values(feedback=left))


KEEPING = Keeping(tables=(), with_runs=_take)
