"""Reads conversations a page at a time: a user's list, and the messages of one conversation.

Rules:

- A page has the newest messages before a number, bounded in number and in text, but at least one: reading a
  conversation of any length takes the memory of a page.
- A search finds its text anywhere in titles and questions, ignoring case; the text is not a pattern.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Text, func, or_, select, type_coerce

from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import Role
from oracle.core.encoding import to_json
from oracle.runs.storage.schema import conversation, message, run

PAGE_CHARS = 2_000_000
"""Characters of text and metadata in a page of messages, except for its first one."""
_SIZES = 500  # of messages that are read at a time


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation in a list. Times are seconds since the epoch, UTC.

    Args:
        context_id: its id.
        title: from its first question, or set by the user; empty before the first question.
        project_id: its label.
        updated_at: the time of the last question or answer.
        run_id: the query that it is answering; `None` if there is none.
    """

    context_id: str
    title: str
    project_id: str | None
    created_at: float
    updated_at: float
    run_id: str | None


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as it is kept. Its `content` is the JSON string, to be sent as it is."""

    n: int
    role: Role
    content: str
    metadata: Mapping[str, Any]
    run_id: str
    at: str


@dataclass(frozen=True, slots=True)
class LiveQuestion:
    """The query that a conversation is answering; it joins the messages when it has been answered."""

    run_id: str
    question: str
    created_at: float


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """A conversation, and some of its messages, oldest first.

    Args:
        live: the query that it is answering; `None` if there is none.
        has_earlier: there are earlier messages.
    """

    summary: ConversationSummary
    live: LiveQuestion | None
    messages: tuple[StoredMessage, ...]
    has_earlier: bool


def list_page(
    connection: Connection, user_id: str, *, project_id: str | None, search: str | None, limit: int, before: str | None
) -> list[ConversationSummary] | None:
    """The user's conversations, most recently used first; `None` if there is no conversation `before`."""
    mine = conversation.c.user_id == user_id
    query = _summaries().where(mine).order_by(conversation.c.n.desc(), conversation.c.id.desc()).limit(limit)
    if before is not None:
        mark = connection.scalar(select(conversation.c.n).where(conversation.c.id == before, mine))
        if mark is None:
            return None
        is_same = (conversation.c.n == mark) & (conversation.c.id < before)
        query = query.where(or_(conversation.c.n < mark, is_same))
    if project_id is not None:
        query = query.where(conversation.c.project_id == project_id)
    if search is not None and search.strip():
        query = query.where(_holds(search.strip()))
    return [_summary(row) for row in connection.execute(query)]


def read_summary(connection: Connection, user_id: str, context_id: str) -> ConversationSummary | None:
    """The conversation as in a list; `None` if the user has no such conversation."""
    query = _summaries().where(conversation.c.id == context_id, conversation.c.user_id == user_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else _summary(row)


def read_page(
    connection: Connection, user_id: str, context_id: str, *, limit: int, before: int | None
) -> ConversationPage | None:
    """The conversation with its newest messages before that number; `None` if the user has no such conversation."""
    summary = read_summary(connection, user_id, context_id)
    if summary is None:
        return None
    first = first_that_fits(connection, context_id, limit=limit, before=before, most_chars=PAGE_CHARS)
    query = _of(context_id, before=before).where(message.c.n >= first).order_by(message.c.n)
    return ConversationPage(
        summary=summary,
        live=_live(connection, summary.run_id),
        messages=tuple(StoredMessage(*row) for row in connection.execute(query)),
        has_earlier=first > 1,
    )


def first_that_fits(connection: Connection, context_id: str, *, limit: int, before: int | None, most_chars: int) -> int:
    """The number of the first message of a page; reads only sizes, and about as many as the page has messages."""
    size = func.length(message.c.content) + func.length(message.c.metadata)
    first, chars, left = before, 0, limit
    while left > 0:
        query = _of(context_id, before=first).with_only_columns(message.c.n, size)
        sizes = connection.execute(query.order_by(message.c.n.desc()).limit(min(left, _SIZES))).all()
        for n, each in sizes:
            chars += each
            if chars > most_chars and left < limit:
                return first or 1
            first, left = n, left - 1
        if not sizes:
            break
    return first or 1


def _of(context_id: str, *, before: int | None) -> "Select[Any]":
    columns = message.c
    content = type_coerce(columns.content, Text)
    query = select(columns.n, columns.role, content, columns.metadata, columns.run_id, columns.at)
    query = query.where(columns.conversation_id == context_id)
    return query if before is None else query.where(columns.n < before)


def _summaries() -> "Select[Any]":
    table = conversation.c
    live = select(run.c.id).where(run.c.context_id == table.id, run.c.status != "finished").scalar_subquery()
    return select(table.id, table.title, table.project_id, table.created_at, table.updated_at, live.label("run_id"))


def _summary(row: "Row[Any]") -> ConversationSummary:
    title: str | None = row.title
    return ConversationSummary(row.id, title or "", row.project_id, row.created_at, row.updated_at, row.run_id)


def _live(connection: Connection, run_id: str | None) -> LiveQuestion | None:
    if run_id is None:
        return None
    row = connection.execute(select(run.c.input, run.c.created_at).where(run.c.id == run_id)).one()
    return LiveQuestion(run_id, str(row.input.get("question", "")), row.created_at)


def _holds(search: str) -> ColumnElement[bool]:
    """Whether the title or a question of a conversation contains a text, as JSON has it."""
    text = to_json(search).decode()[1:-1].lower()
    asked = select(message.c.n).where(
        message.c.conversation_id == conversation.c.id, message.c.role == "user", _contains(message.c.content, text)
    )
    return or_(_contains(conversation.c.title, text), asked.exists())


def _contains(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    return func.lower(type_coerce(column, Text)).contains(text, autoescape=True)
