"""The settings that users have made."""

from collections.abc import Callable, Mapping

from sqlalchemy import Column, Connection, Double, Integer, String, Table, bindparam, select, update

from oracle.runs.storage.database import Database
from oracle.runs.storage.parts import Keeping, no_texts
from oracle.runs.storage.schema import Json, metadata
from oracle.runs.storage.writer import Part, Writer

user_settings = Table(
    "user_settings",
    metadata,
    Column("user_id", String(255), primary_key=True),
    Column("data", Json, nullable=False),  # the fields that the user has set
    Column("revision", Integer, nullable=False),
    Column("at", Double, nullable=False),
)
KEEPING = Keeping(tables=(user_settings,), with_runs=no_texts)  # their user deletes them by name

_DATA = select(user_settings.c.data).where(user_settings.c.user_id == bindparam("of_user"))  # made once


_MOST_KNOWN = 10_000  # users in memory


class UserSettings(Part):
    """The fields that each user has set. Defaults are not stored, so that they can change.

    Where this process alone writes to the database they are read once and kept in memory until the user changes them.
    """

    def __init__(self, database: Database, *, writer: Writer) -> None:
        super().__init__(database, writer=writer)
        self._known: dict[str, Mapping[str, int]] = {}
        self._changes = 0

    async def load(self, user_id: str) -> Mapping[str, int]:
        """The fields that the user has set."""
        if (known := self._known.get(user_id)) is not None:
            return known
        changes = self._changes
        found = await self._database.read(lambda connection: connection.scalar(_DATA, {"of_user": user_id})) or {}
        if not self._database.dialect.is_shared and changes == self._changes:  # else it may be what was before one
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[user_id] = found
        return found

    async def reset(self, user_id: str) -> None:
        """Delete all fields of the user."""
        await self.change(user_id, lambda _: {})

    async def change(self, user_id: str, change: Callable[[Mapping[str, int]], Mapping[str, int]]) -> Mapping[str, int]:
        """Replace the user's fields by what `change` returns, atomically among all workers.

        Args:
            user_id: the user whose conversations are listed.
            change: gets the present fields, returns the new ones. Runs in another thread, possibly more than once; if
                it raises, nothing is changed and the caller gets the error.

        Returns:
            The new fields.
        """
        at = self._database.now()

        def work(connection: Connection) -> Mapping[str, int]:
            row = {"user_id": user_id, "data": {}, "revision": 0, "at": at}
            connection.execute(self._database.dialect.insert(user_settings), row)
            own = user_settings.c.user_id == user_id
            # One statement would not do: what is set must be read under the lock that the insert has made sure of.
            kept = connection.execute(select(user_settings.c.data).where(own).with_for_update()).scalar_one()
            changed = dict(change(kept))
            values = {"data": changed, "revision": user_settings.c.revision + 1, "at": at}
            connection.execute(update(user_settings).where(own).values(values))
            return changed

        def forget(_: object) -> None:
            self._changes += 1
            self._known.pop(user_id, None)

        return await self._writer.write(work, on_commit=forget, is_alone=True)
