"""Classification of queries: which sources the assistant needs first (020 FR-015, SC-001; decision 23).

Heuristics extract features (`reading`, `features`), learned weights rate them. No model, no network, well under a
millisecond for an ordinary query. The text is data: any text gets a classification.
"""

from oracle.classify.features import features
from oracle.classify.reading import TALK_TAGS, Reading, read
from oracle.classify.tokens import word_set
from oracle.classify.types import QUERY_TYPES, QueryClassification, QueryType
from oracle.classify.weights import QUERY_WEIGHTS, Weights, load_weights, probabilities, worth

MAX_KEYWORDS = 8
INHERITED_CONFIDENCE = 0.7
"""Confidence of a follow-up, which mostly has the subject of the previous query."""
_CLOSING_TAGS = frozenset({"greeting", "thanks", "assistant", "previous"})
_FOLLOW_UP_WORDS = 7


def classify_query(text: str, *, previous: QueryClassification | None = None) -> QueryClassification:
    """Classify a query.

    Args:
        text: the user's message; any text, also empty or very long (of which only the beginning and the end are read).
        previous: the classification of the previous query of the conversation; a bare follow-up ("and the other
            one?", "yes, please") inherits its type.

    Returns:
        The classification. Text without words is `conversational`.
    """
    reading = read(text)
    found = features(reading)
    weights = load_weights(QUERY_WEIGHTS)
    shares = probabilities(weights, found, QUERY_TYPES)
    first, second = sorted(QUERY_TYPES, key=lambda query_type: -shares[query_type])[:2]
    if not reading.sentences:
        return QueryClassification.of("conversational", confidence=1.0)
    if previous is not None and first == "conversational" and _is_follow_up(reading):
        confidence = min(previous.confidence, INHERITED_CONFIDENCE)
        return QueryClassification.of(
            previous.query_type,
            confidence=confidence,
            keywords_matched=_keywords(reading, weights, first),
            second_type=previous.second_type,
        )
    return QueryClassification.of(
        first,
        confidence=round(shares[first], 4),
        keywords_matched=_keywords(reading, weights, first),
        second_type=second,
    )


def _is_follow_up(reading: Reading) -> bool:
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


def _keywords(reading: Reading, weights: Weights, query_type: QueryType) -> tuple[str, ...]:
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
