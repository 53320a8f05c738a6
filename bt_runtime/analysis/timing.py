"""Judges times: limits that other limits hide, waits that outlast them, attempts without end."""

from collections.abc import Iterator
from dataclasses import dataclass

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.warnings import number_of, said, warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Mistake

CODES = (
    Code("timeout-never-reached", "A limit of time is not shorter than one around it."),
    Code("backoff-over-timeout", "A wait is longer than the limit of time around it."),
    Code("retry-without-limit", "Work is tried again very often, without a wait or without a limit."),
)
_MANY_AT_ONCE = 10
"""More attempts than this need a wait between them."""
_MANY = 100
"""More attempts than this need a limit around them."""


@dataclass(frozen=True, slots=True)
class _Limit:
    seconds: float
    node: NodeDefinition


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
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
        for mine in _own(node):
            inner = mine if inner is None or mine.seconds < inner.seconds else inner
        guarded = is_guarded or bool(node.children.get("guards"))
        waiting += [(child, inner, guarded) for children in node.children.values() for child in children]


def _own(node: NodeDefinition) -> Iterator[_Limit]:
    """The limits of time that a node puts around what is below it."""
    if node.kind == "timeout" and (seconds := number_of(node, "seconds")) is not None:
        yield _Limit(seconds, node)
    for guard in node.children.get("guards", ()):
        if (seconds := number_of(guard, "seconds")) is not None:
            yield _Limit(seconds, guard)


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
            flow, node, "backoff-over-timeout", message, "wait less, or put the timeout around the child alone"
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
