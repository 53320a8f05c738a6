"""How the kinds of the runtime pass states on to their children; a kind names its function as its `flow`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Literal

from bt_runtime.checking.effects import NOWHERE, Case, Paths, Transfer
from bt_runtime.checking.states import ACTED, BLAME, NOBODY, ONCE, State, States
from bt_runtime.checking.walk import Entries, Walk
from bt_runtime.definition import NodeDefinition
from bt_runtime.expressions.domains import NOTHING, Domain, of_value, of_values
from bt_runtime.expressions.syntax import LONGEST_EXPRESSION
from bt_runtime.kind import is_literal

WAITING = (Case("success"), Case("waiting"))
_PLAIN_CASE = re.compile(r"[\w .-]*")
_MANY = 1000
_UNROLLED = 3
"""So many repetitions are walked one by one; further ones until nothing new comes."""


def child_of(node: NodeDefinition, slot: str = "child") -> NodeDefinition:
    """The only child of a slot."""
    return node.children[slot][0]


# --- composites


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
    is_all = needed == len(children)
    succeeded = [_sum_of(state, ends, written) for state in after] if is_all and can_succeed else after
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


# --- decorators


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
    then = child_of(node, "then")
    good, bad = walk.paths(then, ends.success), walk.paths(then, ends.failure)
    failure = (*good.failure, *_blaming(ends.failure, bad.success), *bad.failure)
    return merged(walk, good.success, failure, (*ends.waiting, *good.waiting, *bad.waiting))


def _blaming(before: Iterable[State], after: Iterable[State]) -> States:
    """States in which those are to blame who were before."""
    blame = frozenset[str]().union(*(state.facts.get(BLAME, frozenset()) for state in before))
    return tuple(state.with_facts({BLAME: blame}) for state in after)


def retry(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The child again after a failure."""
    return _repeated(walk, node, states, times=_number(node, "attempts"), on="failure")


