"""Checks limits: guards that can never trip or do work, and times that a shorter time makes unreachable."""

from collections.abc import Iterator
from typing import NamedTuple

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow, number_of, said, warning
from bt_runtime.analysis.reaching import is_inverted_guard
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Mistake

CODES = (
    Code(
        "guard-never-trips",
        "The guard cannot trip.",
        "Another guard with a lower limit may always trip first. Lower this limit, or remove the guard.",
    ),
    Code(
        "redundant-guard",
        "Another guard of the same kind always trips at the same time or earlier.",
        "Keep only the guard that has a limit of its own.",
    ),
    Code(
        "inverted-guard",
        "The guard is inverted, so it trips at once.",
        "A guard succeeds while the run may continue. Remove the `inverter`.",
    ),
    Code(
        "guard-as-alternative",
        "A guard is a child of a `selector`, but writes its reason even if another child succeeds.",
        "List the guards one after the other in `guards`.",
    ),
    Code(
        "act-in-guards",
        "A node below `guards` performs an action at every tick.",
        "Guards are ticked after every event, not once per turn. Move the action to the loop's child.",
    ),
    Code(
        "waiting-guard",
        "A node below `guards` takes time.",
        "A guard that is RUNNING stops nothing. Do the work elsewhere, and let the guard test its result.",
    ),
    Code(
        "timeout-never-reached",
        "The time limit is not shorter than a time limit around it.",
        "The outer limit always ends the work first. Shorten this one, or remove it.",
    ),
    Code(
        "backoff-over-timeout",
        "The wait before the second attempt is as long as the time limit around it, or longer.",
        "There is never a second attempt. Shorten the wait, or raise the limit.",
    ),
    Code(
        "retry-without-limit",
        "The work is retried more than 10 times without a wait, or more than 100 times without a time limit.",
        "While a provider is down, the user waits. Add `backoff_s`, a `timeout`, or fewer `attempts`.",
    ),
)
_MANY_AT_ONCE = 10
"""More attempts than this need a wait between them."""
_MANY = 100
"""More attempts than this need a limit around them."""


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    yield from _guards(flow)
    yield from _times(flow)


def _guards(flow: Flow) -> Iterator[Mistake]:
    for node in flow.nodes:
        guards = node.children.get("guards", ())
        own = ((number_of(guard, "limit"), number_of(guard, "seconds")) for guard in guards)
        limits = {at: limit for at, pair in enumerate(own) for limit in pair if limit is not None}
        is_asked_again = any("waiting" in flow.results(child) for child in node.children.get("child", ()))
        for position, guard in enumerate(guards):
            yield from _hidden(flow, guards, limits, position)
            yield from _guard(flow, guard, guards[:position], is_asked_again=is_asked_again)
            yield from _alternatives(flow, guard)
        if flow.is_reached(node) and is_inverted_guard(flow, node):
            inner = node.children["child"][0].kind
            message = f"{node.kind!r} around the guard {inner!r} fails as long as the guard would let the run continue"
            yield warning(
                flow, node, "inverted-guard", message, f"a guard succeeds while the run may continue: write {inner!r}"
            )


def _hidden(
    flow: Flow, guards: tuple[NodeDefinition, ...], limits: dict[int, float], position: int
) -> Iterator[Mistake]:
    """A guard before another one of its kind with a lower limit, which is reached first."""
    guard, mine = guards[position], limits.get(position)
    for at, lower in limits.items():
        if at <= position or guards[at].kind != guard.kind:
            continue
        if mine is None and flow.registry.kinds[guard.kind].category == "guard":
            message = f"this guard is not needed: {said(flow, guards[at])} trips at the same time or before"
            yield warning(
                flow, guard, "redundant-guard", message, f"write the limit {lower:g} here, and remove the other"
            )
            return
        if mine is not None and lower < mine:
            message = f"this guard can never trip: {said(flow, guards[at])} trips before"
            yield warning(flow, guard, "guard-never-trips", message, "remove it, or correct its limit", removable=True)
            return


def _guard(
    flow: Flow, guard: NodeDefinition, before: tuple[NodeDefinition, ...], *, is_asked_again: bool
) -> Iterator[Mistake]:
    waiting = [node for node in guard.walk() if flow.registry.kinds[node.kind].waits and not node.children]
    for node in waiting:
        message = (
            f"{node.kind!r} takes time, and a guard that is RUNNING stops nothing; it begins again when it has ended"
        )
        yield warning(
            flow, node, "waiting-guard", message, "guards are ticked at every tick: put the work into the child"
        )
    for node in guard.walk():
        if node.path in flow.walk.repeated_acts and node not in waiting:
            message = f"{node.kind!r} is repeated at every tick, because guards are ticked at every tick"
            yield warning(flow, node, "act-in-guards", message, "put it into the child of the loop", removable=True)
    if not waiting and is_asked_again and flow.results(guard) == {"success"}:
        same = next((other for other in before if other.kind == guard.kind), None)
        cause = f": {said(flow, same)} trips before" if same else ""
        message = f"this guard can never trip{cause}"
        yield warning(flow, guard, "guard-never-trips", message, "remove it, or correct its limit", removable=True)


