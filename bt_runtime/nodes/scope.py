"""The names that a node's expressions see: the blackboard's keys, and the arguments of the subtree it stands in."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import inf
from typing import Any

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.compiler import Expression, Lookup, compile_expression
from bt_runtime.language.kind import has_type
from bt_runtime.nodes.base import Node
from bt_runtime.nodes.context import Compiled
from bt_runtime.text import brief

CompiledValues = tuple[tuple[str, Compiled | None, object], ...]


def compile_in_scope(text: str, node: Node[Any]) -> Compiled:
    """Compile an expression of a node's settings; if the run has a trace, that makes it.

    Raises:
        ExpressionError: it is invalid; the reader accepts no tree with such an expression.
    """
    definition, names, trace = node.definition, node.run.names, node.run.trace
    if definition.private or definition.constants:
        names = names.union(definition.private, definition.constants)
    if trace is not None:
        return trace.expression(text, names=names)
    return _compiled(text, names)


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


def number_of(
    value: float | str,
    node: Node[Any],
    *,
    setting: str,
    least: float,
    most: float = inf,
    whole: bool = False,
) -> Any:  # noqa: ANN401  int or float, as `whole` says
    """A setting's number: the number itself, or the present value of an expression.

    Args:
        value: a number that the settings have validated, or the text of an expression.
        node: whose scope the expression has.
        setting: its name in messages.
        least: the smallest value of an expression.
        most: the largest.
        whole: the value must be a whole number.

    Raises:
        ExpressionError: the value of the expression is not such a number.
    """
    if not isinstance(value, str):
        return value
    found = compile_in_scope(value, node).evaluate(lookup_in_scope(node))
    if found is None or not has_type(found, "int" if whole else "float") or not least <= found <= most:
        kind = "a whole number" if whole else "a number"
        bounds = f"of at least {least:g}" if most == inf else f"from {least:g} to {most:g}"
        raise ExpressionError(f"{setting!r} must be {kind} {bounds}, not {brief(found)}")
    return found


@lru_cache(maxsize=4096)
def _compiled(text: str, names: frozenset[str]) -> Expression:
    """Expressions are immutable, and every run of a tree needs the same ones."""
    return compile_expression(text, names=names)


def lookup_in_scope(node: Node[Any]) -> Lookup:
    """The current values; arguments hide keys of the same name."""
    definition = node.definition
    constants, private, read = definition.constants, definition.private, node.run.read
    if private:
        read = node.board.__getitem__
    if not constants:
        return read
    return lambda name: constants[name] if name in constants else read(name)
