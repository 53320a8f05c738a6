"""The latest turn of a query: its outcome, its tool calls, and what went wrong at the provider."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.llm.protocol import ModelFault, ToolUse


@dataclass(slots=True)
class LastTurn:
    """How far the latest turn has come; empty before the first one.

    Args:
        outcome: how the turn ended; of the latest turn of the answer.
        tools: the outcome of its tool calls; `None` while none has ended.
        open_calls: its tool calls that have no result yet.
        fault: what went wrong at the provider, also in a turn that is not part of the answer.
        model: the model that answered last; empty if none has.
    """

    outcome: TurnOutcome | None = None
    tools: ToolsOutcome | None = None
    open_calls: tuple[ToolUse, ...] = ()
    fault: ModelFault | None = None
    model: str = ""
    _as_data: tuple[Mapping[str, Any], ...] = ()
    _data_of: tuple[ToolUse, ...] = ()

    @property
    def is_last_paid(self) -> bool:
        """Whether the token budget does not pay for another turn."""
        return self.outcome is not None and self.outcome.is_last_paid

    def calls_as_data(self) -> tuple[Mapping[str, Any], ...]:
        """The calls without a result as JSON data: the same object as long as they are the same."""
        if self._data_of is not self.open_calls:
            self._data_of = self.open_calls
            self._as_data = tuple({"tool": call.name, "arguments": dict(call.arguments)} for call in self.open_calls)
        return self._as_data

    def end(self, outcome: TurnOutcome) -> None:
        """A turn of the answer has ended; calls of one that failed or was interrupted are not owed a result."""
        self.outcome = outcome
        if not outcome.is_broken:
            self.open_calls, self.model = outcome.calls, outcome.model

    def answer(self, outcome: ToolsOutcome) -> ToolsOutcome:
        """Take the results of tool calls; returns those that are not the second of their call."""
        waiting = {call.id for call in self.open_calls}
        self.tools = ToolsOutcome(tuple(each for each in outcome.results if each.call.id in waiting))
        answered = {each.call.id for each in self.tools.results}
        self.open_calls = tuple(call for call in self.open_calls if call.id not in answered)
        return self.tools
