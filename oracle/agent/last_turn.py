"""The latest turn of a query, and the remains of one whose process died."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from bt_runtime.text.data import dataclass
from oracle.agent.journal import RequestRecord
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.core.chunks import Source, ToolCall, ToolReturned
from oracle.decision import canonical_arguments
from oracle.llm.protocol import ModelFault, ToolUse


@dataclass(slots=True)
class LastTurn:
    """The progress of the latest turn; empty before the first one.

    Args:
        outcome: how the turn ended; of the latest turn of the answer.
        tools: the outcome of its tool calls; `None` while none has ended.
        open_calls: its tool calls that have no result yet.
        fault: what went wrong at the provider, also in a turn that is not part of the answer.
        model: the model that answered last; empty if none has.
        asked_model: the model that the latest turn of the answer has named; `None`: the query's.
    """

    outcome: TurnOutcome | None = None
    tools: ToolsOutcome | None = None
    open_calls: tuple[ToolUse, ...] = ()
    fault: ModelFault | None = None
    model: str = ""
    asked_model: str | None = None
    _as_data: tuple[Mapping[str, Any], ...] = ()
    _data_of: tuple[ToolUse, ...] = ()

    @property
    def is_last_paid(self) -> bool:
        """Whether the token budget does not pay for another turn."""
        return self.outcome is not None and self.outcome.is_last_paid

    @property
    def cut_off(self) -> TurnOutcome | None:
        """The last turn, if its provider failed in the middle of what the user has seen of it.

        A turn that the model or the provider refused is not continued.
        """
        last, fault = self.outcome, self.fault
        if last is None or fault is None or fault.kind == "refused" or not last.has_text:
            return None
        return last if last.fault or (last.interrupted and fault.kind == "timeout") else None

    def calls_as_data(self) -> tuple[Mapping[str, Any], ...]:
        """The calls without a result as JSON data: the same object as long as they are the same."""
        if self._data_of is not self.open_calls:
            self._data_of = self.open_calls
            self._as_data = tuple({"tool": call.name, "arguments": dict(call.arguments)} for call in self.open_calls)
        return self._as_data

    def end(self, outcome: TurnOutcome, *, model: str | None = None) -> None:
        """A turn of the answer has ended; calls of one that failed or was interrupted need no result."""
        self.outcome, self.asked_model = outcome, model
        if not outcome.is_broken:
            self.open_calls, self.model = outcome.calls, outcome.model

    def answer(self, outcome: ToolsOutcome) -> ToolsOutcome:
        """Take the results of tool calls; returns those that are not the second of their call."""
        waiting = {call.id for call in self.open_calls}
        self.tools = ToolsOutcome(tuple(each for each in outcome.results if each.call.id in waiting))
        answered = {each.call.id for each in self.tools.results}
        self.open_calls = tuple(call for call in self.open_calls if call.id not in answered)
        return self.tools


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
        """Whether there is something that the model can continue."""
        return bool(self.text.strip())


@dataclass(slots=True)
class LostWork:
    """The unfinished work of a query whose process died.

    Args:
        turns: by the keys of the outcomes that they will have.
        results: what the user was shown of tool calls without an outcome, by the ids of the calls.
        sources: what those results have cited, by the ids of the calls.
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
