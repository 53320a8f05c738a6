import json
import math
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.compiler import compile_expression
from bt_runtime.language.expressions.operations import FUNCTIONS

VALUES = {
    "turn": 2,
    "ratio": 0.5,
    "sources": [],
    "found": ["a", "b"],
    "frozen": ("a", "b"),
    "signal": {"type": "stuck", "confidence": 0.2, "in": 1},
    "nothing": None,
    "hint": "Be Brief",
    "done": False,
    "huge": 10**400,
}


def evaluate(text, values=VALUES):
    return compile_expression(text, names=VALUES).evaluate(values)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("turn >= 3", False),
        ("turn >= 3 and not sources", False),
        ("turn", 2),
        ("  turn\n  >= 2  ", True),
        ("1 < turn < 3", True),
        ("3 > turn > 2", False),
        ("not turn", False),
        ("true and True", True),
        ("null is None", True),
        ("nothing is null", True),
        ("nothing is not null", False),
        ("nothing == null", True),
        ("nothing != 3", True),
        ("done is false", True),
        ("nothing is not null and nothing > 3", False),
        ("nothing or 'x'", "x"),
        ("sources or found or 'x'", ["a", "b"]),
        ("1 and 2 and 0 and 4", 0),
        ("'a' if turn > 1 else 'b'", "a"),
        ("signal.type == 'stuck'", True),
        ("signal['type'] == \"stuck\"", True),
        ("signal.confidence < 0.3", True),
        ("found[0] + found[-1]", "ab"),
        ("frozen[1]", "b"),
        ("'a' in found and 'c' not in found", True),
        ("'type' in signal", True),
        ("3 in signal", False),
        ("turn in [1, 2] and turn in (2, null)", True),
        ("done in [0, 1] or turn not in [1, [2], 2]", False),
        ("sources == [] and found == ['a', 'b']", True),
        ("hint in []", False),
        ("'rie' in hint", True),
        ("turn in (1, 2)", True),
        ("turn in [true, 2.0]", True),
        ("'a' < 'b'", True),
        ("'b' <= 'a'", False),
        ("hint >= 'Be'", True),
        ("1 == true", False),
        ("1 in [true]", False),
        ("found == frozen", True),
        ("found != frozen", False),
        ("1 == '1'", False),
        ("1 + 2 * 3 - 4", 3),
        ("7 // 2 + 7 % 3", 4),
        ("1 / 4", 0.25),
        ("-turn", -2),
        ("1.5e2", 150.0),
        ("1_000", 1000),
        ("'a' + 'b'", "ab"),
        ("[1] + (2, 3)", [1, 2, 3]),
        ("len(found) + len(hint) + len(signal)", 13),
        ("min(3, turn, 5)", 2),
        ("max(found)", "b"),
        ("max([1, 2.5])", 2.5),
        ("any([0, 1])", True),
        ("all([])", True),
        ("abs(-3)", 3),
        ("round(2.567, 1)", 2.6),
        ("round(2.5)", 2),
        ("lower(hint)", "be brief"),
        ("upper('ß')", "SS"),
        ("startswith(hint, 'Be')", True),
        ("contains(hint, 'Brief')", True),
        ("contains(found, 'a')", True),
        (r"'it\'s'", "it's"),
        ("'名前' in hint", False),
        ("'#' in hint", False),
        ("'x = 3 && y'", "x = 3 && y"),
    ],
)
def test_an_expression_has_the_expected_value(text, value):
    result = evaluate(text)

    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("", 1, "the expression is empty", "for example: turn >= 3"),
        ("   ", 1, "the expression is empty", "for example: turn >= 3"),
        ("turn > 3 and  turm", 15, "there is no blackboard key or parameter 'turm'", "did you mean 'turn'?"),
        ("'é名' == hunt", 9, "there is no blackboard key or parameter 'hunt'", "did you mean 'hint'?"),
        ("  turm", 3, "there is no blackboard key or parameter 'turm'", "did you mean 'turn'?"),
        ("turn\n  > turm", 10, "there is no blackboard key or parameter 'turm'", "did you mean 'turn'?"),
        ("len", 1, "'len' is a function", "call it: len(value)"),
        ("lenn(found)", 1, "'lenn' is not a function of expressions", "did you mean 'len'?"),
        ("len()", 1, "'len' does not take these arguments", "write len(value)"),
        ("round(1, ndigits=2)", 1, "'round' does not take these arguments",
         "write round(number) or round(number, digits)"),
        ("hint.lower()", 1, "'lower' is called as a method, which values do not have", "write lower(text)"),
        ("turn = 3", 6, "'=' is not used in expressions", "compare with '=='"),
        ("turn === 3", 6, "'===' is not used in expressions", "compare with '=='"),
        ("turn && done", 6, "'&&' is not used in expressions", "write 'and'"),
        ("turn || done", 6, "'||' is not used in expressions", "write 'or'"),
        ("!done", 1, "'!' is not used in expressions", "write 'not'"),
        ("done ? 1 : 2", 6, "'?' is not used in expressions", "write 'A if CONDITION else B'"),
        ("turn > ${x}", 8, "'${' is not used in expressions", "a parameter is a name here: write it without '${…}'"),
        ("turn | done", 1, "'|' is not used in expressions", "write 'or'"),
        ("~turn", 1, "'~' is not used in expressions", "write 'not'"),
        ("2 ** 9", 1, "'**' is not used in expressions", None),
        ("1 << 9", 1, "'<<' is not used in expressions", None),
        ("turn >", 7, "the expression ends too early", None),
        ("turn is hint", 9, "'is' compares only with null, true or false", "compare with '=='"),
        ("found[turn]", 7, "only a text or a whole number is allowed in brackets", 'for example: x["key"]'),
        ("found[0:1]", 7, "only a text or a whole number is allowed in brackets", 'for example: x["key"]'),
        ("lambda: 1", 1, "a lambda is not allowed in an expression", None),
        ("[x for x in found]", 1, "a comprehension is not allowed in an expression", None),
        ("(x := 1)", 2, "an assignment is not allowed in an expression", None),
        ("x := 1", 4, "'=' is not used in expressions", "compare with '=='"),
        ("f'{turn}'", 1, "an f-string is not allowed in an expression", "join texts with '+'"),
        ("{'a': 1}", 1, "a map in braces is not allowed in an expression", None),
        ("b'x'", 1, "only numbers, text, true, false and null are allowed here", None),
        ("1j", 1, "this is not a decimal number", "for example: 3, 0.5, 1e6"),
        ("1or 2", 1, "this is not a decimal number", "for example: 3, 0.5, 1e6"),
        ("0x1F", 1, "this is not a decimal number", "for example: 3, 0.5, 1e6"),
        ("...", 1, "only numbers, text, true, false and null are allowed here", None),
        ("9999999999999999999", 1, "the number is too large for 64 bits", None),
        ("1e999", 1, "the number is not a finite number", None),
        (r"'\d'", 2, r"'\\d' is not an escape", "a backslash is allowed only before a quote, a backslash, 'n' or 't'"),
        ("turn # > 3", 6, "an expression has no comments", "put quotes around text"),
        ("turn\x00", 5, "the character U+0000 is not allowed in an expression", None),
        ("1)+(2", 2, "the expression cannot be read: unmatched ')'", None),
    ],
)  # fmt: skip
def test_an_invalid_expression_is_reported_with_its_column_and_a_hint(text, column, message, hint):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text, names=VALUES)

    assert (caught.value.message, caught.value.column, caught.value.hint) == (message, column, hint)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "turn.__class__.__bases__",
        "signal.__class__",
        "().__class__",
        "getattr(turn, 'real')",
        "eval('1')",
        "found.append(3)",
        "'{0.__class__}'.format(turn)",
        "'%s' % turn",
        "turn.real",
        "(lambda: 1)()",
        "print",
    ],
)
def test_no_attribute_of_a_python_object_can_be_reached(text):
    with pytest.raises(ExpressionError):
        evaluate(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing > 3", "null > 3 compares neither two numbers nor two texts"),
        ("turn < '3'", "2 < '3' compares neither two numbers nor two texts"),
        ("done < 3", "false < 3 compares neither two numbers nor two texts"),
        ("turn + null", "2 + null does not compute with two numbers"),
        ("hint + 3", "'Be Brief' + 3 joins neither two texts nor two lists"),
        ("hint * 3", "'Be Brief' * 3 does not compute with two numbers"),
        ("found * 3", "['a', 'b'] * 3 does not compute with two numbers"),
        ("turn / 0", "2 / 0 divides by zero"),
        ("turn % 0.0", "2 % 0.0 divides by zero"),
        ("turn + huge", "is too large for 64 bits"),
        ("huge / 3", "is too large for 64 bits"),
        ("9223372036854775807 + 1", "9223372036854775807 + 1 is too large for 64 bits"),
        ("1e308 * 10", "is not a finite number"),
        ("signal.foo", "there is no key 'foo' in"),
        ("nothing.type", "null is not a map with 'type' in it"),
        ("signal[0]", "is not a list with 0 in it"),
        ("found[2]", "there is no item 2 in"),
        ("found['a']", "is not a map with 'a' in it"),
        ("3 in hint", "searches a text for something that is not a text"),
        ("'a' in turn", "searches something that is not a text, list or map"),
        ("min(sources)", "min of an empty list"),
        ("max(1, 'a')", "max takes only numbers or only texts"),
        ("any(turn)", "any takes a list, not 2"),
        ("len(turn)", "len takes a text, a list or a map, not 2"),
        ("lower(turn)", "lower takes a text, not 2"),
        ("round(1, 99)", "round takes from -15 to 15 digits, not 99"),
        ("abs('x')", "abs takes a number, not 'x'"),
        ("-hint", "-'Be Brief' is not the negative of a number"),
    ],
)
def test_values_that_do_not_fit_are_an_error_that_shows_them(text, message):
    with pytest.raises(ExpressionError, match="column 1") as caught:
        evaluate(text)

    assert message in caught.value.message


