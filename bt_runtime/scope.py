"""The names that a node's expressions see: the blackboard's keys, and the arguments of the subtree it stands in."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from bt_runtime.expressions import Expression, Lookup, compile_expression
from bt_runtime.nodes import Node

CompiledValues = tuple[tuple[str, Expression | None, object], ...]


def compile_in_scope(text: str, node: Node[Any]) -> Expression:
    """Compile an expression of a node's settings.

    Raises:
        ExpressionError: it is invalid; the reader accepts no tree with such an expression.
    """
    return _compiled(text, frozenset((*node.run.blackboard, *node.constants)))


def compile_values(values: Mapping[str, object], node: Node[Any]) -> CompiledValues:
    """The values of a mapping: texts as expressions, everything else as it is.

    Raises:
        ExpressionError: a text is not a valid expression.
    """
    return tuple(
        (name, compile_in_scope(value, node) if isinstance(value, str) else None, value)
        for name, value in values.items()
    )


def evaluated(values: CompiledValues, node: Node[Any]) -> Iterator[tuple[str, Any]]:
    """Each name with its current value, evaluated one after the other."""
    lookup = lookup_in_scope(node)
    for name, expression, literal in values:
        yield name, literal if expression is None else expression.evaluate(lookup)


@lru_cache(maxsize=4096)
def _compiled(text: str, names: frozenset[str]) -> Expression:
    """Expressions are immutable, and every run of a tree needs the same ones."""
    return compile_expression(text, names=names)


def lookup_in_scope(node: Node[Any]) -> Lookup:
    """The current values; arguments hide keys of the same name."""
    blackboard, constants = node.run.blackboard, node.constants
    if not constants:
        return blackboard
    return lambda name: constants[name] if name in constants else blackboard[name]
