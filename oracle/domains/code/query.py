"""Classification of queries: which sources the assistant needs first.

Heuristics extract features (`reading`, `features`), learned weights rate them. No model, no network, well under a
millisecond for an ordinary query. The text is data: any text gets a classification.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from oracle.classify.follow_ups import BACK, FOLLOW_UP_WORDS, GO_AHEAD, INHERITED_CONFIDENCE, REFUSAL, begins_with_more
from oracle.classify.pooling import exponents, is_english, pooled
from oracle.classify.types import CONFIDENT, QueryClassification, QueryShares, QueryType, Source
from oracle.classify.weights import Weights, load_weights, probabilities, worth
from oracle.domains.code.features import features
from oracle.domains.code.needs import PROBABLE, evidence_of, likely_sources, needed_sources, second_type
from oracle.domains.code.reading import TALK_TAGS, MessageReading, read
from oracle.domains.code.weights import QUERY_TYPES, QUERY_WEIGHTS

MAX_KEYWORDS = 8
_UNKNOWN = 0.5
"""How much the shares count for a text without a known word; the rest is shared out evenly: none is confident."""
_CLOSING_TAGS = frozenset({"greeting", "thanks", "assistant"})


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
        shares: the share of each type, if something other than the rules has weighed them.

    Returns:
        The classification. Text without words is `conversational`.
    """
    reading = read(text)
    if not reading.sentences:
        return QueryClassification.of("conversational", confidence=1.0)
    found = features(reading)
    shares = _shares(reading, found) if shares is None else shares
    first = max(QUERY_TYPES, key=shares.__getitem__)
    keywords = _keywords(reading, load_weights(QUERY_WEIGHTS), first)
    evidence = evidence_of(found, shares)
    sources = needed_sources(reading, evidence, shares)
    second, confidence = second_type(first, evidence, sources), round(shares[first], 4)
    is_sure = first != "conversational" and confidence >= CONFIDENT and any(each.content for each in reading.sentences)
    tokens = _tokens(reading)
    refers_back = begins_with_more(tokens) or not BACK.isdisjoint(tokens)
    if previous is not None and _is_follow_up(reading) and (refers_back or not is_sure):
        sources = (sources if evidence["research"] >= PROBABLE else sources - {"web"}).union(previous.sources)
        inherits = (refers_back or first == "conversational") and not _is_talk_of({"previous"}, reading)
        if inherits and not is_sure and previous.sources:
            first, confidence = previous.query_type, min(previous.confidence, INHERITED_CONFIDENCE)
            second = second_type(first, evidence, sources - {"web"}) or previous.second_type
    return QueryClassification.of(
        first, confidence=confidence, keywords_matched=keywords, second_type=second, sources=sources
    )


def classify_query_with(
    text: str, encoded: QueryShares | None, *, previous: QueryClassification | None = None
) -> QueryClassification:
    """Classify a query by rules and encoder.

    Args:
        text: the user's message.
        encoded: the encoder's shares; `None`: the rules decide alone.
        previous: the classification of the conversation's last question; `None` if there is none.
    """
    if encoded is None:
        return classify_query(text, previous=previous)
    shares = pooled(query_shares(text), encoded, *exponents("query", is_english=is_english(text)))
    return classify_query(text, previous=previous, shares=shares)


def sources_spoken_of(text: str) -> frozenset[Source]:
    """The sources that a text most likely speaks of, such as what a model says that it lacks."""
    reading = read(text)
    found = features(reading)
    return likely_sources(evidence_of(found, _shares(reading, found)))


def _shares(reading: MessageReading, found: AbstractSet[str]) -> dict[QueryType, float]:
    shares = probabilities(load_weights(QUERY_WEIGHTS), found, QUERY_TYPES)
    if reading.has_known_words:
        return shares
    return {query_type: _UNKNOWN * share + (1 - _UNKNOWN) / len(shares) for query_type, share in shares.items()}


def _is_follow_up(reading: MessageReading) -> bool:
    """Whether a short message may take its subject from the previous one: it asks something, or tells to go ahead.

    Thanks, greetings and questions about the assistant do not, unless something else is asked beside them.
    """
    tokens = _tokens(reading)
    if len(tokens) > FOLLOW_UP_WORDS or _is_talk_of(_CLOSING_TAGS, reading):
        return False
    asks = any(sentence.is_question or sentence.question for sentence in reading.requests)
    goes_ahead = not GO_AHEAD.isdisjoint(tokens) and REFUSAL.isdisjoint(tokens)
    return asks or ((goes_ahead or begins_with_more(tokens)) and not _is_talk_of({"previous"}, reading))


def _is_talk_of(tags: AbstractSet[str], reading: MessageReading) -> bool:
    """Whether a message is nothing but chat, with one of these tags."""
    found = {tag for sentence in reading.requests for match in sentence.matches for tag in match.tags}
    return not found.isdisjoint(tags) and all(sentence.is_talk for sentence in reading.requests)


def _tokens(reading: MessageReading) -> list[str]:
    return [token for sentence in reading.requests for token in sentence.tokens]


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
