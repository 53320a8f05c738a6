"""Trees: the versions that runs have used, the texts as they were saved or found, and what their last trials found.

Texts are kept once, by their digests. Nothing but unused versions is deleted: trees are small, and say nothing of
users.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from bt_runtime.text.data import dataclass
from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import Dialect
from oracle.runs.storage.parts import Keeping, no_texts
from oracle.runs.storage.schema import Json, metadata, run
from oracle.runs.storage.writer import Part, Writer

tree_version = sa.Table(
    "tree_version",
    metadata,
    sa.Column("sha", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("nodes", Json, nullable=False),  # paths of the nodes, by the index that tick records use
    sa.Column("source", Json, nullable=False),  # the text of the tree's files, by name
    sa.Column("at", sa.Double, nullable=False),
)

tree_text = sa.Table(
    "tree_text",
    metadata,
    sa.Column("sha", sa.String(64), primary_key=True),  # of the file's bytes
    sa.Column("text", Json, nullable=False),  # a string
    sa.Column("size", sa.Integer, nullable=False),  # bytes
)

tree_edit = sa.Table(
    "tree_edit",
    metadata,
    sa.Column("n", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("name", sa.String(64), nullable=False),  # of the tree
    sa.Column("sha", sa.String(64), nullable=False),  # names a row of tree_text
    sa.Column("how", sa.String(16), nullable=False),  # saved | restored | file | shipped
    sa.Column("user_id", sa.String(255)),  # who saved it; none where the file has changed
    sa.Column("note", Json),  # a string: why
    sa.Column("at", sa.Double, nullable=False),
    sa.Index("edits_of_tree", "name", "n"),
)

tree_trial = sa.Table(
    "tree_trial",
    metadata,
    sa.Column("kind", sa.String(16), primary_key=True),  # verified | tested
    sa.Column("subject", sa.String(64), primary_key=True),  # a digest of what was tried
    sa.Column("data", Json, nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Index("tree_trials_by_time", "at"),
)

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


class TreeVersions(Part):
    """Keeps versions of trees.

    A version that is kept again is marked as in use, at most once an hour, so that no worker deletes a version that
    another one has just started to use.
    """

    def __init__(self, database: Database, *, writer: Writer) -> None:
        super().__init__(database, writer=writer)
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


def _delete_unused(connection: Connection, at: float) -> None:
    """Delete the versions that no run with texts names."""
    is_named = select(run.c.id).where(run.c.tree_sha == tree_version.c.sha, run.c.forgotten_at.is_(None)).exists()
    connection.execute(delete(tree_version).where(tree_version.c.at < at - UNUSED_S, ~is_named))


KEEPING = Keeping(tables=(tree_version, tree_text, tree_edit, tree_trial), with_runs=no_texts, tidy=_delete_unused)


EditKind = Literal["saved", "restored", "file", "shipped"]
"""The origin of a version: an operator saved or restored it; its file changed; it belongs to this release."""

_LOCK = "tree-edits"
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class NewEdit:
    """A version of a tree that is to be kept.

    Args:
        sha: SHA-256 of the text's bytes, as 64 hexadecimal digits.
        user_id: who saved it; `None` where its file has changed.
        note: why.
    """

    name: str
    sha: str
    text: str
    how: EditKind
    user_id: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class TreeEdit:
    """A version of a tree, without its text.

    Args:
        number: grows with each edit of any tree.
        size: bytes.
        at: seconds since the epoch.
    """

    number: int
    name: str
    sha: str
    how: EditKind
    user_id: str | None
    note: str | None
    at: float
    size: int


class EditFigures(NamedTuple):
    """How many versions a tree has, and when the newest came, in seconds since the epoch."""

    versions: int
    at: float


class TreeEdits(Part):
    """Keeps the versions of tree files."""

    async def add(self, edit: NewEdit, *, publish: Callable[[], None]) -> None:
        """Keep a version and put it in place, both or neither.

        Args:
            edit: the version.
            publish: puts it in place; runs in the writer's thread before the commit, possibly more than once. If it
                raises, nothing is kept.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
            Exception: what `publish` raises.
        """
        at = self._database.now()

        def work(connection: Connection) -> None:
            self._insert(connection, edit, at)
            publish()

        await self._writer.write(work, is_alone=True)

    async def add_found(self, edits: Sequence[NewEdit], *, shipped: Sequence[NewEdit] = ()) -> None:
        """Keep what was found in the folders, as far as it is new.

        Args:
            edits: the present trees; skipped if they equal the last version that was kept.
            shipped: texts of this release, whether in use or not; left out where they were ever kept.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        if not edits and not shipped:
            return
        at = self._database.now()

        def work(connection: Connection) -> None:
            self._database.dialect.lock(connection, _LOCK)  # of several workers that find the same, one keeps it
            for edit in shipped:
                if connection.execute(_of(edit.name).where(tree_edit.c.sha == edit.sha).limit(1)).first() is None:
                    self._insert(connection, edit, at)
            for edit in edits:
                last = connection.execute(_of(edit.name).order_by(tree_edit.c.n.desc()).limit(1)).first()
                if last is None or last.sha != edit.sha:
                    self._insert(connection, edit, at)

        await self._writer.write(work, is_alone=True)

    async def of(self, name: str) -> list[TreeEdit]:
        """The versions of a tree, newest first; at most a thousand."""
        query = (
            select(tree_edit, tree_text.c.size)
            .join(tree_text, tree_text.c.sha == tree_edit.c.sha)
            .where(tree_edit.c.name == name)
            .order_by(tree_edit.c.n.desc())
            .limit(_MOST)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [TreeEdit(row.n, row.name, row.sha, row.how, row.user_id, row.note, row.at, row.size) for row in rows]

    async def figures(self) -> dict[str, EditFigures]:
        """How many versions each tree has, and since when the newest is there; by the names of the trees."""
        query = select(tree_edit.c.name, func.count(), func.max(tree_edit.c.at)).group_by(tree_edit.c.name)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {name: EditFigures(versions, at) for name, versions, at in rows}

    async def text(self, name: str, sha: str) -> str | None:
        """The text of a version of a tree; `None` if it never had that one."""
        query = (
            select(tree_text.c.text)
            .join(tree_edit, tree_text.c.sha == tree_edit.c.sha)
            .where(tree_edit.c.name == name, tree_edit.c.sha == sha)
            .limit(1)
        )
        text: str | None = await self._database.read(lambda connection: connection.scalar(query))
        return text

    def _insert(self, connection: Connection, edit: NewEdit, at: float) -> None:
        size = len(edit.text.encode())
        connection.execute(self._database.dialect.insert(tree_text), {"sha": edit.sha, "text": edit.text, "size": size})
        row = {"name": edit.name, "sha": edit.sha, "how": edit.how, "user_id": edit.user_id, "note": edit.note}
        connection.execute(insert(tree_edit), {**row, "at": at})


def _of(name: str) -> Select[tuple[str]]:
    return select(tree_edit.c.sha).where(tree_edit.c.name == name)


TrialKind = Literal["verified", "tested"]

_MOST_KEPT: Final = 1_000


@dataclass(frozen=True, slots=True)
class TreeTrial:
    """The result of a trial.

    Args:
        data: JSON values.
        at: when it ended, in seconds since the epoch.
    """

    data: Mapping[str, Any]
    at: float


class TreeTrials(Part):
    """Keeps the last result of each trial; of more than a thousand the newest."""

    async def keep(self, kind: TrialKind, subject: str, data: Mapping[str, Any]) -> None:
        """Keep a result in place of the one before.

        Args:
            kind: what the workers are to do.
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
