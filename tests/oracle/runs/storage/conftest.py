"""Stores to test with: a new one for each test, on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.servers import NoServerError, fresh_schema, server


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The address of a server."""
    try:
        with server() as url:
            yield url
    except NoServerError as error:
        pytest.skip(f"PostgreSQL could not be tested: {error}")


@pytest.fixture
def postgresql_url(postgresql_server: str) -> Iterator[str]:
    """The address of an empty schema of its own."""
    with fresh_schema(postgresql_server) as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The address of a file that is not there yet."""
    return f"sqlite:///{tmp_path}/data/oracle.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """The address of an empty database of each kind."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """An open store of each kind."""
    async with open_store(store_url, worker="worker-1") as opened:
        yield opened
