"""Idempotency keys: a request that is sent again finds the run of the first one.

Rules:

- A key belongs to its user and is kept for `KEPT_S`. Only digests of the key and of the request are stored.
- The key is claimed in the transaction that starts the run, by a unique id: of concurrent requests, to any workers, one
  starts a run and the others find it.
- When the texts of a run are deleted, so is the digest of its request; the key still names the run.
"""

from typing import NamedTuple

from sqlalchemy import Connection, delete, select, update

from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import Dialect
from oracle.runs.storage.errors import KeyReusedError
from oracle.runs.storage.records import RequestKey
from oracle.runs.storage.schema import request_key

KEPT_S = 24 * 3600.0
"""Seconds for which a key names its run."""


class _Kept(NamedTuple):
    """A row of the table."""

    run_id: str
    body: str
    at: float


class RequestKeys:
    """The keys of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run_of(self, key: RequestKey) -> str | None:
        """The id of the run that the key names; `None` if it names none, or has expired.

        Raises:
            KeyReusedError: it was used for another request.
            StoreUnavailableError: the database cannot be read at present.
        """
        since = self._database.now() - KEPT_S
        return await self._database.read(lambda connection: _run_of(_find(connection, key), key, since=since))


def claim(connection: Connection, key: RequestKey, *, dialect: Dialect, run_id: str, at: float) -> str | None:
    """Let the key name this run, in the transaction that starts it.

    Returns:
        The id of the run that the key names already; `None` if it names this one now.

    Raises:
        KeyReusedError: it was used for another request.
    """
    own = {"id": key.id, "run_id": run_id, "body": key.body, "at": at}
    insert = dialect.insert(request_key)  # waits for another worker that is inserting the same key
    while not connection.execute(insert, own).rowcount:
        kept = _find(connection, key)
        if kept is None:  # its run was abandoned at the same moment
            continue
        found = _run_of(kept, key, since=at - KEPT_S)
        if found is not None:
            return found
        expired = (request_key.c.id == key.id) & (request_key.c.run_id == kept.run_id)
        if connection.execute(update(request_key).where(expired).values(own)).rowcount:
            return None
    return None


def delete_expired(connection: Connection, *, at: float) -> None:
    """Delete expired keys."""
    connection.execute(delete(request_key).where(request_key.c.at <= at - KEPT_S))


def _find(connection: Connection, key: RequestKey) -> _Kept | None:
    query = select(request_key.c.run_id, request_key.c.body, request_key.c.at).where(request_key.c.id == key.id)
    row = connection.execute(query).one_or_none()
    return None if row is None else _Kept(*row)


def _run_of(kept: _Kept | None, key: RequestKey, *, since: float) -> str | None:
    if kept is None or kept.at <= since:
        return None
    if kept.body not in ("", key.body):
        raise KeyReusedError("this key was used for another request; a key names one request alone")
    return kept.run_id
