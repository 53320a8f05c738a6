"""How the kinds of the runtime pass states on to their children, and how its leaves change them.

`bt_runtime.analysis.flow.TRANSFERS` says which kind has which. Those that repeat their child are in `repetitions`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import or_
from types import MappingProxyType
from typing import Literal

from bt_runtime.analysis.expressions.domains import NULL, Domain, of_value
from bt_runtime.analysis.states import BLAME, NOBODY, NOWHERE, ONCE, TAKEN, EndStates, State, States
from bt_runtime.analysis.walk import Walk, WrittenKeys
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.expressions.syntax import LONGEST_EXPRESSION
from bt_runtime.language.kind import HERE, Case, is_literal

_PLAIN_CASE = re.compile(r"[\w .-]*")
WAITING = (Case("success"), Case("waiting"))


def child_of(node: NodeDefinition, slot: str = "child") -> NodeDefinition:
    """The only child of a slot."""
    return node.children[slot][0]


def merged_onto(
    walk: Walk, found: EndStates, done: Iterable[State], waiting: Iterable[State], *, on: Literal["success", "failure"]
) -> EndStates:
    """What is known after a node, with further ends."""
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


def merged(walk: Walk, success: Iterable[State], failure: Iterable[State], waiting: Iterable[State]) -> EndStates:
    """The ends of a node, joined."""
    join = walk.partition.merged
    return EndStates(join(success), join(failure), join(waiting))


def both(walk: Walk, one: EndStates, other: EndStates) -> EndStates:
    """The paths of either."""
    return EndStates(*(walk.partition.merged(chain(*pair)) for pair in zip(one, other, strict=True)))


def wait(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """A time, a condition or a delivery."""
    settings = node.settings
    until, delivery = getattr(settings, "until", None), getattr(settings, "delivery", None)
    later = [walk.after_waiting(state) for state in states]
    if delivery is not None:
        until, key = f"{delivery} is not null", walk.scope(node).key(delivery)
        taken = (state for state in states if any(state.facts.get(TAKEN + key, ())))  # by a `wait` before
        if any(walk.partition.domain(state, key) != NULL for state in taken):
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


def condition(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """Divides states by its expression."""
    true, false, raised = walk.split(node, str(getattr(node.settings, "when", "true")), states)
    succeeded = [state.succeeded(node.path) for state in true]
    return merged(walk, succeeded, (*walk.failed(node, false), *walk.failed(node, raised, fault=True)), ())


def set_(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
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


def action(
    walk: Walk, node: NodeDefinition, states: States, *, changes: Mapping[str, None] = MappingProxyType({})
) -> EndStates:
    """Calls the host, which may fail, and writes what it brings, besides the host's keys in `changes`."""
    into = getattr(node.settings, "into", None)
    writes: dict[str, Domain | None] = {**changes}
    if into is not None:
        writes[into] = walk.filled(walk.scope(node).key(into))
    return walk.ends(node, states, (Case("success", writes=writes), Case("failure", fault=True), Case("waiting")))


def in_order(
    walk: Walk, node: NodeDefinition, states: States, *, passes_on: Literal["success", "failure"]
) -> EndStates:
    """`sequence` (passes on success) and `selector` (failure)."""
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


def _once_in_order(
    walk: Walk, children: Iterable[NodeDefinition], states: States, passes_on: Literal["success", "failure"]
) -> EndStates:
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


