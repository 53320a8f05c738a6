"""A store of its own for each test of the runs."""

from collections.abc import AsyncIterator, Iterator
from os import environ
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from oracle.runs.storage.store import Store, open_store


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Of a database that is not there yet."""
    return f"sqlite:///{tmp_path}/oracle.db"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """On SQLite."""
    async with open_store(url, worker="w1") as opened:
        yield opened


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """Of a PostgreSQL database that is not used yet, and is dropped afterwards."""
    server = environ.get("ORACLE_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/test")
    name = f"runs_{uuid4().hex}"
    named = sql.Identifier(name)
    try:
        connection = psycopg.connect(server, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError as error:
        pytest.skip(f"PostgreSQL could not be tested: no server answers at {server} ({error})")
    with connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(named))
    yield f"{server.rpartition('/')[0]}/{name}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(named))
