"""The tool calls of a run whose texts were deleted, and their ids with them.

The calls get numbers in their place, so that a result finds its call: in the order in which the model asked, by the
name of the tool.
"""

from collections import deque
from dataclasses import replace
from typing import TypeVar

from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.models.protocol import ToolUse

T = TypeVar("T")


class NumberedCalls:
    """Takes the outcomes of one run, in their order."""

    def __init__(self) -> None:
        self._asked = 0
        self._waiting: deque[ToolUse] = deque()

    def with_ids(self, value: T) -> T:
        """The value of an outcome, with ids for its calls."""
        if isinstance(value, TurnOutcome):
            self._waiting = deque(map(self._numbered, value.calls))
            return replace(value, calls=tuple(self._waiting))
        if isinstance(value, ToolsOutcome):
            return replace(value, results=tuple(replace(each, call=self._call_of(each.call)) for each in value.results))
        return value

    def _numbered(self, call: ToolUse) -> ToolUse:
        self._asked += 1
        return replace(call, id=f"call-{self._asked}")

    def _call_of(self, call: ToolUse) -> ToolUse:
        """The first call of that tool that waits for its result."""
        found = next((each for each in self._waiting if each.name == call.name), None)
        if found is None:
            return call
        self._waiting.remove(found)
        return found
