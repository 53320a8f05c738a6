"""Judges what bounds work that costs money and time: guards, the cancel, times; and how figures are compared."""

import ast
from collections.abc import Iterator, Mapping

from bt_runtime.analysis.accesses import Access, expressions, warning_at
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow, number_of, said, steps_of, warning
from bt_runtime.analysis.states import names_in
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.expressions.syntax import column_of, parse
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import ASKS_MODEL, LIMITS_TIME, LIMITS_TOKENS, LIMITS_TURNS, SEES_CANCEL, WORK

CODES = (
    Code(
        "unbounded-turns",
        "Turns or tool calls repeat without a guard on turns, tokens or time.",
        "Only the built-in limits end the run, with an error. Add `turn_budget`, `token_budget` and `deadline` to "
        "the loop's guards.",
    ),
    Code(
        "limit-without-effect",
        "The limit of a `turn_budget` is above the tree's `max_turns`.",
        "`max_turns` is reached first. Lower the limit of the guard, or remove it.",
    ),
    Code(
        "no-cancelled-guard",
        "The loop has guards, but no `cancelled` guard.",
        "A user's cancel then skips the end of the tree. Add `cancelled`.",
    ),
    Code(
        "no-deadline-guard",
        "The loop has guards, but none limits the time of its turns.",
        "Limits on turns and tokens do not help while a provider hangs. Add `deadline`, or a `timeout` around the "
        "turn.",
    ),
    Code(
        "longer-than-query",
        "A time or a number of turns exceeds what any run can have.",
        "A run has at most 600 seconds and 50 turns (120 seconds by default). Use a lower number.",
    ),
    Code(
        "wrong-measure",
        "A comparison mixes measures: a count with a share, or tokens with turns or seconds.",
        "Compare numbers of the same unit, such as `turn > 0.5 * turn_limit`.",
    ),
)
_BOUNDS = (LIMITS_TURNS, LIMITS_TOKENS, LIMITS_TIME)
_MEASURES = frozenset({"turn", "tokens_used", "turn_left", "empty_turns", "same_reason", "turns_without_signal"})
_USUAL_TURNS = 15
"""Of a query, unless its user allows more: the default of `max_iterations`."""
_MOST_TURNS = 50
"""The highest `max_iterations` that a user can ask for."""
_USUAL_S = 120
"""The default of `timeout_seconds`."""
_MOST_S = 600
"""The highest `timeout_seconds` that a user can ask for."""
_HINT = "times are seconds, not milliseconds"


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    yield from _protected(flow)
    yield from _figures(flow)


def _protected(flow: Flow) -> Iterator[Mistake]:
    """What bounds work; a part of other trees is protected by them."""
    for node in flow.nodes:
        if flow.is_reached(node):
            yield from _beyond_query(flow, node)
            if node.kind == "wait":
                yield from _pause(flow, node)
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
        message = f"no guard around {said(flow, node)} checks for the user's cancel"
        yield warning(flow, holder, "no-cancelled-guard", message, "add 'cancelled' to the guards, first")
    is_limited = getattr(node.settings, "timeout_s", None) is not None or any(
        above.kind == "timeout" for above in flow.above(node)
    )
    if not is_limited and not any(guard.has(LIMITS_TIME) for guard in guards):
        message = f"no guard around {said(flow, node)} limits its time: a provider that hangs blocks the run"
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
    loops = [
        above
        for above in around
        if above.kind == "loop" or (above.kind == "repeat" and (number_of(above, "times") or 0) > _USUAL_TURNS)
    ]
    if not loops or not _repeats(flow, loops[0]) or any(_bounds(above) for above in around):
        return
    message = f"{said(flow, node)} can be repeated without end: nothing here counts turns, tokens or time"
    hint = "guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]"
    yield warning(flow, loops[0], "unbounded-turns", message, hint)


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


# --- against the longest that a query has


