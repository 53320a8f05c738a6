"""No-progress detection: the labelled traces, traces of our own, and what must not matter."""

import json
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.decision.progress import (
    ToolAction,
    action_signature,
    canonical_arguments,
    detect_no_progress,
    find_repetition,
)

LABELLED = Path(__file__).parents[2] / "data" / "labelled" / "action_traces.jsonl"
TRACES = [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines()]


def call(tool, arguments=None, digest="d", *, failed=False):
    return {"tool": tool, "arguments": arguments or {}, "is_error": failed, "result_digest": digest}


A, B, C = call("a", digest="1"), call("b", digest="2"), call("c", digest="3")
X = call("x", {"q": 9}, "9")


@pytest.mark.parametrize("row", TRACES, ids=[row["note"] for row in TRACES])
def test_the_labelled_traces_are_judged_right(row):
    assert detect_no_progress(row["trace"]) is row["stuck"]


STUCK = {
    "three the same": [A, A, A],
    "after other work": [B, C, X, A, A, A],
    "all failed with other texts": [call("a", digest=str(n), failed=True) for n in range(3)],
    "two in turn": [A, B] * 3,
    "three in turn": [A, B, C] * 3,
    "three in turn, two of them the same": [A, A, B] * 3,
    "two in turn, all failed with other texts": [call("ab"[n % 2], digest=str(n), failed=True) for n in range(6)],
    "two in turn after another": [X, *[A, B] * 3],
    "one error for other arguments": [call("a", {"q": n}, "down", failed=True) for n in range(3)],
    "a success, then three failures": [call("a", digest="ok"), *[call("a", failed=True)] * 3],
    "results unknown": [{"tool": "a", "arguments": "{}"}] * 3,
    "1 and 1.0": [call("a", {"n": 1}), call("a", {"n": 1.0}), call("a", '{"n": 1e0}')],
    "escapes": [call("a", '{"q": "\\u00e9"}'), call("a", {"q": "é"}), call("a", '{"q":"é"}')],
}
MOVING = {
    "nothing": [],
    "two only": [A, A],
    "interrupted": [A, A, B, A],
    "two in turn, twice": [A, B] * 2,
    "two in turn, two and a half times": [A, B, A, B, A],
    "three in turn, not quite three times": [B, C, *[A, B, C] * 2],
    "two in turn, left": [*[A, B] * 3, X],
    "polling": [call("a", digest=str(n)) for n in range(9)],
    "the last result is new": [A, A, A, call("a", digest="new")],
    "an error, then twice a result": [call("a", failed=True), A, A],
    "success after failures": [call("a", digest="e", failed=True)] * 2 + [call("a", digest="ok")],
    "two in turn with a result that changes": [
        A,
        call("b", digest="x"),
        A,
        call("b", digest="y"),
        A,
        call("b", digest="z"),
    ],
    "edit and test, the failure changes": [
        step for n in range(3) for step in (call("edit", {"p": 1}, "ok"), call("test", digest=str(n), failed=True))
    ],
    "other errors for other arguments": [call("a", {"q": n}, str(n), failed=True) for n in range(3)],
    "one error of three tools": [call(tool, digest="down", failed=True) for tool in "abc"],
    "true and 1": [call("a", {"n": 1}), call("a", {"n": True}), call("a", {"n": 1})],
    "text and number": [call("a", {"n": 1}), call("a", {"n": "1"}), call("a", {"n": 1})],
    "order of a list": [call("a", {"n": [1, 2]}), call("a", {"n": [2, 1]}), call("a", {"n": [1, 2]})],
    "no tool named": [{"arguments": {}}] * 3,
    "no tool named, one error": [{"is_error": True, "result_digest": "down"}] * 3,
    "no tool named at the end": [A, A, {"arguments": {}}],
    "errors with unknown results": [{"tool": "a", "arguments": {"q": n}, "is_error": True} for n in range(3)],
}


@pytest.mark.parametrize("trace", STUCK.values(), ids=STUCK)
def test_these_are_stuck(trace):
    assert detect_no_progress(trace)
    assert detect_no_progress([ToolAction.from_call(**{"arguments": None, **step}) for step in trace])


@pytest.mark.parametrize("trace", MOVING.values(), ids=MOVING)
def test_these_move_on(trace):
    assert not detect_no_progress(trace)


@pytest.mark.parametrize(
    ("trace", "kind", "period", "times", "summary"),
    [
        ([A] * 3, "same_action", 1, 3, "same action attempted 3 times"),
        ([X, *[A] * 5], "same_action", 1, 5, "same action attempted 5 times"),
        ([A, B] * 3, "cycle", 2, 3, "same 2 actions repeated 3 times"),
        ([A, B] * 4, "cycle", 2, 4, "same 2 actions repeated 4 times"),
        ([A, B, C] * 3, "cycle", 3, 3, "same 3 actions repeated 3 times"),
        (STUCK["one error for other arguments"], "same_error", 1, 3, "a failed 3 times with the same error"),
    ],
)
def test_a_repetition_tells_its_kind_and_how_often(trace, kind, period, times, summary):
    found = find_repetition(trace)
    assert found is not None
    assert (found.kind, found.period, found.times, found.summary) == (kind, period, times, summary)
    assert found.action.tool == trace[-1]["tool"]
    assert [action.tool for action in found.cycle] == [step["tool"] for step in trace[-period:]]


@pytest.mark.parametrize(
    ("turns", "stuck"), [((2, 2, 2), False), ((1, 2, 2), True), ((1, 2, 3), True), ((None, 2, 2), True)]
)
def test_one_error_for_other_arguments_counts_only_over_several_turns(turns, stuck):
    trace = [{**call("a", {"q": n}, "down", failed=True), "turn": turn} for n, turn in enumerate(turns)]
    assert detect_no_progress(trace) is stuck


