"""Judges comparisons of what is measured in different ways: counts with shares, tokens with turns."""

import ast
from collections.abc import Iterator, Mapping

from bt_runtime.analysis.accesses import Access, expressions, warning_at
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.expressions.syntax import column_of, parse
from bt_runtime.text import Mistake

CODES = (
    Code("wrong-measure", "A comparison of a count with a share, or of two things that are measured differently."),
)
_MEASURES: Mapping[str, str] = {
    **dict.fromkeys(("tokens_used", "token_budget"), "tokens"),
    **dict.fromkeys(("turn", "turn_limit", "max_turns"), "turns"),
    **dict.fromkeys(("seconds_left", "time_limit"), "seconds"),
}
_LIMITS = frozenset({"token_budget", "turn_limit", "max_turns", "time_limit"})
_MOST_PERCENT = 100
_LEAST_PERCENT = 2


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
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
        return f"this compares {mine} with {theirs}", "compare what is measured alike"
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
            return None if name in node.constants or name in node.private else _MEASURES.get(name)
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
