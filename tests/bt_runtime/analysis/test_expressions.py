import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime.analysis.expressions.analysis import analyse, refine
from bt_runtime.analysis.expressions.domains import (
    ANY,
    NOTHING,
    NULL,
    NUMBER,
    TEXT,
    Domain,
    Numbers,
    TextSet,
    of_type,
    of_value,
    of_values,
)
from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.compiler import compile_expression

DOMAINS = {
    "turn": Domain(numbers=Numbers(0, math.inf, whole=True)),
    "confidence": Domain(numbers=Numbers(0, 1)),
    "signal": of_values(["", "stuck", "need_turn", "task_complete"]),
    "hint": TEXT,
    "found": TEXT.union(NULL),
    "count": of_type("int", null=True),
    "done": of_type("bool"),
    "items": of_type("list"),
    "thing": ANY,
    "never": NULL,
}


def kinds(text, *, tested=True):
    return [(finding.kind, finding.part) for finding in analyse(text, DOMAINS, tested=tested).findings]


# --- examples


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("signal == 'needs_turn'", [("never_equal", "signal == 'needs_turn'")]),
        ("signal != 'needs_turn'", [("never_equal", "signal != 'needs_turn'")]),
        ("signal in ['later', 'never']", [("never_equal", "signal in ['later', 'never']")]),
        ("signal in ['later', 'stuck']", []),
        ("turn == '3'", [("never_equal", "turn == '3'")]),
        ("turn == 2.5", [("never_equal", "turn == 2.5")]),
        ("done == 1", [("never_equal", "done == 1")]),
        ("turn >= 0", [("always_true", "turn >= 0")]),
        ("turn < 0", [("always_false", "turn < 0")]),
        ("confidence > 1", [("always_false", "confidence > 1")]),
        ("turn > 4 and turn < 3", [("always_false", "turn < 3")]),
        ("turn < 3 or turn >= 3", [("always_true", "turn >= 3")]),
        ("turn > 4 and signal", []),
        ("signal == 'stuck' and signal == 'need_turn'", [("never_equal", "signal == 'need_turn'")]),
        ("'é' == hint and turn < 0", [("always_false", "turn < 0")]),
        ("count > 3", [("null", "count > 3")]),
        ("count is not null and count > 3", []),
        ("count and count > 3", []),
        ("never > 3", [("fails", "never > 3")]),
        ("hint > 3", [("fails", "hint > 3")]),
        ("never + 1", [("fails", "never + 1")]),
        ("hint + 1", [("fails", "hint + 1")]),
        ("'Turn ' + turn", [("fails", "'Turn ' + turn")]),
        ("hint + found", [("null", "hint + found")]),
        ("len(turn)", [("fails", "len(turn)")]),
        ("hint[0]", [("fails", "hint[0]")]),
        ("turn / 0", [("fails", "turn / 0")]),
        ("turn in hint", [("fails", "turn in hint")]),
        ("thing > 3", []),
        ("true", []),
        ("true or turn", []),
        ("hint or 'nothing'", []),
        ("items and items[0] == 1", []),
        ("turn % 3 == 3", [("never_equal", "turn % 3 == 3")]),
        ("turn % 3 == 0", []),
        ("len(hint) >= 0", [("always_true", "len(hint) >= 0")]),
        ("turn is not null", []),
        ("turn is null", [("always_false", "turn is null")]),
        ("'a' if turn < 0 else 'b'", [("always_false", "turn < 0")]),
        ("0 <= turn < 0", [("always_false", "0 <= turn < 0")]),
        ("0 <= turn < 3", []),
    ],
)
def test_a_part_that_cannot_be_meant_is_found(text, found):
    assert kinds(text) == found


def test_a_finding_has_its_columns_in_characters_and_says_what_the_operands_are():
    (finding,) = analyse("  'é' == hint and turn < 0", DOMAINS).findings
    assert ("  'é' == hint and turn < 0"[finding.column - 1 : finding.end_column - 1], finding.part) == (
        "turn < 0",
        "turn < 0",
    )
    assert finding.why == "'turn' is a whole number from 0 on"


