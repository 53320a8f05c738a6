"""What users have set for themselves."""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, select, update

from oracle.storage.database import Database
from oracle.storage.schema import user_settings
from oracle.storage.writer import Writer


class UserSettings:
    """The fields that each user has set, and no others: defaults are not kept, so that they can change.

    Args:
        database: where they are read.
        writer: what writes them.
    """

    def __init__(self, database: Database, *, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    async def load(self, user_id: str) -> Mapping[str, int]:
        """What the user has set; empty if nothing."""
        query = select(user_settings.c.data).where(user_settings.c.user_id == user_id)
        return await self._database.read(lambda connection: connection.scalar(query)) or {}

    async def reset(self, user_id: str) -> None:
        """Set no field at all."""
        await self.change(user_id, lambda _: {})

    async def change(self, user_id: str, change: Callable[[Mapping[str, int]], Mapping[str, int]]) -> Mapping[str, int]:
        """Set what `change` makes of what is set; no other change comes between, not even another worker's.

        Args:
            user_id: whose.
            change: gets what is set, gives what is to be. Runs in another thread, maybe more than once; if it raises,
                nothing is changed and the caller gets the error.

        Returns:
            What is set now.
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
