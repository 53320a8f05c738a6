"""Runs that came through a client's protocol, found again by the messages that the client sends.

Rules:

- A row has digests alone. It goes with the log of its run.
- It is written in the transaction that begins the run. A number of a key is one run's: of two requests that have looked
  at the same rows, and want the next number, one begins its run, and the other one has to look again.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy import Column, Connection, Index, Insert, Integer, String, Table, func, select

from bt_runtime.text.data import dataclass
from oracle.runs.storage.errors import ConversationMovedError
from oracle.runs.storage.parts import Keeping, rows_of_runs
from oracle.runs.storage.schema import metadata, run
from oracle.runs.storage.writer import Part

client_run = Table(
    "client_run",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("key", String(64), nullable=False),  # a digest of user, protocol, and the client's name of the conversation
    Column("n", Integer, nullable=False),  # 1, 2, 3, … of the key
    Column("said", String(64), nullable=False),  # a digest of what was said, up to and with the question
    Index("client_runs_in_order", "key", "n", unique=True),
    Index("client_runs_by_text", "key", "said"),
)
KEEPING = Keeping(tables=(client_run,), with_runs=rows_of_runs(client_run, but="reduced"))

_MOST_ASKED = 1_000  # digests in one query


@dataclass(frozen=True, slots=True)
class Origin:
    """The position of a question that came through a client's protocol; digests in hexadecimal.

    Args:
        key: of the user, the protocol, and what names the conversation there.
        n: one more than the greatest of that key, as it was looked up: the run begins only if nobody else has taken it.
            `None`: the next one, whatever others begin.
        said: of all that was said in the conversation, up to and with the question.
    """

    key: str
    n: int | None
    said: str

    def take(self, connection: Connection, insert: Callable[[Table], Insert], *, run_id: str, at: float) -> None:  # noqa: ARG002  of `Claim`
        """Write down where the run came from.

        Raises:
            ConversationMovedError: another run was begun under the key.
        """
        row = {"run_id": run_id, "key": self.key, "said": self.said}
        last = select(func.max(client_run.c.n)).where(client_run.c.key == self.key)
        while True:
            n = self.n or (connection.scalar(last) or 0) + 1
            if connection.execute(insert(client_run), {**row, "n": n}).rowcount:
                return
            if self.n is not None:
                raise ConversationMovedError(f"another run was begun under the key {self.key!r}")


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
        query = select(run.c.context_id).join(client_run, client_run.c.run_id == run.c.id)
        query = query.where(client_run.c.key == key).group_by(run.c.context_id)
        query = query.order_by(func.max(client_run.c.n).desc()).limit(limit)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def followed(self, run_id: str) -> str | None:
        """The run that follows another one in its conversation; `None`: that is the last one.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        later = run.alias()
        is_later = (later.c.context_id == run.c.context_id) & (later.c.n > run.c.n) & later.c.shadow_of.is_(None)
        query = select(later.c.id).join(run, is_later).where(run.c.id == run_id).order_by(later.c.n).limit(1)
        return await self._database.read(lambda connection: connection.scalar(query))


def _known(connection: Connection, key: str, said: Sequence[str]) -> KnownRuns:
    query = select(client_run.c.run_id, client_run.c.n, client_run.c.said).where(client_run.c.key == key)
    query = query.order_by(client_run.c.n.desc())
    last = connection.execute(query.limit(1)).first()
    if last is None:
        return KnownRuns({})
    found: dict[str, list[ClientRun]] = {}
    for first in range(0, len(said), _MOST_ASKED):
        some = said[first : first + _MOST_ASKED]
        for row in connection.execute(query.where(client_run.c.said.in_(some))):
            found.setdefault(row.said, []).append(ClientRun(row.run_id, row.n))
    return KnownRuns(found, ClientRun(last.run_id, last.n))