def test_null_in_an_ordering_is_an_error_with_a_hint():
    with pytest.raises(ExpressionError) as caught:
        evaluate("not (nothing > 3)")

    assert "is not null" in caught.value.hint


def test_a_missing_value_is_an_error():
    with pytest.raises(ExpressionError, match="there is no value for 'turn'"):
        compile_expression("turn > 1", names=["turn"]).evaluate({})


def test_values_come_from_a_mapping_or_a_function():
    expression = compile_expression("turn > 1", names=["turn"])

    assert expression.evaluate({"turn": 2}) is True
    assert expression.evaluate({"turn": 2}.__getitem__) is True
    assert expression.names == {"turn"}


def test_a_list_in_an_expression_is_new_each_time():
    expression = compile_expression("[1]", names=())

    assert expression.evaluate({}) is not expression.evaluate({})


@pytest.mark.parametrize(
    "text",
    ["(" * 240 + "1" + ")" * 240, "-" * 499 + "1", "not " * 120 + "1", "[" * 200 + "]" * 200, "a" + ".a" * 200,
     "+".join("1" * 200), "x" * 501, "'" + "x" * 600 + "'"],
)  # fmt: skip
def test_length_and_depth_are_bounded(text):
    with pytest.raises(ExpressionError):
        compile_expression(text, names={"a"})


