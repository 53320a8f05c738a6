"""Expressions that remember how they came to their value: which clauses were asked, and what their names held.

A `TracedExpression` has the value, or the error, of the `Expression` with the same text; a test compares the two. An
expression has no effects and no other inputs than its names, so that of equal plain values its last evaluation is the
next one as well.
"""

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.explanation import Clause, Evaluation, Operand
from bt_runtime.language.expressions.compiler import Compiler, Lookup, Read
from bt_runtime.language.expressions.syntax import parse, span_of
from bt_runtime.language.kind import Value

_COMPARED = frozenset({bool, int, str, type(None)})
"""Types whose equal values cannot be told apart; floats have 0.0 and -0.0, and lists change in place."""


class TracedExpression:
    """An expression whose evaluations are given to `note`; takes the place of an `Expression`.

    Args:
        note: called after each evaluation.

    Raises:
        ExpressionError: the text is not a valid expression.
    """

    def __init__(self, text: str, *, names: Collection[str], note: Callable[[Evaluation], None]) -> None:
        self._form = _form(text, frozenset(names))
        self.text = text
        self.names = self._form.names
        self._note = note
        self._last: Evaluation | None = None  # that may be reused

    def evaluate(self, lookup: Lookup) -> Value:
        """The value, as `Expression.evaluate` has it."""
        form, last = self._form, self._last
        read = lookup if callable(lookup) else lookup.__getitem__
        if last is not None and _reads_the_same(last.operands, read):
            self._note(last)
            return last.value
        noted = _Noted(read, form.clauses)
        value, problem = None, ""
        try:
            value = form.run(noted)
        except ExpressionError as error:
            problem = error.message
            raise
        except RecursionError:
            problem = "the values are nested too deep to compare"
            raise ExpressionError(problem) from None
        finally:
            places = form.places
            operands = tuple([Operand(name, found, places.get(name, ())) for name, found in noted.read.items()])
            evaluation = Evaluation(self.text, value, problem, tuple(noted.clauses), operands)
            is_reusable = not problem and _COMPARED.issuperset(map(type, noted.read.values()))
            self._last = evaluation if is_reusable else None
            self._note(evaluation)
        return value


def _reads_the_same(operands: Sequence[Operand], read: Read) -> bool:
    """Whether the names of an evaluation still have its values; in the order in which it has read them."""
    try:
        for name, value, _ in operands:
            found = read(name)
            if found is not value and not (type(found) is type(value) and found == value):
                return False
    except Exception:  # noqa: BLE001  the evaluation meets it again, and notes it
        return False
    return True


class _Form(NamedTuple):
    """A traced expression without its `note`; immutable, and shared by all expressions with the same text and names.

    Args:
        run: evaluates it.
        clauses: before any of them is evaluated.
        places: of each name, in characters from 0.
    """

    names: frozenset[str]
    run: "_TracedRun"
    clauses: tuple[Clause, ...]
    places: Mapping[str, tuple[int, ...]]


@lru_cache(maxsize=4096)
def _form(text: str, names: frozenset[str]) -> _Form:
    compiler = Compiler(text, names)
    root = parse(text)
    compiler.compile(root)  # the depth of the whole is bounded as in an `Expression`
    places: dict[str, list[int]] = {}
    for part in ast.walk(root):
        if isinstance(part, ast.Name) and part.id in compiler.used:
            places.setdefault(part.id, []).append(span_of(part, text)[0])
    tracing = _Tracing(text, compiler)
    run = tracing.traced(root)
    known = {name: tuple(sorted(found)) for name, found in places.items()}
    return _Form(frozenset(compiler.used), run, tuple(tracing.clauses), known)


class _Tracing:
    """Makes the closures of an expression; `clauses` are those met so far, in the order of the text."""

    def __init__(self, text: str, compiler: Compiler) -> None:
        self._text = text
        self._compiler = compiler
        self.clauses: list[Clause] = []

    def traced(self, part: ast.expr) -> "_TracedRun":
        """The closure of a part; the parts of its logic are clauses."""
        match part:
            case ast.BoolOp():
                parts = [self.traced(each) for each in part.values]
                stops_at = isinstance(part.op, ast.Or)

                def logic(noted: _Noted) -> Value:
                    value: Value = None
                    for run in parts:
                        value = run(noted)
                        if bool(value) is stops_at:
                            break
                    return value

                return logic
            case ast.UnaryOp(op=ast.Not()):
                operand = self.traced(part.operand)
                return lambda noted: not operand(noted)
            case ast.IfExp():
                then, test = self.traced(part.body), self.traced(part.test)
                other = self.traced(part.orelse)
                return lambda noted: then(noted) if test(noted) else other(noted)
        return self._clause(part)

    def _clause(self, part: ast.expr) -> "_TracedRun":
        at, run = len(self.clauses), self._compiler.compile(part)
        start, end = span_of(part, self._text)
        asked = Clause(start, end, asked=True)
        self.clauses.append(Clause(start, end, asked=False))

        def clause(noted: _Noted) -> Value:
            noted.clauses[at] = asked  # also if it fails
            value = run(noted.lookup)
            noted.clauses[at] = Clause(start, end, True, value)  # noqa: FBT003  a tuple is made for each clause
            return value

        return clause


class _Noted:
    """What one evaluation has read, and its clauses."""

    __slots__ = ("_read", "clauses", "read")

    def __init__(self, read: Read, clauses: tuple[Clause, ...]) -> None:
        self.clauses = list(clauses)
        self.read: dict[str, object] = {}
        self._read = read

    def lookup(self, name: str) -> object:
        """The value of a name."""
        value = self.read[name] = self._read(name)
        return value


_TracedRun = Callable[[_Noted], Value]
