"""The kinds of query and what they need, as the rest of the product sees them."""

from dataclasses import dataclass
from typing import Literal, get_args

QueryType = Literal["action", "code", "conversational", "documentation", "research"]
QUERY_TYPES: tuple[QueryType, ...] = get_args(QueryType)
CONFIDENT = 0.6
"""Below this the tools of the two likeliest types are offered (decision 23)."""


@dataclass(frozen=True, slots=True)
class QueryClassification:
    """What a query is about and which sources it needs (020 FR-015, FR-016).

    Args:
        query_type: the likeliest type.
        needs_code: the project's source code is to be searched.
        needs_vault: the project's notes and threads are to be read (for `action`: also written).
        needs_web: the web is to be searched.
        confidence: how sure, 0.0-1.0; about the share of such answers that are right.
        keywords_matched: what spoke for the type, strongest first; at most eight.
        second_type: the runner-up; its needs are included when `confidence` is below 0.6. `None` where none comes
            into question.
    """

    query_type: QueryType
    needs_code: bool
    needs_vault: bool
    needs_web: bool
    confidence: float
    keywords_matched: tuple[str, ...] = ()
    second_type: QueryType | None = None

    @property
    def types(self) -> tuple[QueryType, ...]:
        """The type, and the runner-up where the classification is not sure (decision 23)."""
        if self.confidence >= CONFIDENT or self.second_type is None:
            return (self.query_type,)
        return (self.query_type, self.second_type)

    @classmethod
    def of(
        cls,
        query_type: QueryType,
        *,
        confidence: float,
        keywords_matched: tuple[str, ...] = (),
        second_type: QueryType | None = None,
    ) -> "QueryClassification":
        """A classification whose needs follow from its types and its confidence."""
        types = {query_type}
        if confidence < CONFIDENT and second_type is not None:
            types.add(second_type)
        return cls(
            query_type=query_type,
            needs_code="code" in types,
            needs_vault=bool(types & {"documentation", "action"}),
            needs_web="research" in types,
            confidence=confidence,
            keywords_matched=keywords_matched,
            second_type=second_type,
        )
