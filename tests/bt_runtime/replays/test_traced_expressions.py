"""A traced expression has the value of the plain one, and says how it came to it."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from bt_runtime import Clause, Evaluation, ExpressionError, Operand
from bt_runtime.language.expressions.compiler import compile_expression
from bt_runtime.replays.traced_expressions import TracedExpression


def test_clauses_that_are_not_asked_and_operands_with_their_places():
    noted: list[Evaluation] = []
    text = 'signal == "stuck" or turn >= 3 and turn < limit'
    traced = TracedExpression(text, names=["signal", "turn", "limit"], note=noted.append)
    assert traced.evaluate({"signal": "stuck", "turn": 1, "limit": 9}) is True
    (found,) = noted
    assert [text[clause.start : clause.end] for clause in found.clauses] == [
        'signal == "stuck"',
        "turn >= 3",
        "turn < limit",
    ]
    assert found.clauses[0] == Clause(0, 17, asked=True, value=True)
    assert [clause.asked for clause in found.clauses] == [True, False, False]
    assert found.operands == (Operand("signal", "stuck", (0,)),)


VALUES = st.fixed_dictionaries(
    {
        "a": st.none() | st.booleans(),
        "n": st.none() | st.integers(-2, 5),
        "t": st.sampled_from(["", "x", "stuck"]),
        "l": st.lists(st.integers(0, 2), max_size=2),
    }
)
ATOMS = st.sampled_from(
    [
        "a",
        "n > 3",
        "1 < n <= 4",
        "t == 'x'",
        "n in l",
        "t > n",
        "l",
        "n + 1",
        "a is null",
        "len(t) > 1",
        "t[0]",
        "n / n",
    ]
)
PARTS = st.recursive(
    ATOMS,
    lambda part: st.one_of(
        st.tuples(st.just("not"), part),
        st.tuples(st.sampled_from(["and", "or"]), part, part),
        st.tuples(st.just("if"), part, part, part),
    ),
    max_leaves=8,
)


def written(part, at=0):
    """The text of a part that begins at a character, and its clauses: the places of its atoms, in their order."""
    if isinstance(part, str):
        return part, [(at, at + len(part))]
    words = {
        "not": ["(not ", ")"],
        "and": ["(", " and ", ")"],
        "or": ["(", " or ", ")"],
        "if": ["(", " if ", " else ", ")"],
    }
    text, clauses = "", []
    for word, inner in zip(words[part[0]], [*part[1:], None], strict=True):
        text += word
        if inner is not None:
            more, places = written(inner, at + len(text))
            text, clauses = text + more, clauses + places
    return text, clauses


class Naive:
    """Evaluates a part, asking the plain expression for each atom; `asked` has the places of those that it asked."""

    def __init__(self, values):
        self.values, self.asked = values, []

    def value(self, part, at=0):
        if isinstance(part, str):
            self.asked.append((at, at + len(part)))
            return compile_expression(part, names=self.values).evaluate(self.values)
        kind, *inner = part
        begins = self.begins(part, at)
        if kind == "not":
            return not self.value(inner[0], begins[0])
        if kind == "if":
            chosen = 0 if self.value(inner[1], begins[1]) else 2
            return self.value(inner[chosen], begins[chosen])
        first = self.value(inner[0], begins[0])
        return first if bool(first) is (kind == "or") else self.value(inner[1], begins[1])

    @staticmethod
    def begins(part, at):
        text = written(part)[0]
        begins, pos = [], {"not": 5}.get(part[0], 1)
        for each in part[1:]:
            begins.append(at + pos)
            pos += len(written(each)[0]) + {"and": 5, "or": 4, "if": 4 if not begins[1:] else 6}.get(part[0], 0)
        assert text
        return begins


def outcome_of(evaluate):
    try:
        return evaluate(), ""
    except ExpressionError as error:
        return None, error.message


@given(PARTS, VALUES)
def test_it_has_the_value_or_the_error_of_the_plain_one_and_asks_what_a_naive_evaluator_asks(part, values):
    text, places = written(part)
    noted: list[Evaluation] = []
    traced = TracedExpression(text, names=values, note=noted.append)
    plain = compile_expression(text, names=values)
    expected = outcome_of(lambda: plain.evaluate(values))
    assert outcome_of(lambda: traced.evaluate(values)) == expected
    (found,) = noted
    assert (found.value, found.error) == expected
    naive = Naive(values)
    assert outcome_of(lambda: naive.value(part))[0] == expected[0]
    assert [(clause.start, clause.end) for clause in found.clauses] == places
    assert {(clause.start, clause.end) for clause in found.clauses if clause.asked} == set(naive.asked)
    assert all(values[operand.name] is operand.value for operand in found.operands)
    assert traced.names == plain.names


EQUAL = st.sampled_from([1, 1.0, True, 0.0, -0.0, None])


@given(PARTS, st.lists(st.tuples(VALUES, st.none() | EQUAL), max_size=6))
def test_what_is_evaluated_again_is_noted_as_by_a_new_expression(part, lookups):
    text = written(part)[0]
    noted: list[Evaluation] = []
    kept = TracedExpression(text, names="antl", note=noted.append)
    for values, number in lookups:
        lookup = values | {"n": number}
        for _ in range(2):
            anew = TracedExpression(text, names="antl", note=noted.append)
            outcomes = [outcome_of(partial(traced.evaluate, lookup)) for traced in (kept, anew)]
            assert repr(outcomes[0]) == repr(outcomes[1])
            assert repr(noted[-2]) == repr(noted[-1])


def test_a_list_that_has_changed_in_place_is_read_again():
    noted: list[Evaluation] = []
    values: list[int] = []
    traced = TracedExpression("1 in l", names=["l"], note=noted.append)
    assert traced.evaluate({"l": values}) is False
    values.append(1)
    assert traced.evaluate({"l": values}) is True
    assert [evaluation.value for evaluation in noted] == [False, True]
