"""One turn of Claude's, which may take several messages: the provider pauses it, and goes on when it gets them back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from oracle.models.anthropic_events import PAUSED, MessageReader
from oracle.models.anthropic_retry import Attempts
from oracle.models.blocks import can_go_on, without_loose_end
from oracle.models.protocol import ModelEvent, StopReason, TurnEnded, Usage, UsageReported


@dataclass(slots=True)
class Turn:
    """The message that is being read, and what the paused ones before it brought.

    Args:
        model: the name that is asked for.
        attempts: at the turn's requests.
        content: the blocks of the paused messages, as they go back.
        resumed: how many of those blocks have gone back already.
        spent: what those cost.
        goes_without_thinking: the provider takes thinking of earlier turns back no more.
        request_ids: the provider's names for the requests that it has answered.
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
        """The provider has named a request that it answers."""
        if request_id is not None:
            self.request_ids = (*self.request_ids, request_id)

    def counted(self, event: ModelEvent) -> ModelEvent:
        """The event as it counts for the whole turn."""
        if isinstance(event, UsageReported) and self.content:
            return UsageReported(_sum(self.spent, event.usage))
        return event

    def close_message(self) -> None:
        """Take over what the message brought, as it can go back."""
        self.resumed = len(self.content)
        is_paused = self.reader.stop_reason == PAUSED
        self.content = without_loose_end((*self.content, *self.reader.content), goes_on=is_paused)
        self.spent = _sum(self.spent, self.reader.usage)

    @property
    def goes_on(self) -> bool:
        """The provider has paused the turn, and can go on with what it gets back."""
        return self.reader.stop_reason == PAUSED and can_go_on(self.content)

    def ended(self) -> TurnEnded:
        """The turn's last event. A pause that cannot be gone on with is a turn that was cut off."""
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
