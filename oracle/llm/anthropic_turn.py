"""One turn at the provider: the bytes of its response, and what of them is kept.

The provider's response as server-sent events, with bounded size and without blocking other runs.

Rules:

- Responses must not be compressed: compression is not requested, and refused, because 300 KB can unpack to 300 MB in
  the event loop's thread.
- Reading takes linear time (the SDK's decoder joins lines one by one, which is quadratic for many comments) and yields
  to other runs between pieces, also when all data has already arrived.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from oracle.core.errors import UpstreamError
from oracle.core.server_sent_events import EventReader
from oracle.llm.anthropic_events import PAUSED, MessageReader
from oracle.llm.anthropic_faults import Attempts
from oracle.llm.blocks import can_go_on, without_loose_end
from oracle.llm.protocol import ModelEvent, StopReason, TurnEnded, Usage, UsageReported

IDENTITY: Final = {"accept-encoding": "identity"}
"""Sent with every request."""
MOST_BYTES: Final = 64_000_000
"""The limit for one message, including everything around it; the longest answers of current models have about 10 MB."""

_PIECE_BYTES: Final = 16_384
_LONGEST_S: Final = 0.005  # without yielding to the event loop


async def refuse_encoded(response: httpx2.Response) -> None:
    """Refuse a compressed response; a hook of the HTTP client, called before the body is read.

    Raises:
        UpstreamError: the body is compressed.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise UpstreamError(f"an answer in the encoding {encoding[:40]!r}, which was not asked for")


async def events_of(body: AsyncIterator[bytes], *, most_bytes: int = MOST_BYTES) -> AsyncGenerator[str, None]:
    """The data of each event of a response body, as it arrives.

    Raises:
        ValueError: the body is larger than `most_bytes`, or not UTF-8.
    """
    reader, read = EventReader(), 0
    clock = asyncio.get_running_loop().time
    began_s = clock()
    async for data in body:
        read += len(data)
        if read > most_bytes:
            raise ValueError(f"more than {most_bytes:,} bytes for one message")
        for at in range(0, len(data), _PIECE_BYTES):
            for event in reader.feed(data[at : at + _PIECE_BYTES]):
                yield event
            if clock() - began_s > _LONGEST_S:
                await asyncio.sleep(0)
                began_s = clock()


@dataclass(slots=True)
class ProviderTurn:
    """The message being read, and the paused messages before it.

    Args:
        model: the requested model.
        attempts: the attempts at its requests.
        content: the blocks of the paused messages, to be sent back.
        resumed: the number of those blocks that were already sent back.
        spent: the usage of the paused messages.
        goes_without_thinking: the provider has rejected thinking of earlier turns.
        request_ids: the provider's ids of the requests that it has answered.
    """

    model: str
    attempts: Attempts
    reader: MessageReader = field(init=False)
    content: tuple[Mapping[str, Any], ...] = ()
    resumed: int = 0
    spent: Usage = field(default_factory=Usage)
    goes_without_thinking: bool = False
    request_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.reader = MessageReader(model=self.model)

    def note_request(self, request_id: str | None) -> None:
        """Record the provider's id of a request."""
        if request_id is not None:
            self.request_ids = (*self.request_ids, request_id)

    def counted(self, event: ModelEvent) -> ModelEvent:
        """The event, with usage added up over the turn."""
        if isinstance(event, UsageReported) and self.content:
            return UsageReported(_sum(self.spent, event.usage))
        return event

    def close_message(self) -> None:
        """Add the message's blocks and usage to the turn."""
        self.resumed = len(self.content)
        is_paused = self.reader.stop_reason == PAUSED
        self.content = without_loose_end((*self.content, *self.reader.content), goes_on=is_paused)
        self.spent = _sum(self.spent, self.reader.usage)

    @property
    def goes_on(self) -> bool:
        """Whether the provider has paused the turn and can continue it."""
        return self.reader.stop_reason == PAUSED and can_go_on(self.content)

    def ended(self) -> TurnEnded:
        """The turn's last event. A pause that cannot be continued counts as a truncated turn."""
        reader = self.reader
        reason: StopReason = "max_tokens" if reader.stop_reason == PAUSED else reader.ended_as()
        return TurnEnded(reason, self.spent, self.content, reader.model, reader.stop_detail, self.request_ids)


def _sum(first: Usage, second: Usage) -> Usage:
    return Usage(
        input_tokens=_add(first.input_tokens, second.input_tokens),
        cache_creation_tokens=first.cache_creation_tokens + second.cache_creation_tokens,
        cache_read_tokens=first.cache_read_tokens + second.cache_read_tokens,
        output_tokens=_add(first.output_tokens, second.output_tokens),
    )


def _add(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else first + second
