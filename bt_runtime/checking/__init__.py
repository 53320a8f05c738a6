"""Judges the control of a tree that can be read: what works, and is not what its author can have meant.

A check looks at a whole tree with its subtrees and reports warnings. They do not keep a tree from running, so they are
made where a tree is edited (the command line, the editor, the service's check), never where a query loads one.
"""

from collections.abc import Callable, Iterable

from bt_runtime.definition import TreeDefinition
from bt_runtime.registry import Registry
from bt_runtime.text import Mistake, in_order

Check = Callable[[TreeDefinition, Registry], Iterable[Mistake]]
"""Reports warnings about a tree, each with its code."""

CHECKS: tuple[Check, ...] = ()
"""The checks that hold for the trees of every host; a new check is a new function and a name in this tuple."""


def warnings_of(tree: TreeDefinition, *, registry: Registry) -> tuple[Mistake, ...]:
    """All warnings about a tree, those of the trees that it includes among them, sorted by place."""
    return in_order(mistake for check in CHECKS for mistake in check(tree, registry))
