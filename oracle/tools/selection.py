"""Selects the tools that a query is offered: those of its type, and those that the question may need."""

from collections.abc import Collection, Iterable

from oracle.core.sources import SOURCES_OF
from oracle.tools.protocol import GROUPS
from oracle.tools.query_types import is_offered, unknown_type
from oracle.tools.registry import ToolRegistry

_INSTEAD = {"code": ("vault", "thread"), "vault": ("code",), "thread": ("vault", "code")}
"""Where an answer may be found if there is no tool of a group; if there is none of these either, on the web."""


def tools_for(
    query_types: Iterable[str],
    registry: ToolRegistry,
    *,
    sources: Collection[str] | None = None,
    question: str = "",
) -> tuple[str, ...]:
    """The names of the tools that a query is offered: in the registry's order, those that write last.

    So the requests of queries that are offered the same reading tools begin alike.

    Args:
        query_types: the type of the query; below a confidence of 0.6 the second type as well.
        registry: all tools. Where no tool belongs to a needed group, the groups that come closest stand in for it.
        sources: what the query may need: groups of reading tools, and `write`; `None`: what its types need.
        question: places the tools of other groups by their own words; empty: they are placed by their types alone.

    Raises:
        ValueError: an unknown type.
    """
    wanted = tuple(query_types)
    for query_type in wanted:
        if query_type not in SOURCES_OF:
            raise ValueError(unknown_type(query_type))
    needed = frozenset().union(*(SOURCES_OF[each] for each in wanted)) if sources is None else frozenset(sources)
    within = _within(needed, registry)
    offered = [tool for tool in registry.tools if is_offered(tool, wanted, within, question)]
    return tuple(tool.name for tool in sorted(offered, key=lambda tool: tool.writes))


def all_reading(registry: ToolRegistry) -> tuple[str, ...]:
    """The names of all tools that do not write; offered after empty results, `stuck` or `need_capability`."""
    return tuple(tool.name for tool in registry.tools if not tool.writes)


def _within(needed: frozenset[str], registry: ToolRegistry) -> frozenset[str]:
    """The sources needed, with others for those that no tool reads."""
    there = {tool.group for tool in registry.tools if not tool.writes}
    found = set(needed)
    for group in needed.intersection(GROUPS) - there:
        others = there.intersection(_INSTEAD.get(group, ()))
        found |= others or ({"web"} if group in _INSTEAD and not needed & there else set())
    return frozenset(found)
