"""Decides which sources a query may need, by weighing the cost of offering one against the cost of a missing one.

A reading tool of the project costs some hundred cached tokens, a missing one costs a turn. So, in this order:

1. What is plainly chat, or consists of words of chat alone, needs no source.
2. Code, notes and threads are needed together, except where a question is plainly about the world outside.
3. The web and the tools that write are needed where there is some evidence for them. What a standard says is outside,
   whatever else is asked beside it; a question hardly ever asks for a write, whatever it is about.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from oracle.classify.types import QueryType, Source
from oracle.classify.weights import chances, load_weights
from oracle.domains.code import TYPES
from oracle.domains.code.reading import MessageReading
from oracle.domains.code.weights import SOURCE_WEIGHTS, SOURCES

PROJECT: tuple[Source, ...] = ("code", "vault", "thread")
FIRST: Mapping[QueryType, Source] = {"code": "code", "documentation": "vault", "research": "web", "action": "write"}
"""The source by which queries of a type are known."""
PLAINLY_CHAT = 0.9
"""With this share of `conversational` nothing is looked up."""
PLAINLY_OUTSIDE = 0.95
"""With this evidence of `research` the project is left out, unless something of it is likely."""
LIKELY = 0.2
WEB_POSSIBLE = 0.06
WRITE_POSSIBLE = 0.12
"""The least evidence: nothing else can stand in for these."""
SECOND_HALF = 0.1
"""With this evidence of the other half of the project, code or notes, a query is about both."""
PROBABLE = 0.5
"""With this evidence of the web or of a write the rules for it are needed besides those of the first type."""


def evidence_of(found: AbstractSet[str], shares: Mapping[QueryType, float]) -> dict[QueryType, float]:
    """The evidence of each type but `conversational`: its share, or the chance of its source, whichever is more.

    Args:
        found: the features of a text.
        shares: the share of each type; they add up to 1.
    """
    possible = chances(load_weights(SOURCE_WEIGHTS), found, SOURCES)
    return {query_type: max(shares[query_type], possible[source]) for query_type, source in FIRST.items()}


def needed_sources(
    reading: MessageReading, evidence: Mapping[QueryType, float], shares: Mapping[QueryType, float]
) -> frozenset[Source]:
    """The sources that a query may need.

    Args:
        reading: the query, read.
        evidence: for each type but `conversational`, as `evidence_of` makes it.
        shares: the share of each type; they add up to 1.
    """
    if shares["conversational"] >= PLAINLY_CHAT or all(sentence.is_talk for sentence in reading.sentences):
        return frozenset()
    needed: set[Source] = set()
    is_outside = shares["research"] >= PLAINLY_OUTSIDE and max(evidence["code"], evidence["documentation"]) < LIKELY
    if not is_outside:
        needed.update(PROJECT)
    is_placed = bool(reading.requests) and all(sentence.places_norm for sentence in reading.requests)
    is_norm = any(sentence.asks_of_norm for sentence in reading.sentences)
    if is_norm or evidence["research"] >= (PROBABLE if is_placed else WEB_POSSIBLE):
        needed.add("web")
    only_asks = all(sentence.only_asks for sentence in reading.requests)
    if evidence["action"] >= (PROBABLE if only_asks else WRITE_POSSIBLE):
        needed.add("write")
    return frozenset(needed)


def second_type(first: QueryType, evidence: Mapping[QueryType, float], needed: AbstractSet[Source]) -> QueryType | None:
    """The type whose rules a query needs besides those of its first; the project's own before the others."""
    others = [each for each in evidence if each != first and FIRST[each] in needed]
    halves = [each for each in others if FIRST[each] in PROJECT and evidence[each] >= SECOND_HALF]
    probable = [each for each in others if evidence[each] >= PROBABLE]
    return max(halves or probable, key=lambda each: evidence[each], default=None)


def likely_sources(evidence: Mapping[QueryType, float]) -> frozenset[Source]:
    """The sources that queries of a likely type search first.

    The web is none of them beside what is twice as likely, and there are none where a write is likelier than all else.
    """
    most = max(evidence.values())
    if evidence["action"] == most:
        return frozenset()
    likely = [each for each, share in evidence.items() if share >= LIKELY and (each != "research" or 2 * share >= most)]
    return frozenset(source for each in likely for source in TYPES.needs[each])
