"""`POST /v1/chat/completions` and `/v1/models`: whatever clients send gets a clean answer."""

import json

import pytest
from structlog.testing import capture_logs

from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS, in_shared_loop
from tests.oracle.server.connect.openai.conftest import (
    COMPLETIONS,
    assistant,
    chunks_of,
    post,
    run_count,
    text_of,
    user,
)

ANSWERS = [ScriptedTurn(text=f"Answer {n}.") for n in range(1, 9)]
HELLO = user("hello?")
ASKED = {"model": "oracle", "messages": [HELLO]}
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}


def error_of(response):
    assert response.headers["content-type"] == "application/json"
    assert response.json().keys() == {"error"}
    error = response.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["message"]
    return response.status_code, error["param"], error["code"]


TAKEN = {
    "a text": [HELLO],
    "parts": [user([{"type": "text", "text": "hel"}, {"type": "text", "text": "lo?"}])],
    "instructions": [{"role": "system", "content": "Obey."}, {"role": "developer", "content": "Now."}, HELLO],
    "instructions at the end": [HELLO, {"role": "system", "content": "Obey."}],
    "an assistant first": [assistant("Welcome."), HELLO],
    "two users in a row": [user("one"), user("two")],
    "no content": [user("one"), assistant(None), {"role": "assistant"}, HELLO],
    "a refusal": [user("one"), assistant([{"type": "refusal", "refusal": "No."}]), HELLO],
    "a result without a call": [HELLO, {"role": "tool", "tool_call_id": "x", "content": "1"}],
    "a call without a result": [user("one"), {"role": "assistant", "tool_calls": [{"id": "x"}]}, HELLO],
    "functions of before": [user("one"), {"role": "function", "name": "f", "content": "1"}, HELLO],
    "empty texts": [user(""), assistant(""), user([]), HELLO],
    "ten thousand": [each for n in range(5_000) for each in (user(f"q{n}"), assistant("a"))] + [HELLO],
    "five megabytes": [user("x" * 2_500_000), assistant("y" * 2_500_000), HELLO],
    "a body's worth of odd characters": [user("\u0001\u2028\ufffe"), assistant("\u0000"), HELLO],
}


@pytest.mark.parametrize("name", TAKEN)
async def test_histories_in_any_shape_are_answered(start, name):
    service = await start(ANSWERS)
    response = await post(service, *TAKEN[name])
    assert response.status_code == 200, response.text
    assert response.json()["choices"][0]["message"]["content"] == "Answer 1."


REFUSED = {
    "no messages": ({"messages": []}, "messages"),
    "messages that are none": ({"messages": "hello"}, "messages"),
    "null": ({"messages": None}, "messages"),
    "a number in the list": ({"messages": [1]}, "messages[0]"),
    "the assistant last": ({"messages": [HELLO, assistant("And")]}, "messages"),
    "nothing asked": ({"messages": [user("  \n")]}, "messages"),
    "only instructions": ({"messages": [{"role": "system", "content": "x"}]}, "messages"),
    "another role": ({"messages": [{"role": "wizard", "content": "x"}, HELLO]}, "messages[0].role"),
    "a role that is none": ({"messages": [{"role": ["user"], "content": "x"}, HELLO]}, "messages[0].role"),
    "a picture": ({"messages": [HELLO, user([PICTURE])]}, "messages[1].content[0]"),
    "sound": ({"messages": [user([{"type": "input_audio", "input_audio": {}}])]}, "messages[0].content[0]"),
    "content of another kind": ({"messages": [user({"text": "x"})]}, "messages[0].content"),
    "a part of another kind": ({"messages": [user([["x"]])]}, "messages[0].content[0]"),
    "a question that is too long": ({"messages": [user("x" * 20_001)]}, "messages"),
    "two answers": ({"n": 2}, "n"),
    "no answer": ({"n": 0}, "n"),
    "a schema": ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format"),
    "a form that there is not": ({"response_format": {"type": "xml"}}, "response_format"),
    "a format that is none": ({"response_format": "text"}, "response_format"),
    "a voice": ({"modalities": ["text", "audio"]}, "modalities"),
    "a stream of another kind": ({"stream": "yes"}, "stream"),
    "options of another kind": ({"stream_options": [1]}, "stream_options"),
    "metadata of another kind": ({"metadata": "x"}, "metadata"),
    "metadata that is no text": ({"metadata": {"a": 1}}, "metadata"),
    "much metadata": ({"metadata": {str(n): "" for n in range(17)}}, "metadata"),
    "long metadata": ({"metadata": {"a": "x" * 513}}, "metadata"),
    "no model": ({"model": None}, None),
}


