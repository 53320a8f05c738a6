"""The compliance suite of Open Responses: its six requests that are to be answered and the one that is refused.

`openresponses/openresponses` is on GitHub alone (`bin/compliance-test.ts`), which no test reaches. Its requests are
written out here, and so is what it checks; the schemas are of the same OpenAPI document, in `openresponses-types`.
"""

import json
from collections.abc import Mapping
from typing import Any, Union

import openresponses_types.types as theirs
import pytest
from pydantic import TypeAdapter

from oracle.testing import ScriptedCall, ScriptedTurn
from tests.connect.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVENTS = [getattr(theirs, name) for name in dir(theirs) if name.endswith("StreamingEvent")]
EVENT: TypeAdapter[Any] = TypeAdapter(Union[tuple(EVENTS)])  # noqa: UP007  made of a list
LAST = {"response.completed", "response.failed", "response.incomplete"}
HELLO = ScriptedTurn(thinking="They want a text.", text=("Hello ", "to you."))
WEATHER = ScriptedTurn(tool_calls=(ScriptedCall("get_weather", {"location": "San Francisco, CA"}),))


def message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


LOCATION = {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}
CALLING = {
    "input": [message("user", "What's the weather like in San Francisco?")],
    "tools": [
        {
            "type": "function",
            "name": "get_weather",
            "description": "Get the current weather for a location",
            "parameters": {"type": "object", "properties": {"location": LOCATION}, "required": ["location"]},
        }
    ],
}
REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "basic-response": {"input": [message("user", "Say hello in exactly 3 words.")]},
    "streaming-response": {"input": [message("user", "Count from 1 to 5.")], "stream": True},
    "system-prompt": {
        "input": [
            message("system", "You are a pirate. Always respond in pirate speak."),
            message("user", "Say hello."),
        ]
    },
    "multi-turn": {
        "input": [
            message("user", "My name is Alice."),
            message("assistant", "Hello Alice! Nice to meet you. How can I help you today?"),
            message("user", "What is my name?"),
        ]
    },
    "tool-calling": CALLING,
    "tool-calling-streaming": {**CALLING, "stream": True},
}
IMAGE = [
    {"type": "input_text", "text": "What do you see in this image? Answer in one sentence."},
    {"type": "input_image", "image_url": "https://example.com/cat.png"},
]


async def asked(stage: Stage, **body: Any) -> Any:
    async with stage.client() as client:
        return await client.post("/v1/responses", json={"model": "oracle", "stream": False, **body})


def read(body: str) -> list[Any]:
    """The events as the suite reads them: an `event:` line, a `data:` line and a blank one."""
    blocks = [block.split("\n") for block in body.split("\n\n") if block and not block.startswith(":")]
    assert blocks.pop() == ["data: [DONE]"]
    events = [json.loads(data.removeprefix("data: ")) for _, data in blocks]
    assert [name.removeprefix("event: ") for name, _ in blocks] == [event["type"] for event in events]
    return events


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_request_of_the_suite_is_answered_by_its_schemas(stage: Stage, name: str) -> None:
    body = REQUESTS[name]
    stage.desk.play(WEATHER if "tools" in body else HELLO)
    answer = await asked(stage, **body)
    assert answer.status_code == 200, answer.text
    if body.get("stream"):
        events = read(answer.text)
        for event in events:
            assert EVENT.validate_json(json.dumps(event), strict=True).type == event["type"]
        [response] = [event["response"] for event in events if event["type"] in LAST]
    else:
        events, response = [], answer.json()
    theirs.ResponseResource.model_validate_json(json.dumps(response), strict=True)
    assert response["status"] == "completed"
    kinds = [item["type"] for item in response["output"]]
    assert ("function_call" if "tools" in body else "message") in kinds
    if name == "tool-calling-streaming":
        of_call = [event["type"] for event in events if event.get("item", {}).get("type") == "function_call"]
        assert of_call == ["response.output_item.added", "response.output_item.done"]
        arguments = [event["type"] for event in events if "function_call_arguments" in event["type"]]
        assert arguments == ["response.function_call_arguments.delta", "response.function_call_arguments.done"]


async def test_an_image_at_an_address_is_refused_with_its_place(stage: Stage) -> None:
    answer = await asked(stage, input=[message("user", IMAGE)])
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["param"]) == (400, "invalid_request_error", "input[0].content[1]")
