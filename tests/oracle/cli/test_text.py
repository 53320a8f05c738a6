import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.cli.text import call_label, clean, one_line
from oracle.cli.views import source_label
from oracle.core.chunks import Source

OBEYED = {"Cc"}
BIDI_OVERRIDES = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain", "plain", id="plain text stays"),
        pytest.param("a\n\tb", "a\n\tb", id="line breaks and tabs stay"),
        pytest.param("größer → 日本 👩‍👩‍👧", "größer → 日本 👩‍👩‍👧", id="other scripts stay"),
        pytest.param("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", id="colours"),
        pytest.param("\x1b]0;title\x07", "\\x1b]0;title\\x07", id="window title"),
        pytest.param("\x1b]52;c;aGk=\x1b\\", "\\x1b]52;c;aGk=\\x1b\\", id="clipboard"),
        pytest.param("\x9b2J", "\\x9b2J", id="C1 control"),
        pytest.param("good\revil", "goodevil", id="carriage return"),
        pytest.param("a\r\nb", "a\nb", id="line breaks of Windows"),
        pytest.param("user\u202egpj.exe", "user\\u202egpj.exe", id="bidi override"),
        pytest.param("[bold]not markup[/bold]", "[bold]not markup[/bold]", id="markup is text"),
        pytest.param("\x00\x08\x7f", "\\x00\\x08\\x7f", id="NUL, backspace, DEL"),
    ],
)
def test_control_sequences_are_shown_as_escapes(text, shown):
    assert clean(text) == shown


@given(st.text())
def test_cleaned_text_has_no_control_characters(text):
    left = set(clean(text)) - set("\n\t")
    assert not [character for character in left if unicodedata.category(character) in OBEYED]
    assert not left & BIDI_OVERRIDES


@given(st.text(), st.integers(0, 50))
def test_pieces_are_cleaned_like_the_whole_text(text, at):
    assert clean(text[:at]) + clean(text[at:]) == clean(text)


@given(st.text(), st.integers(2, 50))
def test_one_line_is_one_bounded_line(text, longest):
    line = one_line(text, longest=longest)
    assert len(line) <= longest
    assert "\n" not in line


def test_a_tool_call_is_written_like_a_function_call():
    assert call_label("search_code", {"query": "auth", "limit": 3}) == 'search_code(query="auth", limit=3)'


@given(st.text(), st.dictionaries(st.text(), st.recursive(st.none() | st.floats() | st.text(), st.lists)))
@pytest.mark.long("many examples of a long text")
def test_any_tool_call_is_one_clean_line(name, arguments):
    label = call_label(name, arguments)
    assert "\n" not in label
    assert "\x1b" not in label
    assert len(label) <= 400


@pytest.mark.parametrize(
    ("source", "label"),
    [
        (Source("a/b.py", "code", line=3), "a/b.py:3"),
        (Source("a/b.py", "code"), "a/b.py"),
        (Source("plans.md", "vault", line=1), "plans.md:1 (vault)"),
        (Source("standup", "thread"), "standup (thread)"),
        (Source("https://example.org/x", "web", snippet="X"), "https://example.org/x"),
        (Source("a\x1b[2J\n.py", "code", line=3), "a\\x1b[2J .py:3"),
    ],
)
def test_a_source_is_labelled_by_its_place(source, label):
    assert source_label(source) == label