def test_growth_is_bounded():
    values = {"text": "x" * 60_000, "items": list(range(6_000))}
    for name in values:
        with pytest.raises(ExpressionError, match=r"longer than|more than"):
            compile_expression(f"{name} + {name}", names=values).evaluate(values)


@pytest.mark.parametrize("text", ["[items, items]", "items + items", "[1, [items, items]]"])
def test_a_list_that_doubles_itself_is_bounded_at_all_levels(text):
    expression = compile_expression(text, names={"items"})

    def doubled(items, times):
        return items if not times else doubled(expression.evaluate({"items": items}), times - 1)

    with pytest.raises(ExpressionError, match="more than 10,000 items, at all levels"):
        doubled([["x"]], 100)


def test_values_nested_too_deep_to_compare_are_an_error():
    def nested():
        value = []
        for _ in range(100_000):
            value = [value]
        return value

    with pytest.raises(ExpressionError, match="nested too deep"):
        compile_expression("a == b", names={"a", "b"}).evaluate({"a": nested(), "b": nested()})


def test_evaluation_costs_microseconds():
    expression = compile_expression("turn >= 3 and not sources or signal.type == 'stuck'", names=VALUES)
    read = VALUES.__getitem__
    begun = time.perf_counter()
    for _ in range(2_000):
        expression.evaluate(read)

    assert (time.perf_counter() - begun) / 2_000 < 100e-6  # some 2 µs; the bound is for busy machines


ATOMS = [
    *VALUES,
    *(f"{name}(" for name in FUNCTIONS),
    *"()[],.",
    *(
        " + ",
        " - ",
        " * ",
        " / ",
        " // ",
        " % ",
        " ** ",
        " < ",
        " >= ",
        " == ",
        " in ",
        " is ",
        " not ",
        " and ",
        " or ",
    ),
    *(
        " if ",
        " else ",
        "0",
        "1",
        "2.5",
        "-1",
        "'a'",
        '""',
        "true",
        "null",
        "lambda",
        ":",
        "=",
        "\\",
        "'",
        "#",
        "{",
        "}",
        "\n",
    ),
]


def is_json(value):
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list | tuple):
        return all(map(is_json, value))
    return value is None or isinstance(value, str | int | bool | dict)


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(ATOMS), max_size=14).map("".join)))
@example("0.0.0")
@example("'a' 'b'")
@example("\ud800")
@example("turn.\u0661")
def test_any_text_gives_an_expression_or_an_error(text):
    try:
        expression = compile_expression(text, names=VALUES)
    except ExpressionError as error:
        column = error.column
    else:
        column = check_outcome(expression)
    assert 1 <= column <= len(text) + 1


def check_outcome(expression):
    """A value, or the column of an error."""
    try:
        value = expression.evaluate(VALUES)
    except ExpressionError as error:
        return error.column
    assert is_json(value)
    return 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    JSON,
    JSON,
    st.sampled_from(
        ["a < b", "a == b", "a in b", "a + b", "a * b", "a / b", "a // b", "a % b", "-a", "a.x", "a[0]", "min(a, b)",
         "max(a)", "any(a)", "len(a)", "abs(a)", "round(a, 2)", "round(a)", "lower(a)", "startswith(a, b)",
         "contains(a, b)", "a if b else 1", "a - b", "a is null"]
    ),
)  # fmt: skip
def test_any_values_give_a_value_or_an_error(a, b, text):
    expression = compile_expression(text, names={"a", "b"})
    try:
        said = expression.evaluate({"a": a, "b": b})
    except ExpressionError as error:
        said = str(error)
    assert json.dumps(said)
