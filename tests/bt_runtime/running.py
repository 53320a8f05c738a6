"""What the tests of the running half share."""

from textwrap import indent
from typing import Any

from bt_runtime import Status
from bt_runtime.testing import FakeClock, FakeHost, TestRun, run_text

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
