"""Which types of queries are offered a tool: by what the tool says, else by its group (decision 23)."""

from collections.abc import Callable, Sequence

from bt_runtime.text import near
from oracle.tools.errors import ToolDefinitionError
from oracle.tools.protocol import GROUPS, Tool
from oracle.tools.suggest import did_you_mean

_BY_GROUP: dict[str, Callable[[Tool], bool]] = {
    "code": lambda tool: tool.group == "code" and not tool.writes,
    "documentation": lambda tool: tool.group in {"vault", "thread"} and not tool.writes,
    "research": lambda tool: tool.group == "web" and not tool.writes,
    "conversational": lambda _: False,
    "action": lambda tool: tool.group in {"vault", "thread"} or tool.writes,
}


def served(query_types: Sequence[str] | None, *, group: str, writes: bool) -> tuple[str, ...] | None:
    """The query types that a tool says it serves, checked; `None` leaves it to its group.

    Raises:
        ToolDefinitionError: there is no such type, or no query would be offered the tool.
    """
    if query_types == "always":
        return tuple(_BY_GROUP)
    if query_types is None:
        if group not in GROUPS and not writes:
            message = f"no query is offered tools of the group {group!r}; say query_types=[...] or query_types='always'"
            raise ToolDefinitionError(message)
        return None
    wanted = (query_types,) if isinstance(query_types, str) else tuple(query_types)
    for query_type in wanted:
        if query_type not in _BY_GROUP:
            raise ToolDefinitionError(unknown_type(query_type))
    return wanted


def is_query_type(name: str) -> bool:
    """Whether there is such a type of queries."""
    return name in _BY_GROUP


def is_offered(tool: Tool, query_type: str) -> bool:
    """Whether queries of this type are offered the tool."""
    return _BY_GROUP[query_type](tool) if tool.query_types is None else query_type in tool.query_types


def unknown_type(query_type: str) -> str:
    """The message about a type that does not exist."""
    hint = did_you_mean(near(query_type, _BY_GROUP))
    return f"there is no query type {query_type!r}.{hint} Types: {', '.join(_BY_GROUP)}"
