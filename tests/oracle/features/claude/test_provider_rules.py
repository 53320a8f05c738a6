"""The rules of the stand-in provider: for each a request that it rejects, and a similar one that it accepts."""

import pytest

from oracle.features.claude.facts import BINDING_BETA, model_facts
from tests.support.provider.models import documented
from tests.support.provider.request import Request
from tests.support.provider.rules import KNOWN_BETAS, RULES, complaint
from tests.support.provider.signatures import Signer
from tests.support.provider.tool_changes import TOOL_CHANGES_BETA

USER = {"role": "user", "content": "Hi"}
GOOD = {"model": "claude-sonnet-5-5", "max_tokens": 4096, "messages": [USER]}
OLD = {"model": "claude-sonnet-4-5"}
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
USE = {"type": "tool_use", "id": "t1", "name": "search_code", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
TOOL = {"name": "search_code", "description": "Searches.", "input_schema": {"type": "object"}}
WEB = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


def text(words="Well.", **more):
    return {"type": "text", "text": words, **more}


def says(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def asks(*blocks):
    return {"role": "user", "content": list(blocks)}


def notes(*blocks):
    return {"role": "system", "content": list(blocks)}


def thought(words="Hm", body=GOOD, messages=(USER,)):
    """Thinking as the stand-in creates it in response to `messages`."""
    signature = Signer({**body, "messages": list(messages)}).sign(words)
    return {"type": "thinking", "thinking": words, "signature": signature}


def messages(*more):
    return {"messages": [USER, *more]}


def tools(*more, **rest):
    return {"tools": list(more), **rest}


THOUGHT = thought()
OLD_THOUGHT = thought(body={**GOOD, **OLD})
BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
ADAPTIVE = {"thinking": {"type": "adaptive"}}

# name of the rule, a rejected request, a part of the provider's message, and an accepted request
CASES = {
    "unknown-field": ("fields", {"mesages": []}, "mesages: Extra inputs", {"metadata": {"user_id": "u"}}),
    "sampling": ("fields", {"temperature": 0.5}, "temperature", {"stop_sequences": ["END"]}),
    "no-model": ("model", {"model": ""}, "model", {"model": "claude-opus-5-5"}),
    "no-tokens": ("max_tokens", {"max_tokens": 0}, "max_tokens", {"max_tokens": 1}),
    "tokens-missing": ("max_tokens", {"max_tokens": None}, "max_tokens", {"max_tokens": 4096}),
    "tokens-over-model": (
        "max_tokens",
        {**OLD, "max_tokens": 64_001},
        "maximum allowed number of output tokens",
        {**OLD, "max_tokens": 64_000},
    ),
    "system-blank": ("system", {"system": [text(" ")]}, "non-empty", {"system": [text("Be brief.")]}),
    "system-image": ("system", {"system": [{"type": "image"}]}, "should be 'text'", {"system": "Be brief."}),
    "system-field": ("system", {"system": [text(name="x")]}, "Extra inputs", {"system": [text(cache_control=MARK)]}),
    "system-number": ("system", {"system": 5}, "valid list", {"system": []}),
    "no-messages": ("message count", {"messages": []}, "at least one message", messages()),
    "no-message": ("message count", {"messages": ["Hi"]}, "valid dictionary", messages()),
    "too-many": ("message count", {"messages": [USER] * 100_001}, "at most 100000", messages()),
    "effort-unknown": (
        "output_config",
        {"output_config": {"effort": "most"}},
        "'most'",
        {"output_config": {"effort": "medium"}},
    ),
    "effort-old": ("output_config", {**OLD, "output_config": {"effort": "low"}}, "not supported", OLD),
    "effort-between-tools": (
        "output_config",
        {"output_config": {"effort": "max"}, "thinking": {"type": "between_tools"}},
        "effort 'max'",
        {"output_config": {"effort": "high"}, "thinking": {"type": "between_tools"}},
    ),
    "config-field": ("output_config", {"output_config": {"efort": "low"}}, "Extra inputs", {"output_config": {}}),
    "budget-new-model": ("thinking", BUDGET, "not supported", {**OLD, **BUDGET}),
    "disabled-sonnet": (
        "thinking",
        {"thinking": {"type": "disabled"}},
        "not supported",
        {"thinking": {"type": "between_tools"}},
    ),
    "adaptive-old": ("thinking", {**OLD, **ADAPTIVE}, "not supported", {"model": "claude-sonnet-4-6", **ADAPTIVE}),
    "budget-small": (
        "thinking",
        {**OLD, "thinking": {"type": "enabled", "budget_tokens": 1023}},
        "1024",
        {**OLD, **BUDGET},
    ),
    "budget-not-below-max": (
        "thinking",
        {**OLD, **BUDGET, "max_tokens": 1024},
        "must be greater than",
        {**OLD, **BUDGET, "max_tokens": 1025},
    ),
    "display": (
        "thinking",
        {"thinking": {"type": "adaptive", "display": "all"}},
        "'summarized' or 'omitted'",
        {"thinking": {"type": "adaptive", "display": "summarized"}},
    ),
    "binding-without-beta": (
        "thinking",
        {"thinking": {"type": "adaptive", "block_binding": {}}},
        "Extra inputs",
        ADAPTIVE,
    ),
    "tool-name": ("tools", tools({**TOOL, "name": "bad name"}), "pattern", tools(TOOL)),
    "tool-twice": ("tools", tools(TOOL, TOOL), "unique", tools(TOOL, {**TOOL, "name": "b"})),
    "tool-schema": ("tools", tools({**TOOL, "input_schema": {}}), "input_schema", tools(TOOL)),
    "tool-schema-union": (
        "tools",
        tools({**TOOL, "input_schema": {"type": "object", "anyOf": []}}),
        "oneOf, allOf, or anyOf",
        tools({**TOOL, "input_schema": {"type": "object", "properties": {"x": {"anyOf": []}}}}),
    ),
    "tool-field": ("tools", tools({**TOOL, "group": "code"}), "Extra inputs", tools({**TOOL, "strict": True})),
    "tool-description": ("tools", tools({**TOOL, "description": 5}), "valid string", tools(TOOL)),
    "searches": ("tools", tools({**WEB, "max_uses": 0}), "greater than 0", tools(WEB)),
    "domains": (
        "tools",
        tools({**WEB, "allowed_domains": ["a.org"], "blocked_domains": ["b.org"]}),
        "only one of",
        tools({**WEB, "allowed_domains": ["a.org"]}),
    ),
    "choice-without-tools": (
        "tool_choice",
        {"tool_choice": {"type": "none"}},
        "while providing tools",
        tools(TOOL, tool_choice={"type": "none"}),
    ),
    "choice-unknown": (
        "tool_choice",
        tools(TOOL, tool_choice={"type": "all"}),
        "'all'",
        tools(TOOL, tool_choice={"type": "auto"}),
    ),
    "choice-absent": (
        "tool_choice",
        {**OLD, **tools(TOOL, tool_choice={"type": "tool", "name": "x"})},
        "not found",
        {**OLD, **tools(TOOL, tool_choice={"type": "tool", "name": "search_code"})},
    ),
    "forced-while-thinking": (
        "tool_choice",
        {**OLD, **BUDGET, **tools(TOOL, tool_choice={"type": "any"})},
        "forces tool use",
        {**OLD, **tools(TOOL, tool_choice={"type": "any"})},
    ),
    "two-users": ("roles", {"messages": [USER, USER]}, "roles must alternate", messages(says(text()), USER)),
    "assistant-first": ("roles", {"messages": [says(text()), USER]}, "roles must alternate", messages()),
    "system-first": (
        "roles",
        {"messages": [{"role": "system", "content": "x"}, USER]},
        "role 'system' must follow a user message",
        messages({"role": "system", "content": "x"}),
    ),
    "system-behind-the-model": (
        "roles",
        messages(says(text()), {"role": "system", "content": "x"}),
        "role 'system' must follow a user message",
        messages({"role": "system", "content": "x"}, says(text()), USER),
    ),
    "user-behind-system": (
        "roles",
        messages({"role": "system", "content": "x"}, USER),
        "roles must alternate",
        messages({"role": "system", "content": "x"}),
    ),
    "system-unknown-to-the-model": (
        "roles",
        {**messages({"role": "system", "content": "x"}), "model": "claude-sonnet-5"},
        "role 'system' is not supported on this model",
        messages({"role": "system", "content": "x"}),
    ),
    "message-field": ("roles", {"messages": [{**USER, "name": "x"}]}, "Extra inputs", messages()),
    "no-content": ("content", {"messages": [asks()]}, "non-empty content", messages()),
    "blank": ("content", {"messages": [asks(text(" \n"))]}, "non-whitespace", {"messages": [asks(text(" x"))]}),
    "empty-text": ("content", {"messages": [asks(text(), text(""))]}, "non-empty", {"messages": [asks(text())]}),
    "text-is-number": ("content", {"messages": [asks(text(5))]}, "valid string", messages()),
    "block-type": ("content", {"messages": [asks({"type": "note"})]}, "does not match", messages()),
    "block-field": ("content", messages(says(text(index=0)), USER), "Extra inputs", messages(says(text()), USER)),
    "input-is-text": (
        "content",
        messages(says({**USE, "input": "x"}), asks(RESULT)),
        "valid dictionary",
        messages(says(USE), asks(RESULT)),
    ),
    "call-id": (
        "content",
        messages(says({**USE, "id": "a b"}), asks({**RESULT, "tool_use_id": "a b"})),
        "String should match pattern",
        messages(says(USE), asks(RESULT)),
    ),
    "error-flag": (
        "content",
        messages(says(USE), asks({**RESULT, "is_error": "yes"})),
        "valid boolean",
        messages(says(USE), asks({**RESULT, "is_error": True})),
    ),
    "result-empty-text": (
        "content",
        messages(says(USE), asks({**RESULT, "content": [text("")]})),
        "non-empty",
        messages(says(USE), asks({**RESULT, "content": [text()]})),
    ),
    "result-error-image": (
        "content",
        messages(says(USE), asks({**RESULT, "is_error": True, "content": [{"type": "image"}]})),
        "must be type `text`",
        messages(says(USE), asks({**RESULT, "content": [{"type": "image"}]})),
    ),
    "ends-in-thinking": (
        "trailing thinking",
        messages(says(THOUGHT), USER),
        "final block in an assistant message cannot be `thinking`",
        messages(says(THOUGHT, text()), USER),
    ),
    "thinks-after-its-call": (
        "trailing thinking",
        messages(says(THOUGHT, USE, thought("So", messages=(USER, says(THOUGHT)))), asks(RESULT)),
        "final block in an assistant message cannot be `thinking`",
        messages(says(THOUGHT, USE), asks(RESULT)),
    ),
    "paused-in-thinking": (
        "trailing thinking",
        messages(says(SEARCH, FOUND, THOUGHT)),
        "final block in an assistant message cannot be `thinking`",
        messages(says(THOUGHT, SEARCH, FOUND)),
    ),
    "no-result": (
        "tool calls",
        messages(says(USE), USER),
        "without `tool_result` blocks immediately after: t1",
        messages(says(USE), asks(RESULT, text())),
    ),
    "call-at-the-end": ("tool calls", messages(says(USE)), "without `tool_result`", messages(says(USE), asks(RESULT))),
    "no-call": ("tool calls", {"messages": [asks(RESULT)]}, "unexpected `tool_use_id`", messages()),
    "two-results": ("tool calls", messages(says(USE), asks(RESULT, RESULT)), "a single result", messages()),
    "same-id": ("tool calls", messages(says(USE, USE), asks(RESULT)), "must be unique", messages()),
    "same-id-later": (
        "tool calls",
        messages(says(USE), asks(RESULT), says(USE), asks(RESULT)),
        "must be unique",
        messages(says(USE), asks(RESULT), says({**USE, "id": "t2"}), asks({**RESULT, "tool_use_id": "t2"})),
    ),
    "text-before-result": (
        "results first",
        messages(says(USE), asks(text(), RESULT)),
        "must come first",
        messages(says(USE), asks(RESULT, text())),
    ),
    "search-without-result": (
        "server tools",
        messages(says(SEARCH, text()), USER),
        "without a corresponding `web_search_tool_result`",
        messages(says(SEARCH, FOUND, text()), USER),
    ),
    "result-without-search": (
        "server tools",
        messages(says(FOUND, text()), USER),
        "unexpected `tool_use_id`",
        messages(says(SEARCH, FOUND, text()), USER),
    ),
    "search-owed-no-more": (
        "server tools",
        messages(says(SEARCH, USE), asks(RESULT), says(text()), USER),
        "without a corresponding `web_search_tool_result`",
        messages(says(SEARCH, USE), asks(RESULT), says(FOUND, text()), USER),
    ),
    "prefill": ("final message", messages(says(text())), "prefill", {**OLD, **messages(says(text()))}),
    "prefill-thinking": (
        "final message",
        {**OLD, **BUDGET, **messages(says(OLD_THOUGHT, text()))},
        "prefill",
        {**OLD, **messages(says(text()))},
    ),
    "trailing-space": (
        "final message",
        {**OLD, **messages(says(text("Well. ")))},
        "trailing whitespace",
        {**OLD, **messages(says(text("Well.")))},
    ),
    "paused-thinking-off": (
        "final message",
        {**OLD, **messages(says(OLD_THOUGHT, SEARCH, FOUND))},
        "When thinking is disabled",
        {**OLD, **BUDGET, **messages(says(OLD_THOUGHT, SEARCH, FOUND))},
    ),
    "thinking-lost": (
        "thinking first",
        {**OLD, **BUDGET, **messages(says(USE), asks(RESULT))},
        "must start with a thinking block",
        {**OLD, **BUDGET, **messages(says(OLD_THOUGHT, USE), asks(RESULT))},
    ),
    "thinking-modified": (
        "signatures",
        messages(says({**THOUGHT, "thinking": "Ha"}, USE), asks(RESULT)),
        "Invalid `signature`",
        messages(says(THOUGHT, USE), asks(RESULT)),
    ),
    "thinking-forged": (
        "signatures",
        {**OLD, **messages(says({**THOUGHT, "signature": "x"}, USE), asks(RESULT))},
        "Invalid `signature`",
        {**OLD, **messages(says(OLD_THOUGHT, USE), asks(RESULT))},
    ),
    "thinking-elsewhere": (
        "signatures",
        {"messages": [asks(text("Ho")), says(THOUGHT, USE), asks(RESULT)]},
        "bound to a different conversation",
        {"messages": [asks(text("Hi", cache_control=MARK)), says(THOUGHT, USE), asks(RESULT)]},
    ),
    "thinking-behind-other-tools": (
        "signatures",
        {**messages(says(THOUGHT, USE), asks(RESULT)), "tools": [TOOL]},
        "bound to a different conversation",
        {**messages(says(thought(body={**GOOD, "tools": [TOOL]}), USE), asks(RESULT)), "tools": [TOOL]},
    ),
    "all-deferred": (
        "deferred tools",
        tools({**TOOL, "defer_loading": True}),
        "At least one tool must be non-deferred",
        tools(TOOL, {**TOOL, "name": "read_file", "defer_loading": True}),
    ),
    "mark-on-deferred": (
        "deferred tools",
        tools(TOOL, {**TOOL, "name": "read_file", "defer_loading": True, "cache_control": MARK}),
        "cannot have both",
        tools({**TOOL, "cache_control": MARK}, {**TOOL, "name": "read_file", "defer_loading": True}),
    ),
    "diagnostics-field": (
        "diagnostics",
        {"diagnostics": {"previous_message": "msg_1"}},
        "diagnostics.previous_message: Extra inputs",
        {"diagnostics": {"previous_message_id": "msg_1"}},
    ),
    "diagnostics-number": (
        "diagnostics",
        {"diagnostics": {"previous_message_id": 1}},
        "valid string",
        {"diagnostics": {"previous_message_id": None}},
    ),
    "five-marks": (
        "cache marks",
        {"system": [text(cache_control=MARK)] * 5},
        "maximum of 4",
        {"system": [text(cache_control=MARK)] * 4},
    ),
    "four-marks-and-automatic": (
        "cache marks",
        {"system": [text(cache_control=MARK)] * 4, "cache_control": MARK},
        "maximum of 4",
        {"system": [text(cache_control=MARK)] * 3, "cache_control": MARK},
    ),
    "mark-on-thinking": (
        "content",
        messages(says({**THOUGHT, "cache_control": MARK}, USE), asks(RESULT)),
        "Extra inputs",
        messages(says(THOUGHT, {**USE, "cache_control": MARK}), asks(RESULT)),
    ),
    "hour-after-minutes": (
        "cache marks",
        {"system": [text(cache_control=MARK)], "messages": [asks(text(cache_control=HOUR))]},
        "must not come after",
        {"system": [text(cache_control=HOUR)], "messages": [asks(text(cache_control=MARK))]},
    ),
    "ttl": (
        "cache marks",
        {"system": [text(cache_control={"type": "ephemeral", "ttl": "1d"})]},
        "'5m' or '1h'",
        {"system": [text(cache_control=HOUR)]},
    ),
    "automatic-other-ttl": (
        "cache marks",
        {"messages": [asks(text(cache_control=MARK))], "cache_control": HOUR},
        "differs",
        {"messages": [asks(text(cache_control=HOUR))], "cache_control": HOUR},
    ),
}


def refusal(body, **more):
    """The provider's words for a request that it refuses; `None` if it takes it."""
    return complaint({**GOOD, **body}, **more)


def found_by(name, body):
    """What the rule of that name alone says."""
    whole = {**GOOD, **body}
    request = Request(whole, frozenset(), KNOWN_BETAS, True, model_facts(str(whole["model"])))
    return [words for rule in RULES if rule.name == name for words in rule.find(request)]


@pytest.mark.parametrize(("rule", "refused", "words", "taken"), CASES.values(), ids=CASES)
def test_a_rule_rejects_one_request_and_accepts_a_similar_one(rule, refused, words, taken):
    assert any(words in found for found in found_by(rule, refused))
    assert refusal(refused) is not None
    assert refusal(taken) is None


def test_every_rule_has_both_cases_and_a_source():
    elsewhere = {"beta header", "web search", "tool changes"}
    assert {each.name for each in RULES} == {case[0] for case in CASES.values()} | elsewhere
    assert all(each.source for each in RULES)


def test_unknown_betas_are_rejected_by_name_and_a_gateway_may_know_none():
    assert refusal({}, betas=BINDING_BETA) is None
    assert "`new-thing-2030-01-01`" in refusal({}, betas=f"{BINDING_BETA}, new-thing-2030-01-01")
    assert f"`{BINDING_BETA}` for the `anthropic-beta` header" in refusal(
        {}, betas=BINDING_BETA, known_betas=frozenset()
    )


def change(kind, name="search_code", **tool):
    return {"type": kind, "tool": {"type": "tool_reference", "name": name, **tool}}


LISTED = tools(TOOL, {**TOOL, "name": "read_file", "defer_loading": True})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"messages": [USER, notes(change("tool_removal"))]}, None),
        ({"messages": [USER, notes(change("tool_addition", "read_file"), text())]}, None),
        ({"messages": [USER, notes(change("tool_removal"), change("tool_addition"))]}, None),
        ({"messages": [notes(change("tool_removal")), USER]}, "must follow a user message"),
        ({"messages": [asks(change("tool_removal"))]}, "only allowed in messages of the role 'system'"),
        ({"messages": [USER, notes(change("tool_removal", "web"))]}, "'web' is not declared in `tools`"),
        ({"messages": [USER, notes(change("tool_addition"))]}, "'search_code' is already available"),
        ({"messages": [USER, notes(change("tool_removal", "read_file"))]}, "'read_file' is not available"),
        ({"messages": [USER, notes(change("tool_removal", type="tool"))]}, "should be a tool_reference"),
        ({"messages": [USER, notes(change("tool_removal"))], "model": "claude-sonnet-5"}, "not supported"),
    ],
)
def test_tool_changes_name_tools_that_are_listed_and_change_something(body, words):
    found = refusal({**LISTED, **body}, betas=TOOL_CHANGES_BETA)
    assert found is None if words is None else words in found


