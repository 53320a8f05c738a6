"""Judges guards, which are ticked at every tick: they must be able to trip, and must neither act nor wait."""

from collections.abc import Iterator

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.reaching import is_inverted_guard
from bt_runtime.analysis.warnings import said, warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Mistake

CODES = (
    Code("guard-never-trips", "A guard cannot fail, so it guards nothing."),
    Code("redundant-guard", "A guard is not needed beside another one of its kind that has a limit of its own."),
    Code("inverted-guard", "A guard is inverted: it trips while it should not."),
    Code("guard-as-alternative", "A guard among alternatives, which writes its reason all the same."),
    Code("act-in-guards", "Something below 'guards' acts at every tick."),
    Code("waiting-guard", "Something below 'guards' takes time, and stops nothing meanwhile."),
)


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        guards = node.children.get("guards", ())
        limits = {at: limit for at, guard in enumerate(guards) if (limit := _limit(guard)) is not None}
        for position, guard in enumerate(guards):
            yield from _hidden(flow, guards, limits, position)
            yield from _guard(flow, guard, guards[:position], is_asked_again=_waits(flow, node))
            yield from _alternatives(flow, guard)
        if flow.is_reached(node):
            yield from _inverted(flow, node)


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
            yield warning(flow, guard, "redundant-guard", message, f"write the limit of {lower:g} here, and keep one")
            return
        if mine is not None and lower < mine:
            message = f"this guard can never trip: {said(flow, guards[at])} trips before"
            yield warning(flow, guard, "guard-never-trips", message, "remove it, or correct its limit", removable=True)
            return


def _limit(guard: NodeDefinition) -> float | None:
    """A guard's own limit."""
    values = [getattr(guard.settings, name, None) for name in ("limit", "seconds")]
    return next((value for value in values if isinstance(value, int | float)), None)


def _waits(flow: Flow, node: NodeDefinition) -> bool:
    """Whether time passes below a node, so that its guards are asked again."""
    return any("waiting" in flow.results(child) for child in node.children.get("child", ()))


def _guard(
    flow: Flow, guard: NodeDefinition, before: tuple[NodeDefinition, ...], *, is_asked_again: bool
) -> Iterator[Mistake]:
    waiting = [node for node in guard.walk() if flow.registry.kinds[node.kind].waits and not node.children]
    for node in waiting:
        message = (
            f"{node.kind!r} takes time, and a guard that is RUNNING stops nothing; it begins again when it has ended"
        )
        yield warning(flow, node, "waiting-guard", message, "guards are asked at every tick: put work into the child")
    for node in guard.walk():
        if node.path in flow.walk.repeated_acts and node not in waiting:
            message = f"{node.kind!r} is done again at every tick, because guards are asked at every tick"
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
            message = f"the later ways are asked only when {first.kind!r} has tripped, and has written its reason"
            hint = "write the guards one after the other, without 'selector'"
            yield warning(flow, node, "guard-as-alternative", message, hint)


def _inverted(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    if is_inverted_guard(flow, node):
        guard = node.children["child"][0].kind
        message = f"{node.kind!r} around the guard {guard!r} fails as long as the guard would let the run go on"
        yield warning(flow, node, "inverted-guard", message, f"a guard succeeds while all is well: write {guard!r}")
