"""Secrets that the service makes for itself, the same for all workers of a database."""

import secrets

from sqlalchemy import Connection, select

from oracle.runs.storage.database import Database
from oracle.runs.storage.schema import service_key
from oracle.runs.storage.writer import Writer


class ServiceKeys:
    """The secrets by what they are for."""

    def __init__(self, database: Database, *, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    async def get(self, name: str) -> bytes:
        """The secret of 32 bytes with this name; it is made by whoever asks for it first.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        query = select(service_key.c.key).where(service_key.c.name == name)

        def work(connection: Connection) -> str:
            row = {"name": name, "key": secrets.token_hex(32)}
            connection.execute(self._database.dialect.insert(service_key), row)
            kept: str = connection.execute(query).scalar_one()
            return kept

        return bytes.fromhex(await self._writer.write(work, is_alone=True))
