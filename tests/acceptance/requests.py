"""What holds for the requests of every query: the provider takes them, and each begins with the one before."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from oracle.features.claude.facts import ThinkingSettings
from oracle.features.claude.request import request_body
from oracle.features.claude.tool_changes import TOOL_CHANGES_BETA, change_tools
from oracle.llm.protocol import ModelRequest
from tests.support.provider.request import deferred_tools
from tests.support.provider.rules import BINDING_BETA, complaint

Body = Mapping[str, Any]


def as_body(request: ModelRequest) -> Body:
    """The request as the provider would get it."""
    body = request_body(request, model="claude-sonnet-5-5", max_tokens=request.max_tokens, thinking=ThinkingSettings())
    change_tools(body, request.offers)
    return body


def check_requests(bodies: Sequence[Body]) -> None:
    """The requests of one query, oldest first: each is accepted, and appends to the last one that was not beside it.

    A turn beside the answer and a turn without tools may end with a note that no later request has. Tools are added
    once at most. What another model gets begins with no earlier request, and neither does the first request with a
    summary in the place of earlier messages.
    """
    main: list[Body] = []
    for body in bodies:
        assert complaint(body, betas=f"{BINDING_BETA},{TOOL_CHANGES_BETA}") is None
        if main and _summary(body) != _summary(main[0]):
            assert len(main) == 1, "a summary was put into a transcript that had turns of the answer"
            main = []
        if main and body["model"] == main[0]["model"]:
            assert any(begins_with(body, each) for each in main), "a request does not begin with the one before"
        if can_call(body):
            main = [body]
        elif main:
            main.append(body)
    tool_lists = [[tool["name"] for tool in body.get("tools", ())] for body in bodies]
    assert sum(one != other for one, other in pairwise(tool_lists)) <= 1


def can_call(body: Body) -> bool:
    """Whether the model may call a tool, or has none anyway: by `tool_choice`, or by what the messages say of tools."""
    there = {tool["name"] for tool in body.get("tools", ())} - deferred_tools(body).keys()
    had_some = bool(there)
    for _, block in _blocks(body):
        if block["type"] == "tool_addition":
            there.add(block["tool"]["name"])
        elif block["type"] == "tool_removal":
            there.discard(block["tool"]["name"])
    return "tool_choice" not in body and (bool(there) or not had_some)


def begins_with(body: Body, earlier: Body) -> bool:
    """Whether system prompt, tools and messages of a request are a prefix of those of another, cache marks apart."""
    return (
        unmarked(body.get("system")) == unmarked(earlier.get("system"))
        and _is_prefix(unmarked(earlier.get("tools", [])), unmarked(body.get("tools", [])))
        and _is_prefix(list(_blocks(earlier)), list(_blocks(body)))
    )


def unmarked(value: Any) -> Any:
    """The JSON value without its cache marks."""
    if isinstance(value, Mapping):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list | tuple) else value


def _summary(body: Body) -> str:
    """The summary that a request begins with; empty if it has none."""
    _, first = next(_blocks(body))
    return str(first["text"]) if str(first.get("text")).startswith("[A summary of ") else ""


def _blocks(body: Body) -> Iterator[tuple[str, Any]]:
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            yield message["role"], unmarked(block)


def _is_prefix(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return list(other[: len(one)]) == list(one)
