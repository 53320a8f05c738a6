"""Idempotency keys: a request that is sent again finds the run of the first one.

Rules:

- A key belongs to its user and is kept for `KEPT_S`. Only digests of the key and of the request are stored.
- The key is claimed in the transaction that starts the run, by a unique id: of concurrent requests, to any workers, one
  starts a run and the others find it.
- When the texts of a run are deleted, so is the digest of its request; the key still names the run.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from sqlalchemy import Column, Connection, Double, Insert, String, Table, delete, select, update

from bt_runtime.text.data import dataclass
from oracle.runs.storage.errors import AlreadyBegunError, KeyReusedError
from oracle.runs.storage.parts import Keeping, Loss
from oracle.runs.storage.schema import metadata
from oracle.runs.storage.writer import Part

request_key = Table(
    "request_key",
    metadata,
    Column("id", String(64), primary_key=True),  # a digest of the user's id and of the client's key
    Column("run_id", String(64), nullable=False, index=True),
    Column("body", String(64), nullable=False),  # a digest of the request; empty when its texts have been deleted
    Column("at", Double, nullable=False, index=True),
)

KEPT_S = 24 * 3600.0
"""Seconds for which a key names its run."""


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The idempotency key of a request; digests in hexadecimal, of at most 64 characters.

    Args:
        id: of the user and of the key that the client chose.
        body: digest of the request.
    """

    id: str
    body: str

    def take(self, connection: Connection, insert: Callable[[Table], Insert], *, run_id: str, at: float) -> None:
        """Let the key name this run.

        Raises:
            AlreadyBegunError: it names another one.
            KeyReusedError: it was used for another request.
        """
        own = {"id": self.id, "run_id": run_id, "body": self.body, "at": at}
        while not connection.execute(insert(request_key), own).rowcount:
            kept = _find(connection, self)
            if kept is None:  # its run was abandoned at the same moment
                continue
            found = _run_of(kept, self, since=at - KEPT_S)
            if found is not None:
                raise AlreadyBegunError(found)
            expired = (request_key.c.id == self.id) & (request_key.c.run_id == kept.run_id)
            if connection.execute(update(request_key).where(expired).values(own)).rowcount:
                return


class _Kept(NamedTuple):
    """A row of the table."""

    run_id: str
    body: str
    at: float


class RequestKeys(Part):
    """The keys of all users."""

    async def run_of(self, key: RequestKey) -> str | None:
        """The id of the run that the key names; `None` if it names none, or has expired.

        Raises:
            KeyReusedError: it was used for another request.
            StoreUnavailableError: the database cannot be read at present.
        """
        since = self._database.now() - KEPT_S
        return await self._database.read(lambda connection: _run_of(_find(connection, key), key, since=since))


def _find(connection: Connection, key: RequestKey) -> _Kept | None:
    query = select(request_key.c.run_id, request_key.c.body, request_key.c.at).where(request_key.c.id == key.id)
    row = connection.execute(query).one_or_none()
    return None if row is None else _Kept(*row)


def _run_of(kept: _Kept | None, key: RequestKey, *, since: float) -> str | None:
    if kept is None or kept.at <= since:
        return None
    if kept.body not in ("", key.body):
        raise KeyReusedError("this key was used for another request; use a new key for each request")
    return kept.run_id


def _take(connection: Connection, run_ids: Collection[str], loss: Loss) -> None:
    of_runs = request_key.c.run_id.in_(run_ids)
    connection.execute(
        delete(request_key).where(of_runs) if loss == "removed" else update(request_key).where(of_runs).values(body="")
    )


def _delete_expired(connection: Connection, at: float) -> None:
    connection.execute(delete(request_key).where(request_key.c.at <= at - KEPT_S))


KEEPING = Keeping(tables=(request_key,), with_runs=_take, tidy=_delete_expired)
