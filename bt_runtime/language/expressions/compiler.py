"""Compiled expressions: from the syntax tree to closures; only the listed syntax is allowed.

Each part becomes a function of `read`, which returns the value of a name. Depth is bounded, and so is recursion.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field
from typing import NoReturn

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.operations import (
    ARITHMETIC,
    COMPARISONS,
    FUNCTIONS,
    OperandError,
    bounded_list,
    bounded_number,
    entry,
    negative,
)
from bt_runtime.language.expressions.syntax import column_of, parse
from bt_runtime.language.kind import Value
from bt_runtime.text import did_you_mean, listing
from bt_runtime.text.data import dataclass

Read = Callable[[str], object]
Run = Callable[[Read], Value]

DEEPEST = 50
CONSTANTS = {"true": True, "false": False, "null": None}

_REFUSED = {
    "Lambda": "a lambda",
    "ListComp": "a comprehension",
    "SetComp": "a comprehension",
    "DictComp": "a comprehension",
    "GeneratorExp": "a comprehension",
    "NamedExpr": "an assignment",
    "JoinedStr": "an f-string",
    "Dict": "a map in braces",
    "Set": "a set in braces",
    "Starred": "a star",
    "Slice": "a slice",
    "Await": "'await'",
    "Yield": "'yield'",
    "YieldFrom": "'yield'",
}
_REFUSED_OPERATORS = {
    "Pow": "'**'",
    "LShift": "'<<'",
    "RShift": "'>>'",
    "BitAnd": "'&'",
    "BitOr": "'|'",
    "BitXor": "'^'",
    "MatMult": "'@'",
    "Invert": "'~'",
    "UAdd": "a leading '+'",
}
_HINTS = {"BitAnd": "write 'and'", "BitOr": "write 'or'", "Invert": "write 'not'", "JoinedStr": "join texts with '+'"}


class Compiler:
    """Compiles the parts of one expression."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self._text = text
        self._names = names
        self.used: set[str] = set()
        self._parts: dict[type[ast.expr], Callable[[Value, int], Run]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.BoolOp: self._logic,
            ast.UnaryOp: self._unary,
            ast.Compare: self._compare,
            ast.BinOp: self._binary,
            ast.IfExp: self._conditional,
            ast.List: self._list,
            ast.Tuple: self._list,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Call: self._call,
        }

    def compile(self, node: ast.expr, depth: int = 0) -> Run:
        """The closure of a part.

        Raises:
            ExpressionError: the part is not allowed, or uses an unknown name.
        """
        if depth > DEEPEST:
            self._refuse(node, f"the expression is nested more than {DEEPEST} deep", "split it over several nodes")
        part = self._parts.get(type(node))
        if part is None:
            kind = type(node).__name__
            self._refuse(node, f"{_REFUSED.get(kind, kind)} is not allowed in an expression", _HINTS.get(kind))
        return part(node, depth + 1)

    def _refuse(self, node: ast.expr, message: str, hint: str | None = None) -> NoReturn:
        raise ExpressionError(message, column_of(node, self._text), hint)

    def _constant(self, node: ast.Constant, _depth: int) -> Run:
        value = node.value
        if value is not None and not isinstance(value, bool | int | float | str):
            self._refuse(node, "only numbers, text, true, false and null are allowed here")
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                bounded_number(value, "the number")
            except OperandError as error:
                self._refuse(node, error.message)
        return lambda _read: value

    def _name(self, node: ast.Name, _depth: int) -> Run:
        name = node.id
        if name in CONSTANTS:
            value = CONSTANTS[name]
            return lambda _read: value
        if name not in self._names:
            if node.id in FUNCTIONS:
                self._refuse(node, f"{node.id!r} is a function", f"call it: {FUNCTIONS[node.id].usage}")
            hint = did_you_mean(node.id, [*self._names, *CONSTANTS])
            known = f"known names: {listing(self._names)}" if self._names else "no names are known here"
            self._refuse(node, f"there is no blackboard key or parameter {node.id!r}", hint or known)
        self.used.add(name)
        column = column_of(node, self._text)

        def run(read: Read) -> object:
            try:
                return read(name)
            except KeyError:
                raise ExpressionError(f"there is no value for {name!r}", column) from None

        return run

    def _logic(self, node: ast.BoolOp, depth: int) -> Run:
        parts = [self.compile(part, depth) for part in node.values]
        first, *others = parts
        stops_at = isinstance(node.op, ast.Or)
        if len(others) == 1:
            second = others[0]
            if stops_at:
                return lambda read: first(read) or second(read)
            return lambda read: first(read) and second(read)

        def run(read: Read) -> Value:
            value: Value = None
            for part in parts:
                value = part(read)
                if bool(value) is stops_at:
                    return value
            return value

        return run

    def _unary(self, node: ast.UnaryOp, depth: int) -> Run:
        operator = type(node.op).__name__
        if operator in _REFUSED_OPERATORS:
            self._refuse(node, f"{_REFUSED_OPERATORS[operator]} is not used in expressions", _HINTS.get(operator))
        operand = self.compile(node.operand, depth)
        if isinstance(node.op, ast.Not):
            return lambda read: not operand(read)
        return self._checked(node, lambda read: negative(operand(read)))

    def _compare(self, node: ast.Compare, depth: int) -> Run:
        first = self.compile(node.left, depth)
        steps = []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.Is | ast.IsNot) and not _is_singleton(right):
                self._refuse(right, "'is' compares only with null, true or false", "compare with '=='")
            steps.append((COMPARISONS[type(operator).__name__], self.compile(right, depth)))
        if len(steps) == 1:
            compare, second = steps[0]
            if _is_constant(node.comparators[0]):  # most comparisons are with one
                return self._compared(node, first, compare, second(CONSTANTS.__getitem__))
            return self._checked(node, lambda read: compare(first(read), second(read)))

        def run(read: Read) -> bool:
            left = first(read)
            for compare, part in steps:
                right = part(read)
                if not compare(left, right):
                    return False
                left = right
            return True

        return self._checked(node, run)

    def _compared(self, node: ast.expr, part: Run, compare: Callable[[Value, Value], bool], value: Value) -> Run:
        """`_checked` of a comparison with a constant, in one closure."""
        column = column_of(node, self._text)

        def compared(read: Read) -> Value:
            try:
                return compare(part(read), value)
            except OperandError as error:
                raise ExpressionError(error.message, column, error.hint) from None

        return compared

    def _binary(self, node: ast.BinOp, depth: int) -> Run:
        operator = type(node.op).__name__
        compute = ARITHMETIC.get(operator)
        if compute is None:
            refused = _REFUSED_OPERATORS.get(operator, operator)
            self._refuse(node, f"{refused} is not used in expressions", _HINTS.get(operator))
        left, right = self.compile(node.left, depth), self.compile(node.right, depth)
        return self._checked(node, lambda read: compute(left(read), right(read)))

    def _conditional(self, node: ast.IfExp, depth: int) -> Run:
        test, then, other = (self.compile(part, depth) for part in (node.test, node.body, node.orelse))
        return lambda read: then(read) if test(read) else other(read)

    def _list(self, node: ast.List | ast.Tuple, depth: int) -> Run:
        parts = [self.compile(part, depth) for part in node.elts]
        return self._checked(node, lambda read: bounded_list([part(read) for part in parts]))

    def _attribute(self, node: ast.Attribute, depth: int) -> Run:
        container, key = self.compile(node.value, depth), node.attr
        return self._checked(node, lambda read: entry(container(read), key))

    def _subscript(self, node: ast.Subscript, depth: int) -> Run:
        key = _constant_key(node.slice)
        if key is None:
            self._refuse(node.slice, "only a text or a whole number is allowed in brackets", 'for example: x["key"]')
        container = self.compile(node.value, depth)
        return self._checked(node, lambda read: entry(container(read), key))

    def _call(self, node: ast.Call, depth: int) -> Run:
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            hint = f"write {FUNCTIONS[name].usage}" if name in FUNCTIONS else f"functions: {listing(FUNCTIONS)}"
            self._refuse(node, f"{name!r} is called as a method, which values do not have", hint)
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            name = node.func.id if isinstance(node.func, ast.Name) else "this"
            hint = did_you_mean(name, FUNCTIONS) or f"functions: {listing(FUNCTIONS)}"
            self._refuse(node, f"{name!r} is not a function of expressions", hint)
        function = FUNCTIONS[node.func.id]
        if node.keywords or not function.least <= len(node.args) <= function.most:
            self._refuse(node, f"{node.func.id!r} does not take these arguments", f"write {function.usage}")
        parts = [self.compile(part, depth) for part in node.args]
        call = function.run
        if len(parts) == 1:
            only = parts[0]
            return self._checked(node, lambda read: call(only(read)))
        return self._checked(node, lambda read: call(*[part(read) for part in parts]))

    def _checked(self, node: ast.expr, run: Run) -> Run:
        """The closure, with operand errors raised as expression errors with the part's column."""
        column = column_of(node, self._text)

        def checked(read: Read) -> Value:
            try:
                return run(read)
            except OperandError as error:
                raise ExpressionError(error.message, column, error.hint) from None

        return checked


def _is_singleton(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id in CONSTANTS
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.List | ast.Tuple):
        return all(map(_is_constant, node.elts))
    return isinstance(node, ast.Constant) or _is_singleton(node)


def _constant_key(node: ast.expr) -> str | int | None:
    """The constant in brackets; `None` for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, int) and not isinstance(value, bool) else None
    return None


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


class AnyName(Collection[str]):
    """All names: for conditions over fields that are not known in advance."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


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
