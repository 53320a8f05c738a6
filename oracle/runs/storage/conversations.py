"""Conversations in the database."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

import structlog
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, bindparam, case, func, insert, literal, select, update

from bt_runtime import Clock, SystemClock
from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import Conversation, ConversationMessage, Exchange
from oracle.classify import QueryClassification
from oracle.core.retry import Retry
from oracle.runs.storage.conversation_pages import (
    ConversationPage,
    ConversationSummary,
    first_that_fits,
    list_page,
    read_page,
    read_summary,
)
from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import Dialect
from oracle.runs.storage.erasing import delete_events, forget_conversation, forget_run, locked_state
from oracle.runs.storage.errors import RunLostError, StoreUnavailableError
from oracle.runs.storage.interrupts import grant_, granted_actions
from oracle.runs.storage.prepared import Prepared
from oracle.runs.storage.schema import Json, conversation, message, run
from oracle.runs.storage.seeding import Told, begin_told
from oracle.runs.storage.titles import title_of
from oracle.runs.storage.writer import Writer

log = structlog.get_logger(__name__)

_MOST_LOADED, _LOADED_CHARS = 2_000, 2_000_000  # messages and characters: more than any history has room for
_RETRY = Retry(first_s=1.0, longest_s=1.0)
_CLASSIFICATION = TypeAdapter(QueryClassification)
_NEEDS = ("needs_code", "needs_vault", "needs_thread", "needs_web", "needs_write")

# Made once: they are part of every query.
_THEIRS = (conversation.c.id == bindparam("context_id")) & (conversation.c.user_id == bindparam("of_user"))
_OF_CONVERSATION = message.c.conversation_id == bindparam("context_id")
_HAS_MESSAGES = select(message.c.n).where(_OF_CONVERSATION).exists().label("has_messages")
_HAS_GRANTS = select(grant_.c.id).where(grant_.c.context_id == bindparam("context_id")).exists().label("has_grants")
_ROW = select(conversation.c.project_id, conversation.c.state, _HAS_MESSAGES, _HAS_GRANTS).where(_THEIRS)
_OWNER = Prepared(select(run.c.worker).where(run.c.id == bindparam("run_id")).with_for_update(read=True))
_OF_RUN = case((message.c.run_id == bindparam("run_id"), message.c.n))
_LAST = Prepared(select(func.max(message.c.n), func.max(_OF_RUN)).where(_OF_CONVERSATION))
_INSERT = Prepared(insert(message), sets=message.c.keys())
_CHANGE = update(conversation).where(conversation.c.id == bindparam("context_id"))
_TITLE = func.coalesce(conversation.c.title, bindparam("first", type_=Json))
_USED = Prepared(_CHANGE, sets=("state", "updated_at", "n"))
_BEGUN = Prepared(_CHANGE.values(title=_TITLE), sets=("state", "updated_at", "n"))


class AskedBefore(NamedTuple):
    """A question of a conversation, and its run."""

    run_id: str
    question: str


class StoredConversations:
    """The conversations of all users. Another user's conversation is treated as if it did not exist.

    Args:
        clock: monotonic time.
        worker: the name of this worker: answers of runs that another one has taken over are refused; `None`: of none.
        new_id: makes the id of a new conversation.
    """

    def __init__(
        self,
        database: Database,
        *,
        writer: Writer,
        clock: Clock | None = None,
        worker: str | None = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._database = database
        self._writer = writer
        self._clock = clock or SystemClock()
        self._worker = worker
        self._new_id = new_id

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        """Create a conversation."""
        made, at = Conversation(self._new_id(), user_id, project_id), self._database.now()
        row: dict[str, Any] = {
            "id": made.context_id,
            "user_id": user_id,
            "project_id": project_id,
            "state": {},
            "created_at": at,
            "updated_at": at,
        }

        def work(connection: Connection) -> None:
            connection.execute(insert(conversation), row | {"n": self._database.dialect.next_number(connection)})

        await self._writer.write(work)
        return made

    async def load(self, user_id: str, context_id: str) -> Conversation | None:
        """The user's conversation with that id, or `None`."""
        return await self._database.read(lambda connection: _load(connection, user_id, context_id))

    async def before(self, user_id: str, context_id: str, run_id: str) -> Conversation | None:
        """The user's conversation with the messages that it had before a run, and nothing that a query inherits.

        Returns:
            `None` if there is no such conversation, or if it has no messages of the run.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(lambda connection: _before(connection, user_id, context_id, run_id))

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        """Add a query and its answer; does nothing if they were added before.

        While the database cannot be written this waits without a limit: the end of the run has to wait for the same
        database, and the conversation must have the answer of each ended run.

        Raises:
            KeyError: the user has no such conversation.
            RunLostError: another worker has taken the run over, and adds its answer.
            StoreUnavailableError: the store is being closed.
        """
        add = self.appending(user_id, context_id, exchange)

        def work(connection: Connection) -> None:
            # The worker that has the run now ends it, and adds its answer.
            owner = _OWNER.first(connection, {"run_id": exchange.run_id})
            if self._worker is not None and owner is not None and owner[0] != self._worker:
                raise RunLostError(f"another worker has taken the run {exchange.run_id!r} over")
            add(connection)

        def note(error: Exception) -> None:
            log.warning("answer.not_written", run_id=exchange.run_id, problem=str(error))

        write = partial(self._writer.write, work)
        await _RETRY.call(
            write,
            clock=self._clock,
            when=StoreUnavailableError,
            on_failure=note,
            unless=lambda: self._writer.is_closing,
        )

    def appending(self, user_id: str, context_id: str, exchange: Exchange) -> Callable[[Connection], object]:
        """The same as `append`, for the transaction that ends the run, which has checked the run's owner."""
        dialect, at = self._database.dialect, self._database.now()
        return partial(_append, user_id=user_id, context_id=context_id, exchange=exchange, dialect=dialect, at=at)

    async def forget(self, user_id: str, context_id: str) -> bool:
        """Delete a conversation, its messages, and all texts of its runs; the rows of the runs keep the figures.

        Returns:
            Whether the user had that conversation.

        Raises:
            ConversationBusyError: it is answering a query, which must be ended first.
            StoreUnavailableError: the database cannot be written at present.
        """
        return await self._forget(partial(forget_conversation, user_id=user_id, context_id=context_id))

    async def forget_run(self, user_id: str, run_id: str) -> bool:
        """Delete all texts of a run, and what it has added to its conversation, which goes when nothing is left in it.

        Returns:
            Whether the user had that run.

        Raises:
            ConversationBusyError: the run has not ended.
            StoreUnavailableError: the database cannot be written at present.
        """
        return await self._forget(partial(forget_run, user_id=user_id, run_id=run_id))

    async def _forget(self, work: Callable[..., Sequence[str] | None]) -> bool:
        run_ids = await self._writer.write(partial(work, at=self._database.now()), is_alone=True)
        if run_ids is None:
            return False
        await delete_events(self._writer, run_ids)
        await self._database.empty_wal()
        return True

    async def fork(
        self,
        user_id: str,
        context_id: str,
        *,
        before_run: str | None = None,
        classification: QueryClassification | None = None,
        had_tool_errors: bool = False,
    ) -> ConversationSummary | None:
        """Begin a conversation with the messages that another one had before a run, to continue it differently.

        Label and title are those of the other one; one without messages gets its title from its first question.

        Args:
            user_id: the owner of both.
            context_id: the other conversation, which stays as it is; it may be answering a query.
            before_run: a run of the other one; `None`: all messages, and what the next query inherits.
            classification: what the next query inherits, if it is before a run.
            had_tool_errors: the same.

        Returns:
            `None` if the user has no such conversation, or if the run is not part of it.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        at, made = self._database.now(), self._new_id()
        state = None if before_run is None else _state_of(classification, had_tool_errors=had_tool_errors)

        def work(connection: Connection) -> ConversationSummary | None:
            row = _forked(connection, user_id, context_id, before_run=before_run, state=state)
            if row is None:
                return None
            number = self._database.dialect.next_number(connection)
            begun = {"id": made, "user_id": user_id, "created_at": at, "updated_at": at, "n": number}
            connection.execute(insert(conversation), {**row.fields, **begun})
            columns = [column for column in message.c if column.name != "conversation_id"]
            copied = select(literal(made), *columns).where(message.c.conversation_id == context_id)
            if row.before is not None:
                copied = copied.where(message.c.n < row.before)
            names = ["conversation_id", *(column.name for column in columns)]
            connection.execute(insert(message).from_select(names, copied))
            return read_summary(connection, user_id, made)

        return await self._writer.write(work, is_alone=True)

    async def begin_told(self, user_id: str, told: Sequence[Told]) -> str:
        """Begin a conversation with earlier messages from a client (`oracle.runs.storage.seeding`); its id.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        at, made = self._database.now(), self._new_id()

        def work(connection: Connection) -> None:
            number = self._database.dialect.next_number(connection)
            begin_told(connection, user_id, made, told, at=at, at_iso=iso(at), number=number)

        await self._writer.write(work)
        return made

    async def asked(self, user_id: str, context_id: str) -> Sequence[AskedBefore]:
        """The latest questions of the user's conversation, oldest first; none if there is no such conversation.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        theirs = (conversation.c.id == message.c.conversation_id) & (conversation.c.user_id == user_id)
        query = select(message.c.run_id, message.c.content).join(conversation, theirs)
        query = query.where(message.c.conversation_id == context_id, message.c.role == "user")
        query = query.order_by(message.c.n.desc()).limit(_MOST_LOADED)
        found = await self._database.read(lambda connection: connection.execute(query).all())
        return [AskedBefore(*row) for row in reversed(found)]

    async def rename(self, user_id: str, context_id: str, title: str) -> ConversationSummary | None:
        """Set the title of a conversation; returns `None` if the user has no such conversation.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """

        def work(connection: Connection) -> ConversationSummary | None:
            theirs = (conversation.c.id == context_id) & (conversation.c.user_id == user_id)
            connection.execute(update(conversation).where(theirs).values(title=title))
            return read_summary(connection, user_id, context_id)

        return await self._writer.write(work, is_alone=True)

    async def page(
        self, user_id: str, context_id: str, *, limit: int, before: int | None = None
    ) -> ConversationPage | None:
        """The conversation with its newest messages, of bounded size; `None` if the user has no such conversation.

        Args:
            user_id: its owner.
            context_id: its id.
            limit: the greatest number of messages.
            before: only messages with smaller numbers; `None`: up to the latest.
        """
        return await self._database.read(
            lambda connection: read_page(connection, user_id, context_id, limit=limit, before=before)
        )

    async def sources(self, user_id: str, context_id: str, run_id: str) -> "Sequence[Mapping[str, Any]] | None":
        """The sources of a run's answer, as they were sent; `None` if the conversation has no answer of it.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        theirs = (conversation.c.id == message.c.conversation_id) & (conversation.c.user_id == user_id)
        query = select(message.c.metadata).where(
            message.c.conversation_id == context_id,
            message.c.run_id == run_id,
            message.c.role == "assistant",
            select(conversation.c.id).where(theirs).exists(),
        )
        found = await self._database.read(lambda connection: connection.scalar(query))
        return None if found is None else found.get("sources", ())

    async def list(
        self,
        user_id: str,
        *,
        project_id: str | None = None,
        search: str | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> "list[ConversationSummary] | None":
        """The user's conversations, most recently used first.

        Args:
            user_id: the user whose conversations are listed.
            project_id: only those with this label; `None`: all.
            search: only those whose title or questions contain this text, ignoring case; `None`: all.
            limit: the greatest number of conversations.
            before: the id of a conversation: only those that follow it.

        Returns:
            `None` if the user has no conversation `before`.
        """
        return await self._database.read(
            lambda connection: list_page(
                connection, user_id, project_id=project_id, search=search, limit=limit, before=before
            )
        )


def _load(connection: Connection, user_id: str, context_id: str) -> Conversation | None:
    row = connection.execute(_ROW, {"context_id": context_id, "of_user": user_id}).one_or_none()
    if row is None:
        return None
    first = _first_to_load(connection, context_id) if row.has_messages else 1
    messages, earlier = _said(connection, context_id, first=first) if row.has_messages else ((), 0)
    state = row.state
    return Conversation(
        context_id=context_id,
        user_id=user_id,
        project_id=row.project_id,
        messages=messages,
        classification=_classification(state.get("classification")),
        had_tool_errors=bool(state.get("had_tool_errors", False)),
        earlier=earlier,
        grants=granted_actions(connection, context_id) if row.has_grants else (),
    )


def _said(
    connection: Connection, context_id: str, *, first: int, before: int | None = None
) -> tuple[tuple[ConversationMessage, ...], int]:
    """The messages from one on, up to that before another one, and how many of user and model come before them."""
    of_conversation = message.c.conversation_id == context_id
    wanted = [of_conversation, message.c.n >= first, *([] if before is None else [message.c.n < before])]
    columns = (message.c.role, message.c.content, message.c.at, message.c.metadata)
    said = select(*columns).where(*wanted).order_by(message.c.n)
    of_model = message.c.role.in_(("user", "assistant"))
    earlier = select(func.count()).where(of_conversation, message.c.n < first, of_model)
    messages = tuple(ConversationMessage(*each) for each in connection.execute(said))
    return messages, connection.scalar(earlier) or 0 if first > 1 else 0


def _before(connection: Connection, user_id: str, context_id: str, run_id: str) -> Conversation | None:
    theirs = (conversation.c.id == context_id) & (conversation.c.user_id == user_id)
    row = connection.execute(select(conversation.c.project_id).where(theirs)).one_or_none()
    of_conversation = message.c.conversation_id == context_id
    of_run = select(func.min(message.c.n)).where(of_conversation, message.c.run_id == run_id)
    mark = None if row is None else connection.scalar(of_run)
    if row is None or mark is None:
        return None
    first = first_that_fits(connection, context_id, limit=_MOST_LOADED, before=mark, most_chars=_LOADED_CHARS)
    messages, earlier = _said(connection, context_id, first=first, before=mark)
    return Conversation(
        context_id=context_id,
        user_id=user_id,
        project_id=row.project_id,
        messages=messages,
        earlier=earlier,
    )


def _first_to_load(connection: Connection, context_id: str) -> int:
    """The number of the first message that a history may need: as many as fit, and all of the latest query."""
    of_conversation = message.c.conversation_id == context_id
    first = first_that_fits(connection, context_id, limit=_MOST_LOADED, before=None, most_chars=_LOADED_CHARS)
    latest = select(message.c.run_id).where(of_conversation).order_by(message.c.n.desc()).limit(1).scalar_subquery()
    begun = connection.scalar(select(func.min(message.c.n)).where(of_conversation, message.c.run_id == latest))
    return min(first, begun or first)


def _append(
    connection: Connection, user_id: str, context_id: str, exchange: Exchange, *, dialect: Dialect, at: float
) -> None:
    state = locked_state(connection, user_id, context_id)
    if state is None:
        raise KeyError(context_id)
    place = {"context_id": context_id, "run_id": exchange.run_id}
    last, of_run = _LAST.first(connection, place) or (None, None)
    if of_run is not None:
        return
    rows = [
        {
            "conversation_id": context_id,
            "n": n,
            "role": each.role,
            "content": each.content,
            "metadata": each.metadata,
            "run_id": exchange.run_id,
            "at": each.at,
        }
        for n, each in enumerate(exchange.messages(), start=(last or 0) + 1)
    ]
    _INSERT.run_each(connection, rows)
    if exchange.classification is not None:
        state["classification"] = _CLASSIFICATION.dump_python(exchange.classification, mode="json")
    state["had_tool_errors"] = exchange.had_tool_errors
    used = {"context_id": context_id, "state": state, "updated_at": at, "n": dialect.next_number(connection)}
    if last is None:  # the first question; of a conversation that was created without a run it is the title
        _BEGUN.run(connection, used | {"first": title_of(exchange.question)})
    else:
        _USED.run(connection, used)


@dataclass(frozen=True, slots=True)
class _Fork:
    """The parts of a conversation for a fork: fields of its row, and its messages before a number (`None`: all)."""

    fields: Mapping[str, Any]
    before: int | None


def _forked(
    connection: Connection, user_id: str, context_id: str, *, before_run: str | None, state: Mapping[str, Any] | None
) -> _Fork | None:
    theirs = (conversation.c.id == context_id) & (conversation.c.user_id == user_id)
    columns = (conversation.c.project_id, conversation.c.title, conversation.c.state)
    found = connection.execute(select(*columns).where(theirs).with_for_update()).one_or_none()
    if found is None:
        return None
    before = None
    if before_run is not None:
        of_run = (message.c.conversation_id == context_id) & (message.c.run_id == before_run)
        before = connection.scalar(select(func.min(message.c.n)).where(of_run))
        under_way = (run.c.id == before_run) & (run.c.context_id == context_id) & (run.c.status != "finished")
        if before is None and connection.scalar(select(run.c.id).where(under_way)) is None:
            return None
    fields = {"project_id": found.project_id, "state": found.state if state is None else state}
    first = connection.scalar(select(func.min(message.c.n)).where(message.c.conversation_id == context_id))
    has_messages = first is not None and first != before
    return _Fork(fields | ({"title": found.title} if has_messages else {}), before)


def _state_of(classification: QueryClassification | None, *, had_tool_errors: bool) -> dict[str, Any]:
    """The fields that the next query of a conversation inherits."""
    if classification is None:
        return {"had_tool_errors": had_tool_errors}
    kept = _CLASSIFICATION.dump_python(classification, mode="json")
    return {"classification": kept, "had_tool_errors": had_tool_errors}


def _classification(kept: Mapping[str, Any] | None) -> QueryClassification | None:
    """The stored classification; `None` if this version cannot read it, as the conversation is usable without it."""
    if kept is None:
        return None
    if "sources" not in kept:  # as it was kept when there was one domain
        kept = {**kept, "sources": [name.removeprefix("needs_") for name in _NEEDS if kept.get(name)]}
    try:
        return _CLASSIFICATION.validate_python(kept)
    except ValidationError:
        return None
