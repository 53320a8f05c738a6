import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime.text.data import dataclass
from oracle.core.encoding import from_json, scrub, to_json

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


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"n":123456789012345678901234567890}', id="more than 64 bits"),
        pytest.param("[" * 400 + "]" * 400, id="nested deeply"),
    ],
)
def test_what_a_model_may_write_as_arguments_is_written_again(text):
    assert to_json(json.loads(text)).decode() == text


def test_numbers_that_json_cannot_say_are_null_also_beside_large_ones():
    assert from_json(to_json([1e999, float("nan"), 10**30, "NaN"])) == [None, None, 1e30, "NaN"]
    assert from_json(to_json([10**308, -(10**400), "9" * 400])) == [None, None, "9" * 400]


@dataclass(frozen=True, slots=True)
class Named:
    name: str
    words: tuple[str, ...]


@given(any_text)
def test_a_dataclass_is_an_object_of_its_fields_whatever_its_texts_hold(text):
    assert to_json(Named(text, ("a", text))) == to_json({"name": text, "words": ["a", text]})


def test_what_is_no_json_data_is_refused():
    with pytest.raises(TypeError, match="object"):
        to_json({"a": object()})


def test_a_small_chunk_that_is_kept_takes_little_memory():
    tracemalloc.start(1)
    kept = [to_json({"type": "content", "content": str(number)}) for number in range(1000)]
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / len(kept) < 300
