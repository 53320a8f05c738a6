"""One turn at the provider: the message being read, and the kept parts of paused messages."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from bt_runtime.text.data import dataclass
from oracle.llm.attempts import Attempts
from oracle.llm.blocks import can_go_on, without_loose_end
from oracle.llm.message_events import PAUSED, MessageReader
from oracle.llm.protocol import ModelEvent, StopReason, TurnEnded, Usage, UsageReported


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
        goes_without_form: the provider has rejected the schema of this answer.
        request_ids: the provider's ids of the requests that it has answered.
        changes_tools: the last request had changes of tools in its messages.
        message_id: the provider's id of its last response; before one, that of the turn before.
    """

    model: str
    attempts: Attempts
    reader: MessageReader = field(init=False)
    content: tuple[Mapping[str, Any], ...] = ()
    resumed: int = 0
    spent: Usage = field(default_factory=Usage)
    goes_without_thinking: bool = False
    goes_without_form: bool = False
    request_ids: tuple[str, ...] = ()
    message_id: str = ""
    changes_tools: bool = False

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
        self.message_id = self.reader.message_id

    @property
    def goes_on(self) -> bool:
        """Whether the provider has paused the turn and can continue it."""
        return self.reader.stop_reason == PAUSED and can_go_on(self.content)

    def ended(self) -> TurnEnded:
        """The turn's last event. A pause that cannot be continued counts as a truncated turn."""
        reader = self.reader
        reason: StopReason = "max_tokens" if reader.stop_reason == PAUSED else reader.ended_as()
        ids = self.request_ids, self.message_id
        return TurnEnded(reason, self.spent, self.content, reader.model, reader.stop_detail, *ids)


def _sum(first: Usage, second: Usage) -> Usage:
    return Usage(
        input_tokens=_add(first.input_tokens, second.input_tokens),
        cache_creation_tokens=first.cache_creation_tokens + second.cache_creation_tokens,
        cache_read_tokens=first.cache_read_tokens + second.cache_read_tokens,
        output_tokens=_add(first.output_tokens, second.output_tokens),
        cache_miss=first.cache_miss or second.cache_miss,
    )


def _add(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else first + second
