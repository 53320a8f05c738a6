"""Markdown is split into the same blocks, whatever the pieces that it arrives in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.cli.blocks import BlockReader

TABLE = {
    "paragraphs": ("One\ntwo.\n\nThree.\n", ["One\ntwo.", "Three."]),
    "a paragraph without its end": ("One", ["One"]),
    "a heading needs no empty line": ("# A\nText.\n", ["# A", "Text."]),
    "a heading ends a paragraph": ("Text.\n## A\n", ["Text.", "## A"]),
    "a fence": ("```py\na\n\nb\n```\nText.\n", ["```py\na\n\nb\n```", "Text."]),
    "a fence ends a paragraph": ("Text:\n```\na\n```\n", ["Text:", "```\na\n```"]),
    "a longer fence": ("````\n```\n````\n", ["````\n```\n````"]),
    "a fence of another mark": ("~~~\n```\n~~~\nx\n", ["~~~\n```\n~~~", "x"]),
    "a fence that never closes": ("```\na\n\nb\n", ["```\na\n\nb"]),
    "backticks that are no fence": ("```a``` b\nc\n", ["```a``` b\nc"]),
    "items": ("- a\n- b\n", ["- a", "= - b"]),
    "items with empty lines": ("1. a\n\n2. b\n", ["1. a", "= 2. b"]),
    "an item with more lines": ("- a\n  b\n\n  c\n- d\n", ["- a\n  b\n\n  c", "= - d"]),
    "an item goes on lazily": ("- a\nb\n", ["- a\nb"]),
    "an item with items": ("- a\n  - b\n    - c\n", ["- a\n  - b\n    - c"]),
    "an item with a fence": ("- a\n  ```\n- b\n\n  ```\n- c\n", ["- a\n  ```\n- b\n\n  ```", "= - c"]),
    "a paragraph after a list": ("- a\n\nText.\n", ["- a", "Text."]),
    "a list after a paragraph": ("Text:\n- a\n", ["Text:", "- a"]),
    "a year at the start of a line": ("It was in\n1984. So\n", ["It was in\n1984. So"]),
    "a table": ("| a | b |\n|---|---|\n| 1 | 2 |\n\nx", ["| a | b |\n|---|---|\n| 1 | 2 |", "x"]),
    "nothing": ("\n \n\n", []),
}


def read(pieces):
    reader = BlockReader()
    blocks = [block for piece in pieces for block in reader.feed(piece)]
    return [("= " if block.is_tight else "") + block.text for block in (*blocks, *reader.close())]


@pytest.mark.parametrize(("text", "blocks"), TABLE.values(), ids=TABLE)
def test_a_text_is_split_into_blocks(text, blocks):
    assert read([text]) == blocks
    assert read(text) == blocks


MARKS = st.text(alphabet="`~#-*1.) |>ab\n", max_size=80) | st.lists(st.sampled_from([*TABLE]), max_size=5).map(
    lambda names: "".join(TABLE[name][0] for name in names)
)


@given(MARKS, st.randoms(use_true_random=False))
def test_any_pieces_give_the_same_blocks(text, rng):
    cuts = sorted(rng.randrange(len(text) + 1) for _ in range(6))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert read(pieces) == read([text])


@given(MARKS)
def test_no_line_with_text_is_lost(text):
    lines = [line for block in read([text]) for line in block.removeprefix("= ").split("\n") if line.strip()]
    assert lines == [line for line in text.split("\n") if line.strip()]


def test_the_unfinished_block_can_be_read():
    reader = BlockReader()
    assert reader.pending is None
    assert reader.feed("One ") == []
    assert reader.pending is not None
    assert reader.pending.text == "One "
    assert [block.text for block in reader.feed("two\n\n")] == ["One two"]
    assert reader.pending is None
