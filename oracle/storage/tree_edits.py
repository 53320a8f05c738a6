"""The texts of trees as they were saved or found in their folders: each version with who, when and why.

Texts are kept once, by the digest of their bytes. Nothing is deleted: trees are small, and say nothing of users.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sqlalchemy import Connection, Select, func, insert, select

from oracle.storage.database import Database
from oracle.storage.schema import tree_edit, tree_text
from oracle.storage.writer import Writer

EditKind = Literal["saved", "restored", "file", "shipped"]
"""How a version came: an operator has saved it, or taken it back; its file has changed; it belongs to this release."""

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


class TreeEdits:
    """Keeps the versions of tree files."""

    def __init__(self, database: Database, *, writer: Writer) -> None:
        self._database = database
        self._writer = writer

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
            edits: what the trees are now; left out where that is the last version that was kept.
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
