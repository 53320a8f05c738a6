"""How leaves of the runtime change states."""

from bt_runtime.checking.effects import HERE, Case, Paths
from bt_runtime.checking.states import TAKEN, State, States
from bt_runtime.checking.transfers.joining import merged, note_until
from bt_runtime.checking.walk import Walk
from bt_runtime.definition import NodeDefinition
from bt_runtime.expressions.domains import Domain, of_value

WAITING = (Case("success"), Case("waiting"))


def wait(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """A time, a condition or a delivery."""
    settings = node.settings
    until, delivery = getattr(settings, "until", None), getattr(settings, "delivery", None)
    later = [walk.after_waiting(state) for state in states]
    if delivery is not None:
        until, key = f"{delivery} is not null", walk.scope(node).key(delivery)
        if any(_is_old(walk, state, key) for state in states):
            walk.old_values.add(node.path)
        later = [state.forgetting((key,)) for state in later]
    is_bounded = getattr(settings, "timeout_s", None) is not None
    if until is None:
        return walk.ends(node, (*states, *later), WAITING)
    now, not_yet, raised = walk.split(node, until, states)
    note_until(walk, node, now, not_yet)
    then, never, raised_later = walk.split(node, until, later if not_yet else ())
    facts = {} if delivery is None else {TAKEN + walk.scope(node).key(delivery): HERE}
    good = walk.ends(node, (*now, *then), (Case("success", facts=facts),)).success
    late = walk.failed(node, never) if is_bounded else ()
    faults = walk.failed(node, (*raised, *raised_later), fault=True)
    return merged(walk, good, (*late, *faults), later if not_yet else ())


def _is_old(walk: Walk, state: State, key: str) -> bool:
    """Whether the value that is there may be one that a `wait` has taken before."""
    return any(state.facts.get(TAKEN + key, ())) and walk.partition.domain(state, key) != of_value(None)


def condition(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """Divides states by its expression."""
    true, false, raised = walk.split(node, str(getattr(node.settings, "when", "true")), states)
    succeeded = [state.succeeded(node.path) for state in true]
    return merged(walk, succeeded, (*walk.failed(node, false), *walk.failed(node, raised, fault=True)), ())


def set_(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """Writes what its expressions may be."""
    success: list[State] = []
    failure: list[State] = []
    values = dict(getattr(node.settings, "values", {}))
    scope = walk.scope(node)
    for before in walk.ends(node, states, (Case("success"),)).success:
        state: State | None = before
        for name, value in values.items():
            if state is None:
                break
            key = scope.key(name)
            found, raises = (
                walk.conditions.value(value, state, scope) if isinstance(value, str) else (of_value(value), False)
            )
            fitting = found.meet(walk.types.get(key, found))
            if raises or fitting != found:
                failure.append(state)
            mark = walk.marks.get(key)
            facts = state.facts if mark is None else {**state.facts, mark: frozenset({node.path})}
            if TAKEN + key in facts:
                facts = {**facts, TAKEN + key: frozenset({""})}
            state = None if fitting.is_empty else State({**state.keys, key: fitting}, facts)
        if state is not None:
            success.append(state)
    return merged(walk, success, walk.failed(node, failure, fault=True), ())


def action(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """Calls the host, which may fail, and writes what it brings."""
    into = getattr(node.settings, "into", None)
    writes: dict[str, Domain | None] = {} if into is None else {into: walk.filled(walk.scope(node).key(into))}
    return walk.ends(node, states, (Case("success", writes=writes), Case("failure", fault=True), Case("waiting")))
