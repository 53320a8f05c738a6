"""What holds for the requests of every query: the provider takes them, and each begins with the one before."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from oracle.features.claude.facts import ThinkingSettings
from oracle.features.claude.request import request_body
from oracle.llm.protocol import ModelRequest
from tests.support.provider.rules import BINDING_BETA, complaint

Body = Mapping[str, Any]


def as_body(request: ModelRequest) -> Body:
    """The request as the provider would get it."""
    return request_body(request, model="claude-sonnet-5-5", max_tokens=request.max_tokens, thinking=ThinkingSettings())


def check_requests(bodies: Sequence[Body]) -> None:
    """The requests of one query, oldest first: each is accepted, and appends to the last one that was not beside it.

    A turn beside the answer and a turn without tools (`tool_choice`) may end with a note that no later request has.
    Tools are added once at most. What another model gets begins with no earlier request.
    """
    main: list[Body] = []
    for body in bodies:
        assert complaint(body, betas=BINDING_BETA) is None
        if main and body["model"] == main[0]["model"]:
            assert any(begins_with(body, each) for each in main), "a request does not begin with the one before"
        if "tool_choice" not in body:
            main = [body]
        elif main:
            main.append(body)
    tool_lists = [[tool["name"] for tool in body.get("tools", ())] for body in bodies]
    assert sum(one != other for one, other in pairwise(tool_lists)) <= 1


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


def _blocks(body: Body) -> Iterator[tuple[str, Any]]:
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            yield message["role"], unmarked(block)


def _is_prefix(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return list(other[: len(one)]) == list(one)
