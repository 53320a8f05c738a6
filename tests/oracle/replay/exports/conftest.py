"""Histories of recorded runs, and a browser for the pages that show them."""

import asyncio
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.replay.histories.model import History
from oracle.replay.histories.reading import read_history
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.store import open_store
from tests.oracle.replay.exports.browser import CHROMIUM, Page, browser
from tests.oracle.replay.test_replays import recorded
from tests.support.stores import sqlite_url


async def history_of(folder, name: str, **ask) -> History:
    """The history of a recorded script."""
    url = sqlite_url(folder / "oracle.db")
    async with open_store(url, worker="w") as store:
        record = await recorded(store, name, **ask)
        async with open_archive(url) as archive:
            return await read_history(archive, record, registry=REGISTRY)


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A tab of a real Chromium."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; `apt-get install chromium` brings it")
    with browser(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture(scope="session")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], History]:
    """The history of a script that was recorded for all tests; each call gives a copy."""

    @cache
    def history(name: str) -> History:
        return asyncio.run(history_of(tmp_path_factory.mktemp("recorded"), name))

    return lambda name: deepcopy(history(name))


@pytest.fixture
def stuck(recorded_once) -> History:
    """A run that went to the fallback, and ended as stuck."""
    return recorded_once("stuck twice")


@pytest.fixture
def tools(recorded_once) -> History:
    """A run that searched the project."""
    return recorded_once("the project's tools")
