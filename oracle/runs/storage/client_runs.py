"""Runs that came through a client's protocol, found again by what the client says was said.

Rules:

- A row has digests alone. It goes when the texts of its run go.
- It is written in the transaction that begins the run. The numbers of a key have no gap that two could fill: of two
  requests that have looked at the same rows one begins its run, and the other one has to look again.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, ScalarSelect, func, select

from oracle.runs.storage import schema
from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import Dialect
from oracle.runs.storage.errors import ConversationMovedError
from oracle.runs.storage.records import Origin, RunStatus

_run, _client_run = schema.run, schema.client_run
_MOST_ASKED = 1_000  # digests in one query


class ClientRun(NamedTuple):
    """A run that is known to a client.

    Args:
        said: digest of what was said, up to and with its question.
        answer: `None` until it has ended.
        followed_by: the next run of its conversation; `None`: it is the last one.
    """

    run_id: str
    context_id: str
    said: str
    status: RunStatus
    answer: str | None
    followed_by: str | None


class KnownRuns(NamedTuple):
    """What is known of a client's conversation.

    Args:
        runs: by what was said, the latest first.
        last_n: the greatest number of the key; 0: nothing is known.
    """

    runs: dict[str, list[ClientRun]]
    last_n: int


class ClientRuns:
    """The runs of all clients."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, key: str, said: Sequence[str]) -> KnownRuns:
        """The runs under a key with these digests.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(lambda connection: _known(connection, key, said))

    async def after(self, run_id: str) -> str | None:
        """The run that follows one in its conversation; `None`: it is the last one.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        query = select(_followed_by()).where(_run.c.id == run_id)
        return await self._database.read(lambda connection: connection.scalar(query))


def note_origin(connection: Connection, origin: Origin, *, dialect: Dialect, run_id: str) -> None:
    """Write down where a run came from, in the transaction that begins it.

    Raises:
        ConversationMovedError: another run was begun under the key.
    """
    row = {"run_id": run_id, "key": origin.key, "n": origin.n, "said": origin.said}
    if not connection.execute(dialect.insert(_client_run), row).rowcount:
        raise ConversationMovedError(f"another run was begun under the key {origin.key!r}")


def _known(connection: Connection, key: str, said: Sequence[str]) -> KnownRuns:
    of_key = _client_run.c.key == key
    last_n = connection.scalar(select(func.max(_client_run.c.n)).where(of_key)) or 0
    found: dict[str, list[ClientRun]] = {}
    columns = (_run.c.id, _run.c.context_id, _client_run.c.said, _run.c.status, _run.c.answer, _followed_by())
    query = select(*columns).join(_client_run, _client_run.c.run_id == _run.c.id).where(of_key)
    query = query.order_by(_client_run.c.n.desc())
    for first in range(0, len(said) if last_n else 0, _MOST_ASKED):
        some = said[first : first + _MOST_ASKED]
        for row in connection.execute(query.where(_client_run.c.said.in_(some))):
            found.setdefault(row.said, []).append(ClientRun(*row))
    return KnownRuns(found, last_n)


def _followed_by() -> ScalarSelect[Any]:
    later = _run.alias()
    is_later = (later.c.context_id == _run.c.context_id) & (later.c.n > _run.c.n) & later.c.shadow_of.is_(None)
    return select(later.c.id).where(is_later).order_by(later.c.n).limit(1).scalar_subquery()
