"""A strict reader of the service's event streams: what the contract does not allow fails here."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

_EVENT = re.compile(rb"id: ([1-9][0-9]*)\ndata: (\{[^\r\n]*\})")


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its id, its JSON object, and its bytes without the blank line that ends it."""

    id: int
    data: dict[str, Any]
    raw: bytes


class MalformedStreamError(AssertionError):
    """The stream is not as the contract says."""


async def read_events(pieces: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """The events of a body, as they come; comments (heartbeats) are passed over.

    Raises:
        MalformedStreamError: an event has other lines than `id:` and `data:`, or the body ends within one.
    """
    rest = b""
    async for piece in pieces:
        rest += piece
        *blocks, rest = rest.split(b"\n\n")
        for block in blocks:
            if not block.startswith(b":"):
                yield _event(block)
    if rest:
        raise MalformedStreamError(f"the stream ends within an event: {rest!r}")


def _event(block: bytes) -> Event:
    found = _EVENT.fullmatch(block)
    if found is None:
        raise MalformedStreamError(f"an event must be an id line and a data line, not {block!r}")
    return Event(int(found[1]), json.loads(found[2]), block)
