"""A store for each test of replays."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from oracle.runs.storage.archive import Archive, open_archive
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
async def archive(store: Store, url: str) -> AsyncIterator[Archive]:
    """What the store has, read by another program."""
    async with open_archive(url) as opened:
        yield opened
