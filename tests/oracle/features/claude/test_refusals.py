"""Accounts and gateways that reject a feature: the request is repeated without it, and later ones omit it."""

import pytest
import structlog

from oracle.features.claude.facts import BINDING_BETA
from oracle.llm.protocol import ModelError, ToolDefinition
from oracle.testing import ScriptedCall, ScriptedSearch, ScriptedTurn
from tests.support.provider import HttpError

SEARCH = ToolDefinition("search_code", "Searches.", {"type": "object", "properties": {}})
READ = ToolDefinition("read_file", "Reads.", {"type": "object", "properties": {}})
WEB = ToolDefinition("web_search", "The web.", {"type": "object", "properties": {}})
LOOKS = ScriptedTurn(thinking="Hm", tool_calls=(ScriptedCall("search_code"),))
HELLO = ScriptedTurn(text="Hello")


async def changed_conversation(line, ask, read, end):
    """A query whose second turn offers more tools, so that its earlier thinking is bound to another prefix."""
    first = ask(tools=(SEARCH,), thinking_tokens=2048)
    content = end(await read(line.model, first)).content
    result = {"type": "tool_result", "tool_use_id": content[1]["id"], "content": "nothing"}
    history = (*first.messages, {"role": "assistant", "content": content}, {"role": "user", "content": [result]})
    return await read(line.model, ask(tools=(SEARCH, READ), thinking_tokens=2048, messages=history))


async def test_the_beta_is_requested_only_when_needed(connect, ask, read, end, said):
    line = await connect([LOOKS, HELLO, LOOKS, HELLO])
    for _ in range(2):
        assert said(await changed_conversation(line, ask, read, end)) == "Hello"
    sent = [request.headers.get("anthropic-beta") for request in line.provider.requests]
    assert sent == [None, None, BINDING_BETA, BINDING_BETA, BINDING_BETA]
    refused = [request.complaint is not None for request in line.provider.requests]
    assert refused == [False, True, False, False, False]
    assert any(block["type"] == "thinking" for block in line.provider.bodies[2]["messages"][1]["content"])


async def test_a_gateway_without_betas_gets_the_conversation_without_thinking(connect, ask, read, end, said):
    line = await connect([LOOKS, HELLO, LOOKS, HELLO], betas=())
    for _ in range(2):
        assert said(await changed_conversation(line, ask, read, end)) == "Hello"
    sent = [request.headers.get("anthropic-beta") for request in line.provider.requests]
    assert sent.count(BINDING_BETA) == 1, "it is not requested again"
    last = line.provider.bodies[-1]["messages"][1]["content"]
    assert [block["type"] for block in last] == ["tool_use"]


@pytest.mark.parametrize(
    "refusal",
    [
        HttpError("invalid_request_error", "invalid beta flag"),
        HttpError("invalid_request_error", "thinking.adaptive.block_binding: Extra inputs are not permitted"),
        HttpError("permission_error", "The beta feature is not available to you"),
    ],
    ids=["flag", "field", "permission"],
)
async def test_a_rejected_beta_is_recognised_in_different_messages(connect, ask, read, end, said, refusal):
    line = await connect([LOOKS, refusal, HELLO])
    assert said(await changed_conversation(line, ask, read, end)) == "Hello"


async def test_a_model_with_a_budget_does_not_think_if_its_thinking_is_rejected(connect, ask, read, said):
    line = await connect([HELLO])
    thought = {"type": "thinking", "thinking": "Hm", "signature": "of another model"}
    call = {"type": "tool_use", "id": "t1", "name": "search_code", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "nothing"}
    history = (
        {"role": "user", "content": "How does auth work?"},
        {"role": "assistant", "content": [thought, call]},
        {"role": "user", "content": [result]},
    )
    request = ask(model="claude-haiku-4-5", tools=(SEARCH,), thinking_tokens=2048, messages=history)
    assert said(await read(line.model, request)) == "Hello"
    assert "thinking" not in line.provider.bodies[-1]


async def test_an_organisation_without_web_search_gets_later_requests_without_it(connect, ask, read, said):
    line = await connect([HELLO, HELLO], has_web_search=False)
    request = ask(tools=(SEARCH, WEB), web_search=True)
    with structlog.testing.capture_logs() as lines:
        for _ in range(2):
            assert said(await read(line.model, request)) == "Hello"
    (refused,) = [each for each in lines if each["event"] == "provider.feature_refused"]
    assert refused["provider_request_id"] == "req_standin_1"
    assert "request_id" not in refused  # a line's own is that of the request to the service
    offered = [[tool["name"] for tool in body["tools"]] for body in line.provider.bodies]
    assert offered == [["search_code", "web_search"], ["search_code"], ["search_code"]]


@pytest.mark.parametrize(
    "words",
    [
        "Web search is not enabled for this organization.",
        "tools.1: Input tag 'web_search_20250305' found using 'type' does not match any of the expected tags",
        "This model does not support the web_search tool",
    ],
)
async def test_rejected_web_search_is_recognised_in_different_messages(connect, ask, read, said, words):
    line = await connect([HttpError("invalid_request_error", words), HELLO])
    assert said(await read(line.model, ask(tools=(SEARCH, WEB), web_search=True))) == "Hello"


