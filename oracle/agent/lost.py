"""What a process that died has left of a query's work: turns and tool calls that have begun, and have no outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oracle.agent.requests import RequestRecord
from oracle.core.chunks import Source, ToolCall, ToolReturned
from oracle.decision import canonical_arguments


@dataclass(frozen=True, slots=True)
class LostTurn:
    """A turn without an outcome.

    Args:
        request: the last that was sent for it.
        times: how many requests were sent for it.
        text: what the user has seen of it.
        characters: of text, thinking and tool calls that have come.
        duration_ms: from the request to the last of that.
        has_paragraph: the line breaks before its text were sent.
        first_text_ms: from the request to the first text; `None` if there was none.
    """

    request: RequestRecord
    times: int = 1
    text: str = ""
    characters: int = 0
    duration_ms: int = 0
    has_paragraph: bool = False
    first_text_ms: int | None = None

    @property
    def has_text(self) -> bool:
        """Whether there is something that the model can go on with."""
        return bool(self.text.strip())


@dataclass(slots=True)
class LostWork:
    """The work of a query that was under way.

    Args:
        turns: by the keys of the outcomes that they will have.
        results: what the user was shown of tool calls without an outcome, by the ids of the calls.
        sources: what those results have cited, likewise.
        intents: writing calls that were about to begin, and when, as ISO 8601.
        own_calls: the calls of the tree itself without an outcome, in order.
    """

    turns: dict[str, LostTurn] = field(default_factory=dict)
    results: Mapping[str, ToolReturned] = field(default_factory=dict)
    sources: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    intents: Mapping[str, str] = field(default_factory=dict)
    own_calls: list[ToolCall] = field(default_factory=list)

    def claim(self, name: str, arguments: Mapping[str, object]) -> ToolCall | None:
        """The first call of the tree itself that was the same; it is claimed once."""
        wanted = (name, canonical_arguments(arguments))
        for call in self.own_calls:
            if (call.name, canonical_arguments(call.arguments)) == wanted:
                self.own_calls.remove(call)
                return call
        return None
