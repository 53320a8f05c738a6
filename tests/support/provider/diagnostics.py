"""The provider's cache diagnostics (platform.claude.com, "Cache diagnostics").

A request that has `diagnostics` is kept under the id of its response. The next one names it, and is compared with it:
model, system prompt, tools, then messages, which may only be appended to; of other parameters that differ the provider
says `unavailable`. The comparison is of requests, whatever the cache did. Nothing is said where they agree, and where
no earlier message is named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.provider.cache import estimated_tokens
from tests.support.provider.request import Body, Request, request_blocks, unmarked

_COMPARED = ("system", "tools")
_OTHERS = ("thinking", "output_config", "tool_choice")


@dataclass(slots=True)
class Diagnostics:
    """The requests of all clients that may be compared, by the ids of their responses."""

    _requests: dict[str, Body] = field(default_factory=dict)

    def compare(self, body: Body, *, message_id: str) -> dict[str, Any] | None:
        """Keep a request, and return the `diagnostics` of its response."""
        asked = body.get("diagnostics")
        if asked is None:
            return None
        self._requests[message_id] = body
        previous = asked.get("previous_message_id")
        if previous is None:
            return None
        before = self._requests.get(previous)
        if before is None:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        reason = _difference(before, body)
        if reason is None or reason == "unavailable":
            return None if reason is None else {"cache_miss_reason": {"type": reason}}
        missed = sum(estimated_tokens(block) for _, block in request_blocks(before))
        return {"cache_miss_reason": {"type": reason, "cache_missed_input_tokens": missed}}


def _difference(before: Body, body: Body) -> str | None:
    if [before.get("model"), before.get("speed")] != [body.get("model"), body.get("speed")]:
        return "model_changed"
    for name in _COMPARED:
        if _prefix(before, name) != _prefix(body, name):
            return f"{name}_changed"
    known = before["messages"]
    if unmarked(known) != unmarked(body["messages"][: len(known)]):
        return "messages_changed"
    return "unavailable" if any(before.get(name) != body.get(name) for name in _OTHERS) else None


def _prefix(body: Body, name: str) -> object:
    """What of a level is a part of the cached prefix."""
    value = body.get(name)
    return unmarked([tool for tool in value if not tool.get("defer_loading")] if name == "tools" and value else value)


def diagnostics_form(request: Request) -> Iterator[str]:
    """The form of `diagnostics`: an object with the id of an earlier message, or null."""
    asked = request.body.get("diagnostics")
    if asked is None:
        return
    if not request.has_diagnostics:
        yield "diagnostics: Extra inputs are not permitted"
    elif not isinstance(asked, Mapping):
        yield "diagnostics: Input should be a valid dictionary"
    else:
        for name in asked:
            if name != "previous_message_id":
                yield f"diagnostics.{name}: Extra inputs are not permitted"
        if not isinstance(asked.get("previous_message_id"), str | None):
            yield "diagnostics.previous_message_id: Input should be a valid string"
