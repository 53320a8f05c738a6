"""The tools for a query: which types of questions each serves, and which are offered.

A query is offered a tool by what the tool says, else by its group:

1. `query_types` is the tool's own word: queries of these types are offered it.
2. Else a tool that writes is offered where something is to be written, and one of a built-in group where that source is
   needed.
3. A reading tool of a group of its own, or with `query_types`, is also offered to a question that shares a telling word
   with its name, its description, its `when_to_use` or its example questions.
"""

from collections.abc import Collection, Iterable, Sequence

from bt_runtime.text import near
from oracle.core.errors import ToolDefinitionError
from oracle.core.search.query import STOP_WORDS, TermMatcher, fold, terms_of
from oracle.core.sources import SOURCES_OF
from oracle.tools.protocol import GROUPS, Tool
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


def served(query_types: Sequence[str] | None) -> tuple[str, ...] | None:
    """The query types that a tool says it serves, checked; `None` leaves it to its group and its words.

    Raises:
        ToolDefinitionError: there is no such type.
    """
    if query_types is None:
        return None
    if query_types == "always":
        return tuple(SOURCES_OF)
    wanted = (query_types,) if isinstance(query_types, str) else tuple(query_types)
    for query_type in wanted:
        if query_type not in SOURCES_OF:
            raise ToolDefinitionError(unknown_type(query_type))
    return wanted


def is_offered(tool: Tool, query_types: Collection[str], sources: Collection[str], question: str) -> bool:
    """Whether a query of these types, which needs these sources, is offered the tool."""
    if tool.query_types is not None:
        return not set(tool.query_types).isdisjoint(query_types) or _is_spoken_of(tool, question)
    if tool.writes:
        return "write" in sources
    return tool.group in sources if tool.group in GROUPS else _is_spoken_of(tool, question)


def placing_words(tool: Tool) -> str:
    """The words that place a tool that no built-in group places; empty for the others."""
    if tool.group in GROUPS and tool.query_types is None:
        return ""
    return " ".join((tool.name, tool.description, tool.when_to_use, *tool.examples))


def unknown_type(query_type: str) -> str:
    """The message about a type that does not exist."""
    hint = did_you_mean(near(query_type, SOURCES_OF))
    return f"there is no query type {query_type!r}.{hint} Types: {', '.join(SOURCES_OF)}"


def _is_spoken_of(tool: Tool, question: str) -> bool:
    """Whether a question shares a telling word with a reading tool that serves some queries."""
    if tool.writes or not question or tool.query_types == ():
        return False
    terms = [term for term in terms_of(question, stop_words=_TELLS_NOTHING) if term.word not in _TELLS_NOTHING]
    return any(fit >= _SAME_WORD for fit in TermMatcher(terms).fits(placing_words(tool)).values())


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