def test_a_name_is_a_finding_only_where_its_truth_counts():
    domains = {"reason": of_values(["completed"])}
    assert [finding.kind for finding in analyse("reason", domains, tested=True).findings] == ["always_true"]
    assert analyse("reason", domains).findings == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("turn", "a whole number from 0 on"),
        ("confidence", "a number from 0 to 1"),
        ("-turn", "a whole number up to 0"),
        ("count", "a whole number or null"),
        ("signal", "'', 'need_turn', 'stuck' or 'task_complete'"),
        ("done", "true or false"),
        ("items", "a list"),
        ("thing", "any value"),
        ("len('abc')", "3"),
        ("turn < 0", "false"),
        ("never + 1", "nothing"),
    ],
)
def test_a_domain_is_shown_in_the_words_of_an_author(text, words):
    assert str(analyse(text, DOMAINS).domain) == words


@pytest.mark.parametrize(
    ("text", "truth", "name", "domain"),
    [
        ("turn > 3", True, "turn", Domain(numbers=Numbers(4, math.inf, whole=True))),
        ("turn > 3", False, "turn", Domain(numbers=Numbers(0, 3, whole=True))),
        ("not turn > 3", True, "turn", Domain(numbers=Numbers(0, 3, whole=True))),
        ("3 < turn <= 5", True, "turn", Domain(numbers=Numbers(4, 5, whole=True))),
        ("turn", False, "turn", of_value(0)),
        ("turn", True, "turn", Domain(numbers=Numbers(1, math.inf, whole=True))),
        ("signal", True, "signal", of_values(["stuck", "need_turn", "task_complete"])),
        ("signal in ['stuck', 'x']", True, "signal", of_value("stuck")),
        ("signal in ['stuck', 'need_turn']", False, "signal", of_values(["", "task_complete"])),
        ("signal == 'stuck' or signal == 'need_turn'", True, "signal", of_values(["stuck", "need_turn"])),
        ("signal == 'stuck' or done", False, "signal", of_values(["", "need_turn", "task_complete"])),
        ("count is not null", True, "count", of_type("int")),
        ("count is null", True, "count", NULL),
        ("count > 3", False, "count", Domain(numbers=Numbers(-math.inf, 3, whole=True))),
        ("hint", True, "hint", Domain(texts=TextSet(filled=True))),
        ("len(items) > 0", True, "items", of_value([1])),
        ("turn < confidence", True, "turn", of_value(0)),
        ("hint == signal", True, "hint", DOMAINS["signal"]),
        ("'a' in thing", True, "thing", TEXT.union(of_values([[1], {"a": 1}]))),
    ],
)
def test_a_truth_narrows_what_a_name_holds(text, truth, name, domain):
    found = refine(text, DOMAINS, truth=truth)
    assert found is not None
    assert found[name] == domain
    assert found.keys() == DOMAINS.keys()


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("turn < 0", True),
        ("turn >= 0", False),
        ("signal == 'later'", True),
        ("turn > 3 and turn < 2", True),
        ("true", False),
        ("never > 3", True),
        ("never > 3", False),
        ("not signal in ['', 'stuck', 'need_turn', 'task_complete']", True),
    ],
)
def test_an_impossible_truth_leaves_nothing(text, truth):
    assert refine(text, DOMAINS, truth=truth) is None


def test_what_is_no_expression_is_refused():
    with pytest.raises(ExpressionError, match="ends too early"):
        analyse("turn >", DOMAINS)


def test_a_text_that_is_joined_to_itself_again_and_again_becomes_any_text():
    name = {"a": of_value("Go on.")}
    for _ in range(50):  # followed to the end, it would have more characters than there is memory for
        name = {"a": analyse("a + a + a + a", name).domain}
    assert name["a"] == Domain(texts=TextSet(filled=True))
    assert analyse("a", {"a": of_value("x" * 100_001)}).domain == Domain(texts=TextSet(filled=True))
    assert analyse("a + a", {"a": of_value("x" * 500)}).domain == of_value("x" * 1000)


def test_an_expression_made_to_take_long_is_given_up():
    text = "turn"
    while len(text) < 450:
        text = f"({text} and done) or turn" if len(text) % 2 else f"({text} or done) and hint"
    assert analyse(text, DOMAINS, tested=True).can_be_true
    assert refine(text, DOMAINS, truth=False) is not None