def parallel(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """Each child is ticked while the others may change everything that they write."""
    children = node.children["children"]
    ends: list[EndStates] = []
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


def _one_of(ends: Sequence[EndStates], written: Sequence[WrittenKeys]) -> Iterable[State]:
    """The states after one child has succeeded, while the others may have changed all that they write."""
    for position, end in enumerate(ends):
        others = reduce(or_, (*written[:position], *written[position + 1 :]), WrittenKeys())
        for state in end.success:
            yield State() if others.everything else state.forgetting(others.keys, others.facts)


def _sum_of(state: State, ends: Sequence[EndStates], written: Sequence[WrittenKeys]) -> State:
    """The state after all children have succeeded: what one of them alone writes is as it left it."""
    keys, facts = dict(state.keys), dict(state.facts)
    for position, (end, mine) in enumerate(zip(ends, written, strict=True)):
        others = reduce(or_, (*written[:position], *written[position + 1 :]), WrittenKeys())
        if others.everything or not end.success:
            continue
        left = reduce(State.joined, end.success)
        keys |= {key: left.keys[key] for key in mine.keys - others.keys if key in left.keys}
        facts |= {fact: left.facts[fact] for fact in mine.facts - others.facts if fact in left.facts}
    return State(keys, facts)


def if_(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """The branch that its expression chooses."""
    true, false, raised = walk.split(node, str(getattr(node.settings, "when", "true")), states)
    then = walk.paths(child_of(node, "then"), true)
    if node.children.get("else"):
        other = walk.paths(child_of(node, "else"), false)
    else:
        other = EndStates(tuple(state.succeeded(node.path) for state in false))
    failure = (*then.failure, *other.failure, *walk.failed(node, raised, fault=True))
    return merged(walk, (*then.success, *other.success), failure, (*then.waiting, *other.waiting))


def switch(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """The case that fits its expression."""
    value = str(getattr(node.settings, "value", "null"))
    _, _, raised = walk.split(node, value, states)
    found = EndStates(failure=walk.failed(node, raised, fault=True))
    others: Iterable[State] = states
    for slot, children in node.children.items():
        if slot == "default":
            continue
        fitting, others = _fitting(walk, node, value, slot.partition(".")[2], others)
        for child in children:
            found = both(walk, found, walk.paths(child, fitting))
    if node.children.get("default"):
        return both(walk, found, walk.paths(child_of(node, "default"), others))
    return both(walk, found, EndStates(failure=walk.failed(node, others)))


def _fitting(
    walk: Walk, node: NodeDefinition, value: str, case: str, states: Iterable[State]
) -> tuple[Iterable[State], Iterable[State]]:
    """The states in which the value of an expression may be a case, and in which it may be another one."""
    texts = [f"({value}) == '{case}'"]
    if is_literal(case):
        texts.append(f"({value}) == {case}")
    if not _PLAIN_CASE.fullmatch(case) or len(texts[0]) > LONGEST_EXPRESSION:
        return states, states
    fitting: list[State] = []
    for text in texts:
        true, states, _ = walk.split(node, text, states)
        fitting += true
    return fitting, states


def inverter(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """Success is failure, and failure success."""
    ends = walk.paths(child_of(node), states)
    return EndStates(ends.failure, walk.failed(node, ends.success), ends.waiting)


def force_success(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """A failure of the child is handled."""
    ends = walk.paths(child_of(node), states)
    handled = [state.with_facts({BLAME: NOBODY}) for state in ends.failure]
    return merged(walk, (*ends.success, *handled), (), ends.waiting)


def force_failure(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """Every end of the child is a failure of this node."""
    ends = walk.paths(child_of(node), states)
    return merged(walk, (), walk.failed(node, (*ends.success, *ends.failure)), ends.waiting)


def subtree(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
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


def timeout(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """A child that waits may exceed the time."""
    ends = walk.paths(child_of(node), states)
    return merged(walk, ends.success, (*ends.failure, *walk.failed(node, ends.waiting)), ends.waiting)


def finally_(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """`then` after every end of the child."""
    ends = walk.paths(child_of(node), states)
    walk.before_finally.setdefault(node.path, []).append(ends)
    then = child_of(node, "then")
    good, bad = walk.paths(then, ends.success), walk.paths(then, ends.failure)
    blame = frozenset[str]().union(*(state.facts.get(BLAME, frozenset()) for state in ends.failure))
    failure = (*good.failure, *(state.with_facts({BLAME: blame}) for state in bad.success), *bad.failure)
    return merged(walk, good.success, failure, (*ends.waiting, *good.waiting, *bad.waiting))


def cooldown(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """The child, unless the cooldown is under way."""
    ends = walk.paths(child_of(node), states)
    if getattr(node.settings, "wait", False):
        rested = [walk.after_waiting(state) for state in states]
        later = walk.paths(child_of(node), rested)
        return both(walk, both(walk, ends, later), EndStates(waiting=tuple(rested)))
    return both(walk, ends, EndStates(failure=walk.failed(node, states)))


def once(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """The child until it has ended, and that result ever after."""
    fact = ONCE + node.path

    def known(result: str) -> list[State]:
        return [state for state in states if fact not in state.facts or result in state.facts[fact]]

    def noted(result: str, ended: Iterable[State]) -> list[State]:
        return [state.with_facts({fact: frozenset({result})}) for state in ended]

    ends = walk.paths(child_of(node), known(""))
    failed = walk.failed(node, noted("failure", known("failure")))
    success = noted("success", (*ends.success, *known("success")))
    return merged(walk, success, (*noted("failure", ends.failure), *failed), noted("", ends.waiting))


def on_halt(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """The child; `then` after a halt."""
    ends = walk.paths(child_of(node), states)
    then = walk.paths(child_of(node, "then"), ends.waiting)
    return merged(walk, ends.success, ends.failure, (*ends.waiting, *then.success, *then.failure))
