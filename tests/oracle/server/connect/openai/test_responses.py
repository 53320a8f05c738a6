"""Responses over HTTP: asked, read again from anywhere, gone on with, stopped, deleted; and what is refused."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from openai.types.responses import Response

from bt_runtime.text import iso
from oracle.runs.storage import schema
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS, Service, in_shared_loop

PATH = "/v1/responses"
HELLO = ScriptedTurn(text=("Hello ", "there."))
WRITES = ScriptedTurn(text="I write.", tool_calls=(ScriptedCall("vault_write", {"path": "a.md", "body": "A"}),))
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Tells the weather.",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
}
LOOKS = ScriptedTurn(tool_calls=(ScriptedCall("get_weather", {"location": "SF"}),))


@pytest.fixture
def serve(start, tmp_path):
    """Starts a service with the trees `question` and `approval`."""
    write_trees(tmp_path)

    async def begin(turns: Sequence[ScriptedTurn] = (HELLO,), **options: Any) -> Service:
        return await start(turns, timestamp=lambda: iso(time.time()), **options)

    return begin


async def create(service: Service, given: Any = "Hello?", *, headers: Any = None, **body: Any) -> dict[str, Any]:
    answer = await service.client.post(PATH, json={"model": "oracle", "input": given, **body}, headers=headers)
    assert answer.status_code == 200, answer.text
    return checked(answer.json())


async def refused(service: Service, given: Any = "Hello?", *, headers: Any = None, **body: Any) -> dict[str, Any]:
    answer = await service.client.post(PATH, json={"model": "oracle", "input": given, **body}, headers=headers)
    assert answer.status_code == 400, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    return error


async def stream(service: Service, given: Any = "Hello?", **body: Any) -> list[bytes]:
    answer = await service.client.post(PATH, json={"model": "oracle", "input": given, "stream": True, **body})
    assert answer.status_code == 200, answer.text
    return frames_of(answer.content)


async def get(service: Service, response_id: str, *, headers: Any = None, **params: Any) -> Any:
    return await service.client.get(f"{PATH}/{response_id}", params=params, headers=headers)


def checked(body: dict[str, Any]) -> dict[str, Any]:
    Response.model_validate(body, strict=True)
    return body


def frames_of(body: bytes) -> list[bytes]:
    return [frame + b"\n\n" for frame in body.split(b"\n\n")[:-1] if frame != b":"]


def last(frames: Sequence[bytes]) -> dict[str, Any]:
    assert frames[-1] == b"data: [DONE]\n\n"
    found: dict[str, Any] = json.loads(frames[-2].split(b"\ndata: ")[1])["response"]
    return checked(found)


def text_of(response: Mapping[str, Any]) -> str:
    return Response.model_validate(response).output_text.strip()


def item(kind: str, response: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any]
    [found] = [each for each in response["output"] if each["type"] == kind]
    return found


def decision(response: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    asked = item("mcp_approval_request", response)["id"]
    return {"type": "mcp_approval_response", "approval_request_id": asked, "approve": True, **fields}


async def test_a_stream_is_read_again_behind_every_event(serve):
    service = await serve()
    frames = await stream(service)
    response = last(frames)
    assert text_of(response) == "Hello there."
    for after in range(len(frames) + 2):
        read = await get(service, response["id"], stream="true", starting_after=after)
        assert (read.status_code, read.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        assert read.content == b"".join(frames[after + 1 :])
    assert (await get(service, response["id"], stream="true")).content == b"".join(frames)


@pytest.mark.parametrize("after", ["-1", "x", "", "1.5", "9" * 30])
async def test_a_number_that_is_none_is_refused(serve, after):
    service = await serve()
    response = await create(service)
    read = await get(service, response["id"], stream="true", starting_after=after)
    assert (read.status_code, read.json()["error"]["type"]) == (400, "invalid_request_error")
    assert "starting_after" in read.json()["error"]["message"]


@pytest.mark.parametrize(
    "name", ["resp_x", "resp_", "x", "resp_id-2_7", "resp_..", "resp_id-2_0", "run", "resp_" + "a" * 400]
)
async def test_what_is_no_response_is_not_found(serve, name):
    service = await serve()
    await create(service)
    for call in (get(service, name), get(service, name, stream="true"), service.client.delete(f"{PATH}/{name}")):
        answer = await call
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    for path in (f"{name}/cancel", f"{name}/input_items"):
        method = "POST" if "cancel" in path else "GET"
        assert (await service.client.request(method, f"{PATH}/{path}")).status_code == 404


async def test_a_response_that_has_ended_is_not_cancelled(serve):
    service = await serve()
    response = await create(service)
    answer = (await service.client.post(f"{PATH}/{response['id']}/cancel")).json()
    assert (answer["status"], text_of(answer)) == ("completed", "Hello there.")


async def test_a_deleted_response_is_gone_and_the_others_of_its_conversation_are_not(serve):
    service = await serve()
    first = await create(service, conversation="c")
    second = await create(service, "And now?", conversation={"id": "c"})
    assert second["conversation"] == {"id": "c"}
    assert await context_of(service, second) == await context_of(service, first)
    answer = await service.client.delete(f"{PATH}/{first['id']}")
    assert answer.json() == {"id": first["id"], "object": "response", "deleted": True}
    assert (await get(service, first["id"])).status_code == 404
    assert (await service.client.delete(f"{PATH}/{first['id']}")).status_code == 404
    assert (await get(service, second["id"])).status_code == 200
    body = {"model": "oracle", "input": "?", "previous_response_id": first["id"]}
    assert (await service.client.post(PATH, json=body)).status_code == 404


async def context_of(service: Service, response: Mapping[str, Any]) -> str:
    run = (await service.client.get(f"/api/oracle/runs/{response['id'].removeprefix('resp_')}")).json()
    found: str = run["context_id"]
    return found


async def test_a_conversation_goes_on_by_each_of_its_names(serve):
    service = await serve()
    first = await create(service, "One?")
    context_id = await context_of(service, first)
    by_id = await create(service, "Two?", previous_response_id=first["id"])
    assert by_id["previous_response_id"] == first["id"]
    items = [
        {"role": "user", "content": "One?"},
        *first["output"],
        {"role": "user", "content": "Two?"},
        *by_id["output"],
    ]
    by_items = await create(service, [*items, {"role": "user", "content": "Three?"}])
    reference = {"type": "item_reference", "id": by_items["output"][0]["id"]}
    by_reference = await create(service, [reference, {"role": "user", "content": "Four?"}])
    for each in (by_id, by_items, by_reference):
        assert await context_of(service, each) == context_id
    assert await context_of(service, await create(service, "Other?")) != context_id
    for name in ({"metadata": {"conversation_id": "m-1"}}, {"conversation": "c-1"}):
        named = [await context_of(service, await create(service, question, **name)) for question in ("One?", "Two?")]
        assert named[0] == named[1] != context_id
    pairs = {f"name-{n}": "x" * 512 for n in range(16)}
    assert (await create(service, "Five?", previous_response_id=by_reference["id"], metadata=pairs))[
        "metadata"
    ] == pairs
    forked = await create(service, "Two again?", previous_response_id=first["id"])
    assert await context_of(service, forked) != context_id
    foreign = {
        "type": "message",
        "id": "msg_0123_4",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "?"}],
    }
    assert text_of(await create(service, [{"role": "user", "content": "?"}, foreign, {"role": "user", "content": "!"}]))


async def test_a_request_that_is_sent_again_gets_the_same_response(serve):
    service = await serve()
    first = await create(service)
    again = await create(service, headers={"x-stainless-retry-count": "1"})
    assert again == first
    assert (await create(service))["id"] != first["id"]


async def test_the_question_is_the_input_item(serve):
    service = await serve()
    response = await create(service)
    listed = (await service.client.get(f"{PATH}/{response['id']}/input_items")).json()
    [question] = listed["data"]
    assert (question["role"], question["content"]) == ("user", [{"type": "input_text", "text": "Hello?"}])
    assert (listed["first_id"], listed["last_id"], listed["has_more"]) == (question["id"], question["id"], False)


async def test_the_streams_before_and_after_a_decision_are_the_same_later(serve):
    service = await serve([WRITES, HELLO])
    first = await stream(service, "hello", model="approval")
    second = await stream(service, [decision(last(first), approve=False, reason="No.")], model="approval")
    assert item("mcp_call", last(second))["status"] == "failed"
    for frames in (first, second):
        name = last(frames)["id"]
        for after in range(len(frames)):
            read = await get(service, name, stream="true", starting_after=after)
            assert read.content == b"".join(frames[after + 1 :])


async def test_a_question_of_the_tree_is_answered_by_a_reason(serve):
    service = await serve()
    asking = await create(service, "Which?", model="question")
    assert json.loads(item("mcp_approval_request", asking)["arguments"])["message"] == "Which branch?"
    going_on = await create(service, [decision(asking, reason="release")], model="question")
    assert text_of(going_on) == "It is release."


@pytest.mark.parametrize(
    ("changed", "param"),
    [
        ({"approval_request_id": "id-2.9"}, "input[0].approval_request_id"),
        ({"approval_request_id": "elsewhere.1"}, "input[0].approval_request_id"),
        ({"approval_request_id": "x"}, "input[0].approval_request_id"),
        ({"approval_request_id": None}, "input[0].approval_request_id"),
        ({"approve": "yes"}, "input[0]"),
        ({"reason": 7}, "input[0]"),
        ({"reason": "a" * 2_001}, "input[0].approval_request_id"),
    ],
)
async def test_a_decision_about_something_else_is_refused(serve, changed, param):
    service = await serve([WRITES, HELLO])
    asking = await create(service, "hello", model="approval")
    assert (await refused(service, [decision(asking) | changed], model="approval"))["param"] == param
    assert text_of(await create(service, [decision(asking)], model="approval")) == "Hello there."


async def test_another_user_cannot_decide(serve):
    service = await serve([WRITES, HELLO], tokens=TOKENS)
    asking = await create(service, "hello", model="approval", headers=ALICE)
    error = await refused(service, [decision(asking)], model="approval", headers=BOB)
    assert error["message"].endswith(f"no question has the id {decision(asking)['approval_request_id']!r}")


async def test_what_waits_for_a_decision_is_stopped_or_deleted_instead(serve):
    service = await serve([WRITES, WRITES, HELLO])
    asking = await create(service, "hello", model="approval", conversation="c")
    busy = await service.client.post(PATH, json={"model": "oracle", "input": "And?", "conversation": "c"})
    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "conflict")
    assert (await service.client.post(f"{PATH}/{asking['id']}/cancel")).json() == asking
    late = await service.client.post(PATH, json={"model": "approval", "input": [decision(asking)]})
    assert (late.status_code, "any more" in late.json()["error"]["message"]) == (410, True)
    asking = await create(service, "hello", model="approval", conversation="c")
    assert (await service.client.delete(f"{PATH}/{asking['id']}")).status_code == 200
    assert text_of(await create(service, "And?", conversation="c")) == "Hello there."


async def test_who_decides_otherwise_later_is_told(serve):
    service = await serve([WRITES, HELLO])
    asking = await create(service, "hello", model="approval")
    await create(service, [decision(asking)], model="approval")
    body = {"model": "approval", "input": [decision(asking, approve=False)]}
    answer = await service.client.post(PATH, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert "was approved by local" in answer.json()["error"]["message"]


async def test_a_run_asks_its_client_again_and_again(serve):
    service = await serve([LOOKS, ScriptedTurn(tool_calls=(ScriptedCall("get_weather", {"location": "LA"}),)), HELLO])
    response = await create(service, "Weather?", tools=[WEATHER])
    items = [{"role": "user", "content": "Weather?"}]
    for _ in range(2):
        call = item("function_call", response)
        items += [*response["output"], {"type": "function_call_output", "call_id": call["call_id"], "output": "Fog"}]
        later = await create(service, items, tools=[WEATHER])
        assert later["previous_response_id"] == response["id"]
        response = later
    assert text_of(response) == "Hello there."
    assert await create(service, items, tools=[WEATHER]) == response
    assert (await service.client.get(f"{PATH}/{response['id']}/input_items")).json()["data"] == []


async def test_two_calls_are_answered_together(serve):
    both = ScriptedTurn(tool_calls=tuple(ScriptedCall("get_weather", {"location": name}) for name in ("SF", "LA")))
    service = await serve([both, HELLO])
    asking = await create(service, "Weather?", tools=[WEATHER])
    calls = [each["call_id"] for each in asking["output"]]
    outputs = [{"type": "function_call_output", "call_id": name, "output": "Fog"} for name in calls]
    error = await refused(service, outputs[:1])
    assert error["message"] == f"input: {calls[1]!r} also waits for an answer; send all answers at once"
    missing = await refused(service, [{**outputs[0], "call_id": "call_1"}], previous_response_id=asking["id"])
    assert missing["param"] == "input[0].call_id"
    assert text_of(await create(service, outputs)) == "Hello there."


async def test_without_a_choice_of_tools_none_is_offered(serve):
    service = await serve()
    response = await create(service, tools=[WEATHER], tool_choice="none")
    assert response["tools"] == []


async def test_parameters_without_a_meaning_are_accepted(serve):
    service = await serve()
    ignored = {"temperature": 0.1, "top_p": 1, "store": False, "include": ["x"], "truncation": "auto", "user": "u"}
    more = {"parallel_tool_calls": False, "max_output_tokens": 20, "reasoning": {"effort": "low"}, "unheard_of": [1]}
    response = await create(service, text={"format": {"type": "text"}, "verbosity": "low"}, **ignored, **more)
    assert (response["temperature"], response["store"]) == (1.0, True)


IMAGE = [
    {"type": "input_text", "text": "What is it?"},
    {"type": "input_image", "image_url": "https://example.com/a.png"},
]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": [{"role": "user", "content": IMAGE}]}, "input[0].content[1]"),
        ({"input": [{"role": "user", "content": 7}]}, "input[0].content"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": ["x"]}]}, "input[0].content[0]"),
        ({"input": [{"role": "pirate", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": ["user"], "content": "x"}]}, "input[0].role"),
        ({"input": [{"type": "computer_call", "id": "x"}]}, "input[0].type"),
        ({"input": [{"type": ["message"]}]}, "input[0].type"),
        ({"input": [{}]}, "input[0].type"),
        ({"input": ["x"]}, "input[0]"),
        ({"input": [None]}, "input[0]"),
        ({"input": []}, "input"),
        ({"input": ""}, "input"),
        ({"input": " \n"}, "input"),
        ({"input": None}, "input"),
        ({"input": 7}, "input"),
        ({"input": [{"role": "assistant", "content": "I am."}]}, "input"),
        ({"input": [{"type": "reasoning", "summary": []}]}, "input"),
        ({"text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "strin"}}}}, "response_format"),
        ({"text": {"format": "json"}}, "text.format"),
        ({"text": "x"}, "text"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [WEATHER, {"type": "function", "name": "a b"}]}, "tools[1]"),
        ({"tools": [{"type": "function", "name": "x", "parameters": {"type": "string"}}]}, "tools[0]"),
        ({"tools": {}}, "tools"),
        ({"stream": "yes"}, "stream"),
        ({"background": 1}, "background"),
        ({"instructions": 1}, "instructions"),
        ({"metadata": {str(n): "" for n in range(17)}}, "metadata"),
        ({"metadata": {"a": 1}}, "metadata"),
        ({"metadata": {"a": "b" * 513}}, "metadata"),
        ({"metadata": {"a" * 65: ""}}, "metadata"),
        ({"metadata": {"oracle.responses/x": ""}}, "metadata"),
        ({"metadata": []}, "metadata"),
        ({"conversation": 7}, "conversation"),
        ({"conversation": {}}, "conversation"),
        ({"conversation": "c" * 513}, "conversation"),
        ({"conversation": "c", "previous_response_id": "resp_x"}, "conversation"),
        ({"previous_response_id": 7}, "previous_response_id"),
        ({"input": "x" * 20_001}, None),
    ],
)
@in_shared_loop
async def test_what_would_mean_something_else_is_refused_with_its_place(shared, body, param):
    answer = await shared.client.post(PATH, json={"model": "oracle", "input": "Hello?", **body})
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
    assert param is None or error["param"] == param
    assert (await shared.client.get("/api/runs")).json()["runs"] == []


@pytest.mark.parametrize("name", ["resp_x", "x", "resp_id-2_7"])
@in_shared_loop
async def test_a_response_that_there_is_not_is_followed_by_none(shared, name):
    body = {"model": "oracle", "input": "Hello?", "previous_response_id": name}
    answer = await shared.client.post(PATH, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("model", [None, "", "gpt-5", "oracle/", 7])
@in_shared_loop
async def test_a_model_that_there_is_not_is_not_found(shared, model):
    answer = await shared.client.post(PATH, json={"model": model, "input": "Hello?"})
    assert (answer.status_code, answer.json()["error"]["type"]) in (
        *((404, "invalid_request_error"), (400, "invalid_request_error")),
    )


async def test_many_items_and_a_large_history_are_taken(serve):
    service = await serve()
    many = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n}"} for n in range(10_000)]
    response = await create(service, [*many, {"role": "user", "content": "Now?"}])
    assert text_of(response) == "Hello there."
    large = [{"role": "user", "content": "x" * 2_500_000}, {"role": "assistant", "content": "y" * 2_500_000}]
    assert text_of(await create(service, [*large, {"role": "user", "content": "Now?"}])) == "Hello there."


async def test_a_client_that_leaves_cancels_nothing(serve):
    service = await serve([HANGS])
    body = {"model": "oracle", "input": "Hello?", "stream": True}
    async with service.client.stream("POST", PATH, json=body) as answer:
        seen = b""
        async for piece in answer.aiter_raw():
            seen += piece
            if b"here " in seen:
                break
    name = json.loads(seen.split(b"\n")[1].removeprefix(b"data: "))["response"]["id"]
    number = len(frames_of(seen)) - 1
    reading = asyncio.create_task(get(service, name, stream="true", starting_after=number))
    await service.client.post(f"{PATH}/{name}/cancel")
    rest = (await reading).content
    assert b"".join([*frames_of(seen), rest]) == (await get(service, name, stream="true")).content
    assert last(frames_of(seen + rest))["status"] == "cancelled"


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"type":"content"}'])
async def test_a_response_of_which_a_chunk_is_damaged_has_the_others(start, damage):
    service = await start([ScriptedTurn(text="One two three.", piece_chars=4)])
    made = await create(service, "Hello?")
    damaged = schema.event.update().where(schema.event.c.chunk_n == 1).values(data=damage)
    await service.parts.store.write(lambda connection: connection.execute(damaged).close())
    for call in (service.client.get, service.client.delete):
        assert (await call(f"{PATH}/{made['id']}")).status_code == 200
