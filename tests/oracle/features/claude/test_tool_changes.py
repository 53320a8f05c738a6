"""Tools that are withdrawn and offered in mid-conversation: what is sent, and what it is where that is not taken."""

import itertools
from dataclasses import replace

import pytest

from oracle.features.claude.tool_changes import TOOL_CHANGES_BETA, change_tools
from oracle.llm.protocol import ToolDefinition
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.support.provider import HttpError, PromptCache

SCHEMA = {"type": "object", "properties": {}}
SEARCH, READ, WEB = (ToolDefinition(name, "Does it. " * 50, SCHEMA) for name in ("search", "vault.read", "web_search"))
LONG = "A sentence of the system prompt. " * 200
LOOKS = ScriptedTurn(thinking="Hm.", text="I look.", tool_calls=(ScriptedCall("search"),))
ANSWER = ScriptedTurn(thinking="So.", text="It is so.")
ONLY, BOTH = ("search",), ("search", "vault.read")


async def converse(line, ask, read, end, *turns, **fields):
    """Turns of one query; each is the fields of its request, and its notes."""
    messages, offers = [{"role": "user", "content": [{"type": "text", "text": "How does auth work?"}]}], ()
    for turn in turns:
        tools, usable, note = turn["tools"], turn["usable"], turn.get("note")
        names = tuple(tool.name for tool in tools)
        known = offers or ((0, 0, names),)
        offers = known if known[-1][2] == usable else (*known, (len(messages), int(bool(note)), usable))
        if note:
            messages.append({"role": "system", "content": [{"type": "text", "text": note}]})
        choice = "auto" if usable else "none"
        asked = {"tool_choice": choice, "thinking_tokens": 2048, **fields}
        request = ask(system=LONG, messages=tuple(messages), tools=tools, offers=offers, **asked)
        content = end(await read(line.model, request)).content
        results = [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "Found."}
            for block in content
            if block["type"] == "tool_use"
        ]
        added = results or [{"type": "text", "text": "Continue."}]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": added}]


def tool_blocks(body):
    return [
        (index, block["type"], block["tool"]["name"])
        for index, message in enumerate(body["messages"])
        for block in message["content"]
        if block["type"].startswith("tool_") and "tool" in block
    ]


PLAIN = {"tools": (SEARCH,), "usable": ONLY}
WITHOUT = {"tools": (SEARCH,), "usable": (), "note": "Answer now."}
MORE = {"tools": (SEARCH, READ), "usable": BOTH, "note": "More tools are offered."}
LESS = {"tools": (SEARCH, READ), "usable": ("vault.read",)}


async def test_the_tools_stay_and_messages_say_what_has_changed(connect, ask, read, end):
    line = await connect([LOOKS, LOOKS, ANSWER, ANSWER, ANSWER])
    await converse(line, ask, read, end, PLAIN, MORE, LESS, {**LESS, "usable": ()}, {**LESS, "usable": BOTH})
    assert [request.complaint for request in line.provider.requests] == [None] * 5
    last = line.provider.bodies[-1]
    assert [(tool["name"], tool.get("defer_loading", False)) for tool in last["tools"]] == [
        ("search", False),
        ("vault__read", True),
    ]
    assert tool_blocks(last) == [
        (3, "tool_addition", "vault__read"),
        (6, "tool_removal", "search"),
        (9, "tool_removal", "vault__read"),
        (12, "tool_addition", "search"),
        (12, "tool_addition", "vault__read"),
    ]
    assert not any("tool_choice" in body for body in line.provider.bodies)
    sent = [request.headers.get("anthropic-beta") for request in line.provider.requests]
    assert sent == [None, *[TOOL_CHANGES_BETA] * 4]


async def test_neither_a_turn_without_tools_nor_a_later_tool_costs_the_cache(connect, ask, read, end):
    line = await connect([LOOKS, ANSWER, LOOKS, ANSWER], cache=PromptCache(lambda: 0.0))
    await converse(line, ask, read, end, PLAIN, WITHOUT, PLAIN, MORE)
    used = [request.cached for request in line.provider.requests]
    for before, after in itertools.pairwise(used):
        assert after.read_tokens == before.read_tokens + before.creation_tokens


