"""A file holds the wire form of every chunk: public names are permanent (the contract's table of chunks)."""

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.core.chunks import (
    Answer,
    Answered,
    ApprovalRequested,
    Chunk,
    Closing,
    Content,
    Decision,
    Done,
    ErrorType,
    Failed,
    Interrupt,
    InterruptReason,
    InterruptStatus,
    QuestionAsked,
    Severity,
    Source,
    SourceFound,
    SourceType,
    SystemNotice,
    SystemType,
    TerminationReason,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolCalled,
    ToolReturned,
    read_chunk,
    write_chunk,
)
from oracle.core.encoding import from_json, to_json

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "chunks.json").read_text(encoding="utf-8"))
APPROVAL = Interrupt(
    id="r1.1",
    reason="tool_call",
    message="May this note be written?",
    may=("approve", "refuse", "edit"),
    response_schema={"type": "object"},
    on_expiry="refuse",
    tool_call_id="call_1",
    tool_name="vault_write",
    arguments={"path": "note.md", "body": "Text."},
    arguments_digest="9f86d081",
    expires_at="2026-01-09T03:04:05.000+00:00",
    read_before=("read_inbox",),
)
QUESTION = Interrupt(
    id="r1.2",
    reason="input_required",
    message="Which one?",
    may=("answer",),
    response_schema={"enum": ["blue", "red"]},
    on_expiry="fail",
    answerers="not_asker",
)
CHUNKS: dict[str, Chunk] = {
    "thinking": Thinking("Hm."),
    "content": Content("Some text.\n"),
    "content-closing": Closing("Stopped: iteration limit reached (10/10).", "max_iterations"),
    "source": SourceFound(Source("src/retry.py", "code", line=7, snippet="class RetryPolicy:", score=0.5)),
    "source-least": SourceFound(Source("https://example.org", "web")),
    "tool_call": ToolCalled(ToolCall("call_1", "search_code", {"query": "auth", "limit": 3})),
    "tool_result": ToolReturned("call_1", "src/auth.py:1", is_error=False, duration_ms=12),
    "system": SystemNotice(
        "limit_warning",
        "Approaching iteration limit (7/10). Consider wrapping up your response.",
        "warning",
        "2026-01-02T03:04:05.000+00:00",
        metadata={"current_value": 7, "limit_value": 10, "percent": 70, "limit_type": "iteration"},
    ),
    "approval_requested": ApprovalRequested(APPROVAL),
    "question": QuestionAsked(QUESTION),
    "answered": Answered(
        replace(APPROVAL, status="edited", answered_by="ada", answered_at="2026-01-02T03:05:06.000+00:00"),
        arguments={"path": "note.md", "body": "Other text."},
        comment="Shorter.",
    ),
    "answered-question": Answered(
        replace(QUESTION, status="answered", answered_by="ada", answered_at="2026-01-02T03:05:06.000+00:00"),
        answer="blue",
    ),
    "error": Failed("The model provider is overloaded. Try again in a moment.", "provider_overloaded"),
    "done-without-usage": Done(
        "completed", 0, tokens_estimated=False, model_used="m", context_id="c1", run_id="r1", turns=0
    ),
    "done": Done(
        "max_iterations",
        1234,
        tokens_estimated=False,
        model_used="claude-sonnet-5-5",
        context_id="c1",
        run_id="r1",
        turns=10,
        usage=TokenUsage(200, 34, 9000, 1000),
    ),
}


def nested(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3)


WORDS = {
    "system_type": SystemType,
    "severity": Severity,
    "source_type": SourceType,
    "error_type": ErrorType,
    "reason": InterruptReason,
    "may": Decision,
    "status": InterruptStatus,
    "termination_reason": TerminationReason,
}


@pytest.mark.parametrize("name", CHUNKS)
def test_a_chunk_looks_on_the_wire_as_the_file_says(name: str) -> None:
    wire = CHUNKS[name].to_wire()
    wire = json.loads(json.dumps(wire))  # tuples are lists
    assert wire == GOLDEN["chunks"][name]
    assert list(wire) == list(GOLDEN["chunks"][name])
    assert wire["type"] == CHUNKS[name].type
    assert write_chunk(CHUNKS[name]) == json.dumps(wire, separators=(",", ":")).encode()


@pytest.mark.parametrize("name", CHUNKS)
def test_a_chunk_is_read_back_as_it_was_written(name: str) -> None:
    chunk = CHUNKS[name]
    read = Content(chunk.content) if isinstance(chunk, Closing) else chunk
    assert read_chunk(write_chunk(chunk)) == read
    later = json.dumps(GOLDEN["chunks"][name] | {"of_a_later_version": 1})
    assert read_chunk(later) == read