NOTED = (
    {"role": "user", "content": [{"type": "text", "text": "How does auth work?"}]},
    {"role": "system", "content": [{"type": "text", "text": "Look closer."}]},
)


async def test_a_note_is_a_system_message_where_the_model_takes_one(connect, ask, read):
    line = await connect([HELLO])
    await read(line.model, ask(messages=NOTED))
    (body,) = line.provider.bodies
    assert [message["role"] for message in body["messages"]] == ["user", "system"]
    assert body["messages"][1]["content"] == NOTED[1]["content"]
    assert "control_note" not in str(body)


async def test_a_gateway_without_system_messages_gets_later_notes_in_the_users_text(connect, ask, read, said):
    line = await connect([HELLO, HELLO], has_system_messages=False)
    with structlog.testing.capture_logs() as lines:
        for _ in range(2):
            assert said(await read(line.model, ask(messages=NOTED))) == "Hello"
    (refused,) = [each for each in lines if each["event"] == "provider.feature_refused"]
    assert refused["feature"] == "system_messages"
    tried, *later = line.provider.bodies
    assert [message["role"] for message in tried["messages"]] == ["user", "system"]
    assert len(later) == 2
    for body in later:
        (message,) = body["messages"]
        assert message["content"][-1]["text"] == "<control_note>\nLook closer.\n</control_note>"
        assert "between `<control_note>` and `</control_note>`" in body["system"][0]["text"]


async def test_a_model_that_is_known_to_take_none_is_never_sent_one(connect, ask, read):
    line = await connect([HELLO])
    await read(line.model, ask(messages=NOTED, model="claude-sonnet-5"))
    (body,) = line.provider.bodies
    assert [message["role"] for message in body["messages"]] == ["user"]


@pytest.mark.parametrize(
    "words",
    [
        "role 'system' is not supported on this model",
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter',
        "messages.1.role: Input should be 'user' or 'assistant'",
    ],
)
async def test_rejected_system_messages_are_recognised_in_different_messages(connect, ask, read, said, words):
    line = await connect([HttpError("invalid_request_error", words), HELLO])
    assert said(await read(line.model, ask(messages=NOTED))) == "Hello"
    assert "control_note" in str(line.provider.bodies[-1]["messages"])


async def test_a_rejection_applies_to_one_model_only(connect, ask, read):
    line = await connect([HttpError("invalid_request_error", "web search is not available"), HELLO, HELLO])
    await read(line.model, ask(web_search=True))
    await read(line.model, ask(web_search=True, model="claude-opus-5-5"))
    assert "tools" not in line.provider.bodies[1]
    assert line.provider.bodies[2]["tools"][0]["name"] == "web_search"


@pytest.mark.parametrize(
    "words", ["invalid beta flag", "web search is not enabled", "bound to a different conversation"]
)
async def test_a_rejection_of_an_absent_feature_is_a_failure(connect, ask, read, words):
    line = await connect([HttpError("invalid_request_error", words)] * 5)
    with pytest.raises(ModelError):
        await read(line.model, ask())
    assert len(line.provider.requests) <= 2


async def test_an_earlier_search_goes_back_when_none_is_offered_any_more(connect, ask, read, end, said):
    search = ScriptedSearch("auth", (("https://e.example", "E"),))
    line = await connect([ScriptedTurn(text="Found.", searches=(search,)), HELLO])
    first = ask(web_search=True)
    content = end(await read(line.model, first)).content
    history = (*first.messages, {"role": "assistant", "content": content}, {"role": "user", "content": "And?"})
    assert said(await read(line.model, ask(messages=history))) == "Hello"


@pytest.mark.parametrize(
    "words",
    [
        "system.0.cache_control: Extra inputs are not permitted",
        "messages[2].content[0]: unknown field `cache_control`",
        "Unrecognized request argument supplied: cache_control",
    ],
)
async def test_a_server_that_knows_no_marks_of_the_cache_gets_none_from_then_on(connect, ask, read, said, words):
    line = await connect([HttpError("invalid_request_error", words), HELLO, HELLO])
    request = ask(tools=(SEARCH,), system="You are the oracle.")
    for _ in range(2):
        assert said(await read(line.model, request)) == "Hello"
    assert ["cache_control" in str(body) for body in line.provider.bodies] == [True, False, False]


@pytest.mark.parametrize(
    "words",
    ["thinking: Extra inputs are not permitted", "Unknown field: output_config", "The model does not support thinking"],
)
async def test_a_server_that_knows_no_thinking_gets_no_settings_of_it(connect, ask, read, said, words):
    line = await connect([HttpError("invalid_request_error", words, status=422), HELLO, HELLO])
    for _ in range(2):
        assert said(await read(line.model, ask(thinking_tokens=2048))) == "Hello"
    assert ["thinking" in body for body in line.provider.bodies] == [True, False, False]


async def test_a_server_that_refuses_several_parts_is_asked_without_each_of_them(connect, ask, read, said):
    refused = [HttpError("invalid_request_error", f"{part}: unknown field") for part in ("cache_control", "web_search")]
    line = await connect([*refused, HELLO])
    assert line.model.has_web_search
    assert said(await read(line.model, ask(tools=(SEARCH, WEB), web_search=True))) == "Hello"
    assert not line.model.has_web_search
