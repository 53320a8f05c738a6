"""Changes of tree files are noticed when they happen, whatever makes them."""

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import structlog

from bt_runtime import ReloadingTrees, TreeLibrary
from bt_runtime.testing import registry_of
from oracle.authoring import files
from oracle.authoring.files import watch

PATIENCE_S = 30.0
"""A guard only: a change is noticed within some tenths of a second."""

INNER, OUTER = (
    "tree: inner\nroot: {scripted: [%s]}\n",
    "tree: outer\nroot: {sequence: [{subtree: inner}, {scripted: [%s]}]}\n",
)


class Watch:
    """Trees that are watched, and what was read."""

    def __init__(self, trees: ReloadingTrees) -> None:
        self.trees = trees
        self.batches: asyncio.Queue[tuple[str, ...]] = asyncio.Queue()
        self.states: asyncio.Queue[bool] = asyncio.Queue()

    async def read(self) -> None:
        self.batches.put_nowait(self.trees.refresh())

    def set_watched(self, is_watched: bool) -> None:
        self.trees.is_watched = is_watched
        self.states.put_nowait(is_watched)

    async def changed(self) -> tuple[str, ...]:
        """The next batch that changed a tree."""
        async with asyncio.timeout(PATIENCE_S):
            while not (names := await self.batches.get()):
                pass
        return names

    async def problem(self, words: str) -> None:
        """Wait until the folders cannot be read for this reason."""
        async with asyncio.timeout(PATIENCE_S):
            while words not in (self.trees.problem or ""):
                await self.batches.get()

    def statuses(self, name: str = "outer") -> list[str]:
        return [node.settings.statuses[0] for node in self.trees.load(name).nodes() if node.kind == "scripted"]


@asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[Watch]:
    trees = ReloadingTrees(TreeLibrary([folder], registry=registry_of()))
    trees.refresh(is_first=True)
    watched = Watch(trees)
    task = asyncio.create_task(watch([folder], on_change=watched.read, set_watched=watched.set_watched))
    try:
        async with asyncio.timeout(PATIENCE_S):
            assert await watched.states.get() is True
            await watched.batches.get()
        yield watched
    finally:
        task.cancel()
        await asyncio.wait({task})


def write(folder: Path, *, inner: str = "SUCCESS", outer: str = "SUCCESS") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "inner.yaml").write_text(INNER % inner, encoding="utf-8")
    (folder / "outer.yaml").write_text(OUTER % outer, encoding="utf-8")


@pytest.fixture(autouse=True)
def all_levels():
    """Earlier tests may have left a configuration of the log that drops lines."""
    structlog.reset_defaults()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "above" / "trees"
    write(folder)
    return folder


async def test_a_written_file_is_read(folder):
    async with watched(folder) as seen:
        (folder / "inner.yaml").write_text(INNER % "FAILURE", encoding="utf-8")
        assert set(await seen.changed()) == {"inner", "outer"}
        assert seen.statuses() == ["FAILURE", "SUCCESS"]


async def test_a_file_that_takes_anothers_place_is_read(folder):
    async with watched(folder) as seen:
        new = folder / ".inner.yaml.swp"
        new.write_text(INNER % "FAILURE", encoding="utf-8")
        new.replace(folder / "inner.yaml")
        await seen.changed()
        assert seen.statuses() == ["FAILURE", "SUCCESS"]


async def test_all_files_of_a_commit_are_swapped_together(folder):
    async with watched(folder) as seen:
        write(folder, inner="FAILURE", outer="FAILURE")
        assert set(await seen.changed()) == {"inner", "outer"}
        assert seen.statuses() == ["FAILURE", "FAILURE"]
        assert seen.batches.empty()


async def test_a_new_tree_and_a_removed_one_are_noticed(folder):
    async with watched(folder) as seen:
        (folder / "new.yaml").write_text("tree: new\nroot: {scripted: [FAILURE]}\n", encoding="utf-8")
        assert await seen.changed() == ("new",)
        (folder / "new.yaml").unlink()
        assert await seen.changed() == ("new",)
        assert seen.trees.names() == ("inner", "outer")