# --- properties: nothing that happens is excluded

NAMES = ("a", "b", "c")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-4, 4),
    st.sampled_from([-(2**63), 2**53 + 1, 2**62, 2**63 - 1, 10**400]),
    st.floats(-4, 4).map(lambda value: round(value, 2)),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "x", "y", "xy", "Ü"]),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2))
LITERALS = st.sampled_from(
    ["0", "1", "2", "-1", "3", "0.5", "1.0", "2.5", "1e18", "''", "'x'", "'xy'", "true", "false", "null"]
)
LISTS = st.sampled_from(["[]", "[1, 'x']", "[0, null, true]", "['x', a]"])


def _texts(children):
    pairs = st.tuples(children, children)
    return st.one_of(
        st.builds(lambda op, two: f"({two[0]} {op} {two[1]})", st.sampled_from(["and", "or"]), pairs),
        st.builds(
            lambda op, two: f"({two[0]} {op} {two[1]})",
            st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]),
            pairs,
        ),
        st.builds(lambda op, two: f"({two[0]} {op} {two[1]})", st.sampled_from(["+", "-", "*", "/", "//", "%"]), pairs),
        st.builds(lambda one, two: f"(0 < {one} <= {two})", children, children),
        st.builds(lambda one: f"(not {one})", children),
        st.builds(lambda one: f"(-{one})", children),
        st.builds(lambda one, op: f"({one} {op} null)", children, st.sampled_from(["is", "is not"])),
        st.builds(lambda one, two, other: f"({one} if {two} else {other})", children, children, children),
        st.builds(lambda one, name: f"{name}({one})", children, st.sampled_from(ONE)),
        st.builds(lambda two, name: f"{name}({two[0]}, {two[1]})", pairs, st.sampled_from(TWO)),
        st.builds(lambda one: f"[{one}, 1]", children),
        st.builds(lambda one: f"({one})[0]", children),
        st.builds(lambda one: f"({one}).x", children),
    )


ONE = ["len", "any", "all", "abs", "round", "lower", "upper", "min", "max"]
TWO = ["min", "max", "startswith", "contains", "round"]
TEXTS = st.recursive(st.one_of(st.sampled_from(NAMES), LITERALS, LISTS), _texts, max_leaves=6)


@st.composite
def domains_around(draw, value):
    """A domain that has the value, of any shape."""
    found = of_values([value, *draw(st.lists(VALUES, max_size=2))])
    return draw(st.sampled_from([found, found, of_value(value), ANY, found.union(NUMBER), found.union(TEXT)]))


@st.composite
def cases(draw):
    values = {name: draw(VALUES) for name in NAMES}
    return draw(TEXTS), values, {name: draw(domains_around(value)) for name, value in values.items()}


def _holds(text, values, domains):
    try:
        expression = compile_expression(text, names=NAMES)
    except ExpressionError:
        return
    analysis = analyse(text, domains)
    try:
        value = expression.evaluate(values)
    except ExpressionError:
        assert analysis.can_raise, text
        return
    assert value in analysis.domain, (text, values, domains)
    assert analysis.can_be_true if value else analysis.can_be_false
    left = refine(text, domains, truth=bool(value))
    assert left is not None
    assert all(values[name] in left[name] for name in NAMES)


@given(cases())
@settings(max_examples=settings().max_examples * 4, deadline=None)
def test_what_happens_was_expected(case):
    _holds(*case)


@pytest.mark.soak
@given(cases())
@settings(max_examples=6_000, deadline=None)
def test_what_happens_was_expected_in_many_cases(case):
    _holds(*case)


@given(VALUES, VALUES, VALUES)
@settings(deadline=None)
def test_domains_are_upper_bounds_under_every_operation(one, other, third):
    left, right = of_values([one, third]), of_values([other])
    assert all(value in left for value in (one, third))
    assert all(value in left.union(right) for value in (one, third, other))
    assert all(value in left.widened(right) for value in (one, third, other))
    assert one in (left.truthy() if one else left.falsy())
    assert left.meet(left) == left
    assert left != NOTHING
    if compile_expression("a == b", names=NAMES).evaluate({"a": one, "b": other}):
        assert one in left.equal_to(right)
    else:
        assert one in left.unequal_to(right)