def repeat(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The child again after a success."""
    return _repeated(walk, node, states, times=_number(node, "times"), on="success")


def _number(node: NodeDefinition, setting: str) -> int:
    """A setting that is a number; that of an expression is not known."""
    value = getattr(node.settings, setting, None)
    return value if isinstance(value, int) else _MANY


def _repeated(
    walk: Walk, node: NodeDefinition, states: States, *, times: int, on: Literal["success", "failure"]
) -> Paths:
    child = child_of(node)
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
        _go_on(walk, node, between)
        found = Paths(found.success, found.failure, walk.partition.merged((*found.waiting, *between)))
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


def merged_onto(
    walk: Walk, found: Paths, done: Iterable[State], waiting: Iterable[State], *, on: Literal["success", "failure"]
) -> Paths:
    """Paths with further ends."""
    if on == "failure":
        return merged(walk, (*found.success, *done), found.failure, (*found.waiting, *waiting))
    return merged(walk, found.success, (*found.failure, *done), (*found.waiting, *waiting))


def loop(walk: Walk, node: NodeDefinition, states: States) -> Paths:
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
        _go_on(walk, node, again)
        states = new(again)
        walk.rounds, is_first = depth + 1, False
    walk.rounds = depth
    ends = merged(walk, success, failure, waiting)
    return Paths(*(tuple(state.forgetting((), (ACTED,)) for state in each) for each in ends)) if asks else ends


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
    _note_until(walk, node, over, goes_on)
    failure += walk.failed(node, raised, fault=True)
    return over, goes_on


def _note_until(walk: Walk, node: NodeDefinition, over: Iterable[State], goes_on: Iterable[State]) -> None:
    found = walk.until_results.setdefault(node.path, set())
    found |= {result for result, states in ((True, over), (False, goes_on)) if states}


def _go_on(walk: Walk, node: NodeDefinition, states: Iterable[State]) -> None:
    """Note that a repetition goes on with another round in these states."""
    walk.further_rounds.setdefault(node.path, []).extend(states)


def guarded(walk: Walk, node: NodeDefinition, states: States) -> Paths:
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
    return Paths(*(tuple(state.forgetting((), (ACTED,)) for state in each) for each in found)) if asks else found


def if_(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The branch that its expression chooses."""
    true, false, raised = walk.split(node, str(getattr(node.settings, "when", "true")), states)
    then = walk.paths(child_of(node, "then"), true)
    if node.children.get("else"):
        other = walk.paths(child_of(node, "else"), false)
    else:
        other = Paths(tuple(state.succeeded(node.path) for state in false))
    failure = (*then.failure, *other.failure, *walk.failed(node, raised, fault=True))
    return merged(walk, (*then.success, *other.success), failure, (*then.waiting, *other.waiting))


def switch(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The case that fits its expression."""
    value = str(getattr(node.settings, "value", "null"))
    _, _, raised = walk.split(node, value, states)
    found = Paths(failure=walk.failed(node, raised, fault=True))
    others: Iterable[State] = states
    for slot, children in node.children.items():
        if slot == "default":
            continue
        fitting, others = _fitting(walk, node, value, slot.partition(".")[2], others)
        for child in children:
            found = both(walk, found, walk.paths(child, fitting))
    if node.children.get("default"):
        return both(walk, found, walk.paths(child_of(node, "default"), others))
    return both(walk, found, Paths(failure=walk.failed(node, others)))


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


def for_each(walk: Walk, node: NodeDefinition, states: States) -> Paths:
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
        return Paths(failure=walk.failed(node, states, fault=True))
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
        _go_on(walk, node, between if _has_several(node) else ())
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
        empty += [state] if False in found.lists else []
        filled += [state] if True in found.lists else []
        if can_raise or replace(found, lists=frozenset()) != NOTHING:
            wrong.append(state)
    return tuple(empty), tuple(filled), tuple(wrong), None


def _has_several(node: NodeDefinition) -> bool:
    """Whether a `for_each` can have more than one item."""
    items = getattr(node.settings, "items", "")
    return not isinstance(items, list) or len(items) > 1


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


# --- leaves


def wait(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """A time, a condition or a delivery."""
    settings = node.settings
    until, delivery = getattr(settings, "until", None), getattr(settings, "delivery", None)
    later = [walk.after_waiting(state) for state in states]
    if delivery is not None:
        until = f"{delivery} is not null"
        later = [state.forgetting((walk.scope(node).key(delivery),)) for state in later]
    is_bounded = getattr(settings, "timeout_s", None) is not None
    if until is None:
        return walk.ends(node, (*states, *later), WAITING)
    now, not_yet, raised = walk.split(node, until, states)
    _note_until(walk, node, now, not_yet)
    then, never, raised_later = walk.split(node, until, later if not_yet else ())
    good = walk.ends(node, (*now, *then), (Case("success"),)).success
    late = walk.failed(node, never) if is_bounded else ()
    faults = walk.failed(node, (*raised, *raised_later), fault=True)
    return merged(walk, good, (*late, *faults), later if not_yet else ())


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
            state = None if fitting.is_empty else State({**state.keys, key: fitting}, facts)
        if state is not None:
            success.append(state)
    return merged(walk, success, walk.failed(node, failure, fault=True), ())


def action(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """Calls the host, which may fail, and writes what it brings."""
    into = getattr(node.settings, "into", None)
    writes: dict[str, Domain | None] = {} if into is None else {into: walk.filled(walk.scope(node).key(into))}
    return walk.ends(node, states, (Case("success", writes=writes), Case("failure", fault=True), Case("waiting")))


# --- joining


def merged(walk: Walk, success: Iterable[State], failure: Iterable[State], waiting: Iterable[State]) -> Paths:
    """Paths of many states."""
    join = walk.partition.merged
    return Paths(join(success), join(failure), join(waiting))


def both(walk: Walk, one: Paths, other: Paths) -> Paths:
    """The paths of either."""
    return Paths(*(walk.partition.merged(chain(*pair)) for pair in zip(one, other, strict=True)))
