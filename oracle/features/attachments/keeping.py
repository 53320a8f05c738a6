"""The files of users in the database: first waiting for a question, then as part of a run.

Rules:

- A file is kept when it is uploaded. The transaction that begins a run assigns its files to it. A file of another run
  is copied, so that each file is deleted with the texts of one run.
- What no run has taken within a day is deleted; a user has at most `MOST_WAITING` bytes of that.
- A file belongs to its user: for others it does not exist.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, Insert, Table, delete, func, select, update

from bt_runtime.text.data import dataclass
from oracle.core.errors import NotFoundError, UserError
from oracle.runs.storage.parts import Keeping, Loss
from oracle.runs.storage.schema import Json, metadata
from oracle.runs.storage.writer import Part

KEPT_S: Final = 24 * 3600.0
"""Seconds that a file waits for its question."""
MOST_WAITING: Final = 60_000_000
"""Bytes of a user's files that wait for their question."""

attachment = Table(
    "attachment",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("user_id", sa.String(255), nullable=False),
    sa.Column("run_id", sa.String(64), index=True),  # that has it; none: it waits for its question
    sa.Column("name", Json, nullable=False),  # a string
    sa.Column("media_type", sa.String(64), nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Index("waiting_attachments", "user_id", sqlite_where=sa.text("run_id IS NULL")),
)
_own = attachment.c
_ABOUT: Final = (_own.id, _own.name, _own.media_type, _own.size, _own.tokens)

Block = Mapping[str, Any]
"""The placeholder of a file in a question: `{type: attachment, id, name, media_type, size, tokens}`."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The files that a run takes (`oracle.runs.storage.records.Claim`).

    Args:
        blocks: of the run; the id of each is that of a file, or a new one of a copy.
        origins: by the ids of copies, the files that they are made of.
    """

    blocks: Sequence[Block]
    origins: Mapping[str, str]

    def take(self, connection: Connection, insert: Callable[[Table], Insert], *, run_id: str, at: float) -> None:  # noqa: ARG002  the protocol
        """Let the run have them.

        Raises:
            UserError: one is gone, or another run has just taken it.
        """
        for each in self.blocks:
            if (origin := self.origins.get(each["id"])) is not None:
                columns = [column for column in _own if column.name not in ("id", "run_id", "at")]
                new = [sa.literal(each["id"]), sa.literal(run_id), sa.literal(at)]
                copied = select(*new, *columns).where(_own.id == origin)
                done = connection.execute(sa.insert(attachment).from_select(["id", "run_id", "at", *columns], copied))
            else:
                waiting = (_own.id == each["id"]) & _own.run_id.is_(None)
                done = connection.execute(update(attachment).where(waiting).values(run_id=run_id))
            if not done.rowcount:
                problem = f"the attachment {each['name']!r} is not there any more: attach it again"
                raise UserError(problem, status=409)


class Attachments(Part):
    """The files of all users."""

    async def keep(self, user_id: str, block: Block, data: bytes) -> None:
        """Keep a file until its question comes.

        Raises:
            UserError: too many bytes of the user wait already.
            StoreUnavailableError: the database cannot be written at present.
        """
        at = self._database.now()
        row = {name: block[name] for name in ("id", "name", "media_type", "size", "tokens")}
        row |= {"user_id": user_id, "run_id": None, "data": data, "at": at}

        def work(connection: Connection) -> None:
            theirs = (_own.user_id == user_id) & _own.run_id.is_(None) & (_own.at > at - KEPT_S)
            waiting = connection.scalar(select(func.coalesce(func.sum(_own.size), 0)).where(theirs)) or 0
            if waiting + len(data) > MOST_WAITING:
                raise UserError(
                    f"{waiting:,} bytes of your files wait for a question; at most {MOST_WAITING:,} are kept so: ask "
                    "with them, or delete some",
                    status=429,
                )
            connection.execute(sa.insert(attachment), row)

        await self._writer.write(work, is_alone=True)

    async def find(self, user_id: str, ids: Sequence[str]) -> list[tuple[Block, bool]]:
        """The user's files of these ids, in their order, and whether a run has each.

        Raises:
            NotFoundError: the user has none of that id.
            StoreUnavailableError: the database cannot be read at present.
        """
        query = select(*_ABOUT, _own.run_id).where(_own.user_id == user_id, _own.id.in_(ids))
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        found = {row["id"]: row for row in rows}
        if missing := next((each for each in ids if each not in found), None):
            raise unknown(missing)
        return [(_block(found[each]), found[each]["run_id"] is not None) for each in ids]

    async def read(self, ids: Collection[str], *, user_id: str | None = None) -> dict[str, bytes]:
        """The bytes of files by their ids; of those that are not kept any more there are none.

        Args:
            ids: of the files.
            user_id: only those of this user; `None`: whoever has them.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        query = select(_own.id, _own.data).where(_own.id.in_(ids))
        if user_id is not None:
            query = query.where(_own.user_id == user_id)
        return await self._database.read(lambda connection: {row.id: row.data for row in connection.execute(query)})

    async def drop(self, user_id: str, attachment_id: str) -> bool:
        """Delete a file that waits for its question; returns whether there was one.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        theirs = (_own.user_id == user_id) & (_own.id == attachment_id) & _own.run_id.is_(None)
        gone = delete(attachment).where(theirs)
        return await self._writer.write(lambda connection: connection.execute(gone).rowcount == 1)


def unknown(attachment_id: str) -> NotFoundError:
    """The refusal of an id that names no file of the user."""
    problem = f"there is no attachment {attachment_id[:80]!r}: it was never uploaded, or is not kept any more"
    return NotFoundError(problem, loc=("body", "attachments"))


def block_of(attachment_id: str, *, name: str, media_type: str, size: int, tokens: int) -> dict[str, Any]:
    """The placeholder of a file in a question."""
    about = {"id": attachment_id, "name": name, "media_type": media_type, "size": size, "tokens": tokens}
    return {"type": "attachment", **about}


def _block(row: Mapping[Any, Any]) -> dict[str, Any]:
    return block_of(row["id"], **{name: row[name] for name in ("name", "media_type", "size", "tokens")})


def _delete_waiting(connection: Connection, at: float) -> None:
    connection.execute(delete(attachment).where(_own.run_id.is_(None), _own.at <= at - KEPT_S))


def _sizes(connection: Connection, run_ids: Collection[str]) -> Mapping[str, int]:
    sizes = select(_own.run_id, func.sum(_own.size)).where(_own.run_id.in_(run_ids)).group_by(_own.run_id)
    return {run_id: int(size) for run_id, size in connection.execute(sizes)}


def _take(connection: Connection, run_ids: Collection[str], loss: Loss) -> None:
    """They go with the texts of their run; those of a run that did not begin wait again."""
    if loss == "removed":
        connection.execute(update(attachment).where(_own.run_id.in_(run_ids)).values(run_id=None))
    else:
        connection.execute(delete(attachment).where(_own.run_id.in_(run_ids)))


KEEPING = Keeping(tables=(attachment,), with_runs=_take, sizes=_sizes, tidy=_delete_waiting)
