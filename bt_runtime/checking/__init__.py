"""Judges the control of a tree that can be read: what works, and is not what its author can have meant.

A check looks at a whole tree with its subtrees and reports warnings. They do not keep a tree from running, so they are
made where a tree is edited (the command line, the editor, the service's check), never where a query loads one.

A warning is taken back by a comment on its line (`silences`). All codes are in `codes`, and those of a host in its
registry.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from bt_runtime.checking.codes import CODES, Code
from bt_runtime.checking.silences import Judged, Silence, silenced, silences_in
from bt_runtime.definition import TreeDefinition
from bt_runtime.registry import Registry
from bt_runtime.text import Mistake, in_order

__all__ = ["CHECKS", "CODES", "Check", "Code", "Judged", "judged", "warnings_of"]

Check = Callable[[TreeDefinition, Registry], Iterable[Mistake]]
"""Reports warnings about a tree, each with its code."""

CHECKS: tuple[Check, ...] = ()
"""The checks that hold for the trees of every host; a new check is a new function and a name in this tuple."""


def warnings_of(tree: TreeDefinition, *, registry: Registry) -> tuple[Mistake, ...]:
    """All warnings about a tree, those of the trees that it includes among them, sorted by place."""
    return judged(tree, registry=registry).warnings


def judged(tree: TreeDefinition, *, registry: Registry) -> Judged:
    """All warnings about a tree, and which silences of its files were used."""
    found = in_order(mistake for check in CHECKS for mistake in check(tree, registry))
    result = silenced(found, _silences(tree, CODES), known=CODES, own_file=tree.file)
    return Judged(in_order(result.warnings), result.used)


def _silences(tree: TreeDefinition, known: Mapping[str, Code]) -> Iterator[Silence]:
    for file, text in tree.texts.items():
        yield from silences_in(text, file=file, known=known)
