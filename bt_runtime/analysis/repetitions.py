"""How kinds that repeat their child pass states on to it."""

from collections.abc import Iterable
from typing import Literal

from bt_runtime.analysis.expressions.domains import LISTS, Domain, of_values
from bt_runtime.analysis.states import ACTED, NOWHERE, EndStates, State, States
from bt_runtime.analysis.transfers import child_of, go_on, merged, merged_onto, note_until
from bt_runtime.analysis.walk import Entries, Walk
from bt_runtime.language.definition import NodeDefinition

_MANY = 1000
_UNROLLED = 3
"""How many repetitions are walked one by one; later ones only until they yield nothing new."""


def repeated(
    walk: Walk, node: NodeDefinition, states: States, *, setting: str, on: Literal["success", "failure"]
) -> EndStates:
    """`repeat` and `retry`: the child again after a success or a failure, as often as a setting says."""
    child, value = child_of(node), getattr(node.settings, setting)
    times = value if isinstance(value, int) else _MANY  # the value of an expression is not known
    found = NOWHERE
    new = walk.heads(())
    last: list[State] = []
    depth = walk.rounds
    for number in range(1, times + 1):
        ends = walk.paths(child, states)
        again, done = (ends.failure, ends.success) if on == "failure" else (ends.success, ends.failure)
        found = merged_onto(walk, found, done, ends.waiting, on=on)
        if number == times:
            last += again
            break
        between = [walk.after_waiting(state) for state in again]
        go_on(walk, node, between)
        found = EndStates(found.success, found.failure, walk.partition.merged((*found.waiting, *between)))
        if number >= _UNROLLED:
            last += again  # the last round may be any of those that follow
            states = new(between)
        else:
            states = tuple(between)
        walk.rounds = depth + 1
        if not states:
            break
    walk.rounds = depth
    if on == "failure":
        return merged(walk, found.success, last, found.waiting)
    return merged(walk, last, found.failure, found.waiting)


