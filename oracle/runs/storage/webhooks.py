"""The outbox: what receivers of webhooks are to be told, written in the commit of what has happened.

Rules:

- A row is one message for one address. Its id is made of what it tells, so that nothing is told twice under two ids.
- A claim makes the row due again after a while: if its worker dies while it sends, another one sends it again.
- A body has ids and figures, no text of users, the model or tools: what it tells of is read with a token.
- Times are those of the database's clock.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, select, update

from bt_runtime.text import iso
from oracle.core.encoding import to_json
from oracle.runs.storage.database import Database
from oracle.runs.storage.records import RunEnd, RunRecord
from oracle.runs.storage.schema import webhook
from oracle.runs.storage.writer import Writer

CLAIM_S: Final = 60.0
"""After so many seconds a claimed message is due again."""
KEPT_S: Final = 30 * 86_400.0
"""How long a message that was given up, or whose address is no setting any more, is kept."""
_LONGEST_PROBLEM = 500


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
        urls: the addresses that are told; none costs nothing.
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
            facts = {
                "status": "finished",
                "termination_reason": end.termination_reason,
                "error_type": (end.error or {}).get("error_type"),
                "turns": end.turns,
                "tokens_used": end.tokens_used,
                "tokens_estimated": end.tokens_estimated,
            }
            self._write(connection, "run.finished", run, facts)

    def pending(self, connection: Connection, run: RunRecord, interrupt: Mapping[str, Any]) -> None:
        """Write that a run waits for a person; in the writer's thread, with the commit of the interrupt's row.

        Args:
            connection: of the commit.
            run: waits.
            interrupt: the object as clients get it (`oracle.core.chunks.Interrupt`).
        """
        if self.urls and run.shadow_of is None:
            facts = {
                "interrupt_id": interrupt["id"],
                "reason": interrupt["reason"],
                "may": interrupt.get("may", ()),
                "answerers": interrupt.get("answerers", "user"),
                "tool_name": interrupt.get("tool_name"),
                "expires_at": interrupt.get("expires_at"),
            }
            self._write(connection, "run.pending", run, facts)

    def _write(self, connection: Connection, kind: str, run: RunRecord, facts: dict[str, Any]) -> None:
        at = self._database.dialect.clock(connection)
        data = {"run_id": run.id, "context_id": run.context_id, "user_id": run.user_id, **facts}
        body = to_json({"type": kind, "timestamp": iso(at), "data": data})
        about = [kind, run.id, facts.get("interrupt_id")]
        rows = [
            {
                "id": f"msg_{hashlib.sha256(to_json([*about, url])).hexdigest()[:40]}",
                "url": url,
                "body": body,
                "tries": 0,
                "created_at": at,
                "due_at": at,
            }
            for url in self.urls
        ]
        connection.execute(self._database.dialect.insert(webhook), rows)

    async def claim(self, url: str, *, most: int) -> list[Message]:
        """The messages for an address that are due, the longest due first; no other worker gets them for a while.

        Raises:
            StoreUnavailableError: the database cannot be read or written at present.
        """
        clock = self._database.dialect.clock
        is_due = (webhook.c.url == url) & webhook.c.given_up_at.is_(None)

        def has_some(connection: Connection) -> bool:
            due = is_due & (webhook.c.due_at <= clock(connection))
            return connection.execute(select(webhook.c.id).where(due).limit(1)).first() is not None

        def take(connection: Connection) -> list[Message]:
            at = clock(connection)
            first = select(webhook.c.id).where(is_due & (webhook.c.due_at <= at)).order_by(webhook.c.due_at)
            ids = connection.scalars(first.limit(most).with_for_update(skip_locked=True)).all()
            change = update(webhook).where(webhook.c.id.in_(ids))
            change = change.values(due_at=at + CLAIM_S, tries=webhook.c.tries + 1)
            taken = connection.execute(change.returning(*webhook.c))
            return [Message(row.id, row.url, row.body, row.tries, at - row.created_at) for row in taken]

        return await self._writer.write(take) if await self._database.read(has_some) else []

    async def delivered(self, message: Message) -> None:
        """The receiver has it: the row goes.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        await self._writer.write(
            lambda connection: connection.execute(delete(webhook).where(webhook.c.id == message.id))
        )

    async def failed(self, message: Message, *, problem: str, again_s: float | None) -> None:
        """Note a failed attempt; `again_s`: seconds until the next one, `None`: there is none.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """

        def work(connection: Connection) -> None:
            at = self._database.dialect.clock(connection)
            values: dict[str, Any] = {"problem": problem[:_LONGEST_PROBLEM]}
            values |= {"given_up_at": at} if again_s is None else {"due_at": at + again_s}
            connection.execute(update(webhook).where(webhook.c.id == message.id).values(values))

        await self._writer.write(work)

    async def prune(self) -> None:
        """Delete what is older than `KEPT_S`.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """

        def work(connection: Connection) -> None:
            oldest = self._database.dialect.clock(connection) - KEPT_S
            connection.execute(delete(webhook).where(webhook.c.created_at < oldest))

        await self._writer.write(work)
