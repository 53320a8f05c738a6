"""Runs as events of Responses: each is one of the SDK's own, and together they are what the SDK makes of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from oracle.core.chunks import (
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
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.runs.storage.records import RunRecord
from oracle.server.connect.openai.response_events import END, ResponseTranslator
from oracle.server.connect.openai.response_items import CONVERSATION, PREVIOUS, ResponseName
from tests.oracle.server.connect.scripted import SCRIPTED

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
RUN = "0f8e-run"
AT = "2026-11-24T12:00:00Z"
TOOLS = [
    {"name": name, "description": "It tells.", "input_schema": {"type": "object"}}
    for name in ("get_weather", "read_page")
]


def done(reason: str = "completed", **fields: Any) -> Done:
    return Done(reason, 120, False, "scripted", "context-1", RUN, 1, **fields)  # type: ignore[arg-type]


def interrupt(n: int, **fields: Any) -> Interrupt:
    of_call = {"tool_call_id": f"c{n}", "tool_name": "vault_write", "arguments": {"path": "a.md"}}
    given = {"reason": "tool_call", "may": ("approve", "refuse"), **of_call, **fields}
    return Interrupt(f"{RUN}.{n}", message="May it?", response_schema={}, on_expiry="refuse", **given)


def settled(asked: Interrupt, status: str, **fields: Any) -> Answered:
    return Answered(Interrupt(**{**vars(asked), "status": status}), **fields)


def call(n: int, name: str = "vault_write", **arguments: Any) -> ToolCalled:
    return ToolCalled(ToolCall(f"c{n}", name, arguments))


def result(n: int, text: str = "Done.", *, is_error: bool = False) -> ToolReturned:
    return ToolReturned(f"c{n}", text, is_error=is_error, duration_ms=3)


def notice(kind: str, text: str) -> SystemNotice:
    return SystemNotice(kind, text, "warning", timestamp=AT)  # type: ignore[arg-type]


APPROVAL = interrupt(1)
WEATHER = interrupt(1, reason="input_required", may=("answer",), tool_name="get_weather", arguments={"location": "SF"})
OTHERS = interrupt(1, answerers="operator")

ALL: Mapping[str, Sequence[Chunk]] = {row.name: row.chunks for row in SCRIPTED} | {
    "waits for a place": [notice("queued", "You wait."), Content("Now."), done()],
    "half a surrogate": [Content("It begins in "), Content("login.py, \ud800 “so”."), done()],
    "server of a tool": [
        call(1, "search_code", query="login"),
        call(2, "tickets.read", id=7),
        result(2, "It is closed."),
        SourceFound(Source("src/login.py", "code", line=88)),
        result(1, "Nothing of that kind.", is_error=True),
        Content("See "),
        SourceFound(Source("https://example.com/a", "web", snippet="A page")),
        Content("there."),
        done(),
    ],
    "under way at the end": [call(1, "search_code", query="x"), Content("Half"), done("user_cancelled")],
    "others decide": [
        *(call(1), ApprovalRequested(OTHERS), settled(OTHERS, "approved"), result(1), Content("So."), done()),
    ],
    "edited": [
        call(1, path="a.md"),
        ApprovalRequested(APPROVAL),
        settled(APPROVAL, "edited", arguments={"path": "b.md"}),
        result(1),
        done(),
    ],
    "beside a call": [
        call(1),
        call(2, "search_code", query="x"),
        ApprovalRequested(APPROVAL),
        result(2),
        settled(APPROVAL, "approved"),
        result(1),
        done(),
    ],
    "twice": [
        call(1, "get_weather", location="SF"),
        QuestionAsked(WEATHER),
        settled(WEATHER, "answered", answer={"output": "Fog"}),
        result(1, "Fog"),
        call(2, "vault_write", path="a.md"),
        ApprovalRequested(interrupt(2)),
        settled(interrupt(2), "approved"),
        result(2),
        Content("Written."),
        done(),
    ],
}


def run_of(**asked: Any) -> RunRecord:
    asked = {"question": "Why?", "model": None, "client_tools": TOOLS, **asked}
    times = {"created_at": 1764000000.5, "deadline_at": 1764000100.0}
    return RunRecord(RUN, "ann", "context-1", "w", 1, "oracle", None, asked, {}, "running", **times)


def translated(chunks: Sequence[Chunk], *, first: int = 1, **asked: Any) -> list[bytes]:
    """All frames of a response."""
    translator = ResponseTranslator(run_of(**asked), first=first)
    frames = list(translator.opening())
    for n, chunk in enumerate(chunks, start=1):
        frames += translator.frames(n, chunk)
    assert translator.is_over
    return frames


def responses(chunks: Sequence[Chunk]) -> list[list[bytes]]:
    """The frames of all responses that answer a run."""
    translator = ResponseTranslator(run_of())
    for n, chunk in enumerate(chunks, start=1):
        translator.portions.take(n, chunk)
    return [translated(chunks, first=first) for first in translator.portions.starts if first <= len(chunks)]


def events(frames: Sequence[bytes]) -> list[dict[str, Any]]:
    read = []
    for frame in frames:
        assert frame.endswith(b"\n\n")
        if frame == END:
            continue
        name, data = frame[:-2].split(b"\n")
        read.append(json.loads(data.removeprefix(b"data: ")))
        assert name.removeprefix(b"event: ").decode() == read[-1]["type"]
    assert frames[-1] == END
    return read


def kinds(frames: Sequence[bytes]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events(frames)]


def last(frames: Sequence[bytes]) -> dict[str, Any]:
    return events(frames)[-1]["response"]


@pytest.mark.parametrize("name", ALL)
def test_each_event_is_one_of_the_sdk(name: str) -> None:
    for frames in responses(ALL[name]):
        for event in events(frames):
            read = EVENT.validate_json(json.dumps(event), strict=True)
            assert read.type == event["type"]
            Response.model_validate(event.get("response", last(frames)), strict=True)


@pytest.mark.parametrize("name", ALL)
def test_the_sdk_adds_the_events_up_to_the_last_response(name: str) -> None:
    for frames in responses(ALL[name]):
        state: ResponseStreamState[Any] = ResponseStreamState(input_tools=omit, text_format=omit)
        for event in events(frames):
            state.handle_event(EVENT.validate_python(event))
        if last(frames)["status"] == "completed":
            completed = state._completed_response
            assert completed is not None
            assert completed.output_text == Response.model_validate(last(frames)).output_text


@pytest.mark.parametrize("name", ALL)
def test_events_are_numbered_and_items_begin_and_end_once(name: str) -> None:
    ids: list[str] = []
    for frames in responses(ALL[name]):
        read = events(frames)
        assert [event["sequence_number"] for event in read] == list(range(len(read)))
        began = {event["output_index"]: event["item"]["id"] for event in read if event["type"].endswith("item.added")}
        ended = {event["output_index"]: event["item"] for event in read if event["type"].endswith("item.done")}
        assert sorted(began) == list(range(len(began)))
        assert [ended[place]["id"] for place in sorted(began)] == [began[place] for place in sorted(began)]
        assert [ended[place] for place in sorted(ended)] == last(frames)["output"]
        assert {event["response"]["id"] for event in read if "response" in event} == {last(frames)["id"]}
        ids += [last(frames)["id"], *began.values()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", ALL)
def test_the_answer_is_the_text_of_all_responses(name: str) -> None:
    said = "".join(chunk.content for chunk in ALL[name] if isinstance(chunk, Content)).replace("\ud800", "\ufffd")
    assert said == "".join(Response.model_validate(last(frames)).output_text for frames in responses(ALL[name]))


@pytest.mark.parametrize("name", ALL)
def test_the_same_run_gives_the_same_bytes_after_every_chunk(name: str) -> None:
    chunks, whole = ALL[name], translated(ALL[name])
    for cut in range(len(chunks) + 1):
        translator = ResponseTranslator(run_of())
        seen = [*translator.opening(), *(frame for n in range(cut) for frame in translator.frames(n + 1, chunks[n]))]
        assert seen == whole[: len(seen)]
    assert translated(chunks) == whole


@pytest.mark.parametrize("name", ALL)
def test_what_is_read_whole_is_what_the_last_event_has(name: str) -> None:
    for frames in responses(ALL[name]):
        found = ResponseName.read(last(frames)["id"])
        assert found is not None
        translator = ResponseTranslator(run_of(), first=found.first)
        for n, chunk in enumerate(ALL[name], start=1):
            translator.frames(n, chunk)
        body = json.loads(json.dumps(translator.body()).replace("\\ud800", "\ufffd"))
        assert body == last(frames)


@pytest.mark.parametrize(
    ("name", "status", "event"),
    [
        ("text", "completed", "completed"),
        ("nothing", "completed", "completed"),
        ("limit", "incomplete", "incomplete"),
        ("error", "failed", "failed"),
        ("time", "incomplete", "incomplete"),
        ("cancel", "cancelled", "incomplete"),
    ],
)
def test_a_run_ends_as_the_clients_know_it(name: str, status: str, event: str) -> None:
    frames = translated(ALL[name])
    assert kinds(frames)[-1] == event
    assert last(frames)["status"] == status
    assert last(frames)["incomplete_details"] == ({"reason": "max_output_tokens"} if status == "incomplete" else None)
    assert last(frames)["usage"]["total_tokens"] == 812


def test_an_error_has_a_code_of_theirs_and_our_message() -> None:
    chunks = [Content("Half"), Failed("The provider is overloaded.", "provider_overloaded"), done("error")]
    error = last(translated(chunks))["error"]
    assert error == {"code": "rate_limit_exceeded", "message": "The provider is overloaded."}


def test_a_text_comes_in_pieces_between_its_item_and_its_part() -> None:
    assert kinds(translated(ALL["text"])) == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *("output_text.delta", "output_text.delta", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done"),
        "completed",
    ]


def test_who_waits_for_a_place_is_queued() -> None:
    read = events(translated(ALL["waits for a place"]))
    assert [event["type"] for event in read[:3]] == ["response.created", "response.queued", "response.in_progress"]
    assert [event["response"]["status"] for event in read[:3]] == ["in_progress", "queued", "in_progress"]


def test_a_notification_is_reasoning_and_no_part_of_the_answer() -> None:
    output = last(translated(ALL["notice"]))["output"]
    assert [item["type"] for item in output] == ["message", "reasoning", "message"]
    assert output[1]["summary"] == [{"type": "summary_text", "text": "80 % of the tokens are used."}]


def test_tools_are_calls_of_servers_and_sources_are_annotations() -> None:
    search, ticket, message = last(translated(ALL["server of a tool"]))["output"]
    assert (search["server_label"], search["name"], search["arguments"]) == (
        "oracle",
        "search_code",
        '{"query":"login"}',
    )
    assert (search["status"], search["output"]) == ("failed", None)
    assert search["error"]["content"] == [{"type": "text", "text": "Nothing of that kind."}]
    assert (ticket["server_label"], ticket["name"], ticket["output"]) == ("tickets", "read", "It is closed.")
    [part] = message["content"]
    assert part["annotations"] == [
        {"type": "file_citation", "file_id": "code:src/login.py:88", "filename": "src/login.py", "index": 0},
        {
            "type": "url_citation",
            "url": "https://example.com/a",
            "title": "A page",
            "start_index": 4,
            "end_index": 4,
        },
    ]


def test_what_others_decide_the_client_only_waits_for() -> None:
    [frames] = responses(ALL["others decide"])
    assert [item["type"] for item in last(frames)["output"]] == ["mcp_call", "message"]


def test_an_approval_ends_a_response_and_the_next_one_goes_on() -> None:
    asking, going_on = responses(ALL["approved"])
    assert last(asking)["status"] == "completed"
    assert last(asking)["usage"] is None
    assert [item["type"] for item in last(asking)["output"]] == ["message", "mcp_call", "mcp_approval_request"]
    assert last(asking)["output"][1]["status"] == "incomplete"
    asked = last(asking)["output"][2]["id"]
    assert last(going_on)["id"] == f"resp_{RUN}_4"
    assert last(going_on)["previous_response_id"] == last(asking)["id"] == f"resp_{RUN}"
    ran = last(going_on)["output"][0]
    assert (ran["type"], ran["status"], ran["approval_request_id"]) == ("mcp_call", "completed", asked)
    assert kinds(going_on)[:2] == ["created", "in_progress"]


def test_a_call_with_other_arguments_shows_those() -> None:
    _, going_on = responses(ALL["edited"])
    assert last(going_on)["output"][0]["arguments"] == '{"path":"b.md"}'


def test_a_function_of_the_client_is_a_function_call_and_no_call_of_ours() -> None:
    asking, going_on = responses(ALL["client_tool_answered"])
    _, item = last(asking)["output"]
    assert (item["type"], item["name"]) == ("function_call", "read_page")
    assert item["arguments"] == '{"selector":"#login"}'
    assert kinds(asking)[-5:-1] == [
        *("output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"),
    ]
    assert [tool["name"] for tool in last(asking)["tools"]] == ["get_weather", "read_page"]
    assert [item["type"] for item in last(going_on)["output"]] == ["message"]


def test_a_question_has_its_text_and_schema_as_arguments() -> None:
    asking, _ = responses(ALL["question"])
    _, item = last(asking)["output"]
    assert (item["type"], item["name"]) == ("mcp_approval_request", "input_required")
    assert json.loads(item["arguments"]) == {
        "message": "Which of the two services?",
        "response_schema": {"type": "string"},
    }


def test_a_response_does_not_end_while_something_else_is_under_way() -> None:
    asking, _ = responses(ALL["beside a call"])
    assert [item["type"] for item in last(asking)["output"]] == ["mcp_call", "mcp_call", "mcp_approval_request"]
    assert [item["status"] for item in last(asking)["output"][:2]] == ["incomplete", "completed"]


def test_answers_that_are_taken_one_after_the_other_end_no_response() -> None:
    first, second = interrupt(1), interrupt(2)
    chunks = [
        *(call(1), call(2), ApprovalRequested(first), ApprovalRequested(second)),
        *(settled(first, "approved"), result(1), settled(second, "approved"), result(2), Content("Both."), done()),
    ]
    asking, going_on = responses(chunks)
    assert [item["id"] for item in last(asking)["output"][2:]] == [first.id, second.id]
    assert [item["type"] for item in last(going_on)["output"]] == ["mcp_call", "mcp_call", "message"]


def test_a_run_can_ask_several_times() -> None:
    assert [last(frames)["id"] for frames in responses(ALL["twice"])] == [
        *(f"resp_{RUN}", f"resp_{RUN}_3", f"resp_{RUN}_7"),
    ]


def test_what_is_asked_for_longer_than_a_response_is_asked_again() -> None:
    first, second = (interrupt(n, reason="confirmation", tool_call_id=None) for n in (1, 2))
    chunks = [
        *(ApprovalRequested(first), Content("Meanwhile."), ApprovalRequested(second)),
        *(settled(first, "approved"), call(3), result(3), settled(second, "approved"), done()),
    ]
    asked = [
        [item["id"] for item in last(frames)["output"] if "approval" in item["type"]] for frames in responses(chunks)
    ]
    assert asked == [[first.id], [second.id, first.id], []]


def test_the_request_is_given_back_as_far_as_it_is_kept() -> None:
    kept = {"team": "a", PREVIOUS: "resp_x", CONVERSATION: "chat-7"}
    body = last(translated(ALL["text"], metadata=kept, detached=True, model="claude-x"))
    assert body["metadata"] == {"team": "a"}
    assert body["previous_response_id"] == "resp_x"
    assert body["conversation"] == {"id": "chat-7"}
    assert (body["background"], body["model"], body["created_at"]) == (True, "oracle/claude-x", 1764000000)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("resp_0f8e-a", ResponseName("0f8e-a")),
        ("resp_0f8e-a_17", ResponseName("0f8e-a", 17)),
        *(
            (wrong, None)
            for wrong in ("", "resp_", "0f8e-a", "resp_a_0", "resp_a_x", "resp_a_1_2", "resp_a/b", "resp_é")
        ),
    ],
)
def test_names_are_read_strictly(text: str, name: ResponseName | None) -> None:
    assert ResponseName.read(text) == name
    assert name is None or str(name) == text
