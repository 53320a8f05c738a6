"""A compiled expression, which can be evaluated and explained."""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from bt_runtime.errors import ExpressionError
from bt_runtime.expressions.compiler import CONSTANTS, Compiler, Run
from bt_runtime.expressions.syntax import parse, segment
from bt_runtime.kind import Value
from bt_runtime.text import brief

Lookup = Callable[[str], object] | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that can be evaluated any number of times; made by `compile_expression`.

    Args:
        text: as written.
        names: the blackboard keys and parameters that it reads.
    """

    text: str
    names: frozenset[str]
    _tree: ast.expr = field(repr=False, compare=False)
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

    def explain(self, lookup: Lookup) -> str:
        """Why it has its value: `turn >= 3 was False: turn = 2`.

        Of `a and b`, only the part that decided is explained. Values that do not fit are explained too, and raise
        nothing.
        """
        read = lookup if callable(lookup) else lookup.__getitem__
        return self._explain(self._tree, read)

    def _explain(self, node: ast.expr, read: Callable[[str], object]) -> str:
        outcome, value = self._try(node, read)
        text = f"{segment(node, self.text)} {outcome}"
        decisive = self._decisive(node, value, read) if outcome.startswith("was") else None
        if decisive is not None:
            return f"{text} because {self._explain(decisive, read)}"
        operands = ", ".join(self._operands(node, read))
        return f"{text}: {operands}" if operands else text

    def _try(self, node: ast.expr, read: Callable[[str], object]) -> tuple[str, Value]:
        try:
            value = Compiler(self.text, self.names).compile(node)(read)
        except ExpressionError as error:
            return f"failed ({error.message})", None
        except RecursionError:
            return "failed (the values are nested too deep)", None
        return f"was {value if isinstance(value, bool) else brief(value)}", value

    def _decisive(self, node: ast.expr, value: Value, read: Callable[[str], object]) -> ast.expr | None:
        """The one part that decided a logical expression; `None` if all parts did."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return node.operand if isinstance(node.operand, ast.BoolOp | ast.Compare | ast.Call) else None
        if not isinstance(node, ast.BoolOp) or bool(value) is isinstance(node.op, ast.And):
            return None
        for part in node.values:
            outcome, result = self._try(part, read)
            if outcome.startswith("was") and bool(result) is isinstance(node.op, ast.Or):
                return part
        return None

    def _operands(self, node: ast.expr, read: Callable[[str], object]) -> Iterator[str]:
        """`turn = 2` for each name, with the keys read from it, in the order of the text."""
        seen: set[str] = set()
        for part in _accesses(node):
            text = segment(part, self.text)
            if text in seen:
                continue
            seen.add(text)
            try:
                value = Compiler(self.text, self.names).compile(part)(read)
            except ExpressionError:
                continue
            yield f"{text} = {brief(value)}"


def compile_expression(text: str, *, names: Collection[str]) -> Expression:
    """Check and compile an expression.

    Args:
        text: at most 500 characters.
        names: the blackboard keys and parameters that may be named.

    Raises:
        ExpressionError: with the column of the first mistake.
    """
    tree = parse(text)
    compiler = Compiler(text, names)
    run = compiler.compile(tree)
    return Expression(text=text, names=frozenset(compiler.used), _tree=tree, _run=run)


def _accesses(node: ast.expr) -> Iterator[ast.expr]:
    """The names of an expression, each with the attributes and subscripts that follow it."""
    if isinstance(node, ast.Name):
        if node.id not in CONSTANTS:
            yield node
    elif isinstance(node, ast.Attribute | ast.Subscript) and _is_access(node.value):
        yield node
    else:
        children = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
        for child in children:
            if isinstance(child, ast.expr):
                yield from _accesses(child)


def _is_access(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute | ast.Subscript):
        return _is_access(node.value)
    return isinstance(node, ast.Name) and node.id not in CONSTANTS
