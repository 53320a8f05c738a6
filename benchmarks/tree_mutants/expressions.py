"""Small changes of an expression of a tree.

The language resembles Python's expressions, so Python's parser finds the places; the text is changed there.
"""

import ast
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Final

_COMPARISONS: Final = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
_ARITHMETIC: Final = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Mod: ("%", "//")}


def changed(text: str, *, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each change as (operator, text).

    Args:
        text: the expression.
        words: constants of text in the tree; one takes the place of another.
    """
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.expr):
            yield from _of(node, text, words)


def _of(node: ast.expr, text: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare():
            yield from _of_comparison(node, text)
        case ast.BoolOp():
            yield from _of_logic(node, text)
        case ast.UnaryOp(op=ast.Not()):
            yield "drop-not", _put(text, _span(node), text[slice(*_span(node.operand))])
        case ast.BinOp(op=operator) if type(operator) in _ARITHMETIC:
            between = (_span(node.left)[1], _span(node.right)[0])
            yield "arithmetic", _put(text, between, text[slice(*between)].replace(*_ARITHMETIC[type(operator)]))
        case ast.Constant(value=int() | float() as number):
            step = 1 if isinstance(number, int) else 0.1
            yield from (("number", _put(text, _span(node), f"{other:g}")) for other in (number + step, number - step))
        case ast.Constant(value=str() as word):
            if other := after(word, words):
                yield "word", _put(text, _span(node), json.dumps(other))


def _of_comparison(node: ast.Compare, text: str) -> Iterator[tuple[str, str]]:
    for operator, left, right in zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False):
        sign, others = _COMPARISONS.get(type(operator), ("", ()))
        between = (_span(left)[1], _span(right)[0])
        for other in others:
            yield "comparison", _put(text, between, text[slice(*between)].replace(sign, other))


def _of_logic(node: ast.BoolOp, text: str) -> Iterator[tuple[str, str]]:
    sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    parts = [text[slice(*_span(part))] for part in node.values]
    yield "and-or", _put(text, _span(node), f"({f' {other} '.join(parts)})")
    for number in range(len(parts)):
        rest = [part for index, part in enumerate(parts) if index != number]
        yield "drop-part", _put(text, _span(node), f"({f' {sign} '.join(rest)})")


def _put(text: str, span: tuple[int, int], instead: str) -> str:
    return text[: span[0]] + instead + text[span[1] :]


def after(word: str, words: Sequence[str]) -> str | None:
    """The word that follows in the list, which is taken as a ring; `None` if there is no other."""
    if word not in words:
        return None
    ring = itertools.cycle(words)
    found = next(other for each, other in itertools.pairwise(ring) if each == word)
    return found if found != word else None


def _span(node: ast.expr) -> tuple[int, int]:
    assert node.lineno == node.end_lineno == 1
    assert node.end_col_offset is not None
    return node.col_offset, node.end_col_offset
