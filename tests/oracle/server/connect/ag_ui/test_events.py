"""The recorded conversations as events of AG-UI: what is opened is closed, and the texts are ours."""

import json
from typing import Any

import pytest

from oracle.core.chunks import Chunk, Content, ToolReturned, read_chunk, write_chunk
from oracle.server.connect.ag_ui.events import AgUiEvents
from tests.oracle.server.connect.scripted import RUN_ID, SCRIPTED, Scripted, played, segments

ROWS = {row.name: row for row in SCRIPTED}
_OPENED = {
    "TEXT_MESSAGE_START": ("TEXT_MESSAGE_END", "messageId"),
    "REASONING_START": ("REASONING_END", "messageId"),
    "REASONING_MESSAGE_START": ("REASONING_MESSAGE_END", "messageId"),
    "TOOL_CALL_START": ("TOOL_CALL_END", "toolCallId"),
    "STEP_STARTED": ("STEP_FINISHED", "stepName"),
}


def events_of(frames: list[bytes]) -> list[dict[str, Any]]:
    for frame in frames:
        assert frame.startswith(b"data: ")
        assert frame.endswith(b"\n\n")
        assert frame.count(b"\n") == 2
    return [json.loads(frame[6:]) for frame in frames]


def made(row: Scripted, **more: Any) -> AgUiEvents:
    return AgUiEvents(row.run, thread="t1", **more)


def read(row: Scripted, **more: Any) -> list[dict[str, Any]]:
    return events_of(played(made(row, **more), row))


def check(events: list[dict[str, Any]]) -> None:
    """What `verifyEvents` checks: the order of what is opened and closed."""
    open_: set[tuple[str, str]] = set()
    assert events[0]["type"] == "RUN_STARTED"
    assert events[-1]["type"] in ("RUN_FINISHED", "RUN_ERROR")
    closing = {end: (start, field) for start, (end, field) in _OPENED.items()}
    for event in events[1:-1]:
        kind = event["type"]
        assert not kind.startswith("RUN_")
        if kind in _OPENED:
            assert (kind, event[_OPENED[kind][1]]) not in open_
            open_.add((kind, event[_OPENED[kind][1]]))
        elif kind in closing:
            start, field = closing[kind]
            open_.remove((start, event[field]))
        elif kind == "TEXT_MESSAGE_CONTENT":
            assert ("TEXT_MESSAGE_START", event["messageId"]) in open_
        elif kind == "REASONING_MESSAGE_CONTENT":
            assert ("REASONING_MESSAGE_START", event["messageId"]) in open_
    assert not open_


@pytest.mark.parametrize("row", SCRIPTED, ids=lambda row: row.name)
def test_each_conversation_is_closed_and_says_what_was_said(row: Scripted) -> None:
    events = read(row)
    check(events)
    said = "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")
    assert said == row.answer.text
    ended = [event["toolCallId"] for event in events if event["type"] == "TOOL_CALL_RESULT"]
    assert ended == [chunk.tool_call_id for chunk in row.chunks if isinstance(chunk, ToolReturned)]
    assert events == read(row), "the same again"


@pytest.mark.parametrize("row", [row for row in SCRIPTED if row.parked_at], ids=lambda row: row.name)
def test_a_run_that_waited_is_several_runs_of_the_protocol_that_add_up_to_it(row: Scripted) -> None:
    parts = segments(row)
    found: list[dict[str, Any]] = []
    n, before = 0, list[Chunk]()
    for at, part in enumerate(parts):
        answered = [chunk.interrupt.id for chunk in part if chunk.type == "answered"]
        translator = made(row, resumed=answered if at else ())
        frames = list(translator.opening())
        for n, chunk in enumerate((*before, *part), start=1):
            frames += translator.frames(n, read_chunk(write_chunk(chunk)))
        if at < len(parts) - 1 or row.is_parked:
            frames += translator.parked()
        events = events_of(frames)
        check(events)
        found += events
        before += part
    assert n == len(row.chunks)
    alike = ("TEXT_MESSAGE_CONTENT", "TOOL_CALL_START", "TOOL_CALL_RESULT", "CUSTOM", "REASONING_MESSAGE_CONTENT")
    whole = [{**event, "parentMessageId": ""} for event in read(row) if event["type"] in alike]
    texts = [{**event, "parentMessageId": ""} for event in found if event["type"] in alike]
    assert [event.get("delta") for event in texts] == [event.get("delta") for event in whole]
    assert [event["type"] for event in texts] == [event["type"] for event in whole]