@pytest.mark.parametrize("name", REFUSED)
@in_shared_loop
async def test_what_cannot_be_meant_is_refused_and_named(shared, name):
    body, param = REFUSED[name]
    response = await shared.client.post(COMPLETIONS, json={"model": "oracle", "messages": [HELLO], **body})
    assert error_of(response) == (400, param, None)
    assert await run_count(shared) == 0


@pytest.mark.parametrize(
    "model", ["gpt-4o", "use_tools", "oracle/", "oracle/gpt-4o", "/", "", 7, "x" * 100_000, "../oracle"]
)
@in_shared_loop
async def test_a_model_that_may_not_be_named_does_not_exist(shared, model):
    response = await post(shared, HELLO, model=model)
    assert error_of(response) == (404, "model", "model_not_found")
    assert len(response.content) < 2_000


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b"[" * 100_000, b'{"messages": "\\ud800"}']
)
@in_shared_loop
async def test_a_body_that_is_no_object_is_refused(shared, body):
    response = await shared.client.post(COMPLETIONS, content=body, headers={"Content-Type": "application/json"})
    assert error_of(response)[0] == 400


async def test_other_methods_and_addresses_are_refused_in_the_same_form(start):
    service = await start(ANSWERS, tokens=TOKENS)
    assert error_of(await service.client.get(COMPLETIONS)) == (401, None, "invalid_api_key")
    wrong_method = await service.client.get(COMPLETIONS, headers=ALICE)
    assert error_of(wrong_method) == (405, None, "method_not_supported")
    assert wrong_method.headers["allow"] == "POST"
    assert error_of(await service.client.get("/v1/engines", headers=ALICE)) == (404, None, "not_found")
    big = await service.client.post(COMPLETIONS, content=b"x" * 8_000_001, headers=ALICE)
    assert error_of(big) == (413, None, "request_too_large")


async def test_parameters_without_a_meaning_are_accepted_and_named_once(start):
    service = await start(ANSWERS)
    given = {
        "temperature": 0.2,
        "top_p": 1,
        "stop": ["x"],
        "frequency_penalty": 1,
        "user": "u",
        "seed": 1,
        "max_tokens": 5,
        "logit_bias": {},
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "tool_choice": "auto",
        "n": 1,
        "response_format": {"type": "text"},
        "no one knows me": True,
    }
    with capture_logs() as events:
        for _ in range(2):
            assert (await post(service, HELLO, **given)).status_code == 200
    named = [event["name"] for event in events if event["event"] == "openai.parameter_ignored"]
    assert len(named) == len(set(named))
    assert "n" not in named


async def test_models_are_listed_with_oracle_first_and_found_by_name(start):
    service = await start(ANSWERS, models="claude-a")
    found = (await service.client.get("/v1/models")).json()
    names = [each["id"] for each in found["data"]]
    assert names[0] == "oracle"
    assert "oracle/claude-a" in names
    assert not {"use_tools", "follow_signal"} & set(names)
    for name in names:
        assert (await service.client.get(f"/v1/models/{name}")).json()["id"] == name
    assert error_of(await service.client.get("/v1/models/gpt-4o")) == (404, "model", "model_not_found")


async def test_where_the_offline_model_answers_no_other_can_be_named(start):
    service = await start(ANSWERS, models="claude-a", provider_answers=False)
    names = [each["id"] for each in (await service.client.get("/v1/models")).json()["data"]]
    assert "oracle/claude-a" not in names
    assert error_of(await post(service, HELLO, model="oracle/claude-a"))[2] == "model_not_found"


@pytest.mark.parametrize(
    "names",
    [
        {"headers": {"X-OpenWebUI-Chat-Id": "chat-1"}},
        {"headers": {"X-Conversation-Id": "chat-1"}},
        {"metadata": {"conversation_id": "chat-1"}},
        {"metadata": {"chat_id": "chat-1"}},
    ],
    ids=json.dumps,
)
async def test_a_client_may_name_its_conversation(start, names):
    service = await start(ANSWERS)
    await post(service, user("first?"), **names)
    await post(service, user("first?"), assistant("It has changed our answer."), user("second?"), **names)
    conversations = (await service.client.get("/api/oracle/conversations")).json()["conversations"]
    assert len(conversations) == 1


