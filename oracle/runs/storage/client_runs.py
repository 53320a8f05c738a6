"""Runs that came through a client's protocol, found again by what the client says was said.

Rules:

- A row has digests alone. It goes when the texts of its run go.
- It is written in the transaction that begins the run. A number of a key is one run's: of two requests that have looked
  at the same rows, and want the next number, one begins its run, and the other one has to look again.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from oracle.runs.storage import schema
from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import Dialect
from oracle.runs.storage.errors import ConversationMovedError
from oracle.runs.storage.parts import Part
from oracle.runs.storage.records import Origin
from oracle.runs.storage.schema import run

_run, _client_run = schema.run, schema.client_run
_MOST_ASKED = 1_000  # digests in one query


class ClientRun(NamedTuple):
    """A run of a client's conversation, and its number among those of the key."""

    run_id: str
    n: int


class KnownRuns(NamedTuple):
    """What is known of a client's conversation.

    Args:
        runs: those that were asked for, by what was said, the latest first.
        latest: of all runs of the key; `None`: there is none.
    """

    runs: dict[str, list[ClientRun]]
    latest: ClientRun | None = None

    @property
    def last_n(self) -> int:
        """The greatest number of the key; 0: nothing is known."""
        return 0 if self.latest is None else self.latest.n


class ClientRuns(Part):
    """The runs of all clients."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, key: str, said: Sequence[str]) -> KnownRuns:
        """The runs under a key with these digests.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(lambda connection: _known(connection, key, said))

    async def conversations(self, key: str, *, limit: int) -> Sequence[str]:
        """The conversations in which runs of a key are, the one with the latest of them first.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        query = select(_run.c.context_id).join(_client_run, _client_run.c.run_id == _run.c.id)
        query = query.where(_client_run.c.key == key).group_by(_run.c.context_id)
        query = query.order_by(func.max(_client_run.c.n).desc()).limit(limit)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def followed(self, run_id: str) -> str | None:
        """The run that follows another one in its conversation; `None`: that is the last one.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        later = _run.alias()
        is_later = (later.c.context_id == _run.c.context_id) & (later.c.n > _run.c.n) & later.c.shadow_of.is_(None)
        query = select(later.c.id).join(_run, is_later).where(_run.c.id == run_id).order_by(later.c.n).limit(1)
        return await self._database.read(lambda connection: connection.scalar(query))


def note_origin(connection: Connection, origin: Origin, *, dialect: Dialect, run_id: str) -> None:
    """Write down where a run came from, in the transaction that begins it.

    Raises:
        ConversationMovedError: another run was begun under the key.
    """
    row = {"run_id": run_id, "key": origin.key, "said": origin.said}
    insert = dialect.insert(_client_run)  # waits for another worker that is inserting the same number
    last = select(func.max(_client_run.c.n)).where(_client_run.c.key == origin.key)
    while not connection.execute(insert, {**row, "n": origin.n or (connection.scalar(last) or 0) + 1}).rowcount:
        if origin.n is None:
            continue
        raise ConversationMovedError(f"another run was begun under the key {origin.key!r}")


def _known(connection: Connection, key: str, said: Sequence[str]) -> KnownRuns:
    query = select(_client_run.c.run_id, _client_run.c.n, _client_run.c.said).where(_client_run.c.key == key)
    query = query.order_by(_client_run.c.n.desc())
    last = connection.execute(query.limit(1)).first()
    if last is None:
        return KnownRuns({})
    found: dict[str, list[ClientRun]] = {}
    for first in range(0, len(said), _MOST_ASKED):
        some = said[first : first + _MOST_ASKED]
        for row in connection.execute(query.where(_client_run.c.said.in_(some))):
            found.setdefault(row.said, []).append(ClientRun(row.run_id, row.n))
    return KnownRuns(found, ClientRun(last.run_id, last.n))
