import pytest

from bt_runtime.text import Edit, Fix, Mistake, Place, format_mistakes, in_order

SOURCE = "root:\n    - llm_turn: {timeout: 120}\n"


def test_a_mistake_is_formatted_like_a_compiler_message():
    mistake = Mistake(
        Place("trees/oracle.yaml", 2, 18), "'llm_turn' has no setting 'timeout'", "did you mean 'timeout_s'?"
    )

    assert format_mistakes([mistake], {"trees/oracle.yaml": SOURCE}) == (
        "trees/oracle.yaml:2:18: 'llm_turn' has no setting 'timeout'\n"
        "    2 |     - llm_turn: {timeout: 120}\n"
        "      |                  ^\n"
        "hint: did you mean 'timeout_s'?"
    )


def test_without_the_source_the_line_is_left_out():
    assert format_mistakes([Mistake(Place("a.yaml", 2, 3), "no")]) == "a.yaml:2:3: no"


@pytest.mark.parametrize(
    ("line", "column", "shown", "caret"),
    [
        pytest.param("a:\tb", 4, "a: b", 3, id="a tab is one space"),
        pytest.param("名前: x", 5, "名前: x", 6, id="wide characters take two columns"),
        pytest.param("e\u0301: x", 4, "e\u0301: x", 2 + 0, id="combining characters take none"),
        pytest.param("a: \x1b[31mx", 9, "a: \\x1b[31mx", 11, id="control characters are escaped"),
        pytest.param("a: \u202ex", 5, "a: \\u202ex", 9, id="bidirectional characters are escaped"),
        pytest.param("a", 9, "a", 1, id="a column behind the end is the end"),
    ],
)
def test_the_caret_is_below_its_character(line, column, shown, caret):
    lines = format_mistakes([Mistake(Place("f", 1, column), "no")], {"f": line}).splitlines()

    assert lines[1] == f"    1 | {shown}"
    assert lines[2] == "      | " + " " * caret + "^"


@pytest.mark.parametrize("column", [1, 50, 5_000, 10_000])
def test_a_long_line_is_shown_around_its_caret(column):
    line = "".join(chr(ord("a") + i % 26) for i in range(10_000))
    _, shown, caret = format_mistakes([Mistake(Place("f", 1, column), "no")], {"f": line}).splitlines()

    assert len(shown) < 120
    assert shown[caret.index("^")] == line[column - 1]


def test_untrusted_text_is_printed_without_control_characters():
    mistake = Mistake(Place("a\nb\x1b", 1, 1), "bad \x07 \u2028 " + "x" * 10_000, "hint\r\n")
    text = format_mistakes([mistake], {"a\nb\x1b": "\x9b31m"})

    assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert len(text) < 800


def test_mistakes_are_sorted_by_place_without_duplicates():
    late, early = Mistake(Place("a", 3, 1), "late"), Mistake(Place("a", 1, 9), "early")

    assert in_order([late, early, late]) == (early, late)


def test_the_wire_form_has_the_place_the_code_and_the_fixes():
    start, end = Place("a", 3, 4), Place("a", 3, 6)
    fix = Fix("Write it", (Edit(start, end, "it"),))
    mistake = Mistake(start, "no", "yes", "root/x", "typo", "warning", end, (fix,))

    assert mistake.to_json() == {
        "line": 3,
        "column": 4,
        "end_line": 3,
        "end_column": 6,
        "severity": "warning",
        "code": "typo",
        "message": "no",
        "hint": "yes",
        "path": "root/x",
        "fixes": [
            {
                "title": "Write it",
                "edits": [{"line": 3, "column": 4, "end_line": 3, "end_column": 6, "text": "it"}],
            }
        ],
    }


def test_a_warning_is_marked_with_its_code():
    warning = Mistake(Place("a.yaml", 2, 3), "nothing reads 'x'", code="unread-key", severity="warning")

    assert format_mistakes([warning]) == "a.yaml:2:3: warning unread-key: nothing reads 'x'"
    assert not warning.is_error
