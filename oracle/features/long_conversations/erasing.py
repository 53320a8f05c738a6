"""Deletes summaries when a user deletes a run: those that were made after it, because they may mention it.

The next question then has the history as far as it fits, and a summary is made of that when it is due.
"""

from collections.abc import Collection

from sqlalchemy import Connection, Text, delete, select, type_coerce

from oracle.history import SUMMARIZED
from oracle.runs.storage.parts import Keeping, Loss
from oracle.runs.storage.schema import message, run


def _take(connection: Connection, run_ids: Collection[str], loss: Loss) -> None:
    """Delete the summaries of later runs of the same conversations."""
    if loss != "forgotten":
        return
    has_summary = type_coerce(message.c.metadata, Text).contains(f'"system_type":"{SUMMARIZED}"', autoescape=True)
    for gone in connection.execute(select(run.c.context_id, run.c.n).where(run.c.id.in_(run_ids))).all():
        later = select(run.c.id).where(run.c.context_id == gone.context_id, run.c.n > gone.n)
        of_later = (message.c.conversation_id == gone.context_id) & message.c.run_id.in_(later)
        connection.execute(delete(message).where(of_later, message.c.role == "system", has_summary))


KEEPING = Keeping(tables=(), with_runs=_take)
