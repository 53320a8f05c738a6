"""How decorators pass states on to their child."""

from collections.abc import Iterable
from typing import Literal

from bt_runtime.checking.effects import Paths, Transfer
from bt_runtime.checking.states import BLAME, NOBODY, ONCE, State, States
from bt_runtime.checking.transfers.joining import both, child_of, merged
from bt_runtime.checking.walk import Walk
from bt_runtime.definition import NodeDefinition


def inverter(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """Success is failure, and failure success."""
    ends = walk.paths(child_of(node), states)
    return Paths(ends.failure, walk.failed(node, ends.success), ends.waiting)


def forced(result: Literal["success", "failure"]) -> Transfer:
    """`force_success` and `force_failure`."""

    def flow(walk: Walk, node: NodeDefinition, states: States) -> Paths:
        ends = walk.paths(child_of(node), states)
        if result == "success":
            handled = [state.with_facts({BLAME: NOBODY}) for state in ends.failure]
            return merged(walk, (*ends.success, *handled), (), ends.waiting)
        return merged(walk, (), walk.failed(node, (*ends.success, *ends.failure)), ends.waiting)

    return flow


def subtree(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The included root; then its outputs are copied."""
    root = child_of(node, "root")
    ends = walk.paths(root, states)
    outputs = dict(getattr(node.settings, "outputs", {}))
    if not outputs:
        return ends
    inner, outer = walk.scope(root), walk.scope(node)

    def copied(state: State) -> State:
        values = {outer.key(key): walk.partition.domain(state, inner.key(name)) for name, key in outputs.items()}
        return State({**state.keys, **values}, state.facts)

    return merged(walk, map(copied, ends.success), map(copied, ends.failure), ends.waiting)


def timeout(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """Whatever waits may be late."""
    ends = walk.paths(child_of(node), states)
    return merged(walk, ends.success, (*ends.failure, *walk.failed(node, ends.waiting)), ends.waiting)


def finally_(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """`then` after every end of the child."""
    ends = walk.paths(child_of(node), states)
    walk.before_finally.setdefault(node.path, []).append(ends)
    then = child_of(node, "then")
    good, bad = walk.paths(then, ends.success), walk.paths(then, ends.failure)
    failure = (*good.failure, *_blaming(ends.failure, bad.success), *bad.failure)
    return merged(walk, good.success, failure, (*ends.waiting, *good.waiting, *bad.waiting))


def _blaming(before: Iterable[State], after: Iterable[State]) -> States:
    """States in which those are to blame who were before."""
    blame = frozenset[str]().union(*(state.facts.get(BLAME, frozenset()) for state in before))
    return tuple(state.with_facts({BLAME: blame}) for state in after)


def cooldown(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The child, unless it rests."""
    ends = walk.paths(child_of(node), states)
    if getattr(node.settings, "wait", False):
        rested = [walk.after_waiting(state) for state in states]
        later = walk.paths(child_of(node), rested)
        return both(walk, both(walk, ends, later), Paths(waiting=tuple(rested)))
    return both(walk, ends, Paths(failure=walk.failed(node, states)))


def once(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The child until it has ended, and that result ever after."""
    fact = ONCE + node.path
    fresh, done = frozenset({""}), {"success": frozenset({"success"}), "failure": frozenset({"failure"})}
    known = [(state, state.facts.get(fact)) for state in states]
    ends = walk.paths(child_of(node), [state for state, values in known if values is None or "" in values])
    found = Paths(
        tuple(state.with_facts({fact: done["success"]}) for state in ends.success),
        tuple(state.with_facts({fact: done["failure"]}) for state in ends.failure),
        tuple(state.with_facts({fact: fresh}) for state in ends.waiting),
    )
    succeeded = [s.with_facts({fact: done["success"]}) for s, values in known if values is None or "success" in values]
    failed = [s.with_facts({fact: done["failure"]}) for s, values in known if values is None or "failure" in values]
    return merged(walk, (*found.success, *succeeded), (*found.failure, *walk.failed(node, failed)), found.waiting)


def on_halt(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The child; `then` after a halt."""
    ends = walk.paths(child_of(node), states)
    then = walk.paths(child_of(node, "then"), ends.waiting)
    return merged(walk, ends.success, ends.failure, (*ends.waiting, *then.success, *then.failure))
