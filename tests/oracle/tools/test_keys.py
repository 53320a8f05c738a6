"""A call that two processes make with one key has one effect: a lock, a look, and the question whose the run is."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from oracle.core.errors import InternalError
from oracle.tools import CallKey, Root, ToolError, Workers
from oracle.tools.keys import keyed
from tests.support.waiting import until

NOW = datetime.now(UTC)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "note.md").write_text("old")
    return Root(tmp_path, label="the vault")


async def made(key: CallKey, work: Callable[[], Any]) -> Any:
    with keyed(key):
        return await Workers().run(work)


def texts_below(folder: Path) -> dict[str, str]:
    """Of the files that are not empty."""
    return {path.name: text for path in folder.iterdir() if (text := path.read_text())}


async def refuse() -> None:
    raise asyncio.CancelledError


WRITES: dict[str, Callable[[Root], Any]] = {
    "append": lambda root: root.append("log.md", b"entry\n", header=b""),
    "write": lambda root: root.write("log.md", b"entry\n", overwrite=False),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
async def test_the_second_of_two_processes_finds_what_the_first_does_while_it_holds_the_lock(
    root: Root, tmp_path: Path, write: Callable[[Root], Any]
) -> None:
    asked, told = asyncio.Event(), asyncio.Event()

    async def held_up() -> None:
        asked.set()
        await told.wait()

    first = asyncio.create_task(made(CallKey("run", "call", NOW, confirm=held_up), partial(write, root)))
    await asked.wait()
    second = asyncio.create_task(made(CallKey("run", "call", NOW, is_repeat=True), partial(write, root)))
    await asyncio.wait({second}, timeout=0.05)
    assert not second.done()
    told.set()
    async with asyncio.timeout(20):
        await asyncio.gather(first, second)
    assert (tmp_path / "log.md").read_text() == "entry\n"


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
async def test_a_call_of_a_process_that_has_lost_the_run_has_no_effect(
    root: Root, tmp_path: Path, write: Callable[[Root], Any]
) -> None:
    key = CallKey("run", "call", NOW, confirm=refuse)
    with pytest.raises(InternalError, match="is over"):
        await made(key, partial(write, root))
    assert texts_below(tmp_path) == {"note.md": "old"}


async def test_a_call_that_waits_for_the_lock_of_another_process_can_be_cancelled(root: Root, tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def held_up() -> None:
        asked.set()
        await asyncio.Event().wait()

    workers, write = Workers(), partial(WRITES["append"], root)
    with keyed(CallKey("run", "call", NOW, confirm=held_up)):
        first = asyncio.create_task(workers.run(write))
    await asked.wait()
    second = asyncio.create_task(workers.run(write))
    await asyncio.wait({second}, timeout=0.05)
    for task in (second, first):
        task.cancel()
    await asyncio.wait({first, second})
    assert (first.cancelled(), second.cancelled()) == (True, True)
    await until(lambda: not workers._abandoned)
    assert texts_below(tmp_path) == {"note.md": "old"}


async def test_a_repeated_call_does_not_replace_a_text_that_is_later_than_the_call(root: Root, tmp_path: Path) -> None:
    replace = partial(root.write, "note.md", b"new", overwrite=True)
    later = CallKey("run", "call", NOW - timedelta(hours=1), is_repeat=True)
    with pytest.raises(ToolError, match=r"'note\.md' has another text since this call was made first"):
        await made(later, replace)
    assert (tmp_path / "note.md").read_text() == "old"
    earlier = CallKey("run", "call", NOW + timedelta(hours=1), is_repeat=True)
    assert await made(earlier, replace) is True
    assert await made(later, replace) is True  # it has the text: nothing is to be done
    assert (tmp_path / "note.md").read_text() == "new"
