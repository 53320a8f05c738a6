"""Phrases of explanations: short, with units, and safe whatever they quote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime.text.phrases import (
    clipped,
    counted,
    joined,
    listed,
    number,
    seconds,
    truncated,
    value_of,
    values_line,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=3),
)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        (number(21324), "21,324"),
        (number(9.73), "9.7"),
        (number(120.0), "120"),
        (number(0.25), "0.25"),
        (counted(1, "turn"), "1 turn"),
        (counted(50_000, "token"), "50,000 tokens"),
        (counted(2, "entry", "entries"), "2 entries"),
        (seconds(1.634), "1.63 s"),
        (seconds(0.085), "85 ms"),
        (joined([]), ""),
        (joined(["a"]), "a"),
        (joined(["a", "b", "c"]), "a, b and c"),
        (listed(["a", "b", "c", "d", "e"]), "a, b, c and 2 more"),
        (truncated("abcd", 4), "abcd"),
        (truncated("abcde", 4), "abc…"),
        (truncated("ab", 1), "…"),
        (value_of("stuck"), '"stuck"'),
        (value_of(21324), "21,324"),
        (value_of(0.72), "0.72"),
        (value_of(None), "null"),
        (value_of(True), "true"),
        (value_of([1, "a", None, 4]), '[1, "a", null, 1 more]'),
        (value_of({"a": 1}), "{1 entry}"),
        (values_line([("signal", "stuck"), ("turn", 5)]), 'signal "stuck" · turn 5'),
    ],
)
def test_a_phrase(phrase: str, expected: str):
    assert phrase == expected


@given(JSON)
def test_any_value_is_shown_on_one_short_line_without_control_characters(value: object):
    shown = value_of(value)
    assert shown.isprintable()
    assert len(shown) <= 400


@given(st.text())
def test_any_text_is_quoted_on_one_line_without_control_characters(text: str):
    assert clipped(text, 20).isprintable()


def test_what_a_terminal_would_obey_is_escaped():
    assert value_of("\x1b[31mred") == '"\\u001b[31mred"'
    assert clipped("\x1b[31mred\nand more") == "\\x1b[31mred and more"
