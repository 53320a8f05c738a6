"""The stand-in provider: it refuses what the real one refuses, and tells what happened."""

import asyncio
import json

import pytest

from oracle.models.protocol import ModelError
from oracle.testing import HttpError, ScriptedTurn, StandInProvider
from oracle.testing.provider_rules import complaint, prefix_signature
from oracle.testing.provider_wire import Disturbed

USER = {"role": "user", "content": "Hi"}
SAID = {"role": "assistant", "content": "Hello"}
USE = {"type": "tool_use", "id": "t1", "name": "search_code", "input": {}}
CALLED = {"role": "assistant", "content": [USE]}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
RETURNED = {"role": "user", "content": [RESULT]}
MARK = {"type": "ephemeral"}
GOOD = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [USER]}


def marked(count):
    return [{"type": "text", "text": "x", "cache_control": MARK}] * count


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"messages": [USER, USER]}, "roles must alternate", id="two-users"),
        pytest.param({"messages": [SAID, USER]}, "roles must alternate", id="assistant-first"),
        pytest.param({"messages": [USER, SAID]}, "prefill", id="trailing-assistant"),
        pytest.param({"messages": []}, "at least one message", id="none"),
        pytest.param({"messages": [{"role": "user", "content": []}]}, "non-empty content", id="empty"),
        pytest.param({"messages": [{"role": "user", "content": " "}]}, "non-whitespace", id="blank"),
        pytest.param({"messages": [USER, CALLED, USER]}, "without `tool_result`", id="no-result"),
        pytest.param({"messages": [USER, CALLED]}, "without `tool_result`", id="trailing-call"),
        pytest.param({"messages": [RETURNED]}, "unexpected `tool_use_id`", id="no-call"),
        pytest.param(
            {"messages": [USER, CALLED, {"role": "user", "content": [RESULT, RESULT]}]}, "a single result", id="twice"
        ),
        pytest.param(
            {"messages": [USER, {"role": "assistant", "content": [USE, USE]}, RETURNED]}, "must be unique", id="same-id"
        ),
        pytest.param(
            {"messages": [USER, CALLED, {"role": "user", "content": [{"type": "text", "text": "x"}, RESULT]}]},
            "must come first",
            id="text-before-result",
        ),
        pytest.param(
            {"messages": [USER, {"role": "assistant", "content": [{**USE, "input": "x"}]}, RETURNED]},
            "valid dictionary",
            id="input",
        ),
        pytest.param({"max_tokens": 0}, "max_tokens", id="no-tokens"),
        pytest.param({"max_tokens": None}, "max_tokens", id="tokens-missing"),
        pytest.param({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "not supported", id="budget-new-model"),
        pytest.param({"thinking": {"type": "disabled"}}, "not supported", id="disabled-sonnet"),
        pytest.param(
            {"model": "claude-sonnet-4-5", "thinking": {"type": "enabled", "budget_tokens": 500}},
            "1024",
            id="budget-small",
        ),
        pytest.param(
            {"model": "claude-sonnet-4-5", "thinking": {"type": "enabled", "budget_tokens": 2000}},
            "must be greater than",
            id="budget-over-max",
        ),
        pytest.param(
            {"thinking": {"type": "adaptive", "block_binding": {}}}, "Extra inputs", id="binding-without-beta"
        ),
        pytest.param({"tools": [{"name": "bad name", "input_schema": {"type": "object"}}]}, "pattern", id="tool-name"),
        pytest.param({"tools": [{"name": "a", "input_schema": {}}]}, "input_schema", id="tool-schema"),
        pytest.param({"tools": [{"name": "a", "input_schema": {"type": "object"}}] * 2}, "unique", id="same-tool"),
        pytest.param({"tool_choice": {"type": "none"}}, "while providing tools", id="choice-without-tools"),
        pytest.param({"system": marked(5)}, "maximum of 4", id="marks"),
        pytest.param({"temperature": 0.5}, "temperature", id="temperature"),
        pytest.param({"mesages": []}, "mesages: Extra inputs", id="unknown-field"),
        pytest.param({"model": ""}, "model", id="no-model"),
    ],
)
def test_what_the_provider_refuses_is_refused(changes, words):
    assert words in complaint({**GOOD, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="plain"),
        pytest.param({"messages": [USER, SAID, USER]}, id="conversation"),
        pytest.param({"messages": [USER, CALLED, RETURNED]}, id="tools"),
        pytest.param(
            {"messages": [USER, CALLED, {"role": "user", "content": [RESULT, {"type": "text", "text": "hint"}]}]},
            id="text-after-result",
        ),
        pytest.param(
            {"messages": [USER, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s"}]}]},
            id="paused",
        ),
        pytest.param({"system": marked(4)}, id="four-marks"),
        pytest.param({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, id="server-tool"),
    ],
)
def test_what_the_provider_takes_is_taken(changes):
    assert complaint({**GOOD, **changes}) is None


def test_thinking_is_bound_to_what_stood_before_it_but_not_to_cache_marks():
    thought = {"type": "thinking", "thinking": "Hm", "signature": prefix_signature(GOOD, [USER])}
    answer = {"role": "assistant", "content": [thought, USE]}
    marked_user = {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": MARK}]}
    assert complaint({**GOOD, "messages": [USER, answer, RETURNED]}) is None
    assert complaint({**GOOD, "messages": [marked_user, answer, RETURNED]}) is None
    other = {"role": "user", "content": "Ho"}
    assert "bound to a different conversation" in complaint({**GOOD, "messages": [other, answer, RETURNED]})


def test_a_waiting_reply_needs_a_gate():
    with pytest.raises(ValueError, match="gate is None"):
        Disturbed(ScriptedTurn(), "wait")


def test_it_has_an_address_only_while_it_runs():
    with pytest.raises(RuntimeError, match="not running"):
        _ = StandInProvider().url


async def exchange(provider, request):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(provider.url.rpartition(":")[2]))
    writer.write(request)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer.split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /v1/models HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 3\r\n\r\n{x}", b"400"),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 999999999\r\n\r\n", b"413"),
    ],
    ids=["other-path", "no-json", "too-large"],
)
async def test_other_requests_are_refused_as_http(request_bytes, status):
    async with StandInProvider() as provider:
        assert status in await exchange(provider, request_bytes)


