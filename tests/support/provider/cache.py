"""The provider's prompt cache, with its documented invalidation rules (platform.claude.com, "Prompt caching").

- A prefix is cached at a mark: tools, then system prompt, then messages. The text must match exactly.
- A change of a level invalidates that level and those after it. Tool definitions and the model invalidate everything;
  the switches for web search and citations and the speed invalidate system prompt and messages; `tool_choice`, images,
  and the parameters of thinking (including effort) invalidate the messages.
- A deferred tool is no part of the prefix; it stands where a message first adds it.
- From each mark the provider looks back over at most 20 blocks, the marked one included, for a cached prefix.
- A prefix below the model's minimum is silently not cached.
- An entry lives 5 minutes or an hour from its last use. It can be read once the response to its request has begun.
- On older models the thinking of earlier turns leaves the context with the next user message, which invalidates the
  cache after it.
- Entries belong to a workspace: here, to an API key.

Tokens are `ceil(characters / 4)` of a block's JSON; the provider's own count differs.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bt_runtime.text import estimate_tokens
from oracle.llm.blocks import THINKING
from tests.support.provider.models import documented
from tests.support.provider.request import (
    Body,
    blocks_of,
    deferred_tools,
    last_cacheable,
    message_blocks,
    request_blocks,
    unmarked,
)

LOOK_BACK_BLOCKS = 20
TTL_SECONDS = {"5m": 300.0, "1h": 3600.0}

Level = Literal["tools", "system", "messages"]
_LEVELS: tuple[Level, ...] = ("tools", "system", "messages")
_SERVER_TOOLS = ("web_search_", "web_fetch_", "code_execution_")


@dataclass(frozen=True, slots=True)
class CacheUse:
    """The input of a request by cache use, in tokens, as in the provider's `usage`."""

    input_tokens: int
    creation_tokens: int
    read_tokens: int
    creation_1h_tokens: int = 0

    @property
    def whole(self) -> int:
        """The whole input."""
        return self.input_tokens + self.creation_tokens + self.read_tokens


@dataclass(slots=True)
class _Entry:
    expires_s: float
    ttl_s: float


@dataclass(frozen=True, slots=True)
class _Position:
    """A block of a request: the digest and the tokens of the prefix that ends with it, and its mark."""

    prefix: str
    tokens: int
    ttl: str | None


@dataclass(frozen=True, slots=True)
class Lookup:
    """The cache use of a request; `commit` adds its marked prefixes to the cache."""

    use: CacheUse
    _commit: Callable[[], None]

    def commit(self) -> None:
        """Add the marked prefixes to the cache, at the start of the response."""
        self._commit()


@dataclass(slots=True)
class PromptCache:
    """The cache of all workspaces.

    Args:
        now: monotonic seconds.
    """

    now: Callable[[], float]
    _entries: dict[str, _Entry] = field(default_factory=dict)

    def look_up(self, body: Body, *, workspace: str) -> Lookup:
        """Look up a request; extends the lifetime of the entries that it uses."""
        positions = list(_positions(body, workspace))
        marks = [index for index, position in enumerate(positions) if position.ttl is not None]
        hit = max((self._find(positions, mark) for mark in marks), default=-1)
        least = documented(body.get("model")).least_cached_tokens
        written = [index for index in marks if index > hit and positions[index].tokens >= least]
        whole = positions[-1].tokens if positions else 0
        read = positions[hit].tokens if hit >= 0 else 0
        created = positions[written[-1]].tokens - read if written else 0
        hour = [index for index in written if positions[index].ttl == "1h"]
        use = CacheUse(whole - read - created, created, read, positions[hour[-1]].tokens - read if hour else 0)
        return Lookup(use, lambda: self._write([positions[index] for index in written]))

    def _find(self, positions: Sequence[_Position], mark: int) -> int:
        """The index of the longest cached prefix that a mark can reach; -1 if there is none."""
        for index in range(mark, max(-1, mark - LOOK_BACK_BLOCKS), -1):
            entry = self._entries.get(positions[index].prefix)
            if entry is not None and entry.expires_s > self.now():
                entry.expires_s = self.now() + entry.ttl_s
                return index
        return -1

    def _write(self, positions: Sequence[_Position]) -> None:
        for position in positions:
            ttl_s = TTL_SECONDS[position.ttl or "5m"]
            self._entries[position.prefix] = _Entry(self.now() + ttl_s, ttl_s)


def estimated_tokens(value: object) -> int:
    """The tokens of a block or a text: a quarter of its characters."""
    text = value if isinstance(value, str) else json.dumps(unmarked(value), ensure_ascii=False)
    return estimate_tokens(len(text))


def _positions(body: Body, workspace: str) -> Iterator[_Position]:
    automatic = body.get("cache_control")
    last = last_cacheable(body) if automatic is not None else None
    prefix, tokens = _chained("", [workspace, body.get("model")]), 0
    level: Level | None = None
    later = deferred_tools(body)
    for at, place, block in _leveled(body):
        if place.startswith("tools.") and block.get("name") in later:
            continue
        added = later.pop(block["tool"]["name"], None) if block.get("type") == "tool_addition" else None
        if at != level:
            prefix, level = _chained(prefix, _switches(body, at)), at
        prefix = _chained(prefix, [unmarked(block), unmarked(added)])
        tokens += estimated_tokens(block) + (0 if added is None else estimated_tokens(added))
        control = block.get("cache_control") or (automatic if place == last else None)
        yield _Position(prefix, tokens, None if control is None else str(control.get("ttl", "5m")))


def _leveled(body: Body) -> Iterator[tuple[Level, str, Body]]:
    """The blocks in the model's context, by level; the provider's own tools belong to the system level."""
    forgotten = _forgotten_thinking(body)
    blocks = list(request_blocks(body))
    for level in _LEVELS:
        for place, block in blocks:
            if _level(place, block) == level and place not in forgotten:
                yield level, place, block


def _level(place: str, block: Body) -> Level:
    if place.startswith("messages."):
        return "messages"
    is_switch = str(block.get("type", "")).startswith(_SERVER_TOOLS)
    return "tools" if place.startswith("tools.") and not is_switch else "system"


def _forgotten_thinking(body: Body) -> set[str]:
    """The places of thinking that leaves the context of older models with the next user message."""
    messages = body.get("messages") or ()
    if documented(body.get("model")).keeps_thinking:
        return set()
    last = max((index for index, message in enumerate(messages) if _is_user_message(message)), default=0)
    return {place for place, block in message_blocks(messages[:last]) if block.get("type") in THINKING}


def _is_user_message(message: Body) -> bool:
    """Whether the message contains more than tool results."""
    return message.get("role") == "user" and any(block.get("type") != "tool_result" for block in blocks_of(message))


def _switches(body: Body, level: Level) -> object:
    """The parameters that invalidate a level in addition to its own blocks."""
    if level == "tools":
        return None
    blocks = [block for _, block in message_blocks(body.get("messages") or ())]
    if level == "system":
        return [
            "system",
            body.get("speed"),
            any((block.get("citations") or {}) for block in blocks if "source" in block),
        ]
    images = any(block.get("type") == "image" for block in blocks)
    thinking, config = body.get("thinking"), body.get("output_config")
    return ["messages", body.get("tool_choice") or {"type": "auto"}, thinking, config, images]


def _chained(prefix: str, value: object) -> str:
    return hashlib.sha256((prefix + json.dumps(value, ensure_ascii=False)).encode(errors="replace")).hexdigest()
