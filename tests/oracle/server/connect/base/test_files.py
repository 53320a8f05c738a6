"""Files and forms of answers in each client's own protocol; they come to the same as in the service's own."""

import json
from base64 import b64encode

import pytest

from oracle.agent.equipment import Hooks
from oracle.features.structured_answers.checking import checked
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import in_shared_loop

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x03\x08\x02\0\0\0"
DATA = b64encode(PNG).decode()
URL, TEXT = f"data:image/png;base64,{DATA}", "data:text/plain;base64,aGVsbG8="
PART = {"type": "text", "text": "What is it?"}
CHAT, FILE = {"type": "image_url", "image_url": {"url": URL}}, {"file_data": TEXT, "filename": "a.txt"}


def completion(*parts):
    return "/v1/chat/completions", {"model": "oracle", "messages": [{"role": "user", "content": [PART, *parts]}]}


def response(*parts):
    return "/v1/responses", {"model": "oracle", "input": [{"role": "user", "content": [*parts]}]}


def chat(*parts):
    return "/api/chat", {"messages": [{"id": "u", "role": "user", "parts": [PART, *parts]}]}


def agui(*parts):
    return "/agui", {
        "threadId": "t",
        "runId": "r",
        "messages": [{"id": "1", "role": "user", "content": [PART, *parts]}],
    }


ASKED = {
    "chat completions": (completion(CHAT, {"type": "file", "file": FILE}), ["attachment-1", "a.txt"]),
    "responses": (
        response(
            {"type": "input_text", "text": "What is it?"},
            {"type": "input_image", "image_url": URL, "detail": "auto"},
            {"type": "input_file", **FILE},
        ),
        ["attachment-1", "a.txt"],
    ),
    "ai sdk": (chat({"type": "file", "mediaType": "image/png", "filename": "a.png", "url": URL}), ["a.png"]),
    "ag-ui": (agui({"type": "binary", "mimeType": "image/png", "data": DATA, "filename": "b.png"}), ["b.png"]),
    "ag-ui-source": (agui({"type": "image", "source": {"type": "data", "value": DATA}}), ["attachment-1"]),
}
ADDRESS = "https://example.com/a.png"
REFUSED = {
    "an address": completion({"type": "image_url", "image_url": {"url": ADDRESS}}),
    "an address as data": completion({"type": "file", "file": {"file_data": ADDRESS}}),
    "an id": completion({"type": "file", "file": {"file_id": "file-1"}}),
    "a file of responses": response({"type": "input_text", "text": "x"}, {"type": "input_file", "file_id": "file-1"}),
    "an address of the ai sdk": chat({"type": "file", "url": ADDRESS}),
    "an address of ag-ui": agui({"type": "binary", "url": ADDRESS}),
    "no bytes": agui({"type": "image", "source": {"type": "url", "value": ADDRESS}}),
    "data of another kind": agui({"type": "binary", "data": 7}),
}


@pytest.mark.parametrize("name", ASKED)
async def test_files_of_a_question_are_those_of_its_run(start, name):
    (path, body), names = ASKED[name]
    service = await start([ScriptedTurn(text="A cat.")])
    response = await service.client.post(path, json=body)
    assert response.status_code == 200, response.text
    content = service.model.requests[0].messages[0]["content"]
    assert content[0]["media_type"] == "image/png"
    assert [each["name"] for each in content[:-1]] == names
    assert content[-1]["text"] == "What is it?"


@pytest.mark.parametrize("name", REFUSED)
@in_shared_loop
async def test_what_has_no_bytes_is_refused_in_a_sentence(shared, name):
    path, body = REFUSED[name]
    response = await shared.client.post(path, json=body)
    assert response.status_code in (400, 422)
    assert "other URLs and file ids are not accepted" in response.text


async def test_files_of_the_history_are_passed_over(start):
    service = await start([ScriptedTurn(text="A cat."), ScriptedTurn(text="Grey.")])
    first = {"role": "user", "content": [PART, CHAT]}
    path = "/v1/chat/completions"
    said = (await service.client.post(path, json={"model": "oracle", "messages": [first]})).json()
    again = [first, said["choices"][0]["message"], {"role": "user", "content": "Its colour?"}]
    assert (await service.client.post(path, json={"model": "oracle", "messages": again})).status_code == 200
    assert service.model.requests[1].messages[-1]["content"] == [{"type": "text", "text": "Its colour?"}]


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


async def test_a_form_is_held_in_both_protocols_of_openai(start):
    service = await start([ScriptedTurn(text='```json\n{"a": 1}\n```')], hooks=Hooks(check_answer=checked))
    form = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}}
    body = {"model": "oracle", "messages": [{"role": "user", "content": "Which?"}], "response_format": form}
    whole = (await service.client.post("/v1/chat/completions", json=body)).json()
    assert json.loads(whole["choices"][0]["message"]["content"]) == {"a": 1}
    text = {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}
    said = (
        await service.client.post("/v1/responses", json={"model": "oracle", "input": "Which?", "text": text})
    ).json()
    assert [json.loads(item["content"][0]["text"]) for item in said["output"] if item["type"] == "message"] == [
        {"a": 1}
    ]
    assert [each.output_schema for each in service.model.requests] == [SCHEMA, SCHEMA]
