"""How composites pass states on to their children."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from bt_runtime.checking.effects import NOWHERE, Paths, Transfer
from bt_runtime.checking.states import BLAME, State, States
from bt_runtime.checking.transfers.joining import both, merged
from bt_runtime.checking.walk import Walk
from bt_runtime.definition import NodeDefinition


def in_order(passes_on: Literal["success", "failure"]) -> Transfer:
    """`sequence` (passes on success) and `selector` (failure)."""

    def flow(walk: Walk, node: NodeDefinition, states: States) -> Paths:
        children = node.children["children"]
        if getattr(node.settings, "memory", True):
            return _once_in_order(walk, children, states, passes_on)
        new = walk.heads(states)
        found = NOWHERE
        with walk.beside(children):
            while states:
                ends = _once_in_order(walk, children, states, passes_on)
                found = both(walk, found, ends)
                states = new(map(walk.after_waiting, ends.waiting))
        return found

    return flow


def _once_in_order(
    walk: Walk, children: Iterable[NodeDefinition], states: States, passes_on: Literal["success", "failure"]
) -> Paths:
    decided: list[State] = []
    waiting: list[State] = []
    for child in children:
        ends = walk.paths(child, states)
        waiting += ends.waiting
        states, decides = (ends.success, ends.failure) if passes_on == "success" else (ends.failure, ends.success)
        decided += decides
        if not states:
            break
    if passes_on == "success":
        return merged(walk, states, decided, waiting)
    return merged(walk, decided, states, waiting)


def parallel(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """Each child is ticked while the others may change everything that they write."""
    children = node.children["children"]
    ends: list[Paths] = []
    written = [walk.written(child) for child in children]
    for position, child in enumerate(children):
        others = children[:position] + children[position + 1 :]
        with walk.beside(others):
            ends.append(walk.paths(child, [walk.after_waiting(state) for state in states]))
    needed, fails_at_one = decided_by(node)
    can_succeed = sum(bool(end.success) for end in ends) >= needed
    failing = sum(bool(end.failure) for end in ends)
    can_fail = (failing > 0 and fails_at_one) or len(children) - failing < needed
    with walk.beside(children):
        after = [walk.after_waiting(state) for state in states]
    succeeded: Iterable[State] = after
    if needed == len(children):
        succeeded = [_sum_of(state, ends, written) for state in after] if can_succeed else ()
    elif needed == 1:
        succeeded = _one_of(ends, written)
    blame = frozenset().union(*(state.facts.get(BLAME, frozenset()) for end in ends for state in end.failure))
    return merged(
        walk,
        [state.succeeded(node.path) for state in succeeded] if can_succeed else (),
        [state.with_facts({BLAME: blame or frozenset({node.path})}) for state in after] if can_fail else (),
        after if any(end.waiting for end in ends) else (),
    )


def decided_by(node: NodeDefinition) -> tuple[int, bool]:
    """How many children of a `parallel` must succeed, and whether one that fails decides."""
    total, wanted = len(node.children["children"]), getattr(node.settings, "success", "all")
    until = getattr(node.settings, "until", None)
    if until is not None:
        return 1, until == "first_end"
    needed = total if wanted == "all" else 1 if wanted == "one" else int(wanted)
    return needed, getattr(node.settings, "failure", None) == "one"


def _one_of(ends: Sequence[Paths], written: Sequence[Any]) -> Iterable[State]:
    """The states after one child has succeeded, while the others may have changed all that they write."""
    for position, end in enumerate(ends):
        others = [each for at, each in enumerate(written) if at != position]
        for state in end.success:
            if any(each.everything for each in others):
                yield State()
            else:
                keys = frozenset[str]().union(*(each.keys for each in others))
                yield state.forgetting(keys, frozenset[str]().union(*(each.facts for each in others)))


def _sum_of(state: State, ends: Sequence[Paths], written: Sequence[Any]) -> State:
    """The state after all children have succeeded: what one of them alone writes is as it left it."""
    keys, facts = dict(state.keys), dict(state.facts)
    for position, end in enumerate(ends):
        others = [each for at, each in enumerate(written) if at != position]
        if any(each.everything for each in others) or not end.success:
            continue
        left = end.success[0]
        for further in end.success[1:]:
            left = left.joined(further)
        mine = written[position]
        for key in mine.keys.difference(*(each.keys for each in others)) & left.keys.keys():
            keys[key] = left.keys[key]
        for fact in mine.facts.difference(*(each.facts for each in others)) & left.facts.keys():
            facts[fact] = left.facts[fact]
    return State(keys, facts)
