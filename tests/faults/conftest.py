"""A provider, and PostgreSQL databases that are dropped afterwards."""

from collections.abc import AsyncIterator, Iterator
from os import environ
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import pytest_asyncio
from psycopg import sql

from benchmarks.paced_provider import PacedProvider
from tests.faults.service import QUICK


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What kills, cuts and fills takes its time: all tests of this folder are long."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.long("kills, cuts and fills what services of their own work with"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a module's tests."""
    return tmp_path_factory.mktemp("service")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[PacedProvider]:
    """Answers in half a second; the questions with the tags `hang` and `hang2` never."""
    async with PacedProvider(QUICK, hangs=frozenset({"hang", "hang2"})) as running:
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
