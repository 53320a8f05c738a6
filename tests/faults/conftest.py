"""A provider, and PostgreSQL databases that are dropped afterwards."""

from collections.abc import AsyncIterator, Iterator
from os import environ
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from benchmarks.paced_provider import PacedProvider
from tests.faults.service import QUICK


@pytest.fixture
async def provider() -> AsyncIterator[PacedProvider]:
    """Answers in half a second; the question with the tag `hang` never."""
    async with PacedProvider(QUICK, hangs=frozenset({"hang"})) as running:
        yield running


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """Of an empty database."""
    server = environ.get("ORACLE_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/test")
    name = f"faults_{uuid4().hex}"
    try:
        connection = psycopg.connect(server, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError as error:
        pytest.skip(f"PostgreSQL could not be tested: no server answers at {server} ({error})")
    with connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield f"{server.rpartition('/')[0]}/{name}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
