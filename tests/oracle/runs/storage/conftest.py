"""Stores to test with: a new one for each test, on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.making import Hands
from tests.support import stores


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The address of a SQLite database with nothing in its tables."""
    return stores.sqlite_url(tmp_path / "data" / "oracle.db")


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """The address of a file that is not there yet."""
    return f"sqlite:///{tmp_path}/data/oracle.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """The address of a database of each kind with nothing in its tables."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_store_url(request: pytest.FixtureRequest) -> str:
    """The address of a database of each kind without tables."""
    return request.getfixturevalue(f"empty_{request.param}_url")


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """An open store of each kind."""
    async with open_store(store_url, worker="worker-1") as opened:
        yield opened


@pytest.fixture
def clock() -> Hands:
    """That of `timed` and `timed_sqlite`."""
    return Hands()


@pytest.fixture
async def timed(store_url: str, clock: Hands) -> AsyncIterator[Store]:
    """An open store of each kind, whose clock is moved by hand."""
    async with open_store(store_url, worker="worker-1", now=clock) as opened:
        yield opened


@pytest.fixture
async def timed_sqlite(sqlite_url: str, clock: Hands) -> AsyncIterator[Store]:
    """As `timed`, on SQLite alone."""
    async with open_store(sqlite_url, worker="worker-1", now=clock) as opened:
        yield opened


@pytest.fixture
async def two(postgresql_url: str) -> AsyncIterator[tuple[Store, Store]]:
    """Two workers on one database."""
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="other") as other:
        yield one, other
