"""Fleets, and PostgreSQL databases that are dropped afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stores import NoServerError, postgresql, server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What kills takes its time: all tests of this folder that start processes are long."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.path.name != "test_answers.py":
            item.add_marker(pytest.mark.long("kills workers that are processes of their own"))


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The address of a database of a server."""
    try:
        with server() as url:
            yield url
    except NoServerError as error:
        pytest.skip(f"PostgreSQL could not be tested: {error}")


@pytest.fixture
def database(postgresql_server: str) -> Iterator[str]:
    """Of an empty database."""
    with postgresql(postgresql_server) as url:
        yield url
