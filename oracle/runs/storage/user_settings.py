"""What users have set for themselves."""

from collections.abc import Callable, Mapping

from sqlalchemy import Column, Connection, Double, Integer, String, Table, bindparam, select, update

from oracle.runs.storage.parts import Keeping, no_texts
from oracle.runs.storage.schema import Json, metadata
from oracle.runs.storage.writer import Part

user_settings = Table(
    "user_settings",
    metadata,
    Column("user_id", String(255), primary_key=True),
    Column("data", Json, nullable=False),  # the fields that the user has set
    Column("revision", Integer, nullable=False),
    Column("at", Double, nullable=False),
)
KEEPING = Keeping(tables=(user_settings,), with_runs=no_texts)  # their user deletes them by name

_DATA = select(user_settings.c.data).where(user_settings.c.user_id == bindparam("of_user"))  # of every query: made once


class UserSettings(Part):
    """The fields that each user has set. Defaults are not stored, so that they can change."""

    async def load(self, user_id: str) -> Mapping[str, int]:
        """The fields that the user has set."""
        return await self._database.read(lambda connection: connection.scalar(_DATA, {"of_user": user_id})) or {}

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

        return await self._writer.write(work, is_alone=True)
