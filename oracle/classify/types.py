"""Query types, and the sources that a query needs."""

from collections.abc import Iterable, Mapping
from typing import Literal, cast, get_args

from oracle.core.sources import SOURCES_OF
from bt_runtime.text.data import dataclass

QueryType = Literal["action", "code", "conversational", "documentation", "research"]
QUERY_TYPES: tuple[QueryType, ...] = get_args(QueryType)
Source = Literal["code", "vault", "thread", "web", "write"]
"""What a query may need: the groups of reading tools, and the tools that write."""
CONFIDENT = 0.6
"""Below this the tools that name their types are offered to the second type as well."""


NEEDS = cast("Mapping[QueryType, frozenset[Source]]", SOURCES_OF)
"""What queries of a type need if nothing else is known."""


@dataclass(frozen=True, slots=True)
class QueryClassification:
    """The type of a query and the sources that it may need.

    Args:
        query_type: the likeliest type.
        needs_code: search the project's source code.
        needs_vault: read the project's notes.
        needs_web: search the web.
        confidence: 0.0-1.0; calibrated: about the share of such classifications that are right.
        keywords_matched: the evidence for the type, strongest first; at most eight.
        second_type: another type whose rules the query needs as well. `None` if there is none.
        needs_thread: read the project's threads.
        needs_write: change notes or threads.
    """

    query_type: QueryType
    needs_code: bool
    needs_vault: bool
    needs_web: bool
    confidence: float
    keywords_matched: tuple[str, ...] = ()
    second_type: QueryType | None = None
    needs_thread: bool = False
    needs_write: bool = False

    @property
    def types(self) -> tuple[QueryType, ...]:
        """The type, and the second one if the confidence is below 0.6."""
        if self.confidence >= CONFIDENT or self.second_type is None:
            return (self.query_type,)
        return (self.query_type, self.second_type)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources that the query may need, in the order of `Source`."""
        needs = (self.needs_code, self.needs_vault, self.needs_thread, self.needs_web, self.needs_write)
        return tuple(source for source, is_needed in zip(get_args(Source), needs, strict=True) if is_needed)

    @classmethod
    def of(
        cls,
        query_type: QueryType,
        *,
        confidence: float,
        keywords_matched: tuple[str, ...] = (),
        second_type: QueryType | None = None,
        sources: Iterable[Source] | None = None,
    ) -> "QueryClassification":
        """A classification that needs these sources; `None`: those of its types."""
        types = (query_type,) if confidence >= CONFIDENT or second_type is None else (query_type, second_type)
        needed = {source for each in types for source in NEEDS[each]} if sources is None else set(sources)
        return cls(
            query_type=query_type,
            needs_code="code" in needed,
            needs_vault="vault" in needed,
            needs_web="web" in needed,
            confidence=confidence,
            keywords_matched=keywords_matched,
            second_type=second_type,
            needs_thread="thread" in needed,
            needs_write="write" in needed,
        )