def test_what_waits_for_people_is_an_interrupt_and_what_waits_for_the_client_a_pending_call() -> None:
    approval = read(ROWS["approval"])[-1]
    assert approval["outcome"]["type"] == "interrupt"
    (interrupt,) = approval["outcome"]["interrupts"]
    assert (interrupt["id"], interrupt["reason"], interrupt["toolCallId"]) == (f"{RUN_ID}-1", "tool_call", "call-1")
    assert interrupt["responseSchema"]["properties"].keys() == {"approved", "comment", "arguments"}
    assert interrupt["expiresAt"] == "2026-01-02T04:04:05.000Z"
    assert interrupt["metadata"]["may"] == ["approve", "refuse", "edit"]
    client = read(ROWS["client_tool"])[-1]
    assert client["outcome"] == {"type": "success", "pendingToolCallIds": ["call-1"]}


def test_several_interrupts_come_together() -> None:
    row = ROWS["two_approvals"]
    translator = made(row)
    frames = list(translator.opening())
    for n, chunk in enumerate(row.chunks[:4], start=1):
        frames += translator.frames(n, chunk)
    *_, last = events_of([*frames, *translator.parked()])
    assert [each["id"] for each in last["outcome"]["interrupts"]] == [f"{RUN_ID}-1", f"{RUN_ID}-2"]


def test_a_result_that_the_client_gave_is_not_given_back() -> None:
    row = ROWS["client_tool_answered"]
    events = read(row, resumed=(f"{RUN_ID}-1",), given=("call-1",))
    check(events)
    assert [event["type"] for event in events[1:3]] == ["CUSTOM", "STEP_STARTED"]
    assert "TOOL_CALL_RESULT" not in [event["type"] for event in events]


@pytest.mark.parametrize(
    ("name", "kind", "outcome"),
    [
        ("text", "RUN_FINISHED", {"type": "success"}),
        ("limit", "RUN_FINISHED", {"type": "success"}),
        ("cancel", "RUN_FINISHED", {"type": "cancelled"}),
        ("error", "RUN_ERROR", None),
        ("error_at_once", "RUN_ERROR", None),
    ],
)
def test_how_it_ends(name: str, kind: str, outcome: dict[str, str] | None) -> None:
    last = read(ROWS[name])[-1]
    assert (last["type"], last.get("outcome")) == (kind, outcome)
    if kind == "RUN_ERROR":
        assert last["code"] in ("provider_failed", "interrupted")


def test_turns_are_steps_and_calls_belong_to_the_text_before_them() -> None:
    events = read(ROWS["tools"])
    steps = [event["stepName"] for event in events if event["type"] == "STEP_STARTED"]
    assert steps[0] == "turn 1"
    text = next(event["messageId"] for event in events if event["type"] == "TEXT_MESSAGE_START")
    call = next(event for event in events if event["type"] == "TOOL_CALL_START")
    assert call["parentMessageId"] == text
    assert any(event.get("metadata") == {"is_error": True} for event in events)


def test_sources_and_notices_are_events_of_their_own() -> None:
    sources = [event["value"]["path"] for event in read(ROWS["sources"]) if event.get("name") == "source"]
    assert sources == ["src/login.py", "https://example.org/login", "Login.md"]
    (notice,) = [event["value"] for event in read(ROWS["notice"]) if event.get("name") == "notice"]
    assert notice["severity"] == "warning"


def test_a_piece_of_nothing_opens_nothing() -> None:
    translator = made(ROWS["text"])
    assert not list(translator.frames(1, Content("")))
