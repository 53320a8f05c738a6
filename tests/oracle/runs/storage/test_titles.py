"""A title is one readable line, whatever the question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.runs.storage.titles import one_line, title_of


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Why?", "Why?"),
        ("  Why\n\tis it\u2028so? ", "Why is it so?"),
        ("a\0b\x1b[31mc\u202ed\u200be", "ab[31mcde"),
        ("👩\u200d💻 wer?", "👩\u200d💻 wer?"),
        ("word " * 30, "word " * 14 + "word…"),
        ("x" * 100, "x" * 79 + "…"),
        (" \n\0", ""),
    ],
)
def test_a_title_is_made_from_the_question(question: str, title: str) -> None:
    assert title_of(question) == title


@given(st.text())
def test_a_title_is_one_line_of_bounded_length(question: str) -> None:
    title = title_of(question)
    assert len(title) <= 80
    assert len(title.splitlines()) <= 1
    assert title == one_line(title)
