"""OpenAI's SDKs, in Python and in JavaScript, against responses."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from oracle.llm.protocol import Usage
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.connect.stage import PATIENCE_S, Node, Stage, token
from tests.oracle.server.api.asking import write_trees
from tests.support.provider import HttpError

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
QUESTION = "Where does login begin?"
USAGE = Usage(input_tokens=100, cache_creation_tokens=20, cache_read_tokens=300, output_tokens=7)
ANSWER = ScriptedTurn(text=("It begins ", "in login.py. ", "«größtenteils» 🙂"), usage=USAGE)
LOOKS = ScriptedTurn(
    thinking="They ask about login.",
    text="Let me look. ",
    tool_calls=(ScriptedCall("search_code", {"query": "login"}),),
    usage=USAGE,
)
HANGS = ScriptedTurn(text=("It begins ", "here "), hang=True)
WRITES = ScriptedTurn(text="I write.", tool_calls=(ScriptedCall("vault_write", {"path": "response.md", "body": "A"}),))
DONE = ScriptedTurn(text="Done.")
WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "Tells the weather.",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
    "strict": False,
}
FORECAST = ScriptedTurn(tool_calls=(ScriptedCall("get_weather", {"location": "SF"}),))


async def give_trees(stage: Stage) -> None:
    """Have all workers serve a tree whose writing tool is to be approved; they look for new files by themselves."""
    for worker in stage.workers:
        (worker.data / "trees").mkdir(exist_ok=True)
        write_trees(worker.data / "trees")
    async with stage.client() as http:
        for worker in stage.workers:
            async with asyncio.timeout(PATIENCE_S):
                while (await http.get(f"{worker.url}/v1/models/approval")).status_code != 200:
                    pass


def run_of(response_id: str) -> str:
    return response_id.removeprefix("resp_").partition("_")[0]


async def check(stage: Stage, response: Response) -> None:
    """The response has the native answer and usage."""
    Response.model_validate_json(response.to_json(), strict=True)
    run_id = run_of(response.id)
    assert response.output_text == await stage.answer(run_id)
    used = (await stage.done(run_id))["usage"]
    cached, written = used.get("cache_read_tokens", 0), used.get("cache_creation_tokens", 0)
    assert response.usage is not None
    assert response.usage.input_tokens == used["input_tokens"] + written + cached
    assert response.usage.input_tokens_details.cached_tokens == cached
    assert response.usage.output_tokens == used["output_tokens"]


async def raw(stage: Stage, response_id: str, after: int | None = None) -> bytes:
    """The stream of a response as it is now, to its end."""
    given: dict[str, Any] = {"stream": "true"} | ({} if after is None else {"starting_after": after})
    async with stage.client() as http:
        answer = await http.get(f"/v1/responses/{response_id}", params=given)
    assert answer.status_code == 200
    return b"".join(part + b"\n\n" for part in answer.content.split(b"\n\n")[:-1] if part != b":")


def rest_of(events: bytes, after: int) -> bytes:
    return b"".join(part + b"\n\n" for part in events.split(b"\n\n")[:-1][after + 1 :])


async def test_a_whole_response_is_the_native_answer(stage: Stage) -> None:
    stage.desk.play(LOOKS, ANSWER)
    async with stage.openai_client() as sdk:
        response = await sdk.responses.create(model="oracle", input=QUESTION, metadata={"team": "a"})
        await check(stage, response)
        assert response.status == "completed"
        assert response.metadata == {"team": "a"}
        assert [item.type for item in response.output] == ["reasoning", "message", "mcp_call", "message"]
        assert await sdk.responses.retrieve(response.id) == response
        items = [item async for item in sdk.responses.input_items.list(response.id)]
    assert [item.content[0].text for item in items] == [QUESTION]


async def test_each_event_of_a_stream_is_one_of_theirs(stage: Stage) -> None:
    stage.desk.play(LOOKS, ANSWER)
    async with stage.openai_client() as sdk:
        stream = await sdk.responses.create(model="oracle", input=QUESTION, stream=True)
        events = [event async for event in stream]
        for event in events:
            EVENT.validate_json(event.to_json(), strict=True)
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert events[-1].type == "response.completed"
        await check(stage, events[-1].response)
        for after in range(0, len(events) + 2, 5):
            resumed = await sdk.responses.retrieve(events[-1].response.id, stream=True, starting_after=after)
            assert [event async for event in resumed] == events[after + 1 :]


async def test_the_helper_of_the_sdk_puts_a_stream_together(stage: Stage) -> None:
    stage.desk.play(LOOKS, ANSWER)
    async with stage.openai_client() as sdk, sdk.responses.stream(model="oracle", input=QUESTION) as stream:
        text = "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])
        response = await stream.get_final_response()
    await check(stage, response)
    assert response.output_text == text


async def test_the_helper_goes_on_with_a_response_behind_a_number(stage: Stage) -> None:
    stage.desk.play(LOOKS, ANSWER)
    async with stage.openai_client() as sdk:
        response = await sdk.responses.create(model="oracle", input=QUESTION, background=True)
        async with sdk.responses.stream(response_id=response.id, starting_after=5) as stream:
            numbers = [event.sequence_number async for event in stream]
            await check(stage, await stream.get_final_response())
    assert numbers == list(range(6, 6 + len(numbers)))


async def test_a_conversation_goes_on_by_the_id_of_a_response(stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text="Alice, then."), ScriptedTurn(text="Alice."))
    async with stage.openai_client() as sdk:
        first = await sdk.responses.create(model="oracle", input="My name is Alice.")
        second = await sdk.responses.create(model="oracle", input="What is it?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    assert "My name is Alice." in json.dumps(stage.desk.bodies[-1])
    done = [await stage.done(run_of(each.id)) for each in (first, second)]
    assert done[0]["context_id"] == done[1]["context_id"]


async def test_a_response_in_the_background_is_read_along_stopped_and_deleted(stage: Stage) -> None:
    stage.desk.play(HANGS)
    async with stage.openai_client() as sdk:
        begun = await sdk.responses.create(model="oracle", input=QUESTION, background=True)
        assert begun.status in ("queued", "in_progress")
        stream = await sdk.responses.retrieve(begun.id, stream=True)
        seen = []
        async for event in stream:
            seen.append(event)
            if event.type == "response.output_text.delta" and "begins" in event.delta:
                break
        stopped = await sdk.responses.cancel(begun.id)
        assert (stopped.id, stopped.status) == (begun.id, "cancelled")
        assert [event async for event in stream][-1].response == stopped
        assert await sdk.responses.cancel(begun.id) == stopped
        await sdk.responses.delete(begun.id)
        with pytest.raises(openai.NotFoundError):
            await sdk.responses.retrieve(begun.id)
    assert run_of(begun.id) not in [run["run_id"] for run in await stage.runs() if not run.get("forgotten")]


@pytest.mark.usefixtures("on_both_databases")
async def test_the_bytes_after_a_killed_worker_are_the_rest_of_an_undisturbed_reading(stage: Stage) -> None:
    stage.desk.play(LOOKS, HANGS, ANSWER)
    async with stage.openai_client() as sdk:
        begun = await sdk.responses.create(model="oracle", input=QUESTION, background=True)
    async with stage.client() as http:
        seen = b""
        async with http.stream("GET", f"/v1/responses/{begun.id}", params={"stream": "true"}) as answer:
            async for piece in answer.aiter_raw():
                seen += piece
                if b"It begins" in seen:
                    break
    await stage.kill()
    parts = [part for part in seen.split(b"\n\n")[:-1] if part != b":"]
    rest = await raw(stage, begun.id, after=len(parts) - 1)
    whole = await raw(stage, begun.id)
    assert b"".join(part + b"\n\n" for part in parts) + rest == whole
    assert b"response.completed" in rest
    await stage.kill()
    for after in (0, 3, len(parts)):
        assert await raw(stage, begun.id, after=after) == rest_of(whole, after)


@pytest.mark.usefixtures("on_both_databases")
async def test_an_approval_is_given_and_the_same_run_goes_on(stage: Stage) -> None:
    await give_trees(stage)
    stage.desk.play(WRITES, DONE)
    async with stage.openai_client() as sdk:
        asking = await sdk.responses.create(model="approval", input="hello")
        [asked] = [item for item in asking.output if item.type == "mcp_approval_request"]
        assert (asked.name, json.loads(asked.arguments)) == ("vault_write", {"path": "response.md", "body": "A"})
        await stage.kill()
        stream = await sdk.with_options(max_retries=8).responses.create(
            model="approval",
            previous_response_id=asking.id,
            input=[{"type": "mcp_approval_response", "approval_request_id": asked.id, "approve": True}],
            stream=True,
        )
        events = [event async for event in stream]
        response = events[-1].response
        assert (response.status, response.previous_response_id) == ("completed", asking.id)
        [call] = [item for item in response.output if item.type == "mcp_call"]
        assert (call.status, call.approval_request_id) == ("completed", asked.id)
        assert await sdk.responses.retrieve(asking.id) == asking
        resumed = await sdk.responses.retrieve(response.id, stream=True, starting_after=2)
        assert [event async for event in resumed] == events[3:]
    assert run_of(response.id) == run_of(asking.id)
    assert asking.output_text + response.output_text == await stage.answer(run_of(asking.id))


async def test_a_refused_call_is_not_made(stage: Stage) -> None:
    await give_trees(stage)
    stage.desk.play(WRITES, ScriptedTurn(text="Not written."))
    async with stage.openai_client() as sdk:
        asking = await sdk.responses.create(model="approval", input="hello")
        [asked] = [item for item in asking.output if item.type == "mcp_approval_request"]
        response = await sdk.responses.create(
            model="approval",
            previous_response_id=asking.id,
            input=[
                {
                    "type": "mcp_approval_response",
                    "approval_request_id": asked.id,
                    "approve": False,
                    "reason": "Not now.",
                }
            ],
        )
    [call] = [item for item in response.output if item.type == "mcp_call"]
    assert call.status == "failed"
    assert "Not now." in json.dumps(call.to_dict())


@pytest.mark.parametrize("sends", ["the id of the response", "all items"])
async def test_a_function_of_the_client_is_run_by_it(stage: Stage, sends: str) -> None:
    stage.desk.play(FORECAST, ScriptedTurn(text="There is fog.", usage=USAGE))
    async with stage.openai_client() as sdk:
        asking = await sdk.responses.create(model="oracle", input="How is the weather?", tools=[WEATHER])
        [call] = asking.output
        assert call.type == "function_call"
        assert (call.name, json.loads(call.arguments)) == ("get_weather", {"location": "SF"})
        output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "Fog"}
        if sends == "all items":
            given: Any = [{"role": "user", "content": "How is the weather?"}, *asking.output, output]
            response = await sdk.responses.create(model="oracle", input=given, tools=[WEATHER])
        else:
            response = await sdk.responses.create(
                model="oracle", input=[output], tools=[WEATHER], previous_response_id=asking.id
            )
    assert (response.output_text, response.previous_response_id) == ("There is fog.", asking.id)
    assert "Fog" in json.dumps(stage.desk.bodies[-1])
    await check(stage, response)


async def test_a_run_that_fails_is_a_failed_response(stage: Stage) -> None:
    stage.desk.play(HttpError("authentication_error", "invalid x-api-key"))
    async with stage.openai_client() as sdk:
        response = await sdk.responses.create(model="oracle", input=QUESTION)
    assert response.status == "failed"
    assert response.error is not None
    assert response.error.code == "server_error"


Refused = Callable[[openai.AsyncOpenAI], Awaitable[Any]]
IMAGE: Any = [
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "What do you see?"},
            {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"},
        ],
    }
]
REFUSED: dict[str, tuple[Refused, type[openai.APIStatusError], str | None]] = {
    "another model": (
        lambda sdk: sdk.responses.create(model="gpt-4o", input=QUESTION),
        openai.NotFoundError,
        "model",
    ),
    "a picture": (
        lambda sdk: sdk.responses.create(model="oracle", input=IMAGE),
        openai.BadRequestError,
        "input[0].content[1]",
    ),
    "a response that there is not": (
        lambda sdk: sdk.responses.retrieve("resp_0123"),
        openai.NotFoundError,
        None,
    ),
    "a form": (
        lambda sdk: sdk.responses.create(
            model="oracle",
            input=QUESTION,
            text={"format": {"type": "json_schema", "name": "n", "schema": {"type": "strin"}}},
        ),
        openai.BadRequestError,
        "response_format",
    ),
    "a tool of somebody else": (
        lambda sdk: sdk.responses.create(model="oracle", input=QUESTION, tools=[{"type": "web_search"}]),
        openai.BadRequestError,
        "tools[0].type",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_refused_is_raised_as_the_sdks_own_error(stage: Stage, name: str) -> None:
    ask, kind, param = REFUSED[name]
    async with stage.openai_client() as sdk:
        with pytest.raises(kind) as raised:
            await ask(sdk)
    assert raised.value.param == param
    assert raised.value.type == "invalid_request_error"
    assert not stage.desk.requests


async def test_another_users_response_does_not_exist(stage: Stage) -> None:
    stage.desk.play(ANSWER)
    async with stage.openai_client() as sdk:
        response = await sdk.responses.create(model="oracle", input=QUESTION)
    async with stage.openai_client(key=token("bob")) as sdk:
        for call in (sdk.responses.retrieve, sdk.responses.cancel, sdk.responses.delete):
            with pytest.raises(openai.NotFoundError):
                await call(response.id)
        with pytest.raises(openai.NotFoundError):
            await sdk.responses.create(model="oracle", input=QUESTION, previous_response_id=response.id)


async def test_a_connection_that_is_cut_before_the_first_byte_makes_one_run(stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("It begins ", "in login.py."), delay_s=0.5))
    before = len(await stage.runs())
    async with stage.openai_client() as sdk:
        asking = asyncio.create_task(sdk.responses.create(model="oracle", input=QUESTION))
        await stage.desk.wait_request()
        stage.proxy.cut()
        stage.proxy.mend()
        response = await asking
    assert response.output_text == "It begins in login.py."
    assert len(await stage.runs()) == before + 1


async def in_node(node: Node, stage: Stage, what: str, **given: Any) -> list[Any]:
    return await node.run("openai_responses.mjs", stage.url, token("alice"), what, json.dumps(given))


def text_of(events: Sequence[Any]) -> str:
    return "".join(each["event"]["delta"] for each in events if each["event"]["type"] == "response.output_text.delta")


async def test_the_javascript_sdk_reads_the_same_stream_and_takes_it_up_again(stage: Stage, node: Node) -> None:
    stage.desk.play(LOOKS, ANSWER)
    said = await in_node(node, stage, "stream", body={"input": QUESTION})
    response = said[-1]["event"]["response"]
    assert text_of(said) == await stage.answer(run_of(response["id"]))
    await check(stage, Response.model_validate(response))
    assert await in_node(node, stage, "resume", id=response["id"], after=6) == said[7:]


async def test_the_helper_of_the_javascript_sdk_puts_a_stream_together(stage: Stage, node: Node) -> None:
    stage.desk.play(LOOKS, ANSWER)
    [said] = await in_node(node, stage, "helper", body={"input": QUESTION})
    assert said["text"] == "".join(said["pieces"]) == await stage.answer(run_of(said["response"]["id"]))


async def test_the_javascript_sdk_asks_in_the_background_stops_and_deletes(stage: Stage, node: Node) -> None:
    stage.desk.play(HANGS)
    said, gone = await in_node(node, stage, "life", body={"input": QUESTION})
    assert said["begun"]["status"] in ("queued", "in_progress")
    assert said["stopped"]["status"] == "cancelled"
    assert said["items"][0]["content"][0]["text"] == QUESTION
    assert (gone["error"], gone["status"]) == ("NotFoundError", 404)


async def test_the_javascript_sdk_raises_its_own_errors(stage: Stage, node: Node) -> None:
    [said] = await in_node(node, stage, "whole", body={"input": IMAGE})
    assert (said["error"], said["param"]) == ("BadRequestError", "input[0].content[1]")
