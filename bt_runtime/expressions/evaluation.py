"""Expressions that remember how they came to their value: which clauses were asked, and what their names held.

A `TracedExpression` has the value, or the error, of the `Expression` with the same text; a test compares the two.
"""

import ast
from collections.abc import Callable, Collection

from bt_runtime.errors import ExpressionError
from bt_runtime.explanation import Clause, Evaluation, Operand
from bt_runtime.expressions.compiler import Compiler, Read, Run
from bt_runtime.expressions.expression import Lookup
from bt_runtime.expressions.syntax import parse, span_of
from bt_runtime.kind import Value


class TracedExpression:
    """An expression whose evaluations are given to `note`; takes the place of an `Expression`.

    Args:
        text: as written.
        names: that it may read.
        note: called after each evaluation.

    Raises:
        ExpressionError: the text is not a valid expression.
    """

    def __init__(self, text: str, *, names: Collection[str], note: Callable[[Evaluation], None]) -> None:
        compiler = Compiler(text, names)
        root = parse(text)
        compiler.compile(root)  # the depth of the whole is bounded as in an `Expression`
        self.text = text
        self.names = frozenset(compiler.used)
        self._note = note
        self._compiler = compiler
        self._spans: list[tuple[int, int]] = []
        self._places: dict[str, list[int]] = {}
        for part in ast.walk(root):
            if isinstance(part, ast.Name) and part.id in self.names:
                self._places.setdefault(part.id, []).append(span_of(part, text)[0])
        self._run = self._traced(root)

    def evaluate(self, lookup: Lookup) -> Value:
        """The value, as `Expression.evaluate` has it."""
        read = lookup if callable(lookup) else lookup.__getitem__
        noted = _Noted(read)
        value, problem = None, ""
        try:
            value = self._run(noted)
        except ExpressionError as error:
            problem = error.message
            raise
        except RecursionError:
            problem = "the values are nested too deep to compare"
            raise ExpressionError(problem) from None
        finally:
            clauses = tuple(
                Clause(start, end, at in noted.values, noted.values.get(at))
                for at, (start, end) in enumerate(self._spans)
            )
            operands = tuple(
                Operand(name, found, tuple(sorted(self._places.get(name, ())))) for name, found in noted.read.items()
            )
            self._note(Evaluation(self.text, value, problem, clauses, operands))
        return value

    def _traced(self, part: ast.expr) -> "_TracedRun":
        """The closure of a part; the parts of its logic are clauses."""
        match part:
            case ast.BoolOp():
                parts = [self._traced(each) for each in part.values]
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
                operand = self._traced(part.operand)
                return lambda noted: not operand(noted)
            case ast.IfExp():
                then, test, other = (
                    self._traced(part.body),
                    self._traced(part.test),
                    self._traced(part.orelse),
                )  # as in the text
                return lambda noted: then(noted) if test(noted) else other(noted)
        return self._clause(part)

    def _clause(self, part: ast.expr) -> "_TracedRun":
        at, run = len(self._spans), self._compiler.compile(part)
        self._spans.append(span_of(part, self.text))

        def clause(noted: _Noted) -> Value:
            noted.values[at] = None  # it is asked, also if it fails
            value = noted.values[at] = noted.take(run)
            return value

        return clause


class _Noted:
    """What one evaluation has read, and the values of its clauses."""

    def __init__(self, read: Read) -> None:
        self.values: dict[int, Value] = {}
        self.read: dict[str, object] = {}
        self._read = read

    def take(self, run: Run) -> Value:
        return run(self._lookup)

    def _lookup(self, name: str) -> object:
        value = self.read[name] = self._read(name)
        return value


_TracedRun = Callable[[_Noted], Value]
