"""Selects the tools that a query is offered (decision 23, 020 FR-016)."""

from collections.abc import Callable, Iterable

from bt_runtime.text import near
from oracle.tools.protocol import Tool
from oracle.tools.registry import ToolRegistry
from oracle.tools.suggest import did_you_mean

_OFFERED: dict[str, Callable[[Tool], bool]] = {
    "code": lambda tool: tool.group == "code" and not tool.writes,
    "documentation": lambda tool: tool.group in {"vault", "thread"} and not tool.writes,
    "research": lambda tool: tool.group == "web" and not tool.writes,
    "conversational": lambda _: False,
    "action": lambda tool: tool.group in {"vault", "thread"} or tool.writes,
}


def tools_for(query_types: Iterable[str], registry: ToolRegistry) -> tuple[str, ...]:
    """The names of the tools for a query of these types (below a confidence of 0.6 two), in the registry's order.

    Raises:
        ValueError: an unknown type.
    """
    wanted = tuple(query_types)
    for query_type in wanted:
        if query_type not in _OFFERED:
            hint = did_you_mean(near(query_type, _OFFERED))
            raise ValueError(f"there is no query type {query_type!r}.{hint} Types: {', '.join(_OFFERED)}")
    return tuple(tool.name for tool in registry.tools if any(_OFFERED[query_type](tool) for query_type in wanted))


def all_reading(registry: ToolRegistry) -> tuple[str, ...]:
    """The names of all tools that do not write; offered after empty results, `stuck` or `need_capability`."""
    return tuple(tool.name for tool in registry.tools if not tool.writes)
