"""What the tests of the running half share."""

import asyncio
from collections.abc import Iterable
from textwrap import indent
from typing import Any

from bt_runtime import Guard, Kind, LiveTree, NoSettings, Status, build, node
from bt_runtime.library.named import read_tree
from bt_runtime.testing import FakeClock, FakeHost, TestRun, registry_of, run_text

HEAD = """\
tree: demo
blackboard:
  turn: {type: int, default: 5}
  count: {type: int, default: 0}
  hint: {type: str, default: ''}
  sources: {type: list, default: []}
  question: {type: str, default: q}
  found: any
root:
"""

S, F, R = Status.SUCCESS, Status.FAILURE, Status.RUNNING


def tree(root: str) -> str:
    """A tree file with a few keys around a root."""
    return HEAD + indent(root.strip("\n"), "  ") + "\n"


async def run_root(root: str, **options: Any) -> TestRun:
    """Run a root node in such a tree, on a jumping clock."""
    options.setdefault("host", FakeHost())
    options.setdefault("clock", FakeClock())
    return await run_text(tree(root), **options)


def live(root: str, *, kinds: Iterable[Kind] = (), **options: Any) -> LiveTree:
    """Build a root node in such a tree."""
    registry = registry_of(kinds)
    return build(read_tree(tree(root), file="<test>", registry=registry), registry=registry, **options)


async def until_idle() -> None:
    """Let all tasks go as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


@node("in_time")
class InTime(Guard[NoSettings]):
    """Trips at 5 s."""

    def trips(self):
        self.run.wake_at(self.index, 5.0)
        return "timeout" if self.run.now_s >= 5 else None