async def test_a_folder_that_vanishes_changes_nothing_until_it_is_back(folder):
    async with watched(folder) as seen:
        shutil.rmtree(folder)
        await seen.problem("the folder has vanished")
        assert seen.statuses() == ["SUCCESS", "SUCCESS"]
        write(folder, outer="FAILURE")
        assert await seen.changed() == ("outer",)
        assert seen.trees.problem is None
        (folder / "inner.yaml").write_text(INNER % "FAILURE", encoding="utf-8")
        await seen.changed()
        assert seen.statuses() == ["FAILURE", "FAILURE"]


async def test_a_folder_that_vanishes_with_the_one_above_it_is_found_again(folder):
    async with watched(folder) as seen:
        shutil.rmtree(folder.parent)
        await seen.problem("the folder has vanished")
        write(folder, inner="FAILURE", outer="FAILURE")
        await seen.changed()
        while seen.statuses() == ["SUCCESS", "FAILURE"]:  # the second file may be read later
            await seen.changed()
        assert seen.statuses() == ["FAILURE", "FAILURE"]


async def test_another_folder_in_its_place_is_watched(folder):
    async with watched(folder) as seen:
        other = folder.with_name("other")
        write(other, outer="FAILURE")
        folder.rename(folder.with_name("old"))
        other.rename(folder)
        await seen.changed()
        assert seen.statuses() == ["SUCCESS", "FAILURE"]
        (folder / "inner.yaml").write_text(INNER % "FAILURE", encoding="utf-8")
        await seen.changed()
        assert seen.statuses() == ["FAILURE", "FAILURE"]


async def test_a_link_to_a_release_that_is_switched_is_followed(tmp_path):
    write(tmp_path / "one")
    write(tmp_path / "two", inner="FAILURE", outer="FAILURE")
    link = tmp_path / "current"
    link.symlink_to("one")
    async with watched(link) as seen:
        new = tmp_path / "next"
        new.symlink_to("two")
        new.replace(link)
        await seen.changed()
        assert seen.statuses() == ["FAILURE", "FAILURE"]
        (tmp_path / "two" / "inner.yaml").write_text(INNER % "SUCCESS", encoding="utf-8")
        await seen.changed()
        assert seen.statuses() == ["SUCCESS", "FAILURE"]


async def test_a_reader_that_fails_is_logged_and_asked_again(folder):
    calls: asyncio.Queue[None] = asyncio.Queue()

    async def fail() -> None:
        calls.put_nowait(None)
        raise ValueError("a defect")

    with structlog.testing.capture_logs() as logs:
        task = asyncio.create_task(watch([folder], on_change=fail, set_watched=lambda _: None))
        async with asyncio.timeout(PATIENCE_S):
            await calls.get()
            (folder / "new.yaml").write_text("x", encoding="utf-8")
            await calls.get()
        task.cancel()
        await asyncio.wait({task})
    assert [(each["event"], each["problem"]) for each in logs][:1] == [("trees.not_read", "ValueError('a defect')")]


async def test_where_nothing_can_be_watched_the_files_are_looked_at_before_each_use(folder, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "OS file watch limit reached")

    monkeypatch.setattr(files, "awatch", refuse)
    trees = ReloadingTrees(TreeLibrary([folder], registry=registry_of()))
    seen = Watch(trees)
    with structlog.testing.capture_logs() as logs:
        await watch([folder], on_change=seen.read, set_watched=seen.set_watched)
    (event,) = logs
    assert (event["event"], event["log_level"]) == ("trees.not_watched", "warning")
    assert "watch limit reached" in event["problem"]
    assert seen.statuses() == ["SUCCESS", "SUCCESS"]
    write(folder, inner="FAILURE")
    os.utime(folder / "inner.yaml", (1, 1))
    assert seen.statuses() == ["FAILURE", "SUCCESS"]
