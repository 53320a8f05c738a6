"""What the last trials of trees have found: verifications, and plays of the scenarios."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, delete, select

from oracle.storage.database import Database
from oracle.storage.schema import tree_trial
from oracle.storage.writer import Writer

TrialKind = Literal["verified", "tested"]

_MOST_KEPT: Final = 1_000


@dataclass(frozen=True, slots=True)
class TreeTrial:
    """What a trial has found.

    Args:
        data: JSON values.
        at: when it ended, in seconds since the epoch.
    """

    data: Mapping[str, Any]
    at: float


class TreeTrials:
    """Keeps the last result of each trial; of more than a thousand the newest."""

    def __init__(self, database: Database, *, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    async def keep(self, kind: TrialKind, subject: str, data: Mapping[str, Any]) -> None:
        """Keep a result in place of the one before.

        Args:
            kind: what the workers are told to do.
            subject: what was tried: a digest of 64 hexadecimal digits.
            data: JSON values.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        at = self._database.now()
        oldest = select(tree_trial.c.at).order_by(tree_trial.c.at.desc()).offset(_MOST_KEPT - 1).limit(1)

        def work(connection: Connection) -> None:
            own = (tree_trial.c.kind == kind) & (tree_trial.c.subject == subject)
            connection.execute(delete(tree_trial).where(own))
            row = {"kind": kind, "subject": subject, "data": dict(data), "at": at}
            connection.execute(self._database.dialect.insert(tree_trial), row)  # another worker may have been faster
            connection.execute(delete(tree_trial).where(tree_trial.c.at < oldest.scalar_subquery()))

        await self._writer.write(work, is_alone=True)

    async def find(self, kind: TrialKind, subjects: Collection[str]) -> dict[str, TreeTrial]:
        """The last results of these subjects, by subject."""
        if not subjects:
            return {}
        query = select(tree_trial).where(tree_trial.c.kind == kind, tree_trial.c.subject.in_(subjects))
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {row.subject: TreeTrial(row.data, row.at) for row in rows}
