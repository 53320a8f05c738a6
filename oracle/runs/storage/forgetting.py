"""Deletes what was said, because its user wants it: of a whole conversation, or of one run.

Marking is one transaction (`erasing`); the events of the runs that are returned are to be deleted after it.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from oracle.agent.conversations.titles import title_of
from oracle.runs.storage.erasing import mark_forgotten
from oracle.runs.storage.errors import ConversationBusyError
from oracle.runs.storage.features import FEATURES
from oracle.runs.storage.run_pages import find_run
from oracle.runs.storage.schema import conversation, message, run

_THEIRS = (conversation.c.id == bindparam("context_id")) & (conversation.c.user_id == bindparam("of_user"))
_STATE = select(conversation.c.state).where(_THEIRS).with_for_update()


def forget_conversation(connection: Connection, *, user_id: str, context_id: str, at: float) -> Sequence[str] | None:
    """Delete a conversation, and mark its runs; `None`: the user has none of that name.

    Raises:
        ConversationBusyError: it is answering a query.
    """
    if locked_state(connection, user_id, context_id) is None:
        return None
    runs = run.c.context_id == context_id
    if connection.scalar(select(run.c.id).where(runs, run.c.status != "finished")) is not None:
        raise ConversationBusyError(f"the conversation {context_id!r} is answering a query")
    connection.execute(delete(message).where(message.c.conversation_id == context_id))
    connection.execute(delete(conversation).where(conversation.c.id == context_id))
    for feature in FEATURES:
        feature.with_conversation(connection, context_id)
    run_ids = list(connection.scalars(select(run.c.id).where(runs)))
    return mark_forgotten(connection, run_ids, at=at)


def forget_run(connection: Connection, *, user_id: str, run_id: str, at: float) -> Sequence[str] | None:
    """Mark a run, and take its question and answer out of its conversation; `None`: the user has none of that id.

    What the next query would inherit goes too, and a title that was made of the question. A conversation in which
    nothing was said goes altogether.

    Raises:
        ConversationBusyError: the run has not ended, or is the first of a conversation that is answering a query.
    """
    found = find_run(connection, run_id, user_id=user_id)
    if found is None:
        return None
    context_id = found.context_id
    locked_state(connection, user_id, context_id)
    if found.status != "finished":
        raise ConversationBusyError(f"the run {run_id!r} has not ended")
    asked = select(message.c.content).where(message.c.conversation_id == context_id, message.c.role == "user")
    asked = asked.order_by(message.c.n).limit(1)
    gone = connection.scalar(asked.where(message.c.run_id == run_id))
    connection.execute(delete(message).where(message.c.conversation_id == context_id, message.c.run_id == run_id))
    first = connection.scalar(asked)
    if first is None:
        return forget_conversation(connection, user_id=user_id, context_id=context_id, at=at) or ()
    this = conversation.c.id == context_id
    title = connection.scalar(select(conversation.c.title).where(this))
    if gone is not None and title == title_of(gone):
        title = title_of(first)
    connection.execute(update(conversation).where(this).values(title=title, state={}))
    return mark_forgotten(connection, [run_id], at=at)


def locked_state(connection: Connection, user_id: str, context_id: str) -> dict[str, Any] | None:
    """The state of the user's conversation, locked against other workers until the end of this transaction."""
    state: dict[str, Any] | None = connection.scalar(_STATE, {"context_id": context_id, "of_user": user_id})
    return state
