"""Query types, and the sources that a query needs."""

from dataclasses import dataclass
from typing import Literal, get_args

QueryType = Literal["action", "code", "conversational", "documentation", "research"]
QUERY_TYPES: tuple[QueryType, ...] = get_args(QueryType)
CONFIDENT = 0.6
"""Below this the tools of the two likeliest types are offered (decision 23)."""


@dataclass(frozen=True, slots=True)
class QueryClassification:
    """The type of a query and the sources it needs (020 FR-015, FR-016).

    Args:
        query_type: the likeliest type.
        needs_code: search the project's source code.
        needs_vault: read the project's notes and threads (for `action`: also write).
        needs_web: search the web.
        confidence: 0.0-1.0; calibrated: about the share of such classifications that are right.
        keywords_matched: the evidence for the type, strongest first; at most eight.
        second_type: the runner-up; its needs are included when `confidence` is below 0.6. `None` if there is no
            plausible one.
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
        """The type, and the runner-up if the confidence is below 0.6 (decision 23)."""
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
