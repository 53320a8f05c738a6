"""The signatures of the stand-in provider's thinking blocks, and the checks when the blocks come back.

As documented in "Preserved thinking" and "Prefix checks on thinking blocks" (platform.claude.com): a block must come
back unmodified. From 5.1 on it is valid only after the same system prompt, tools and messages as when it was created,
and no block between two others may be missing. Cache marks and deferred tools are not part of the check.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence

from oracle.llm.blocks import THINKING, without_thinking_blocks
from oracle.llm.scripted import SIGNATURE
from tests.support.provider.request import Body, blocks_of, message_blocks, unmarked

_SIGNATURE = re.compile(r"standin-(?P<prefix>[0-9a-f]{16})-(?P<text>[0-9a-f]{8})-(?P<previous>[0-9a-f]{8}|first)")


class Signer:
    """Signs the thinking of the message that answers a request.

    Args:
        body: the request.
    """

    def __init__(self, body: Body) -> None:
        messages = body.get("messages")
        self._body = body
        self._messages: Sequence[Body] = messages if isinstance(messages, list) else ()
        made = [block for _, block in _thinking(self._messages)]
        self._previous = _digest(made[-1].get("signature"), 8) if made else "first"

    def sign(self, thinking: str) -> str:
        """The signature of the next thinking block of the message."""
        earlier = self._messages
        # The answer to a paused turn continues the same message, so the prefix is what precedes that message.
        if earlier and earlier[-1].get("role") == "assistant":
            earlier = earlier[:-1]
        signature = f"standin-{_prefix(self._body, earlier)}-{_digest(thinking, 8)}-{self._previous}"
        self._previous = _digest(signature, 8)
        return signature


def misread(messages: Sequence[Body]) -> Iterator[str]:
    """The places of thinking that was modified, or that the stand-in did not create."""
    for place, block in _thinking(messages):
        found = _SIGNATURE.fullmatch(str(block.get("signature")))
        if block.get("signature") == SIGNATURE:
            continue  # created by `ScriptedModel`, whose requests tests check with these rules
        if found is None or found["text"] != _digest(block.get("thinking"), 8):
            yield place


def misplaced(body: Body, messages: Sequence[Body]) -> Iterator[str]:
    """The places of thinking that does not follow the same content as when it was created."""
    previous: str | None = None
    for place, block in _thinking(messages):
        signature = str(block.get("signature"))
        found = _SIGNATURE.fullmatch(signature)
        if found is None:
            continue
        follows = previous is None or found["previous"] == previous
        if not follows or found["prefix"] != _prefix(body, messages[: int(place.split(".")[1])]):
            yield place
        previous = _digest(signature, 8)


def _thinking(messages: Sequence[Body]) -> Iterator[tuple[str, Body]]:
    return ((place, block) for place, block in message_blocks(messages) if block.get("type") in THINKING)


def _prefix(body: Body, messages: Sequence[Body]) -> str:
    """A digest of the system prompt, the tools and the messages without thinking, which has its own chain."""
    said = [{**message, "content": list(without_thinking_blocks(blocks_of(message)))} for message in messages]
    tools = [tool for tool in body.get("tools") or () if not tool.get("defer_loading")] or None
    return _digest([body.get("system"), tools, said], 16)


def _digest(value: object, characters: int) -> str:
    return hashlib.sha256(json.dumps(unmarked(value), sort_keys=True).encode()).hexdigest()[:characters]