def test_tool_changes_are_a_beta():
    body = {**LISTED, "messages": [USER, notes(change("tool_removal"))]}
    assert "Input tag 'tool_removal'" in refusal(body)
    assert TOOL_CHANGES_BETA in refusal(body, betas=TOOL_CHANGES_BETA, known_betas=frozenset())


def test_an_organisation_without_web_search_cannot_use_it():
    assert refusal(tools(WEB)) is None
    assert "not enabled" in refusal(tools(WEB), has_web_search=False)
    assert refusal(tools(TOOL), has_web_search=False) is None


def test_the_beta_drops_thinking_of_another_conversation_instead_of_rejecting_it():
    drops = {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}}
    moved = {"messages": [asks(text("Ho")), says(THOUGHT, USE), asks(RESULT)]}
    assert "bound to a different" in refusal(moved)
    assert refusal({**moved, **drops}, betas=BINDING_BETA) is None


def test_no_thinking_block_may_be_missing_between_others():
    first = says(THOUGHT, USE)
    second = says(thought("So", messages=[USER, first, asks(RESULT)]), {**USE, "id": "t2"})
    answered = [USER, first, asks(RESULT), second, asks({**RESULT, "tool_use_id": "t2"})]
    third = says(thought("Ah", messages=answered), text())
    assert refusal({"messages": [*answered, third, USER]}) is None
    without_first = [USER, says(USE), *answered[2:], third, USER]
    assert refusal({"messages": without_first}) is None, "the oldest may be left out"
    without_second = [*answered[:3], says(*second["content"][1:]), answered[4], third, USER]
    assert "bound to a different conversation" in refusal({"messages": without_second})


def test_models_before_5_1_do_not_bind_thinking():
    moved = {"messages": [asks(text("Ho")), says(THOUGHT, USE), asks(RESULT)]}
    assert refusal({**moved, "model": "claude-sonnet-5"}) is None


@pytest.mark.parametrize(
    ("model", "thinking", "least_cached", "prefill"),
    [
        ("claude-haiku-4-5-20251001", {"enabled", "disabled"}, 4096, True),
        ("claude-opus-4-6", {"enabled", "adaptive", "disabled"}, 4096, False),
        ("claude-opus-4-7", {"adaptive", "disabled"}, 2048, False),
        ("claude-sonnet-5", {"adaptive", "disabled"}, 1024, False),
        ("claude-opus-5", {"adaptive", "disabled"}, 512, False),
        ("us.anthropic.claude-sonnet-5-5", {"adaptive", "between_tools"}, 512, False),
        ("claude-fable-5-2", {"adaptive"}, 512, False),
    ],
)
def test_models_differ_as_documented(model, thinking, least_cached, prefill):
    assert model_facts(model).thinking == thinking
    assert documented(model).least_cached_tokens == least_cached
    assert documented(model).prefill is prefill