def loop(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """Rounds of guards, `until`, child and `until`, until no round brings anything new."""
    guards, child = node.children.get("guards", ()), child_of(node)
    entries = walk.entries.setdefault(node.path, Entries())
    new = walk.heads(states)
    success: list[State] = []
    failure: list[State] = []
    waiting: list[State] = []
    depth, is_first = walk.rounds, True
    asks = bool(guards) and not any(ACTED in state.facts for state in states)
    if asks:
        states = tuple(state.with_facts({ACTED: frozenset()}) for state in states)
    while states:
        tripped, passed, asked = _asked(walk, guards, states)
        success += tripped
        waiting += asked
        over, runs = _until(walk, node, passed, failure)
        success += over
        walk.rounds_of[node.path] = walk.rounds_of.get(node.path, 0) + 1
        if is_first and depth:
            entries.again_over, entries.again_runs = entries.again_over or bool(over), entries.again_runs or bool(runs)
        elif is_first:
            entries.first_over, entries.first_runs = entries.first_over or bool(over), entries.first_runs or bool(runs)
        with walk.beside(guards, is_over_on_failure=True):
            ends = walk.paths(child, runs)
        failure += ends.failure
        waiting += ends.waiting
        interrupted, _, _ = _asked(walk, guards, ends.waiting)
        success += interrupted
        over, goes_on = _until(walk, node, ends.success, failure)
        success += over
        again = [walk.after_waiting(state) for state in goes_on]
        waiting += again
        go_on(walk, node, again)
        states = new(again)
        walk.rounds, is_first = depth + 1, False
    walk.rounds = depth
    ends = merged(walk, success, failure, waiting)
    return EndStates(*(tuple(state.forgetting((), (ACTED,)) for state in each) for each in ends)) if asks else ends


def _asked(walk: Walk, guards: Iterable[NodeDefinition], states: Iterable[State]) -> tuple[States, States, States]:
    """Ask the guards: the states in which one trips, in which none does, and in which one waits."""
    tripped: list[State] = []
    waiting: list[State] = []
    passed = walk.partition.merged(states)
    walk.asking += 1
    for guard in guards:
        ends = walk.paths(guard, passed)
        tripped += ends.failure
        waiting += ends.waiting
        passed = walk.partition.merged((*ends.success, *ends.waiting))
    walk.asking -= 1
    return walk.partition.merged(tripped), passed, tuple(waiting)


def _until(
    walk: Walk, node: NodeDefinition, states: Iterable[State], failure: list[State]
) -> tuple[Iterable[State], Iterable[State]]:
    """The states in which the loop is over, and in which it goes on; where `until` may raise, the loop fails."""
    until = getattr(node.settings, "until", None)
    if until is None:
        return (), states
    over, goes_on, raised = walk.split(node, until, states)
    note_until(walk, node, over, goes_on)
    failure += walk.failed(node, raised, fault=True)
    return over, goes_on


def guarded(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """The child once, and a failure where a guard trips."""
    guards = node.children.get("guards", ())
    asks = not any(ACTED in state.facts for state in states)
    if asks:
        states = tuple(state.with_facts({ACTED: frozenset()}) for state in states)
    tripped, passed, asked = _asked(walk, guards, states)
    with walk.beside(guards, is_over_on_failure=True):
        ends = walk.paths(child_of(node), passed)
    interrupted, _, _ = _asked(walk, guards, ends.waiting)
    found = merged(walk, ends.success, (*tripped, *ends.failure, *interrupted), (*asked, *ends.waiting))
    return EndStates(*(tuple(state.forgetting((), (ACTED,)) for state in each) for each in found)) if asks else found


def for_each(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """The child for each item of a list, about which little is known."""
    settings = node.settings
    child, new = child_of(node), walk.heads(())
    scope = walk.scope(node)
    item = scope.key(str(getattr(settings, "item", "")))
    written = (item, scope.key(str(getattr(settings, "index", None) or "")))
    empty, states, wrong, each = _items(walk, node, states)
    success: list[State] = list(empty)
    failure: list[State] = list(walk.failed(node, wrong, fault=True))
    waiting: list[State] = []
    depth = walk.rounds
    fitting = None if each is None else each.meet(walk.types.get(item, each))
    if fitting is not None and fitting.is_empty:
        return EndStates(failure=walk.failed(node, states, fault=True))
    while states:
        begun = [state.forgetting(written) for state in states]
        if fitting is not None:
            begun = [State({**state.keys, item: fitting}, state.facts) for state in begun]
        ends = walk.paths(child, begun)
        goes_on = getattr(settings, "go_on", False)
        ended = (*ends.success, *ends.failure) if goes_on else ends.success
        success += ended
        failure += ends.failure
        between = [walk.after_waiting(state) for state in ended]
        waiting += (*ends.waiting, *between)
        go_on(walk, node, between if _has_several(node) else ())
        states = new(between)
        walk.rounds = depth + 1
    walk.rounds = depth
    return merged(walk, [state.succeeded(node.path) for state in success], failure, waiting)


def _items(walk: Walk, node: NodeDefinition, states: States) -> tuple[States, States, States, Domain | None]:
    """The states without an item, with items, and where the value is no list; and the items, if they are known."""
    items = getattr(node.settings, "items", "")
    if isinstance(items, list):
        return (() if items else states), (states if items else ()), (), of_values(items) if items else None
    empty: list[State] = []
    filled: list[State] = []
    wrong: list[State] = []
    for state in states:
        found, can_raise = walk.conditions.value(items, state, walk.scope(node))
        empty += [state] if [] in found else []
        filled += [state] if [None] in found else []
        if can_raise or not found.constants <= LISTS or found.numbers or found.texts:
            wrong.append(state)
    return tuple(empty), tuple(filled), tuple(wrong), None


def _has_several(node: NodeDefinition) -> bool:
    """Whether a `for_each` can have more than one item."""
    items = getattr(node.settings, "items", "")
    return not isinstance(items, list) or len(items) > 1
