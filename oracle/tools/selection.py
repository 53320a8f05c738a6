"""Selects the tools that a query is offered (decision 23, 020 FR-016)."""

from collections.abc import Iterable

from oracle.tools.query_types import is_offered, is_query_type, unknown_type
from oracle.tools.registry import ToolRegistry


def tools_for(query_types: Iterable[str], registry: ToolRegistry) -> tuple[str, ...]:
    """The names of the tools for a query of these types (below a confidence of 0.6 two), in the registry's order.

    Raises:
        ValueError: an unknown type.
    """
    wanted = tuple(query_types)
    for query_type in wanted:
        if not is_query_type(query_type):
            raise ValueError(unknown_type(query_type))
    return tuple(tool.name for tool in registry.tools if any(is_offered(tool, query_type) for query_type in wanted))


def all_reading(registry: ToolRegistry) -> tuple[str, ...]:
    """The names of all tools that do not write; offered after empty results, `stuck` or `need_capability`."""
    return tuple(tool.name for tool in registry.tools if not tool.writes)
