"""Exports that were damaged or forged: one clear error, and nothing else."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.core.encoding import from_json, to_json
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import MOST_VALUES, DamagedHistoryError, history_from_json
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.store import Store
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.replay.histories.logs import log_of
from tests.oracle.replay.histories.long_logs import long_log
from tests.oracle.replay.test_replays import Open
from tests.oracle.runs.running import managed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
EXPORT: dict[str, Any] = from_json(history_to_json(long_log(4).explained()))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all parts of JSON data."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


PLACES = [path for path in places(EXPORT) if path]


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The export with another value in that place."""
    export = deepcopy(EXPORT)
    at: Any = export
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return export


def read(data: bytes) -> bool:
    """Whether the history can be read; what can is the same after a round trip."""
    problem = ""
    try:
        history = history_from_json(data)
    except DamagedHistoryError as error:
        problem = str(error)
    if problem:
        assert len(problem) < 1_000
        return False
    again = history_to_json(history)
    assert history_to_json(history_from_json(again)) == again
    return True


@settings(max_examples=settings().max_examples * 4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(place=st.sampled_from(PLACES), value=JSON)
def test_any_part_may_be_anything(place: tuple[Any, ...], value: Any):
    read(to_json(changed(place, value)))


@settings(max_examples=settings().max_examples * 2, deadline=None)
@given(data=st.data())
def test_any_bytes_may_be_missing_or_others(data: st.DataObject):
    whole = to_json(EXPORT)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 40)))
    read(whole[:start] + data.draw(st.binary(max_size=10)) + whole[end:])


@settings(max_examples=settings().max_examples, deadline=None)
@given(value=JSON)
def test_any_json_may_be_given(value: Any):
    assert not read(to_json(value))
    assert not read(to_json({"format": "oracle-run", "version": 1, "run": value}))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("ticks", 0, "visited", 0), 99, "there is no node 99"),
        (("ticks", 0, "visited", 0), -1, "there is no node -1"),
        (("ticks", 1, "tick"), 1, "tick 1 comes after tick 1"),
        (("ticks", 1, "at_s"), 1e300, "out of range"),
        (("ticks", 1, "at_s"), "1", "damaged at ticks.1.at_s"),
        (("ticks", 1, "decision"), True, "damaged at ticks.1.decision"),
        (("ticks", 1, "cause"), "magic", "damaged at ticks.1.cause"),
        (("ticks", 1, "visits", 3, "parent"), 77, "there is no node 77"),
        (("ticks", 1, "visits", 3, "evaluations", 0, "clauses", 0, "end"), 500, "is not within 23 characters"),
        (("ticks", 1, "visits", 3, "evaluations", 0, "clauses", 0, "start"), -1, "is not within 23 characters"),
        (("ticks", 1, "visits", 3, "evaluations", 0, "operands", 0, "at"), [23], "is not in the text"),
        (("tree", "nodes", 2, "parent"), 2, "node 2 does not come before it"),
        (("tree", "nodes", 2, "index"), 1, "node 1 is at the position of node 2"),
        (("tree", "nodes", 2, "path"), "a\x1b[31m", "is not a name"),
        (("tree", "nodes", 2, "line"), -5, "out of range"),
        (("run", "created_at"), 10**18, "out of range"),
        (("run", "id"), None, "damaged at run.id"),
        (("version",), 2, "version 2 of the format"),
        (("version",), True, "version True of the format"),
        (("format",), "other", "not an exported run"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, problem: str):
    with pytest.raises(DamagedHistoryError, match=problem):
        history_from_json(to_json(changed(path, value)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b"[" + b"0," * MOST_VALUES + b"0]",
        b'{"format":"oracle-run","version":1,"run":' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"format":"oracle-run","version":1' + b"0" * 5_000 + b"}",
        b'{"format":"oracle-run","version":NaN}',
    ],
    ids=["empty", "binary", "deep lists", "deep objects", "too many values", "nested", "a long number", "NaN"],
)
def test_hostile_files_are_refused_before_they_are_built(data: bytes):
    assert not read(data)


def test_unknown_fields_are_of_a_later_version_and_ignored():
    assert read(to_json(changed(("run", "colour"), "red")))


async def test_a_history_with_odd_texts_is_read_again(store: Store, archive: Archive):
    odd = "\x1b[31m\x00\u202e\ud800 </script>"
    turns = [says(odd, calls("probe", text=odd)), says("", calls(odd)), answers()]
    async with managed(store, turns, tools=[made_tool(Open(odd))]) as it:
        record = (await it.ask("What is \x1b[31m\u202e </script>?")).record
    data = history_to_json((await log_of(archive, record)).explained())
    assert history_to_json(history_from_json(data)) == data