DEEP: dict[str, Any] = {}
for _ in range(400):
    DEEP = {"in": DEEP}


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        pytest.param({"a": None, "b": {"c": None}, "d": [{"e": None}]}, None, id="null"),
        pytest.param({"a": 7, "b": 7.0, "c": 7.5, "d": 10**30}, None, id="numbers"),
        pytest.param({"a": float("nan"), "b": float("inf")}, {"a": None, "b": None}, id="no numbers of JSON"),
        pytest.param({"a": "\ud800", "\udfff": "ü"}, {"a": "\ufffd", "\ufffd": "ü"}, id="lone surrogates"),
        pytest.param({"a\ud800": DEEP, "n": None}, {"a\ufffd": DEEP, "n": None}, id="all at once"),
        pytest.param(DEEP, None, id="nested deeply"),
        pytest.param(MappingProxyType({"a": MappingProxyType({})}), {"a": {}}, id="mappings that are no dictionaries"),
    ],
)
def test_arguments_and_metadata_are_written_as_they_are(arguments: Any, written: Any) -> None:
    call = write_chunk(ToolCalled(ToolCall("c", "t", arguments)))
    notice = write_chunk(SystemNotice("stuck", "m", "info", "t", metadata=arguments))
    assert exact(json.loads(call)["tool_call"]["arguments"]) == exact(written or arguments)
    assert exact(json.loads(notice)["metadata"]) == exact(written or arguments)


@pytest.mark.parametrize("levels", [190, 197, 198, 255, 400, 900])
def test_deeply_nested_arguments_are_read_back(levels: int) -> None:
    arguments: dict[str, Any] = {}
    for _ in range(levels):
        arguments = {"in": arguments}
    chunk = ToolCalled(ToolCall("c", "t", arguments))
    assert read_chunk(write_chunk(chunk)) == chunk


def exact(value: Any) -> str:
    """Tells 7 from 7.0."""
    return json.dumps(value)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), nested))
def test_both_ways_of_writing_say_the_same(value: Any) -> None:
    for chunk in (ToolCalled(ToolCall("c", "t", {"a": value})), SourceFound(Source("p", "web", score=0.1))):
        assert from_json(write_chunk(chunk)) == from_json(to_json(chunk.to_wire()))


def test_every_type_of_chunk_is_in_the_file() -> None:
    assert {type(chunk) for chunk in CHUNKS.values()} == {*get_args(Chunk), Closing}
    assert GOLDEN["chunks"].keys() == CHUNKS.keys()


@pytest.mark.parametrize("name", WORDS)
def test_the_values_of_enumerations_are_those_of_the_file(name: str) -> None:
    assert list(get_args(WORDS[name])) == GOLDEN["words"][name]


def test_the_answer_is_what_its_chunks_add_up_to() -> None:
    answer = Answer()
    for chunk in CHUNKS.values():
        answer.add(chunk)
    assert answer.text == "Some text.\nStopped: iteration limit reached (10/10)."
    assert [source.path for source in answer.sources] == ["src/retry.py", "https://example.org"]
    assert (answer.notices, answer.failed, answer.done) == ([CHUNKS["system"]], CHUNKS["error"], CHUNKS["done"])
    assert [call.name for call in answer.calls.values()] == ["search_code"]
    assert (answer.results, answer.open_calls) == ({"call_1": CHUNKS["tool_result"]}, [])
    assert {each.id: each.status for each in answer.interrupts.values()} == {"r1.1": "edited", "r1.2": "answered"}
    assert answer.pending == []


def test_what_people_have_not_decided_is_pending() -> None:
    answer = Answer()
    for chunk in (ApprovalRequested(APPROVAL), QuestionAsked(QUESTION)):
        answer.add(chunk)
    assert answer.pending == [APPROVAL, QUESTION]
    answer.add(Answered(replace(APPROVAL, status="refused")))
    assert answer.pending == [QUESTION]


def test_a_call_is_open_until_its_result_comes() -> None:
    answer = Answer()
    for call_id in ("a", "b"):
        answer.add(ToolCalled(ToolCall(call_id, "t", {})))
    answer.add(ToolReturned("a", "", is_error=False, duration_ms=0))
    assert [call.id for call in answer.open_calls] == ["b"]


CLOSING = Closing("Stopped: time limit reached (120 s).", "timeout")


@pytest.mark.parametrize(
    ("chunks", "stopped", "has_text"),
    [
        pytest.param([], None, False, id="nothing"),
        pytest.param([Content("Stopped: said the model.")], None, True, id="the model's own words"),
        pytest.param([Content(" \n"), CLOSING], "timeout", False, id="the closing sentence alone"),
        pytest.param([Content("Half"), Content("\n\n"), CLOSING], "timeout", True, id="after text"),
        pytest.param([CLOSING, CHUNKS["error"]], None, False, id="an error after it"),
        pytest.param([CHUNKS["error"], CLOSING], "timeout", False, id="an error before it"),
        pytest.param([CLOSING, Content("More.")], None, True, id="text after it"),
    ],
)
def test_the_reason_for_the_end_is_the_one_that_the_last_content_gives(
    chunks: list[Chunk], stopped: TerminationReason | None, has_text: bool
) -> None:
    answer = Answer()
    for chunk in chunks:
        answer.add(chunk)
    assert (answer.stopped, answer.has_text) == (stopped, has_text)