def _beyond_query(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    name = "timeout_s" if node.kind == "wait" or node.has(*WORK) else "seconds"
    seconds = number_of(node, name)
    is_limit = name == "timeout_s" or node.kind == "timeout" or node.has(LIMITS_TIME)
    if is_limit and seconds is not None and seconds > _MOST_S:
        message = f"{seconds:g} s are never reached: a run has {_MOST_S} s at most"
        yield warning(flow, node, "longer-than-query", message, _HINT)
    turns = number_of(node, "limit") if node.has(LIMITS_TURNS) else None
    if turns is not None and turns > _MOST_TURNS:
        message = f"{turns:g} turns are never reached: a run has {_MOST_TURNS} at most"
        yield warning(flow, node, "longer-than-query", message, "write a lower limit, or none")


def _pause(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """A pause of the whole query: one in parallel with other work may be there to be interrupted."""
    seconds = number_of(node, "seconds")
    above = tuple(flow.above(node))
    if seconds is None or any(each.kind in {"parallel", "timeout", "guarded"} for each in above):
        return
    rounds = 1
    for each in above:
        rounds *= _rounds(each)
    if seconds > _USUAL_S or seconds * rounds > _MOST_S:
        times = f" in each of {rounds} rounds" if rounds > 1 else ""
        message = (
            f"this waits {seconds:g} s{times}, and a run has {_USUAL_S} s unless its user allows more (at most "
            f"{_MOST_S} s)"
        )
        yield warning(flow, node, "longer-than-query", message, _HINT)


def _rounds(node: NodeDefinition) -> int:
    """How often a node ticks its child, as far as that is written there."""
    if node.kind == "for_each":
        items = getattr(node.settings, "items", None)
        return len(items) if isinstance(items, list) and items else 1
    times = getattr(node.settings, "times", 1) if node.kind == "repeat" else 1
    return times if isinstance(times, int) else 1


_MEASURED: Mapping[str, str] = {
    **dict.fromkeys(("tokens_used", "token_budget"), "tokens"),
    **dict.fromkeys(("turn", "turn_limit", "max_turns"), "turns"),
    **dict.fromkeys(("seconds_left", "time_limit"), "seconds"),
}
_LIMITS = frozenset({"token_budget", "turn_limit", "max_turns", "time_limit"})
_MOST_PERCENT = 100
_LEAST_PERCENT = 2


def _figures(flow: Flow) -> Iterator[Mistake]:
    """Comparisons of what is measured in different ways: counts with shares, tokens with turns."""
    for node in flow.nodes:
        for placed, text in expressions(node) if flow.is_reached(node) else ():
            for part in ast.walk(parse(text)):
                if isinstance(part, ast.Compare) and len(part.ops) == 1:
                    found = _compared(flow, node, part.left, part.comparators[0])
                    if found is not None:
                        access = Access(node, placed, column_of(part, text))
                        yield warning_at(access, "wrong-measure", *found, length=len(ast.unparse(part)))


def _compared(flow: Flow, node: NodeDefinition, left: ast.expr, right: ast.expr) -> tuple[str, str] | None:
    """What is wrong with a comparison, and what would be right."""
    for one, other in ((left, right), (right, left)):
        number = _number(other)
        if number is not None and (found := _with_number(flow, node, one, number)) is not None:
            return found
    mine, theirs = _measure(node, left), _measure(node, right)
    if mine and theirs and mine != theirs:
        return f"this compares {mine} with {theirs}", "compare numbers of the same unit"
    return None


def _with_number(flow: Flow, node: NodeDefinition, one: ast.expr, number: float) -> tuple[str, str] | None:
    is_share = 0 < number < 1
    match one:
        case ast.Name(id=name) if name not in node.constants:
            key = flow.tree.keys.get(node.private.get(name, name))
            of = {"tokens_used": " * token_budget", "turn": " * turn_limit"}.get(name)
            right = f"write {number:g}{of}" if of else "compare it with a whole number"
            if key is not None and key.type == "int" and is_share:
                return f"{name!r} is a whole number, and {number:g} is a share", right
            if name == "tokens_used" and 1 < number <= _MOST_PERCENT:
                return f"'tokens_used' counts tokens, and is above {number:g} after any turn", (
                    f"write {number / _MOST_PERCENT:g} * token_budget for {number:g} percent"
                )
        case ast.BinOp(op=ast.Div(), left=counted, right=ast.Name(id=limit)) if limit in _LIMITS:
            if _is_percent(counted) and is_share:
                return f"this is a number of percent, and {number:g} is a share", f"write {number * 100:g}"
            if not _is_percent(counted) and _measure(node, counted) and _LEAST_PERCENT <= number <= _MOST_PERCENT:
                return f"this is a share, and never as much as {number:g}", f"write {number / _MOST_PERCENT:g}"
        case ast.BinOp(op=ast.Mult(), left=ast.BinOp(op=ast.Div()) as share, right=times) if is_share:
            if _measure(node, share.left) and _number(times) == _MOST_PERCENT:
                return f"this is a number of percent, and {number:g} is a share", f"write {number * 100:g}"
    return None


def _is_percent(part: ast.expr) -> bool:
    numbers = (_number(side) for side in (part.left, part.right)) if isinstance(part, ast.BinOp) else ()
    return _MOST_PERCENT in numbers


def _number(part: ast.expr) -> float | None:
    value = part.value if isinstance(part, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _measure(node: NodeDefinition, part: ast.expr) -> str | None:
    """In what a part is measured; `None` if that is not known."""
    match part:
        case ast.Name(id=name):
            return None if name in node.constants or name in node.private else _MEASURED.get(name)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            measures = [_measure(node, side) for side in (left, right)]
            numbers = [_number(side) is not None for side in (left, right)]
            return next((each for each, number in zip(measures, reversed(numbers), strict=True) if number), None)
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            measures = [_measure(node, side) for side in (left, right) if _number(side) is None]
            return measures[0] if len(set(measures)) == 1 else None
        case ast.BinOp(op=ast.Div() | ast.FloorDiv(), left=left, right=right) if _number(right) is not None:
            return _measure(node, left)
    return None
