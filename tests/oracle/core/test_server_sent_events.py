"""Server-sent events are read the same, however their bytes are split."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from oracle.core.server_sent_events import EventReader

BODY = (
    ':ping\n\nevent: a\ndata: {"n":1}\n\n'
    "data:two\ndata: lines\r\n\r\n: data: none\nid: 3\n\ndata: größer 🌳\n\ndata: cut"
)
EVENTS = ['{"n":1}', "two\nlines", "größer 🌳"]


@given(st.lists(st.integers(0, len(BODY.encode())), max_size=12))
def test_events_are_the_same_however_they_are_split(cuts: list[int]) -> None:
    data, reader = BODY.encode(), EventReader()
    edges = [0, *sorted(cuts), len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(edges)]
    assert [event for piece in pieces for event in reader.feed(piece)] == EVENTS
