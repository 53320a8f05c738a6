"""The types of queries of a domain, and the sources that a query of each type needs."""

from collections.abc import Mapping
from dataclasses import field
from functools import cache, cached_property
from importlib import import_module
from typing import cast

from bt_runtime.text.data import dataclass

WRITE = "write"
"""The source that stands for the tools that write."""


@dataclass(frozen=True, eq=False)
class QueryTypes:
    """The types of queries of a domain.

    Args:
        needs: by type, what its queries need if nothing else is known: groups of reading tools, and `write`.
        instead: by group, those in which an answer may be found where no tool belongs to it; then there is the web.
    """

    needs: Mapping[str, tuple[str, ...]]
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """All that queries may need, in the order of the types."""
        return tuple(dict.fromkeys(source for needed in self.needs.values() for source in needed))


@cache
def shipped_types() -> QueryTypes:
    """The types of the domain that is used where no other one is given."""
    return cast("QueryTypes", import_module("oracle.domains.code").TYPES)
