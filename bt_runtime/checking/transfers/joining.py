"""Joins what the children of a node leave behind."""

from collections.abc import Iterable
from itertools import chain
from typing import Literal

from bt_runtime.checking.effects import Paths
from bt_runtime.checking.states import State
from bt_runtime.checking.walk import Walk
from bt_runtime.definition import NodeDefinition


def child_of(node: NodeDefinition, slot: str = "child") -> NodeDefinition:
    """The only child of a slot."""
    return node.children[slot][0]


def merged_onto(
    walk: Walk, found: Paths, done: Iterable[State], waiting: Iterable[State], *, on: Literal["success", "failure"]
) -> Paths:
    """Paths with further ends."""
    if on == "failure":
        return merged(walk, (*found.success, *done), found.failure, (*found.waiting, *waiting))
    return merged(walk, found.success, (*found.failure, *done), (*found.waiting, *waiting))


def note_until(walk: Walk, node: NodeDefinition, over: Iterable[State], goes_on: Iterable[State]) -> None:
    """Note which results an `until` had: true where it is over, false where it goes on."""
    found = walk.until_results.setdefault(node.path, set())
    found |= {result for result, states in ((True, over), (False, goes_on)) if states}


def go_on(walk: Walk, node: NodeDefinition, states: Iterable[State]) -> None:
    """Note that a repetition goes on with another round in these states."""
    walk.further_rounds.setdefault(node.path, []).extend(states)


def merged(walk: Walk, success: Iterable[State], failure: Iterable[State], waiting: Iterable[State]) -> Paths:
    """Paths of many states."""
    join = walk.partition.merged
    return Paths(join(success), join(failure), join(waiting))


def both(walk: Walk, one: Paths, other: Paths) -> Paths:
    """The paths of either."""
    return Paths(*(walk.partition.merged(chain(*pair)) for pair in zip(one, other, strict=True)))
