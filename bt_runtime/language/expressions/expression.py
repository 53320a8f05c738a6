"""Compiled expressions."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.compiler import Compiler, Run
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import Value

Lookup = Callable[[str], object] | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that can be evaluated any number of times; made by `compile_expression`.

    Args:
        names: the blackboard keys and parameters that it reads.
    """

    text: str
    names: frozenset[str]
    _run: Run = field(repr=False, compare=False)

    def evaluate(self, lookup: Lookup) -> Value:
        """The value, given the values of the names.

        Args:
            lookup: returns the value of a name; a mapping, or a function that may raise `KeyError`.

        Raises:
            ExpressionError: the values do not fit the operations; the message shows them.
        """
        read = lookup if callable(lookup) else lookup.__getitem__
        try:
            return self._run(read)
        except RecursionError:
            raise ExpressionError("the values are nested too deep to compare") from None


def compile_expression(text: str, *, names: Collection[str]) -> Expression:
    """Check and compile an expression.

    Args:
        text: the expression as its author wrote it, at most 500 characters.
        names: the blackboard keys and parameters that may be named.

    Raises:
        ExpressionError: with the column of the first mistake.
    """
    compiler = Compiler(text, names)
    run = compiler.compile(parse(text))
    return Expression(text=text, names=frozenset(compiler.used), _run=run)
