"""Which queries are offered a tool: by what the tool says, else by its group.

Rules:

1. `query_types` is the tool's own word: queries of these types are offered it.
2. Else a tool that writes is offered where something is to be written, and one of a built-in group where that source is
   needed.
3. A reading tool of a group of its own, or with `query_types`, is also offered to a question that shares a telling word
   with its name, its description, its `when_to_use` or its example questions.
"""

from collections.abc import Collection, Sequence

from bt_runtime.text import near
from oracle.core.errors import ToolDefinitionError
from oracle.core.search.query import STOP_WORDS, TermMatcher, fold, terms_of
from oracle.core.sources import SOURCES_OF
from oracle.tools.protocol import GROUPS, Tool
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
