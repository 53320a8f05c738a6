"""The tools of a shadow: they change nothing.

Rules:

- A call that the primary has made, of the same tool with the same arguments, is answered from its recorded result, and
  the n-th such call from the n-th result; the last one is given again.
- Any other call of a tool that only reads is run.
- Any other call of a tool that writes is noted, and answered with a neutral text.
- The provider's own tools, such as its web search, only read, and are run by the provider.
- A call that is run is held until it may begin.
"""

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from oracle.decision import canonical_arguments
from oracle.features.shadow.gate import Hold
from oracle.runs.record.record import Record
from oracle.tools import Tool, ToolRegistry, ToolResult

ACCEPTED: Final = ToolResult("The call was accepted.")
"""The answer to a call that would have changed something."""

Call = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]


@dataclass(slots=True)
class Ledger:
    """What became of the calls of a shadow.

    Args:
        answered: the number of calls that were answered from the primary's results.
        ran: calls of tools that only read.
        would_call: names of the writing tools, one for each call that was not made.
    """

    answered: int = 0
    ran: int = 0
    would_call: list[str] = field(default_factory=list)


class _Recorded:
    """The results of the primary's calls, by tool and arguments, in order."""

    def __init__(self, primary: Record) -> None:
        self._results: dict[tuple[str, str], deque[ToolResult]] = defaultdict(deque)
        for called, result in primary.tool_results():
            key = called.call.name, canonical_arguments(called.call.arguments)
            self._results[key].append(result)

    def take(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult | None:
        """The result of such a call; `None` if the primary has made none."""
        left = self._results.get((tool, canonical_arguments(arguments)))
        if not left:
            return None
        return left.popleft() if len(left) > 1 else left[0]


def shadow_tools(tools: ToolRegistry, primary: Record, ledger: Ledger, hold: Hold) -> ToolRegistry:
    """The same tools for the shadow of a run.

    Args:
        tools: those that the user has.
        primary: the record of the primary.
        ledger: takes each call.
        hold: before each call that is run.
    """
    recorded = _Recorded(primary)
    return tools.remade([replace(tool, call=_shadowed(tool, recorded, ledger, hold)) for tool in tools.tools])


def _shadowed(tool: Tool, recorded: _Recorded, ledger: Ledger, hold: Hold) -> Call:
    async def call(arguments: Mapping[str, Any]) -> ToolResult:
        known = recorded.take(tool.name, arguments)
        if known is not None:
            ledger.answered += 1
            return known
        if tool.writes:
            ledger.would_call.append(tool.name)
            return ACCEPTED
        await hold()
        ledger.ran += 1
        return await tool.call(arguments)

    return call