async def test_who_names_the_conversation_in_metadata_may_send_the_question_alone(start):
    service = await start(ANSWERS)
    for question in ("first?", "second?"):
        await post(service, user(question), metadata={"conversation_id": "chat-1"})
    [conversation] = (await service.client.get("/api/oracle/conversations")).json()["conversations"]
    found = (await service.client.get(f"/api/oracle/conversations/{conversation['context_id']}")).json()
    assert [message["content"] for message in found["messages"]] == ["first?", "Answer 1.", "second?", "Answer 2."]


@pytest.mark.parametrize("name", ["", "new", "{{LIBRECHAT_BODY_CONVERSATIONID}}", "undefined"])
async def test_a_name_that_nobody_has_filled_in_is_none(start, name):
    service = await start(ANSWERS)
    headers = {"X-Conversation-Id": name}
    await post(service, user("first?"), headers=headers)
    await post(service, user("first?"), assistant("It has changed our answer."), user("second?"), headers=headers)
    conversations = (await service.client.get("/api/oracle/conversations")).json()["conversations"]
    assert len(conversations) == 2


async def test_a_conversation_that_is_named_only_later_is_the_one_that_began_without_a_name(start):
    service = await start(ANSWERS)
    said = []
    for question, name in (("first?", ""), ("second?", "chat-1"), ("third?", "chat-1")):
        said.append(user(question))
        response = await post(service, *said, headers={"X-Conversation-Id": name})
        said.append(assistant(response.json()["choices"][0]["message"]["content"]))
    listed = (await service.client.get("/api/oracle/conversations")).json()["conversations"]
    [found] = [
        (await service.client.get(f"/api/oracle/conversations/{each['context_id']}")).json()["messages"]
        for each in listed
    ]
    assert [message["content"] for message in found] == [message["content"] for message in said]
    await post(service, user("first?"), assistant("Another answer."), user("And?"), headers={"X-Conversation-Id": "c2"})
    assert len((await service.client.get("/api/oracle/conversations")).json()["conversations"]) == 2


async def test_the_same_question_twice_begins_two_conversations_also_while_the_first_is_being_answered(start):
    service = await start([*ANSWERS[:2], HANGS, ANSWERS[2]])
    for _ in range(2):
        await post(service, HELLO)
    assert [len(request.messages) for request in service.model.requests] == [1, 1]
    async with service.client.stream("POST", COMPLETIONS, json={**ASKED, "stream": True}) as response:
        await anext(response.aiter_raw())
        assert (await post(service, HELLO)).status_code == 200
    conversations = (await service.client.get("/api/oracle/conversations")).json()["conversations"]
    assert len(conversations) == 4


async def test_a_request_that_the_library_sends_again_has_the_first_run(start):
    service = await start(ANSWERS)
    first = await post(service, HELLO)
    again = await post(service, HELLO, headers={"x-stainless-retry-count": "1"})
    other = await post(service, HELLO, headers={"x-stainless-retry-count": "0"})
    assert first.json() == again.json()
    assert other.json()["id"] != first.json()["id"]


async def test_the_same_request_of_another_user_has_another_run(start):
    service = await start(ANSWERS, tokens=TOKENS)
    first = await post(service, HELLO, headers=ALICE)
    again = await post(service, HELLO, headers={**BOB, "x-stainless-retry-count": "1"})
    assert first.json()["id"] != again.json()["id"]


async def test_a_stream_that_the_service_closes_before_its_end_is_no_answer(start):
    service = await start([HANGS])
    async with service.client.stream("POST", COMPLETIONS, json={**ASKED, "stream": True}) as response:
        incoming = response.aiter_raw()
        read = b""
        while b"here " not in read:
            read += await anext(incoming)
        service.parts.streams.close()
        async for piece in incoming:
            read += piece
    chunks = chunks_of(read)
    assert text_of(chunks) == "It begins here "
    assert chunks[-1]["error"]["code"] == "service_stopping"
