"""The UI message stream of a log; `tests/connect/test_ai_sdk.py` has it read by the SDK itself."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from oracle.core.chunks import (
    Answer,
    Answered,
    ApprovalRequested,
    Chunk,
    Content,
    Done,
    Failed,
    Interrupt,
    QuestionAsked,
    Source,
    SourceFound,
    SystemNotice,
    TerminationReason,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.core.encoding import to_json
from oracle.server.connect.ai_sdk.parts import UIMessageStream
from tests.oracle.server.connect.scripted import SCRIPTED, Scripted, played

WRITE = Interrupt(
    "r.1",
    "tool_call",
    "May it?",
    ("approve", "refuse", "edit"),
    {},
    "refuse",
    tool_call_id="c2",
    tool_name="write",
    arguments={"path": "a"},
)
ASK = Interrupt("r.2", "input_required", "Which?", ("answer", "refuse"), {"type": "string"}, "fail")
CONFIRM = Interrupt("r.3", "confirmation", "Do it?", ("approve", "refuse"), {}, "fail", tool_name="note")
PLACE = Interrupt(
    "r.4",
    "input_required",
    "Run it.",
    ("answer",),
    {},
    "refuse",
    tool_call_id="c4",
    tool_name="place",
    arguments={"city": "Lima"},
)


def done(reason: TerminationReason = "completed") -> Done:
    return Done(reason, 10, tokens_estimated=False, model_used="m", context_id="c", run_id="r", turns=2)


def called(call_id: str, name: str = "read", **arguments: object) -> ToolCalled:
    return ToolCalled(ToolCall(call_id, name, arguments))


def returned(call_id: str, text: str = "found", *, is_error: bool = False) -> ToolReturned:
    return ToolReturned(call_id, text, is_error=is_error, duration_ms=1)


END = {name: value for name, value in done().to_wire().items() if name != "type"}
WAITS = None
"""In a log: the run is parked here."""
LOG: Sequence[Chunk | None] = (
    SystemNotice("queued", "Waits.", "info", "2026-01-01T00:00:00Z"),
    Thinking("Hm"),
    Thinking("."),
    Content("One "),
    Content("two."),
    called("c1", x=1),
    called("c2", "write", path="a"),
    called("c3", "write", path="a"),
    returned("c1"),
    SourceFound(Source("https://example.org/a", "web")),
    SourceFound(Source("auth.py", "code", 3, "def login")),
    ApprovalRequested(WRITE),
    WAITS,
    Answered(replace(WRITE, status="approved"), comment="Yes"),
    returned("c2", "written"),
    returned("c3", "written"),
    Content("Three."),
    SystemNotice("limit_warning", "Soon.", "warning", "2026-01-01T00:00:00Z", metadata={"left": 1}),
    QuestionAsked(ASK),
    WAITS,
    Answered(replace(ASK, status="answered"), answer="left"),
    ApprovalRequested(CONFIRM),
    WAITS,
    Answered(replace(CONFIRM, status="refused")),
    called("c4", "place", city="Lima"),
    QuestionAsked(PLACE),
    WAITS,
    Answered(replace(PLACE, status="answered"), answer={"output": '{"at":1}', "is_error": False}),
    returned("c4", '{"at":1}'),
    Content("Four."),
    done(),
)
CHUNKS = [chunk for chunk in LOG if chunk is not None]
TOOL = {"name": "place", "description": "", "input_schema": {}}
RUN = replace(SCRIPTED[0].run, id="r", context_id="c", input={"question": "?", "client_tools": [TOOL]})


def frames_of(chunks: Iterable[Chunk], **more: Any) -> list[bytes]:
    stream = UIMessageStream(RUN, **more)
    made = list(stream.opening())
    for n, chunk in enumerate(chunks, start=1):
        made += stream.frames(n, chunk)
    return made


def parts_of(frames: Iterable[bytes]) -> list[dict[str, Any]]:
    lines = b"".join(frames).decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def parts(*chunks: Chunk) -> list[dict[str, Any]]:
    return parts_of(frames_of(chunks))


def kinds(given: Iterable[dict[str, Any]]) -> list[str]:
    return [part["type"] for part in given]


def stages() -> list[list[bytes]]:
    """What a client reads that answers whatever the run waits for: a stream up to each place at which it waits."""
    read, seen = [], 0
    while True:
        stream = UIMessageStream(RUN, seen=seen)
        made, n = list(stream.opening()), 0
        for chunk in LOG:
            if chunk is not None:
                n += 1
                made += stream.frames(n, chunk)
            elif n > seen:
                made += stream.parked()
                break
        read.append(made)
        finish = parts_of(made)[-1]
        seen = finish["messageMetadata"]["seen"]
        if finish["finishReason"] == "stop":
            return read


def test_a_text_is_one_part_and_its_frames_are_numbered() -> None:
    assert frames_of([Content("One "), Content("\ud800two"), done()]) == [
        b'id: 1\ndata: {"type":"start","messageId":"r","messageMetadata":{"run_id":"r","context_id":"c"}}\n\n',
        b'id: 2\ndata: {"type":"start-step"}\n\n',
        b'id: 3\ndata: {"type":"text-start","id":"r-1"}\n\n',
        b'id: 4\ndata: {"type":"text-delta","id":"r-1","delta":"One "}\n\n',
        b'id: 5\ndata: {"type":"text-delta","id":"r-1","delta":"\xef\xbf\xbdtwo"}\n\n',
        b'id: 6\ndata: {"type":"text-end","id":"r-1"}\n\n',
        b'id: 7\ndata: {"type":"finish-step"}\n\n',
        b'id: 8\ndata: {"type":"finish","finishReason":"stop","messageMetadata":%b}\n\n' % to_json(END | {"seen": 3}),
        b"data: [DONE]\n\n",
    ]


def test_a_turn_is_a_step() -> None:
    made = parts(Thinking("Hm."), called("a"), called("b"), returned("b"), returned("a"), Content("So."), done())
    assert kinds(made) == [
        "start",
        "start-step",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "tool-input-available",
        "tool-input-available",
        "tool-output-available",
        "tool-output-available",
        "finish-step",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
    ]


def test_tools_of_the_service_are_never_for_the_client() -> None:
    call, result = parts(called("a", x=1), returned("a", "No.", is_error=True))[2:4]
    assert call == {
        "type": "tool-input-available",
        "toolCallId": "a",
        "toolName": "read",
        "input": {"x": 1},
        "dynamic": True,
        "providerExecuted": True,
    }
    assert result == {"type": "tool-output-error", "toolCallId": "a", "errorText": "No."}


def test_a_tool_of_the_client_is_called_when_the_client_is_asked() -> None:
    assert kinds(parts(called("c4", "place", city="Lima"))) == ["start", "start-step"]
    call = parts(called("c4", "place", city="Lima"), QuestionAsked(PLACE))[-1]
    assert call == {
        "type": "tool-input-available",
        "toolCallId": "c4",
        "toolName": "place",
        "input": {"city": "Lima"},
        "dynamic": False,
    }


def test_a_tool_of_the_client_that_must_be_approved_is_the_client_s_only_then() -> None:
    approval = replace(WRITE, id="r.9", tool_call_id="c4", tool_name="place")
    approved = Answered(replace(approval, status="approved"))
    made = parts(called("c4", "place", city="Lima"), ApprovalRequested(approval), approved, QuestionAsked(PLACE))
    assert [part.get("providerExecuted") for part in made if part["type"] == "tool-input-available"] == [True, False]


def test_of_a_refused_call_the_client_hears_that_it_was_denied() -> None:
    refused = Answered(replace(WRITE, status="refused"), comment="Not there.")
    made = parts(
        called("c2", "write", path="a"), ApprovalRequested(WRITE), refused, returned("c2", "Not run.", is_error=True)
    )
    assert made[-3:-1] == [
        {
            "type": "tool-approval-response",
            "approvalId": "r.1",
            "approved": False,
            "reason": "Not there.",
        },
        {"type": "tool-output-denied", "toolCallId": "c2"},
    ]


def test_arguments_that_a_person_has_changed_are_shown() -> None:
    edited = Answered(replace(WRITE, status="edited"), arguments={"path": "b"})
    made = parts(called("c2", "write", path="a"), ApprovalRequested(WRITE), edited)
    assert [part.get("input") for part in made[-2:]] == [{"path": "b"}, None]
    assert made[-1]["approved"] is True


def test_what_was_allowed_before_is_shown_as_approved() -> None:
    made = parts(called("c2", "write", path="a"), Answered(replace(WRITE, status="approved")), returned("c2"))
    assert kinds(made)[3:] == [
        "tool-approval-request",
        "tool-approval-response",
        "tool-output-available",
        "finish-step",
    ]
    assert made[3]["isAutomatic"] is True
    assert kinds(parts(Answered(replace(CONFIRM, status="approved")))) == ["start"]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("completed", "stop"), ("token_budget", "length"), ("stuck", "other"), ("user_cancelled", "interrupted")],
)
def test_a_message_says_how_it_ended(reason: TerminationReason, finish: str) -> None:
    made = parts(Content("So far"), done(reason))
    assert made[-1]["finishReason"] == finish
    assert made[-1]["messageMetadata"]["termination_reason"] == reason
    assert ("abort" in kinds(made)) is (reason == "user_cancelled")


def test_an_error_comes_last_because_the_client_reads_nothing_after_it() -> None:
    made = parts(Content("So far"), Failed("It broke.", "internal"), done("error"))
    assert made[-2]["finishReason"] == "error"
    assert made[-1] == {"type": "error", "errorText": "It broke."}


def test_only_what_belongs_to_the_answer_stays_in_the_message() -> None:
    notices = [part for part in parts_of(frames_of(CHUNKS)) if part["type"] == "data-system"]
    assert [(part["data"]["system_type"], part.get("transient", False)) for part in notices] == [
        ("queued", True),
        ("limit_warning", False),
    ]


@pytest.mark.parametrize("path", ["javascript:alert(1)", "data:text/html,x", "notes/a.md"])
def test_only_addresses_of_the_web_are_links(path: str) -> None:
    assert parts(SourceFound(Source(path, "web")))[-1]["type"] == "source-document"


def test_the_same_log_makes_the_same_bytes_and_each_part_once() -> None:
    frames = frames_of(CHUNKS)
    assert frames == frames_of(CHUNKS)
    ids = [part["id"] for part in parts_of(frames) if part["type"].endswith("-start") and "id" in part]
    assert len(ids) == len(set(ids))


def test_a_run_that_waits_for_the_client_ends_its_message_and_the_next_stream_is_the_rest() -> None:
    read = stages()
    assert len(read) == 5
    assert [parts_of(frames)[-1]["finishReason"] for frames in read] == ["tool-calls"] * 4 + ["stop"]
    joined = [part for frames in read for part in parts_of(frames) if part["type"] not in ("start", "finish")]
    whole = [part for part in parts_of(frames_of(CHUNKS)) if part["type"] not in ("start", "finish")]
    steps = ("start-step", "finish-step")  # a stream that waits ends its step; the part means nothing to the client
    assert [part for part in joined if part["type"] not in steps] == [p for p in whole if p["type"] not in steps]
    assert kinds(joined).count("start-step") == kinds(whole).count("start-step")


def test_the_rest_of_a_stream_is_numbered_as_in_the_whole() -> None:
    whole = frames_of(CHUNKS)
    for made in stages()[1:]:
        rest = [frame for frame in made if frame.startswith(b"id: ")]
        assert made[0].startswith(b"data: ")  # the `start`, which would begin the count anew
        assert rest == whole[(first := whole.index(rest[0])) : first + len(rest)]
        assert rest


def test_what_the_client_has_decided_it_has_seen() -> None:
    """Its connection was lost before the stream could say so."""
    asked = CHUNKS.index(ApprovalRequested(WRITE)) + 1
    assert frames_of(CHUNKS, answered=["r.1"]) == frames_of(CHUNKS, seen=asked)


def ended(given: Sequence[Chunk]) -> list[Chunk]:
    """The log of a run that was stopped there: calls have their results, and what was asked is withdrawn."""
    answer = Answer()
    for chunk in given:
        answer.add(chunk)
    results = [returned(call.id, "Not run.", is_error=True) for call in answer.open_calls]
    return [*given, *results, *(Answered(replace(each, status="withdrawn")) for each in answer.pending), done()]


@pytest.mark.parametrize(
    "chunks", [*(ended(CHUNKS[:n]) for n in range(len(CHUNKS))), *(row.chunks for row in SCRIPTED)]
)
def test_nothing_that_was_answered_is_in_the_last_step(chunks: Sequence[Chunk]) -> None:
    """`sendAutomaticallyWhen` looks there, and would send the message again and again."""
    made = parts_of(frames_of(chunks))
    if not isinstance(chunks[-1], Done):
        return
    last = made[max(n for n, part in enumerate(made) if part["type"] == "start-step") :]
    assert not [part for part in last if part["type"].startswith("tool-")]
    assert kinds(made).count("start-step") == kinds(made).count("finish-step")


@pytest.mark.parametrize("row", SCRIPTED, ids=[row.name for row in SCRIPTED])
def test_the_shared_rows_say_what_they_say(row: Scripted) -> None:
    made = parts_of(played(UIMessageStream(row.run), row))
    answer = row.answer
    assert "".join(part["delta"] for part in made if part["type"] == "text-delta") == answer.text
    assert len([part for part in made if part["type"].startswith("source-")]) == len(answer.sources)
    outputs = [part for part in made if part["type"].startswith("tool-output")]
    assert {part["toolCallId"] for part in outputs} >= answer.results.keys()
    if row.is_parked:
        assert made[-1]["finishReason"] == "tool-calls"
        assert made[-1]["messageMetadata"] == {"seen": len(row.chunks)}
    elif answer.failed is not None:
        assert made[-1] == {"type": "error", "errorText": answer.failed.error}


def test_a_run_that_waits_for_somebody_else_leaves_the_stream_open() -> None:
    stream = UIMessageStream(RUN)
    list(stream.frames(1, called("c2", "write", path="a")))
    list(stream.frames(2, ApprovalRequested(replace(WRITE, answerers="operator"))))
    assert list(stream.parked()) == []
