import json

from hypothesis import given
from hypothesis import strategies as st

from oracle.encoding import from_json, scrub, to_json

any_text = st.text(st.characters(codec=None, categories=None))


@given(st.lists(any_text, max_size=6))
def test_texts_that_are_scrubbed_piece_by_piece_are_the_scrubbed_whole(pieces):
    read = [from_json(to_json({"content": piece}))["content"] for piece in pieces]
    assert "".join(read) == scrub("".join(pieces))


@given(
    st.recursive(
        any_text | st.integers(-(2**53), 2**53) | st.none(), lambda x: st.lists(x) | st.dictionaries(any_text, x)
    )
)
def test_json_is_valid_utf8_whatever_the_texts_hold(value):
    read = json.loads(to_json(value).decode("utf-8"))
    assert from_json(to_json(read)) == read


def test_json_stays_on_one_line():
    assert b"\n" not in to_json({"content": "a\nb\r\n\u2028"})
