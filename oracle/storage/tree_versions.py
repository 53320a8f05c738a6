"""The versions of trees that runs have used, so that a record can be read after its tree has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, delete, select, update

from oracle.storage.database import Database
from oracle.storage.dialect import Dialect
from oracle.storage.schema import run, tree_version
from oracle.storage.writer import Writer

UNUSED_S = 24 * 3600.0
"""Seconds after which a version that no readable run names is deleted, unless it was kept again."""
_RENEW_S = UNUSED_S / 24


@dataclass(frozen=True, slots=True)
class TreeVersion:
    """A version of a tree.

    Args:
        sha: its digest.
        nodes: paths of its nodes, by the index that tick records use.
        source: the texts of its files, by name.
    """

    sha: str
    name: str
    nodes: tuple[str, ...]
    source: Mapping[str, str]


class TreeVersions:
    """Keeps versions of trees.

    A version that is kept again is marked as in use, at most once an hour, so that no worker deletes a version that
    another one has just started to use.
    """

    def __init__(self, database: Database, *, writer: Writer) -> None:
        self._database = database
        self._writer = writer
        self._marked_at: dict[str, float] = {}

    async def keep(self, sha: str, name: str, nodes: Sequence[str], source: Mapping[str, str]) -> None:
        """Keep a version; does nothing if it was kept here within the last hour."""
        at, marked_at = self._database.now(), self._marked_at.get(sha)
        if marked_at is not None and 0 <= at - marked_at < _RENEW_S:
            return
        version = TreeVersion(sha, name, tuple(nodes), dict(source))
        await self._writer.write(partial(_keep, version=version, dialect=self._database.dialect, at=at), is_alone=True)
        self._marked_at[sha] = at

    async def find(self, sha: str) -> TreeVersion | None:
        """The version with that digest, or `None`."""
        query = select(tree_version).where(tree_version.c.sha == sha)
        row = await self._database.read(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else _version(row)

    async def find_alike(self, beginning: str) -> TreeVersion | None:
        """The only version whose digest begins so, or `None`."""
        return await self._database.read(lambda connection: find_version(connection, beginning))


def find_version(connection: Connection, beginning: str) -> TreeVersion | None:
    """The only version whose digest begins so, or `None`."""
    alike = select(tree_version).where(tree_version.c.sha.startswith(beginning, autoescape=True)).limit(2)
    rows = connection.execute(alike).all()
    return _version(rows[0]) if len(rows) == 1 else None


def _version(row: Row[Any]) -> TreeVersion:
    return TreeVersion(row.sha, row.name, tuple(row.nodes), row.source)


def _keep(connection: Connection, version: TreeVersion, *, dialect: Dialect, at: float) -> None:
    own = tree_version.c.sha == version.sha
    if connection.execute(update(tree_version).where(own).values(at=at)).rowcount == 0:
        row = {"sha": version.sha, "name": version.name, "nodes": version.nodes, "source": version.source, "at": at}
        connection.execute(dialect.insert(tree_version), row)


def delete_unused(connection: Connection, *, at: float) -> int:
    """Delete the versions that no run with texts names; returns their number."""
    is_named = select(run.c.id).where(run.c.tree_sha == tree_version.c.sha, run.c.forgotten_at.is_(None)).exists()
    return connection.execute(delete(tree_version).where(tree_version.c.at < at - UNUSED_S, ~is_named)).rowcount
