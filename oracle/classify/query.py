"""Classification of queries: which sources the assistant needs first.

Heuristics extract features (`reading`, `features`), learned weights rate them. No model, no network, well under a
millisecond for an ordinary query. The text is data: any text gets a classification.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from oracle.classify.features import features
from oracle.classify.needs import needed_sources
from oracle.classify.reading import TALK_TAGS, MessageReading, read
from oracle.classify.tokens import word_set
from oracle.classify.types import QUERY_TYPES, QueryClassification, QueryType
from oracle.classify.weights import QUERY_WEIGHTS, Weights, load_weights, probabilities, worth

MAX_KEYWORDS = 8
INHERITED_CONFIDENCE = 0.7
"""Confidence of a follow-up, which mostly has the subject of the previous query."""
_UNKNOWN = 0.5
"""How much the shares count for a text without a known word; the rest is shared out evenly: none is confident."""
_CLOSING_TAGS = frozenset({"greeting", "thanks", "assistant", "previous"})
_FOLLOW_UP_WORDS = 7


def query_shares(text: str) -> dict[QueryType, float]:
    """The share of each type by the rules alone; they add up to 1, and are calibrated."""
    reading = read(text)
    return _shares(reading, features(reading))


def classify_query(
    text: str,
    *,
    previous: QueryClassification | None = None,
    shares: Mapping[QueryType, float] | None = None,
) -> QueryClassification:
    """Classify a query.

    Args:
        text: the user's message; any text, also empty or very long (of which only the beginning and the end are read).
        previous: the classification of the previous query of the conversation; a bare follow-up ("and the other
            one?", "yes, please") inherits its type and what it needs.
        shares: the share of each type, if something else than the rules has weighed them.

    Returns:
        The classification. Text without words is `conversational`.
    """
    reading = read(text)
    if not reading.sentences:
        return QueryClassification.of("conversational", confidence=1.0)
    found = features(reading)
    shares = _shares(reading, found) if shares is None else shares
    first, second = sorted(QUERY_TYPES, key=lambda query_type: -shares[query_type])[:2]
    keywords = _keywords(reading, load_weights(QUERY_WEIGHTS), first)
    sources = needed_sources(reading, found, shares)
    if previous is not None and first == "conversational" and _is_follow_up(reading):
        return QueryClassification.of(
            previous.query_type,
            confidence=min(previous.confidence, INHERITED_CONFIDENCE),
            keywords_matched=keywords,
            second_type=previous.second_type,
            sources=sources.union(previous.sources),
        )
    return QueryClassification.of(
        first, confidence=round(shares[first], 4), keywords_matched=keywords, second_type=second, sources=sources
    )


def _shares(reading: MessageReading, found: AbstractSet[str]) -> dict[QueryType, float]:
    shares = probabilities(load_weights(QUERY_WEIGHTS), found, QUERY_TYPES)
    if reading.has_known_words:
        return shares
    return {query_type: _UNKNOWN * share + (1 - _UNKNOWN) / len(shares) for query_type, share in shares.items()}


def _is_follow_up(reading: MessageReading) -> bool:
    """Whether a message of chat takes its subject from the previous one.

    Thanks, greetings and remarks about the answer or the assistant do not. A go-ahead ("yes, please", "sounds good, go
    ahead") and an elliptic question ("why?", "and the other one?") do.
    """
    tokens = [token for sentence in reading.sentences for token in sentence.tokens]
    if len(tokens) > _FOLLOW_UP_WORDS or any(len(sentence.content) > 1 for sentence in reading.sentences):
        return False
    tags = {tag for sentence in reading.sentences for match in sentence.matches for tag in match.tags}
    if tags & _CLOSING_TAGS:
        return False
    asks = any(sentence.is_question or sentence.question for sentence in reading.sentences)
    return asks or _goes_ahead(tokens)


_GO_AHEAD = word_set(
    """
    yes yeah yep yup sure please go ahead do it continue proceed more next other second first third last one both
    all another option ja bitte gern gerne weiter oui vas-y allez-y si adelante sigue hazlo sim pode procedi avanti
    vai doe maar ga door graag
    """
)


def _goes_ahead(tokens: list[str]) -> bool:
    return any(token in _GO_AHEAD for token in tokens) and not any(
        token in {"no", "not", "stop", "cancel", "nein", "non", "nee"} for token in tokens
    )


def _keywords(reading: MessageReading, weights: Weights, query_type: QueryType) -> tuple[str, ...]:
    """The phrases that are evidence for a type, strongest first."""
    at = QUERY_TYPES.index(query_type)
    found: dict[str, float] = {}
    for sentence in reading.sentences:
        for match in sentence.said:
            if query_type != "conversational" and match.tags <= TALK_TAGS:
                continue
            _note(found, match.phrase, max(worth(weights, f"tag:{tag}", at) for tag in match.tags))
        for command in sentence.commands:
            _note(found, command.verb, max(worth(weights, f"do:{kind}", at) for kind in command.kinds))
    if query_type == "code":
        for identifier in reading.text.identifiers:
            _note(found, identifier, worth(weights, "code_sign:strong", at))
    return tuple(sorted(found, key=lambda phrase: (-found[phrase], phrase))[:MAX_KEYWORDS])


def _note(found: dict[str, float], phrase: str, weight: float) -> None:
    if weight > 0:
        found[phrase] = max(weight, found.get(phrase, 0.0))
