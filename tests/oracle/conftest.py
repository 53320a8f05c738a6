"""Databases for the tests of all rooms."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import stores


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The address of a SQLite database with nothing in its tables."""
    return stores.sqlite_url(tmp_path / "oracle.db")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The address of a server."""
    try:
        with stores.server() as address:
            yield address
    except stores.NoServerError as error:
        pytest.skip(f"PostgreSQL could not be tested: {error}")


@pytest.fixture(scope="session")
def postgresql_template(postgresql_server: str) -> Iterator[str]:
    """The address of a database that the others are copies of."""
    with stores.postgresql_template(postgresql_server) as address:
        yield address


@pytest.fixture
def postgresql_url(postgresql_server: str, postgresql_template: str) -> Iterator[str]:
    """The address of a PostgreSQL database with nothing in its tables."""
    with stores.postgresql(postgresql_server, template=postgresql_template) as address:
        yield address


@pytest.fixture
def empty_postgresql_url(postgresql_server: str) -> Iterator[str]:
    """The address of a PostgreSQL database without tables."""
    with stores.postgresql(postgresql_server) as address:
        yield address
