"""What is sent to the provider: the cache's marks, the hint, tools, thinking."""

import copy
import json
from itertools import product
from types import MappingProxyType

import pytest

from oracle.features.claude.facts import ThinkingSettings, thinking_settings
from oracle.features.claude.request import request_body, without_thinking
from oracle.llm.protocol import ToolDefinition
from oracle.testing import ScriptedTurn
from tests.support.provider.rules import complaint

SEARCH = ToolDefinition("search_code", "Searches.", {"type": "object", "properties": {}})
READ = ToolDefinition("read_file", "Reads.", {"type": "object", "properties": {}})
MARK = {"type": "ephemeral"}
HISTORY = (
    {"role": "user", "content": "How does auth work?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "search_code", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "auth.py:1"}]},
)


def body_of(request, **settings):
    settings.setdefault("model", "claude-sonnet-5-5")
    settings.setdefault("max_tokens", request.max_tokens)
    settings.setdefault("thinking", ThinkingSettings())
    return request_body(request, **settings)


def marks(value):
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(marks(item) for item in value.values())
    return sum(marks(item) for item in value) if isinstance(value, list) else 0


def test_the_cache_marks_end_the_stable_prefix_and_the_last_message(ask):
    body = body_of(ask(messages=HISTORY, tools=(SEARCH, READ)))
    assert body["system"] == [{"type": "text", "text": "You are the oracle.", "cache_control": MARK}]
    assert body["messages"][-1]["content"][-1]["cache_control"] == MARK
    assert body["messages"][0]["content"][-1]["cache_control"] == MARK, "where the request before ended"
    assert marks(body) == 3
    assert marks(body_of(ask(messages=HISTORY[:1], tools=(SEARCH, READ)))) == 2


def test_without_a_system_prompt_the_last_tool_ends_the_stable_prefix(ask):
    body = body_of(ask(system="  ", tools=(SEARCH, READ)))
    assert "system" not in body
    assert body["tools"][-1]["cache_control"] == MARK
    assert "cache_control" not in body["tools"][0]


def test_the_wrap_up_turn_is_a_request_like_any_other(ask):
    assert body_of(ask(tools=(SEARCH,), wrap_up=True)) == body_of(ask(tools=(SEARCH,)))


def test_the_search_of_the_provider_keeps_its_position(ask):
    web = ToolDefinition("web_search", "Search the web.", {"type": "object"})
    tools = body_of(ask(tools=(web, SEARCH), web_search=True))["tools"]
    assert [tool.get("type") for tool in tools] == ["web_search_20250305", None]


def test_ids_of_calls_that_another_provider_has_given_are_ones_that_the_provider_takes(ask):
    ids = ("functions.search_code:0", "functions.search_code:1", "t1")
    uses = [{"type": "tool_use", "id": each, "name": "search_code", "input": {}} for each in ids]
    results = [{"type": "tool_result", "tool_use_id": each, "content": "auth.py:1"} for each in ids]
    messages = (HISTORY[0], {"role": "assistant", "content": uses}, {"role": "user", "content": results})
    body = body_of(ask(messages=messages, tools=(SEARCH,)))
    assert complaint(body) is None
    assert [block["id"] for block in body["messages"][1]["content"]][2] == "t1"
    assert body == body_of(ask(messages=messages, tools=(SEARCH,)))


def test_arguments_are_not_modified(ask):
    before = copy.deepcopy(HISTORY)
    body = body_of(ask(messages=HISTORY, tools=(SEARCH,)))
    body["messages"][1]["content"][0]["input"]["changed"] = True
    assert before == HISTORY


def test_any_mapping_and_sequence_becomes_json(ask):
    call = MappingProxyType(
        {"type": "tool_use", "id": "t1", "name": "search_code", "input": MappingProxyType({"a": (1, 2)})}
    )
    messages = (HISTORY[0], MappingProxyType({"role": "assistant", "content": (call,)}), HISTORY[2])
    assert json.dumps(body_of(ask(messages=messages)))


def test_text_that_utf8_cannot_encode_is_repaired(ask):
    body = body_of(ask("a\ud800b", system="c\udfffd"))
    json.dumps(body, ensure_ascii=False).encode()
    assert body["messages"][0]["content"][0]["text"] == "a\ufffdb"


def test_a_whole_surrogate_pair_becomes_its_character(ask):
    assert body_of(ask("\ud83c\udf0d"))["messages"][0]["content"][0]["text"] == "🌍"


def test_tool_choice_none_keeps_the_tools_listed(ask):
    body = body_of(ask(tools=(SEARCH,), tool_choice="none"))
    assert body["tool_choice"] == {"type": "none"}
    assert [tool["name"] for tool in body["tools"]] == ["search_code"]


def test_tool_choice_is_left_out_without_tools(ask):
    assert "tool_choice" not in body_of(ask(tool_choice="none"))
    assert "tools" not in body_of(ask())


def test_web_search_is_the_providers_own_and_limited(ask):
    marker = ToolDefinition("web_search", "The web.", {"type": "object"})
    body = body_of(ask(tools=(SEARCH, marker), web_search=True))
    assert body["tools"][-1] == {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    assert len(body["tools"]) == 2


def test_max_tokens_is_at_least_one(ask):
    assert body_of(ask(), max_tokens=-5)["max_tokens"] == 1


@pytest.mark.parametrize("messages", [(), HISTORY[:2]], ids=["none", "assistant-last"])
def test_the_last_message_must_be_the_users(ask, messages):
    with pytest.raises(ValueError, match="it must be the user's"):
        body_of(ask(messages=messages))


def test_no_sampling_parameters_are_sent(ask):
    assert not {"temperature", "top_p", "top_k"} & set(body_of(ask(tools=(SEARCH,), web_search=True)))


def test_thinking_of_earlier_turns_can_be_removed(ask):
    thought = {"type": "thinking", "thinking": "Hm", "signature": "s"}
    only_thought = {"role": "assistant", "content": [thought]}
    called = {"role": "assistant", "content": [thought, *HISTORY[1]["content"]]}
    body = body_of(ask(messages=(HISTORY[0], only_thought, HISTORY[0], called, HISTORY[2])))
    stripped = without_thinking(body)
    assert "thinking" not in json.dumps(stripped["messages"])
    assert complaint(stripped) is None
    assert without_thinking(stripped) is None


@pytest.mark.parametrize(
    "model",
    [
        *("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5", "claude-fable-5-2", "claude-mythos-5-1"),
        *("claude-sonnet-5", "claude-opus-5", "claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5-20251001"),
        *("claude-sonnet-4-5", "claude-opus-4-20250514", "us.anthropic.claude-sonnet-5-5-v1:0", "my-gateway-model"),
    ],
)
def test_every_model_accepts_its_thinking_settings(ask, model):
    for given in product([0, 1023, 1024, 4000, 64_000], [1, 1024, 2048, 32_000], [False, True]):
        thinking_tokens, max_tokens, drops = given
        settings = thinking_settings(model, thinking_tokens=thinking_tokens, max_tokens=max_tokens, drops_changed=drops)
        body = body_of(ask(), model=model, max_tokens=max_tokens, thinking=settings)
        assert complaint(body, betas=",".join(settings.betas)) is None, given


@pytest.mark.parametrize(
    ("model", "tokens", "thinking", "effort"),
    [
        pytest.param("claude-sonnet-4-5", 2048, {"type": "enabled", "budget_tokens": 2048}, None, id="budget"),
        pytest.param("claude-sonnet-4-5", 64_000, {"type": "enabled", "budget_tokens": 7999}, None, id="below-max"),
        pytest.param("claude-sonnet-4-5", 0, None, None, id="old-off"),
        pytest.param("claude-opus-4-8", 2048, {"type": "adaptive", "display": "summarized"}, "medium", id="adaptive"),
        pytest.param("claude-opus-4-8", 8192, {"type": "adaptive", "display": "summarized"}, "high", id="much"),
        pytest.param("claude-opus-4-8", 0, None, None, id="adaptive-off"),
        pytest.param("claude-sonnet-5", 0, {"type": "disabled"}, None, id="disabled"),
        pytest.param("claude-sonnet-5-5", 0, {"type": "between_tools"}, None, id="between-tools"),
        pytest.param("some-other-model", 5000, None, None, id="unknown"),
    ],
)
def test_thinking_settings_depend_on_the_generation(model, tokens, thinking, effort):
    settings = thinking_settings(model, thinking_tokens=tokens, max_tokens=8000)
    assert settings.thinking == thinking
    assert settings.effort == effort


def test_a_model_that_always_thinks_gets_the_lowest_effort():
    settings = thinking_settings("claude-opus-5-5", thinking_tokens=0, max_tokens=8000)
    assert settings.thinking["type"] == "adaptive"
    assert settings.effort == "low"


async def test_the_provider_accepts_a_request_with_all_options(connect, ask, read, end):
    line = await connect([ScriptedTurn(text="Hi")])
    request = ask(messages=HISTORY, tools=(SEARCH, READ), web_search=True, tool_choice="none", thinking_tokens=5000)
    await read(line.model, request)
    sent = line.provider.requests[0]
    assert sent.complaint is None
    assert sent.body["output_config"] == {"effort": "medium"}
    assert sent.body["stream"] is True
    assert "anthropic-beta" not in sent.headers, "a gateway may know no beta; none is needed here"
