"""A store of its own for each test of the runs."""

from collections.abc import AsyncIterator

import pytest

from oracle.runs.storage.store import Store, open_store


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """On SQLite."""
    async with open_store(url, worker="w1") as opened:
        yield opened
