"""Reads the conversations of a store, for `recall`.

Rules:

- The database finds the messages with the most of the words; their passages are ranked like those of notes and threads.
- The text that is read and returned is bounded, however long a conversation is.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Text, case, func, or_, select, type_coerce

from oracle.core.encoding import to_json
from oracle.core.search.query import STOP_WORDS, fold, terms_of, tokens
from oracle.core.search.ranking import Ranking, SearchDocument
from oracle.features.long_conversations.recalling import NAME, NOTHING
from oracle.runs.storage.database import Database
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.schema import conversation, message
from oracle.server.api.parts import ServiceParts
from oracle.tools import ToolError, ToolResult
from oracle.tools.text import shorten

_MOST_MESSAGES: Final = 200
_MOST_CHARS: Final = 1_500_000
"""Of the messages whose passages are ranked."""
_MOST_WORDS: Final = 8
_LONGEST_QUERY: Final = 500
"""Characters: a database compares a long word with each place of a long text."""
_PASSAGE: Final = 1_200
_SHOWN: Final = 5
_LONGEST: Final = 28_000
"""Characters of an exchange that are shown."""


class _Said(NamedTuple):
    n: int
    role: str
    content: str
    at: str


class Sayings:
    """The messages in the conversations of a database, for each user only their own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def exchange(self, user_id: str, context_id: str, number: int) -> ToolResult:
        """One exchange, its longest texts without their middles.

        Raises:
            ToolError: there is none of that number, or it cannot be read.
        """
        return await self._read(user_id, context_id, partial(_exchange, number=number))

    async def find(self, user_id: str, context_id: str, query: str) -> ToolResult:
        """The passages that match best.

        Raises:
            ToolError: there is nothing to search for, or it cannot be read.
        """
        return await self._read(user_id, context_id, partial(_found, query=query))

    async def _read(self, user_id: str, context_id: str, work: Callable[..., tuple[str, bool]]) -> ToolResult:
        theirs = (message.c.conversation_id == context_id) & message.c.role.in_(("user", "assistant"))
        owner = (conversation.c.id == context_id) & (conversation.c.user_id == user_id)
        theirs &= select(conversation.c.id).where(owner).exists()
        try:
            text, is_empty = await self._database.read(partial(work, theirs=theirs))
        except StorageError:
            raise ToolError("the conversation cannot be read at the moment; try again.") from None
        return ToolResult(text, is_empty=is_empty)


def _messages(theirs: ColumnElement[bool], *further: Any) -> Select[Any]:  # noqa: ANN401  columns
    return select(message.c.n, message.c.role, message.c.content, message.c.at, *further).where(theirs)


def _exchange(connection: Connection, *, theirs: ColumnElement[bool], number: int) -> tuple[str, bool]:
    """The question of that number, and the answers to it."""
    asked = select(message.c.n).where(theirs, message.c.role == "user").order_by(message.c.n)
    total = connection.scalar(select(func.count()).select_from(asked.subquery())) or 0
    if not total:
        return NOTHING, True
    if number > total:
        raise ToolError(f"exchange {number:,} has not been: this conversation has {total:,} before this question.")
    first, *following = connection.scalars(asked.offset(number - 1).limit(2))
    query = _messages(theirs).where(message.c.n >= first, *(message.c.n < each for each in following))
    said = [_Said(*row) for row in connection.execute(query.order_by(message.c.n))]
    room = _LONGEST // len(said)
    texts = [f"{_who(each)}, {each.at[:16]}:\n{_clipped(each.content, room)}" for each in said]
    return "\n\n".join([f"Exchange {number:,} of {total:,}", *texts]), False


def _found(connection: Connection, *, theirs: ColumnElement[bool], query: str) -> tuple[str, bool]:
    """The passages that match best."""
    query = query[:_LONGEST_QUERY]
    terms = terms_of(query)
    needles = [term.stem for term in terms[:_MOST_WORDS]]
    # A database may compare other letters as they are written.
    foreign = [word for word in tokens(query) if not word.isascii() and fold(word) not in STOP_WORDS][:_MOST_WORDS]
    needles += [form for word in foreign for form in (word, word.lower(), word.capitalize())]
    text = func.lower(type_coerce(message.c.content, Text))
    plain = type_coerce(message.c.content, Text)
    has = [or_(*(each.contains(_as_kept(needle), autoescape=True) for each in (text, plain))) for needle in needles]
    if not has:
        raise ToolError(f"{shorten(query)!r} has no word to search for.")
    count: Any = sum((case((each, 1), else_=0) for each in has[1:]), case((has[0], 1), else_=0))
    rows = connection.execute(
        _messages(theirs).where(or_(*has)).order_by(count.desc(), message.c.n.desc()).limit(_MOST_MESSAGES)
    )
    ranking, passages, left = Ranking(()), list[tuple[_Said, str]](), _MOST_CHARS
    for row in rows:
        said = _Said(*row)
        left -= len(said.content)
        if left < 0 and passages:
            break
        for passage in _passages(said.content[:_MOST_CHARS]):
            ranking.add(SearchDocument(passage))
            passages.append((said, passage))
    scores, _ = ranking.rank(terms)
    best = sorted(scores, key=lambda number: (-scores[number], passages[number][0].n))[:_SHOWN]
    if not best:
        return (
            f"Nothing that was said in this conversation matches {shorten(query, limit=120)!r}. Try other words.",
            True,
        )
    blocks = [_shown(connection, theirs, *passages[number]) for number in best]
    return "\n\n".join([*blocks, "[`recall` with the number of an exchange returns the whole of it.]"]), False


def _shown(connection: Connection, theirs: ColumnElement[bool], said: _Said, passage: str) -> str:
    before = select(func.count()).where(theirs, message.c.role == "user", message.c.n <= said.n)
    return f"Exchange {connection.scalar(before) or 0:,}, {_who(said)}, {said.at[:16]}:\n{passage}"


def _who(said: _Said) -> str:
    return "the user" if said.role == "user" else "your answer"


def _passages(text: str) -> Sequence[str]:
    """The text in pieces that end at a line's end where they can."""
    passages, rest = list[str](), text
    while rest:
        piece = rest[:_PASSAGE]
        if len(rest) > _PASSAGE:
            piece = piece[: piece.rfind("\n", _PASSAGE // 2) + 1] or piece
        passages.append(piece.strip())
        rest = rest[len(piece) :]
    return passages


def _clipped(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    left_out = f"[… {len(text) - 2 * half:,} characters are left out; search for words of them …]"
    return f"{text[:half]}\n{left_out}\n{text[-half:]}"


def _as_kept(text: str) -> str:
    """The text as it stands in the JSON text of a message."""
    return to_json(text).decode()[1:-1]


@asynccontextmanager
async def opened(parts: ServiceParts) -> AsyncIterator[None]:
    """Let queries of a service read its conversations."""
    parts.oracle.equipment.hooks.parts[NAME] = Sayings(parts.store.database)
    yield
