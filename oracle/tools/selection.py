"""The tools for a query: which types of questions each serves, and which are offered.

The definition of a tool decides which queries are offered it, else its group:

1. A tool with `query_types` is offered to queries of these types.
2. Else a tool that writes is offered where something is to be written, and one of a group that types of queries need
   where that source is needed.
3. A reading tool of another group, or with `query_types`, is also offered to a question that shares a telling word
   with its name, its description, its `when_to_use` or its example questions.
"""

from collections.abc import Collection, Iterable

from bt_runtime.text import near
from oracle.core.errors import ToolDefinitionError
from oracle.core.search.query import STOP_WORDS, TermMatcher, fold, terms_of
from oracle.core.sources import WRITE, QueryTypes
from oracle.tools.protocol import ALWAYS, GROUPS, Tool
from oracle.tools.registry import ToolRegistry
from oracle.tools.suggest import did_you_mean

_TELLS_NOTHING = STOP_WORDS | frozenset(
    fold(
        """
        answer answers ask asked asks call call get gets give given gives information long many much new number query
        question questions read reads return returned returns sentence time tool tools user users value values want
        wants way write writes
        """
    ).split()
)
_SAME_WORD = 0.8
"""The least `Term.fit` of two forms of one word."""


def check_tools(registry: ToolRegistry) -> None:
    """Check that tools serve types of queries that the registry's domain has.

    Raises:
        ToolDefinitionError: one does not; the message has the nearest type.
    """
    for tool in registry.tools:
        try:
            check_types(() if tool.query_types == ALWAYS else tool.query_types or (), registry.types)
        except ValueError as error:
            raise ToolDefinitionError(f"the tool {tool.name!r}: {error}") from None


def is_offered(
    tool: Tool, query_types: Collection[str], sources: Collection[str], question: str, known: QueryTypes
) -> bool:
    """Whether a query of these types, which needs these sources, is offered the tool."""
    if tool.query_types is not None:
        serves = tool.query_types == ALWAYS or not set(tool.query_types).isdisjoint(query_types)
        return serves or _is_spoken_of(tool, question)
    if tool.writes:
        return WRITE in sources
    return tool.group in sources if tool.group in known.sources else _is_spoken_of(tool, question)


def placing_words(tool: Tool) -> str:
    """The words that place a tool that no built-in group places; empty for the others."""
    if tool.group in GROUPS and tool.query_types is None:
        return ""
    return " ".join((tool.name, tool.description, tool.when_to_use, *tool.examples))


def check_types(query_types: Iterable[str], known: QueryTypes) -> None:
    """Check that all of these types exist.

    Raises:
        ValueError: one does not; the message has the nearest.
    """
    for query_type in query_types:
        if query_type not in known.needs:
            raise ValueError(unknown_type(query_type, known))


def unknown_type(query_type: str, known: QueryTypes) -> str:
    """The message about a type that does not exist."""
    hint = did_you_mean(near(query_type, known.needs))
    return f"there is no query type {query_type!r}.{hint} Types: {', '.join(known.needs)}"


def _is_spoken_of(tool: Tool, question: str) -> bool:
    """Whether a question shares a telling word with a reading tool that serves some queries."""
    if tool.writes or not question or tool.query_types == ():
        return False
    terms = [term for term in terms_of(question, stop_words=_TELLS_NOTHING) if term.word not in _TELLS_NOTHING]
    return any(fit >= _SAME_WORD for fit in TermMatcher(terms).fits(placing_words(tool)).values())


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
    wanted, known = tuple(query_types), registry.types
    check_types(wanted, known)
    needed = frozenset(source for each in wanted for source in known.needs[each]) if sources is None else sources
    within = _within(frozenset(needed), registry)
    offered = [tool for tool in registry.tools if is_offered(tool, wanted, within, question, known)]
    return tuple(tool.name for tool in sorted(offered, key=lambda tool: tool.writes))


def all_reading(registry: ToolRegistry) -> tuple[str, ...]:
    """The names of all tools that do not write, which are offered after empty results, `stuck` or `need_capability`."""
    return tuple(tool.name for tool in registry.tools if not (tool.writes or tool.on_demand))


def _within(needed: frozenset[str], registry: ToolRegistry) -> frozenset[str]:
    """The sources needed, with others for those that no tool reads."""
    there = {tool.group for tool in registry.tools if not tool.writes}
    instead, found = registry.types.instead, set(needed)
    for group in needed.intersection(instead) - there:
        found |= there.intersection(instead[group]) or (set() if needed & there else {"web"})
    return frozenset(found)
