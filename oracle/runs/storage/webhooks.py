"""The outbox of webhooks: each message is written in the commit of its event.

Rules:

- A row is one message for one address. Its id is made of its content, so that nothing is sent twice under two ids.
- A claim makes the row due again after a while: if its worker dies while it sends, another one sends it again.
- A body has ids and figures, no text of users, the model or tools: receivers read those with a token.
- Times are those of the database's clock.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Column, Connection, Double, Integer, String, Table, Text, delete, select, update

from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.core.encoding import to_json
from oracle.runs.storage.database import Database
from oracle.runs.storage.parts import Keeping, no_texts
from oracle.runs.storage.records import RunEnd, RunRecord
from oracle.runs.storage.schema import EncodedJson, Json, index_where, metadata
from oracle.runs.storage.writer import Writer

CLAIM_S: Final = 60.0
"""After this many seconds a claimed message is due again."""
KEPT_S: Final = 30 * 86_400.0
"""How long a message is kept that was given up, or whose address is no setting any more; at least."""
_LONGEST_PROBLEM = 500
_OF_THE_END = ("termination_reason", "turns", "tokens_used", "tokens_estimated")

webhook = Table(
    "webhook",
    metadata,
    Column("id", String(64), primary_key=True),  # of the message, as its receiver gets it
    Column("url", Text, nullable=False),
    Column("body", EncodedJson, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("due_at", Double, nullable=False),  # for the next attempt
    Column("given_up_at", Double),
    Column("problem", Json),  # a string: of the last attempt
    index_where("webhooks_to_be_sent", "given_up_at IS NULL", "due_at"),
)
KEEPING = Keeping(tables=(webhook,), with_runs=no_texts)  # ids and figures alone

_OF_AN_INTERRUPT = ("reason", "may", "answerers", "tool_name", "expires_at")


@dataclass(frozen=True, slots=True)
class Message:
    """A message that a worker has claimed.

    Args:
        id: the same in each attempt.
        body: JSON.
        tries: attempts, with the one that begins now.
        age_s: since it was written.
    """

    id: str
    url: str
    body: bytes
    tries: int
    age_s: float


class Webhooks:
    """The outbox of all workers.

    Args:
        urls: the addresses that get messages; none costs nothing.
    """

    def __init__(self, database: Database, *, writer: Writer, urls: Sequence[str] = ()) -> None:
        self._database = database
        self._writer = writer
        self.urls = tuple(urls)
        self.news = asyncio.Event()
        """Set, and replaced by another one, when this process has committed messages."""

    def nudge(self) -> None:
        """Messages have been committed."""
        before, self.news = self.news, asyncio.Event()
        before.set()

    def ended(self, connection: Connection, run: RunRecord, end: RunEnd) -> None:
        """Write that a run has ended, unless it is a shadow; in the writer's thread, with the commit of the end."""
        if self.urls and run.shadow_of is None:
            facts = {name: getattr(end, name) for name in _OF_THE_END}
            self._write(connection, "run.finished", run, facts | {"error_type": (end.error or {}).get("error_type")})

    def pending(self, connection: Connection, run: RunRecord, interrupt: Mapping[str, Any]) -> None:
        """Write that a run waits for a person; in the writer's thread, with the commit of the interrupt's row.

        Args:
            connection: the connection that the commit is made on.
            run: the run that waits.
            interrupt: the object as clients get it (`oracle.core.chunks.Interrupt`).
        """
        if self.urls and run.shadow_of is None:
            shown = {"answerers": "user", "tool_name": None} | dict(interrupt)
            facts = {name: shown[name] for name in _OF_AN_INTERRUPT}
            self._write(connection, "run.pending", run, {"interrupt_id": interrupt["id"], **facts})

    def _write(self, connection: Connection, kind: str, run: RunRecord, facts: dict[str, Any]) -> None:
        at = self._database.dialect.clock(connection)
        data = {"run_id": run.id, "context_id": run.context_id, "user_id": run.user_id, **facts}
        body = to_json({"type": kind, "timestamp": iso(at), "data": data})
        about = [kind, run.id, facts.get("interrupt_id")]
        row = {"body": body, "tries": 0, "created_at": at, "due_at": at}
        for url in self.urls:
            digest = hashlib.sha256(to_json([*about, url])).hexdigest()
            connection.execute(self._database.dialect.insert(webhook), {**row, "id": f"msg_{digest[:40]}", "url": url})

    async def claim(self, url: str, *, most: int) -> list[Message]:
        """The messages for an address that are due, the longest due first; no other worker gets them for a while.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """

        def work(connection: Connection) -> list[Message]:
            at = self._database.dialect.clock(connection)
            due = (webhook.c.url == url) & webhook.c.given_up_at.is_(None) & (webhook.c.due_at <= at)
            first = select(webhook.c.id).where(due).order_by(webhook.c.due_at).limit(most)
            ids = connection.scalars(first.with_for_update(skip_locked=True)).all()
            change = update(webhook).where(webhook.c.id.in_(ids)).returning(*webhook.c)
            taken = connection.execute(change.values(due_at=at + CLAIM_S, tries=webhook.c.tries + 1))
            return [Message(row.id, row.url, row.body, row.tries, at - row.created_at) for row in taken]

        return await self._writer.write(work)

    async def delivered(self, message: Message) -> None:
        """The receiver has it: the row goes.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        gone = delete(webhook).where(webhook.c.id == message.id)
        await self._writer.write(lambda connection: connection.execute(gone))

    async def failed(self, message: Message, *, problem: str, again_s: float | None) -> None:
        """Note a failed attempt; `again_s`: seconds until the next one, `None`: there is none.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """

        def work(connection: Connection) -> None:
            at = self._database.dialect.clock(connection)
            values = {"given_up_at": at} if again_s is None else {"due_at": at + again_s}
            change = update(webhook).where(webhook.c.id == message.id)
            connection.execute(change.values(values | {"problem": problem[:_LONGEST_PROBLEM]}))
            connection.execute(delete(webhook).where(webhook.c.created_at < at - KEPT_S))

        await self._writer.write(work)
