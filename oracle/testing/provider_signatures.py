"""The signatures that the stand-in provider puts under thinking, and how it checks them when they come back.

As documented in "Preserved thinking" and "Prefix checks on thinking blocks" (platform.claude.com): a block must come
back unmodified; from the models of 5.1 on it is only valid behind the system prompt, tools and messages that it was
made behind, and between others none may be left out. Cache marks are no part of that.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence

from oracle.models.scripted import SIGNATURE
from oracle.testing.provider_blocks import THINKING, Body, blocks_of, unmarked

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
        made = [block for _, _, block in _thinking(self._messages)]
        self._previous = _digest(made[-1].get("signature"), 8) if made else "first"

    def sign(self, thinking: str) -> str:
        """The signature of the next thinking block of the message."""
        earlier = self._messages
        # The answer to a paused turn goes on in the same message, so what stands before that message counts.
        if earlier and earlier[-1].get("role") == "assistant":
            earlier = earlier[:-1]
        signature = f"standin-{_prefix(self._body, earlier)}-{_digest(thinking, 8)}-{self._previous}"
        self._previous = _digest(signature, 8)
        return signature


def misread(messages: Sequence[Body]) -> Iterator[tuple[str, Body]]:
    """Thinking that was modified, or that the stand-in never made, with its place."""
    for index, position, block in _thinking(messages):
        found = _SIGNATURE.fullmatch(str(block.get("signature")))
        if block.get("signature") == SIGNATURE:
            continue  # of the scripted model, for tests that hold its requests against these rules
        if found is None or found["text"] != _digest(block.get("thinking"), 8):
            yield f"messages.{index}.content.{position}", block


def misplaced(body: Body, messages: Sequence[Body]) -> Iterator[str]:
    """The places of thinking that does not stand behind what it was made behind."""
    previous: str | None = None
    for index, position, block in _thinking(messages):
        signature = str(block.get("signature"))
        found = _SIGNATURE.fullmatch(signature)
        if found is None:
            continue
        follows = previous is None or found["previous"] == previous
        if not follows or found["prefix"] != _prefix(body, messages[:index]):
            yield f"messages.{index}.content.{position}"
        previous = _digest(signature, 8)


def _thinking(messages: Sequence[Body]) -> Iterator[tuple[int, int, Body]]:
    for index, message in enumerate(messages):
        for position, block in enumerate(blocks_of(message)):
            if block.get("type") in THINKING:
                yield index, position, block


def _prefix(body: Body, messages: Sequence[Body]) -> str:
    """Of system prompt, tools and what the messages say; thinking is checked by its own chain."""
    said = [{**message, "content": _unthought(message)} for message in messages]
    return _digest([body.get("system"), body.get("tools"), said], 16)


def _unthought(message: Body) -> list[Body]:
    return [block for block in blocks_of(message) if block.get("type") not in THINKING]


def _digest(value: object, characters: int) -> str:
    return hashlib.sha256(json.dumps(unmarked(value), sort_keys=True).encode()).hexdigest()[:characters]
