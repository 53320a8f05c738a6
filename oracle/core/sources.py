"""The types of queries, and the sources that a query of each type needs."""

from collections.abc import Mapping

SOURCES_OF: Mapping[str, frozenset[str]] = {
    "code": frozenset({"code"}),
    "documentation": frozenset({"vault", "thread"}),
    "research": frozenset({"web"}),
    "conversational": frozenset(),
    "action": frozenset({"vault", "thread", "write"}),
}
"""What queries of a type need if nothing else is known: groups of reading tools, and the tools that write."""