@pytest.mark.parametrize(
    "refusal",
    [
        None,
        HttpError("invalid_request_error", "tool_addition/tool_removal is not supported on this model"),
        HttpError("invalid_request_error", "tools.1.custom.defer_loading: Extra inputs are not permitted"),
        HttpError("invalid_request_error", "invalid beta flag"),
    ],
    ids=["header", "model", "field", "flag"],
)
async def test_where_it_is_refused_requests_are_as_before_and_it_is_not_tried_again(connect, ask, read, end, refusal):
    turns = [LOOKS, ANSWER, ANSWER]
    line = await connect(
        turns if refusal is None else [LOOKS, refusal, *turns[1:]], betas=() if refusal is None else {TOOL_CHANGES_BETA}
    )
    await converse(line, ask, read, end, PLAIN, WITHOUT, PLAIN)
    sent = [request.headers.get("anthropic-beta") for request in line.provider.requests]
    assert sent == [None, TOOL_CHANGES_BETA, None, None]
    assert [body.get("tool_choice") for body in line.provider.bodies] == [None, None, {"type": "none"}, None]
    assert [tool_blocks(body) for body in line.provider.bodies[2:]] == [[], []]


@pytest.mark.parametrize("model", ["claude-sonnet-5", "claude-haiku-4-5", "llama-4"])
async def test_a_model_without_system_messages_gets_the_old_form(connect, ask, read, end, model):
    line = await connect([LOOKS, ANSWER])
    await converse(line, ask, read, end, PLAIN, WITHOUT, model=model)
    assert [request.complaint for request in line.provider.requests] == [None, None]
    assert line.provider.bodies[1]["tool_choice"] == {"type": "none"}


BODY = {
    "tools": [{"name": "search"}, {"name": "web_search", "cache_control": {"type": "ephemeral"}}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    "tool_choice": {"type": "none"},
}


@pytest.mark.parametrize(
    "offers",
    [
        (),
        ((0, 0, ONLY),),
        ((0, 0, ()), (1, 0, ONLY)),  # the first request had no tools
        ((0, 0, ONLY), (0, 0, ())),  # before the first message
        ((0, 0, ONLY), (2, 0, ())),  # behind the last one
        ((0, 0, ("other",)), (1, 0, ())),  # of tools that the request does not have
    ],
)
def test_a_request_stays_as_it_was_where_nothing_changes_or_it_does_not_fit(offers):
    body = {name: [dict(each) for each in value] if isinstance(value, list) else value for name, value in BODY.items()}
    assert not change_tools(body, offers)
    assert body == BODY


def test_a_deferred_tool_leaves_its_cache_mark_to_one_that_is_there():
    body = {name: [dict(each) for each in value] if isinstance(value, list) else value for name, value in BODY.items()}
    assert change_tools(body, ((0, 0, ONLY), (1, 0, ("search", "web_search"))))
    assert body["tools"] == [
        {"name": "search", "cache_control": {"type": "ephemeral"}},
        {"name": "web_search", "defer_loading": True},
    ]
    assert tool_blocks(body) == [(1, "tool_addition", "web_search")]


async def test_the_providers_own_search_can_be_offered_later(connect, ask, read, end):
    line = await connect([LOOKS, ANSWER])
    later = {"tools": (SEARCH, WEB), "usable": ("search", "web_search")}
    first = ask(system=LONG, tools=(SEARCH,), offers=((0, 0, ONLY),))
    content = end(await read(line.model, first)).content
    result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "Found."}
    said = (*first.messages, {"role": "assistant", "content": content}, {"role": "user", "content": [result]})
    request = replace(
        first, messages=said, tools=later["tools"], web_search=True, offers=((0, 0, ONLY), (3, 0, later["usable"]))
    )
    await read(line.model, request)
    assert line.provider.requests[-1].complaint is None
    assert line.provider.bodies[-1]["tools"][1]["defer_loading"] is True