async def test_a_refused_request_uses_up_no_reply_and_is_recorded(connect, ask, read, said):
    body = json.dumps({**GOOD, "messages": [USER, USER]}).encode()
    line = await connect([ScriptedTurn(text="Hi")])
    raw = b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    assert b"400" in await exchange(line.provider, raw)
    assert said(await read(line.model, ask())) == "Hi"
    assert "alternate" in line.provider.requests[0].complaint
    assert line.provider.requests[1].complaint is None


async def test_checks_can_be_left_out(connect):
    body = json.dumps({**GOOD, "messages": [USER, USER]}).encode()
    line = await connect([ScriptedTurn(text="Hi")], validates=False)
    raw = b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    assert b"200" in await exchange(line.provider, raw)


async def test_it_knows_which_models_exist(connect, ask, read):
    line = await connect([ScriptedTurn(text="Hi")], models={"claude-sonnet-5-5"})
    await read(line.model, ask())
    with pytest.raises(ModelError, match="claude-none"):
        await read(line.model, ask(model="claude-none"))


async def test_a_delayed_turn_says_nothing_before_its_time(connect, ask, read, said):
    line = await connect([ScriptedTurn(text="Hi", delay_s=0.2)])
    begun_s = asyncio.get_running_loop().time()
    assert said(await read(line.model, ask())) == "Hi"
    assert asyncio.get_running_loop().time() - begun_s >= 0.2


async def test_a_whole_answer_is_finished_and_not_disconnected(connect, ask, read):
    line = await connect([ScriptedTurn(text="Hi"), HttpError("invalid_request_error")])
    await read(line.model, ask())
    request = await line.provider.wait_request()
    await request.finished.wait()
    assert not request.disconnected.is_set()
