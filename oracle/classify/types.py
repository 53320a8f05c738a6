"""The results of classification: the type of a query and the sources that it needs, and the intent of a response."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias, get_args

from bt_runtime.text.data import dataclass
from oracle.core.sources import WRITE, QueryTypes, shipped_types
from signals import SignalType

QueryType: TypeAlias = str
"""One of the types of the domain."""
Source: TypeAlias = str
"""A source that a query may need: a group of reading tools, or `write` for the tools that write."""
SIGNALS: tuple[SignalType, ...] = get_args(SignalType)
"""The labels of a response, in the order of the weights."""
QueryShares: TypeAlias = Mapping[QueryType, float]
"""The share of each type of query; they add up to 1."""
IntentShares: TypeAlias = Mapping[SignalType, float]
"""The share of each state of the work, as a type of signal; they add up to 1."""
CONFIDENT = 0.6
"""Below this the tools that name their types are offered to the second type as well."""


@dataclass(frozen=True, slots=True)
class QueryClassification:
    """The type of a query and the sources that it may need.

    Args:
        query_type: the likeliest type.
        sources: what it may need, in the order of the domain.
        confidence: 0.0-1.0; calibrated: about the share of such classifications that are right.
        keywords_matched: the evidence for the type, strongest first; at most eight.
        second_type: another type whose rules the query needs as well. `None` if there is none.
    """

    query_type: QueryType
    sources: tuple[Source, ...]
    confidence: float
    keywords_matched: tuple[str, ...] = ()
    second_type: QueryType | None = None

    @property
    def types(self) -> tuple[QueryType, ...]:
        """The type, and the second one if the confidence is below 0.6."""
        if self.confidence >= CONFIDENT or self.second_type is None:
            return (self.query_type,)
        return (self.query_type, self.second_type)

    @property
    def needs_code(self) -> bool:
        """Search the project's source code."""
        return "code" in self.sources

    @property
    def needs_vault(self) -> bool:
        """Read the project's notes."""
        return "vault" in self.sources

    @property
    def needs_thread(self) -> bool:
        """Read the project's threads."""
        return "thread" in self.sources

    @property
    def needs_web(self) -> bool:
        """Search the web."""
        return "web" in self.sources

    @property
    def needs_write(self) -> bool:
        """Change something."""
        return WRITE in self.sources

    @classmethod
    def of(
        cls,
        query_type: QueryType,
        *,
        confidence: float,
        keywords_matched: tuple[str, ...] = (),
        second_type: QueryType | None = None,
        sources: Iterable[Source] | None = None,
        types: QueryTypes | None = None,
    ) -> "QueryClassification":
        """A classification that needs these sources; `None`: those of its types, as the domain's `types` say."""
        known = types or shipped_types()
        found = cls(query_type, (), confidence, keywords_matched, second_type)
        needed = {source for each in found.types for source in known.needs[each]} if sources is None else set(sources)
        ordered = dict.fromkeys((*(each for each in known.sources if each in needed), *sorted(needed)))
        return replace(found, sources=tuple(ordered))


@dataclass(frozen=True, slots=True)
class ResponseIntent:
    """The state of the work according to a response.

    Args:
        signal_type: one of the six signals.
        confidence: probability that the intent is right, 0.0-1.0.
    """

    signal_type: SignalType
    confidence: float