def test_a_signature_reads_like_a_call():
    assert action_signature("search_code", {"query": "auth"}) == 'search_code({"query": "auth"})'
    assert action_signature("search_code", '{"query":"auth"}') == 'search_code({"query": "auth"})'
    assert action_signature("list_files", None) == "list_files({})"
    assert ToolAction.from_call("t", {"b": 1, "a": [1.0, "é"]}).signature == 't({"a": [1, "é"], "b": 1})'


def test_a_signature_is_one_line_and_truncated_beyond_500_characters():
    assert action_signature("t", "no\n json ") == "t(no json)"
    assert action_signature("t", "x" * 500) == f"t({'x' * 500})"
    assert action_signature("t", "x" * 501) == f"t({'x' * 500}…)"
    assert action_signature("t", "xxxx", max_chars=3) == "t(xxx…)"


def test_a_signature_is_bounded_and_can_be_encoded():
    signature = action_signature("vault_write", {"body": "x" * 100_000, "title": "\ud800"})
    assert len(signature) < 600
    signature.encode("utf-8")
    canonical_arguments({"title": "\ud800"}).encode("utf-8")


@pytest.mark.parametrize(
    ("arguments", "canonical"),
    [
        (None, "{}"),
        ("", "{}"),
        (" \n", "{}"),
        ("null", "{}"),
        ({}, "{}"),
        ("[]", "[]"),
        ("0", "0"),
        ('{"b": 1, "a": {"d": 2.0, "c": -0.0}}', '{"a":{"c":0,"d":2},"b":1}'),
        ({"a": 1e2, "b": 1.5, "c": 2**60}, '{"a":100,"b":1.5,"c":1152921504606846976}'),
        ({"text": "1.0 and 2e5"}, '{"text":"1.0 and 2e5"}'),
        (' {"broken": ', '{"broken":'),
        ('{"a": 1} trailing', '{"a": 1} trailing'),
        (({"a": (1, 2)}), '{"a":[1,2]}'),
        ({1: "x", "a": 1.0}, '{"1":"x","a":1}'),
        ([{"b": {2: None, "a": (1.5,)}}], '[{"b":{"2":null,"a":[1.5]}}]'),
        ({"a": 2.0**53, "b": -(2.0**53)}, '{"a":9007199254740992,"b":-9007199254740992}'),
        ('{"a": 9007199254740994.0}', '{"a":9007199254740994.0}'),
        ('{"a": "\\ud800"}', '{"a":"\\ud800"}'),
        ({"a": b"x"}, '{"a":"bytes b\'x\'"}'),
        ({"a": {"y", "x"}}, '{"a":["x","y"]}'),
        ({"a": range(2)}, '{"a":[0,1]}'),
        ({"a": MappingProxyType({"b": 1})}, '{"a":{"b":1}}'),
        ({"a": Decimal("1.50")}, '{"a":"Decimal 1.50"}'),
    ],
)
def test_arguments_have_one_canonical_text(arguments, canonical):
    assert canonical_arguments(arguments) == canonical
    assert canonical_arguments(canonical) == canonical


@pytest.mark.long("values of 20,000 levels")
def test_values_that_cannot_be_encoded_do_no_harm():
    deep: dict[str, object] = {}
    inner = deep
    for _ in range(20_000):
        inner["a"] = {}
        inner = inner["a"]  # type: ignore[assignment]
    looped: list[object] = []
    looped.append(looped)
    for arguments in (deep, looped, "[" * 100_000, {"a": object}, {"a": b"x"}, {"a": {1, 2}}, float("nan")):
        assert isinstance(canonical_arguments(arguments), str)
        assert detect_no_progress([call("a", arguments)] * 3)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
arguments_objects = st.dictionaries(st.text(max_size=5), json_values, max_size=4)
calls = st.builds(
    lambda tool, n, digest, failed: call(tool, {"n": n}, digest, failed=failed),
    st.sampled_from("ab"),
    st.integers(0, 1),
    st.sampled_from("xy"),
    st.booleans(),
)


@given(arguments_objects)
def test_an_object_its_text_and_any_key_order_have_one_canonical_text(arguments):
    turned = dict(reversed(list(arguments.items())))
    canonical = canonical_arguments(arguments)
    assert canonical_arguments(turned) == canonical
    assert canonical_arguments(json.dumps(turned, indent=2)) == canonical
    assert canonical_arguments(json.dumps(arguments, ensure_ascii=False)) == canonical
    assert canonical_arguments(canonical) == canonical


@given(st.lists(calls, max_size=12))
def test_a_new_action_that_succeeds_ends_any_repetition(trace):
    assert not detect_no_progress([*trace, call("fresh", {"n": 7}, "new")])


@given(st.lists(calls, max_size=12))
def test_mappings_and_actions_are_judged_alike(trace):
    assert detect_no_progress(trace) == detect_no_progress([ToolAction.from_call(**step) for step in trace])


@given(st.lists(calls, max_size=6), calls)
def test_three_of_the_same_are_always_stuck_whatever_came_before(before, step):
    assert detect_no_progress([*before, step, step, step])


@given(st.lists(calls, max_size=15))
def test_only_the_last_nine_matter(trace):
    assert detect_no_progress(trace) == detect_no_progress(trace[-9:])


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["tool", "arguments", "is_error", "result_digest"]), json_values), max_size=9
    )
)
def test_records_of_any_shape_are_judged_without_an_error(trace):
    assert detect_no_progress(trace) in (True, False)
