"""A traced expression has the value of the plain one, and says how it came to it."""

from bt_runtime import Clause, Evaluation, Operand
from bt_runtime.expressions.evaluation import TracedExpression


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
