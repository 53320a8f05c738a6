"""Secrets that the service generates, shared by all workers of a database."""

import secrets

from sqlalchemy import Column, Connection, String, Table, select

from oracle.runs.storage.parts import Keeping, no_texts
from oracle.runs.storage.schema import metadata
from oracle.runs.storage.writer import Part

service_key = Table(
    "service_key",
    metadata,
    Column("name", String(64), primary_key=True),  # what it is for
    Column("key", String(64), nullable=False),  # hexadecimal
)
KEEPING = Keeping(tables=(service_key,), with_runs=no_texts)


class ServiceKeys(Part):
    """The secrets by what they are for."""

    async def get(self, name: str) -> bytes:
        """The secret of 32 bytes with this name; it is generated on first use.

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