def _alternatives(flow: Flow, guard: NodeDefinition) -> Iterator[Mistake]:
    for node in guard.walk():
        among = node.children.get("children", ()) if node.kind == "selector" else ()
        first = next((each for each in among[:-1] if flow.registry.kinds[each.kind].category == "guard"), None)
        if first is not None:
            message = f"the later children are ticked only after {first.kind!r} has tripped and written its reason"
            hint = "write the guards one after the other, without 'selector'"
            yield warning(flow, node, "guard-as-alternative", message, hint)


# --- times


class _Limit(NamedTuple):
    seconds: float
    node: NodeDefinition


def _times(flow: Flow) -> Iterator[Mistake]:
    waiting: list[tuple[NodeDefinition, _Limit | None, bool]] = [(flow.root, None, False)]
    while waiting:
        node, limit, is_guarded = waiting.pop()
        for guard in node.children.get("guards", ()):
            if guard.place.file == flow.file and limit is not None:
                yield from _late_guard(flow, guard, limit)
        if node.place.file == flow.file:
            yield from _limits(flow, node, limit)
            yield from _retry(flow, node, limit, is_guarded=is_guarded)
        inner = limit
        for each in ((node,) if node.kind == "timeout" else ()) + node.children.get("guards", ()):
            seconds = number_of(each, "seconds")
            if seconds is not None and (inner is None or seconds < inner.seconds):
                inner = _Limit(seconds, each)
        guarded = is_guarded or bool(node.children.get("guards"))
        waiting += [(child, inner, guarded) for children in node.children.values() for child in children]


def _limits(flow: Flow, node: NodeDefinition, limit: _Limit | None) -> Iterator[Mistake]:
    seconds = number_of(node, "seconds") if node.kind == "timeout" else number_of(node, "timeout_s")
    if limit is not None and seconds is not None and seconds >= limit.seconds:
        message = f"{seconds:g} s are never reached: {said(flow, limit.node)} ends it after {limit.seconds:g} s"
        yield warning(flow, node, "timeout-never-reached", message, f"less than {limit.seconds:g} s")
    rest_s = number_of(node, "seconds") if node.kind == "cooldown" else None
    if limit is not None and limit.node.kind != "timeout" and rest_s is not None and rest_s >= limit.seconds:
        message = f"the rest of {rest_s:g} s never ends: {said(flow, limit.node)} ends it after {limit.seconds:g} s"
        yield warning(flow, node, "timeout-never-reached", message, f"less than {limit.seconds:g} s, or 'once'")
    if limit is not None and node.kind == "wait" and (number_of(node, "seconds") or 0) >= limit.seconds:
        message = f"the wait of {number_of(node, 'seconds'):g} s never ends: {said(flow, limit.node)} ends it before"
        yield warning(flow, node, "backoff-over-timeout", message, f"less than {limit.seconds:g} s")


def _late_guard(flow: Flow, guard: NodeDefinition, limit: _Limit) -> Iterator[Mistake]:
    """A guard on the time of the whole run, below a timeout that begins with the run and is over before."""
    seconds = number_of(guard, "seconds")
    if limit.node.kind != "timeout" or seconds is None or seconds < limit.seconds or not flow.is_whole:
        return
    above = {node.path for node in flow.above(limit.node)}
    for node in flow.all_nodes.values():
        if node is limit.node:
            message = f"this guard can never trip: {said(flow, limit.node)} ends its loop after {limit.seconds:g} s"
            yield warning(flow, guard, "guard-never-trips", message, f"less than {limit.seconds:g} s", removable=True)
            return
        if (node.path in above and node.path in flow.walk.further_rounds) or (
            node.path not in above and "waiting" in flow.results(node)
        ):
            return  # the timeout may begin later


def _retry(flow: Flow, node: NodeDefinition, limit: _Limit | None, *, is_guarded: bool) -> Iterator[Mistake]:
    if node.kind != "retry":
        return
    pause_s = min(number_of(node, "backoff_s") or 0, number_of(node, "max_backoff_s") or 0)
    attempts = number_of(node, "attempts") or 0
    if limit is not None and pause_s >= limit.seconds and attempts > 1:
        message = (
            f"the first wait of {pause_s:g} s is not shorter than the {limit.seconds:g} s of {said(flow, limit.node)}: "
            "there is no second attempt"
        )
        yield warning(
            flow, node, "backoff-over-timeout", message, "wait less, or put the timeout around the child only"
        )
    kinds = flow.registry.kinds
    if not any(kinds[below.kind].waits and kinds[below.kind].acts for below in node.walk()):
        return
    if attempts > _MANY_AT_ONCE and pause_s == 0:
        message = f"{attempts:g} attempts without a wait between them"
        yield warning(flow, node, "retry-without-limit", message, "write 'backoff_s: 1', and fewer attempts")
    elif attempts > _MANY and limit is None and not is_guarded:
        message = f"{attempts:g} attempts, and neither a guard nor a timeout around them"
        yield warning(flow, node, "retry-without-limit", message, "allow fewer attempts, or put a timeout around them")
