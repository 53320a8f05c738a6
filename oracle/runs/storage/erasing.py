"""Deletes the texts of runs, because their user wants it or because of their age; their rows keep the figures.

Rules:

- A run is first marked as forgotten, in one small write; from then on its texts are not shown.
- Then its events are deleted, a portion at a time, so that a long deletion does not delay live commits.
- The shadows of a run are deleted with it. One that is under way is removed altogether, so that nothing more of it is
  written.
- A conversation or run that a user deletes is marked in one transaction; then the events of the returned runs must be
  deleted.
- If the process dies between the two, `forgotten_with_events` finds the rest; retention deletes it.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from oracle.runs.storage.errors import ConversationBusyError
from oracle.runs.storage.features import FEATURES, take_from_features
from oracle.runs.storage.parts import Loss
from oracle.runs.storage.prepared import Prepared
from oracle.runs.storage.run_pages import find_run
from oracle.runs.storage.schema import conversation, event, message, run
from oracle.runs.storage.titles import title_of
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


_THEIRS = (conversation.c.id == bindparam("context_id")) & (conversation.c.user_id == bindparam("of_user"))
_STATE = Prepared(select(conversation.c.state).where(_THEIRS).with_for_update())


def forget_conversation(connection: Connection, *, user_id: str, context_id: str, at: float) -> Sequence[str] | None:
    """Delete a conversation, and mark its runs; `None`: the user has none of that name.

    Raises:
        ConversationBusyError: it is answering a query.
    """
    if locked_state(connection, user_id, context_id) is None:
        return None
    runs = run.c.context_id == context_id
    if connection.scalar(select(run.c.id).where(runs, run.c.status != "finished")) is not None:
        raise ConversationBusyError(f"the conversation {context_id!r} is answering a question")
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
    found = _STATE.first(connection, {"context_id": context_id, "of_user": user_id})
    return None if found is None else found[0]
