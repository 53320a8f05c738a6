"""Markdown on a terminal is readable, complete and free of control sequences."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from oracle.cli.markdown import MarkdownBlock
from oracle.cli.text import clean


def render(text, *, width=60, colour=False, tail=None):
    console = Console(
        file=io.StringIO(),
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        width=width,
        highlight=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(MarkdownBlock(text, tail=tail), end="")
    return capture.get()


TABLE = {
    "emphasis": ("**a** and *b* and `c` and ~~d~~", "a and b and c and d\n"),
    "a heading": ("## Title", "Title\n"),
    "a link is text with its address": (
        "see [the guide](https://x.invalid/a?b=1)",
        "see the guide (https://x.invalid/a?b=1)\n",
    ),
    "an address alone": ("<https://x.invalid/a>", "<https://x.invalid/a>\n"),
    "a picture": ("![a plan](plan.svg)", "!a plan (plan.svg)\n"),
    "html is text": ("a <b>bold</b> Vec<String>", "a <b>bold</b> Vec<String>\n"),
    "a block of html is text": ("<div>\nhello\n</div>", "<div> hello </div>\n"),
    "an entity is text": ("&lt;a&gt; &#x202e;", "&lt;a&gt; &#x202e;\n"),
    "a definition of a link": ("[1]: https://x.invalid/a", "[1]: https://x.invalid/a\n"),
    "a link with a title, which only its text would show": (
        '[a](https://x.invalid "a title")',
        '[a](https://x.invalid "a title")\n',
    ),
    "an item keeps its number": ("3. third", " 3 third\n"),
    "items in items": ("- a\n  - b", " • a\n    • b\n"),
    "code": ("```python\ndef f():\n    return 1\n```", "  def f():\n      return 1\n"),
    "code in an unknown language": ("```nonsense\na  b\n```", "  a  b\n"),
    "a quotation": ("> a\n> b", "▌ a b\n"),
    "a table": ("| a | b |\n|---|---|\n| one | two |", "a     b\n─────────\none   two\n"),
    "blank lines around": ("\n\na\n\n", "a\n"),
}


@pytest.mark.parametrize(("text", "shown"), TABLE.values(), ids=TABLE)
def test_a_block_is_shown(text, shown):
    assert render(text) == shown


def test_a_word_that_does_not_fit_into_a_tables_column_is_folded_and_not_cut():
    name = "a" * 30 + "z"
    shown = render(f"| a | b |\n|---|---|\n| {name} | {'b ' * 40} |", width=30)
    assert shown.count("a") == 31
    assert "…" not in shown


def test_deep_nesting_is_shown_as_it_was_written():
    assert "words" in render(">" * 300 + " words")


@given(st.text(alphabet="ab*_`[]()<>!|#>-1. \\&;:\n", max_size=120), st.integers(10, 80))
@settings(deadline=None, max_examples=60)
def test_no_letter_of_any_text_is_lost(text, width):
    text = text.replace("```", "")  # the language of a fence is none of its text
    shown = render(text, width=width)
    assert all(shown.count(letter) >= text.count(letter) for letter in "ab")


@pytest.mark.parametrize(
    "evil", ["\x1b]0;x\x07", "\x1b[2J", "\x9b2J", "\u202e", "\x08", "&#27;[2J", "&#x9b;2J", "&#x202e;"]
)
@pytest.mark.parametrize("place", ["{}", "`{}`", "```\n{}\n```", "[a]({})", "[{}](b)", "| a |\n|---|\n| {} |", "# {}"])
def test_no_control_character_reaches_the_terminal(evil, place):
    shown = render(clean(place.format(evil)), colour=False)
    assert not any(character in shown for character in "\x1b\x07\x9b\u202e\x08")


def test_links_are_not_written_as_terminal_hyperlinks():
    assert "\x1b]8" not in render("[a](https://x.invalid) <https://y.invalid> https://z.invalid", colour=True)


def test_only_the_end_of_a_block_can_be_shown():
    assert render("```\n" + "\n".join("abc") + "\n```", tail=2) == "  b\n  c\n"


def test_lines_are_not_padded_with_spaces():
    assert not any(line.endswith(" ") for line in render("a b c\n" * 30 + "\n```\nx\n```", colour=False).split("\n"))
