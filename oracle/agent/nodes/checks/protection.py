"""Judges what bounds work that costs money and time: guards on turns, tokens and time, and the user's cancel."""

from collections.abc import Iterator

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.conditions import names_in
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.warnings import said, steps_of, warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import ASKS_MODEL, LIMITS_TIME, LIMITS_TOKENS, LIMITS_TURNS, SEES_CANCEL, WORK

CODES = (
    Code("unbounded-turns", "Turns or tools can be repeated without a guard on turns, tokens or time."),
    Code("limit-without-effect", "A guard's own limit of turns is above that of the tree."),
    Code("no-cancelled-guard", "Guards are around turns, but none looks at the user's cancel."),
    Code("no-deadline-guard", "Guards are around turns, but nothing limits their time."),
)
_BOUNDS = (LIMITS_TURNS, LIMITS_TOKENS, LIMITS_TIME)
_MEASURES = frozenset({"turn", "tokens_used", "turn_left", "empty_turns", "same_reason", "turns_without_signal"})
_MOST_TURNS = 15
"""Of a query, unless its user allows more: the default of `max_iterations`."""


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module; a part of other trees is protected by them."""
    if not flow.is_whole:
        return
    yield from _limits(flow)
    done: set[tuple[str, str]] = set()
    for node in flow.all_nodes.values():
        if not node.has(*WORK) or not flow.is_reached(node):
            continue
        for mistake in (*_unprotected(flow, node), *_unbounded(flow, node)):
            key = (str(mistake.place), mistake.code)
            if key not in done:
                done.add(key)
                yield mistake


def _limits(flow: Flow) -> Iterator[Mistake]:
    most = flow.tree.keys["max_turns"].default if "max_turns" in flow.tree.keys else None
    for node in flow.nodes:
        limit = getattr(node.settings, "limit", None) if node.has(LIMITS_TURNS) else None
        if isinstance(most, int) and isinstance(limit, int) and limit > most:
            message = f"{limit} turns are never reached: 'max_turns' of this tree is {most}"
            yield warning(flow, node, "limit-without-effect", message, f"less than {most}, or no limit of its own")


def _unprotected(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    around = _around(flow, node)
    holder = next((above for above in around if above.kind == "loop" and above.children.get("guards")), None)
    if holder is None or not node.has(ASKS_MODEL):
        return
    guards = [below for above in around for guard in above.children.get("guards", ()) for below in guard.walk()]
    names = {name for guard in guards for name in _names(guard)}
    if not any(guard.has(SEES_CANCEL) for guard in guards) and "cancel_requested" not in names:
        message = f"no guard around {said(flow, node)} looks at the user's cancel"
        yield warning(flow, holder, "no-cancelled-guard", message, "add 'cancelled' to the guards, first")
    is_limited = getattr(node.settings, "timeout_s", None) is not None or any(
        above.kind == "timeout" for above in flow.above(node)
    )
    if not is_limited and not any(guard.has(LIMITS_TIME) for guard in guards):
        message = f"no guard around {said(flow, node)} limits its time: a provider that hangs holds the query"
        yield warning(flow, holder, "no-deadline-guard", message, "add 'deadline' to the guards")


def _around(flow: Flow, node: NodeDefinition) -> list[NodeDefinition]:
    """The nodes around a node below whose guards it is, the nearest first; not those whose guard it is itself."""
    found: list[NodeDefinition] = []
    below = node
    for above in flow.above(node):
        if below not in above.children.get("guards", ()):
            found.append(above)
        below = above
    return found


def _unbounded(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    around = _around(flow, node)
    loop = next((above for above in around if above.kind == "loop" or _is_long(above)), None)
    if loop is None or not _repeats(flow, loop) or any(_bounds(above) for above in around):
        return
    message = f"{said(flow, node)} can be repeated without end: nothing here counts turns, tokens or time"
    hint = "guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]"
    yield warning(flow, loop, "unbounded-turns", message, hint)


def _is_long(node: NodeDefinition) -> bool:
    """Whether a `repeat` asks for more turns than a query can have."""
    times = getattr(node.settings, "times", 0)
    return node.kind == "repeat" and isinstance(times, int) and times > _MOST_TURNS


def _repeats(flow: Flow, loop: NodeDefinition) -> bool:
    """Whether there can be a second round."""
    child = loop.children["child"][0]
    if loop.kind == "repeat":
        return "success" in flow.results(child)
    until = getattr(loop.settings, "until", None)
    if "success" not in flow.results(child):
        return False
    entries = flow.walk.rounds_of.get(loop.path, 0)
    return until is None or entries > 1


def _bounds(above: NodeDefinition) -> bool:
    """Whether a node around the work bounds how often it is repeated."""
    if above.kind == "timeout":
        return True
    guards = [below for guard in above.children.get("guards", ()) for below in guard.walk()]
    if any(guard.has(*_BOUNDS) or _counts(above, guard) for guard in guards):
        return True
    if above.kind != "loop":
        return False
    if _counts(above, above):
        return True
    return any(
        step.has(*_BOUNDS) or step.kind in {"wait", "cooldown"} or _counts(above, step)
        for step in steps_of(above.children["child"][0])
    )


def _counts(loop: NodeDefinition, node: NodeDefinition) -> bool:
    """Whether an expression of a node reads a measure of progress: one of the agent's, or a key that the tree sets."""
    names = _names(node)
    if names & _MEASURES:
        return True
    written = {key for below in loop.walk() if below.kind == "set" for key in getattr(below.settings, "values", {})}
    return bool(names & written)


def _names(node: NodeDefinition) -> frozenset[str]:
    texts = [getattr(node.settings, name, None) for name in ("when", "until")]
    return frozenset(name for text in texts if isinstance(text, str) for name in names_in(text))
