"""A store for each test of replays."""

from collections.abc import AsyncIterator

import pytest

from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.store import Store, open_store


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """On SQLite."""
    async with open_store(url, worker="w1") as opened:
        yield opened


@pytest.fixture
async def archive(store: Store, url: str) -> AsyncIterator[Archive]:
    """What the store has, read by another program."""
    async with open_archive(url) as opened:
        yield opened
