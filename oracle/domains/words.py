"""Classification of questions by the words and examples of a domain, without training and without a model.

- A word counts by its first letters (`order`, `orders`, `ordered`), a phrase as it is written. A word speaks for a type
  as often as its examples have it; a word that the domain names, by its weight.
- Words that say nothing, and those that the domain does not know, do not count.
- The shares are flattened or sharpened so that they fit the domain's own examples, each judged by the others.
- Weak evidence offers: what a type needs whose share is small is offered too, and all that reads
  where no word is known.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from oracle.classify.closings import announces, asks_user
from oracle.classify.follow_ups import (
    BACK,
    FOLLOW_UP_WORDS,
    GO_AHEAD,
    INHERITED_CONFIDENCE,
    REFUSAL,
    begins_with_more,
)
from oracle.classify.response import classify_response_with
from oracle.classify.tokens import COMMA, bounded, fold, split_tokens
from oracle.classify.types import CONFIDENT, QueryClassification, QueryShares
from oracle.core.search.query import STOP_WORDS
from oracle.core.sources import WRITE, QueryTypes

MAX_KEYWORDS = 8
POSSIBLE = 0.1
"""With this share of a type what it needs to read is offered."""
LIKELY = 0.2
"""With this share of a type its tools that write are offered, and its rules are part of the prompt."""
_STEM_CHARS = 5
_UNSEEN = 0.3
"""How often a word counts in a type that does not have it."""
_WORD_COUNTS = 2.0
"""How many examples a word of weight 1 counts for."""
_SHARPNESS = (0.25, 0.35, 0.5, 0.7, 1.0)


class WordClassifier:
    """Classifies questions by words and examples, and how responses end as the shipped domain does.

    Args:
        types: of the domain; the first is that of questions without a known word.
        words: by type, words and phrases with their weights.
        examples: by type, questions.
    """

    classify_response_with = staticmethod(classify_response_with)
    asks_user = staticmethod(asks_user)
    announces = staticmethod(announces)

    def __init__(
        self, types: QueryTypes, words: Mapping[str, Mapping[str, float]], examples: Mapping[str, Sequence[str]]
    ) -> None:
        self._types = types
        self._examples = examples
        phrases = (tuple(split_tokens(fold(word))) for of_type in words.values() for word in of_type)
        self._phrases = frozenset(phrase for phrase in phrases if len(phrase) > 1 or not _stems(phrase))
        self._counts = {query_type: Counter[str]() for query_type in types.needs}
        for query_type, counts in self._counts.items():
            for word, weight in words.get(query_type, {}).items():
                counts.update(dict.fromkeys(self._features(word), weight * _WORD_COUNTS))
            for text in examples.get(query_type, ()):
                counts.update(self._features(text).keys())
        self._known = frozenset(feature for counts in self._counts.values() for feature in counts)

    def classify_query_with(
        self,
        text: str,
        encoded: QueryShares | None = None,  # noqa: ARG002  the encoder knows the shipped types alone
        *,
        previous: QueryClassification | None = None,
    ) -> QueryClassification:
        """Classify a question; see `oracle.classify.protocol.Classifier`."""
        features = self._features(text)
        shares = self.shares(text)
        first, *others = sorted(shares, key=lambda each: -shares[each])
        confidence = round(shares[first], 4)
        known = [each for each in features if each in self._known]
        sources = {
            source
            for query_type, needed in self._types.needs.items()
            for source in needed
            if shares[query_type] >= (LIKELY if source == WRITE else POSSIBLE)
        }
        if not known:
            sources = set(self._types.sources) - {WRITE}
        second = next((each for each in others if known and shares[each] >= LIKELY), None)
        is_sure = bool(known) and confidence >= CONFIDENT
        tokens = [token for token in split_tokens(fold(bounded(text))) if token != COMMA]
        if previous is not None and tokens and _refers_back(tokens):
            sources.update(previous.sources)
            if not is_sure:
                first, second = previous.query_type, previous.second_type
                confidence = min(previous.confidence, INHERITED_CONFIDENCE)
        keywords = sorted(known, key=lambda each: (-self._counts[first][each], each))
        return QueryClassification.of(
            first,
            confidence=confidence,
            keywords_matched=tuple(dict.fromkeys(features[each] for each in keywords))[:MAX_KEYWORDS],
            second_type=second,
            sources=sources,
            types=self._types,
        )

    def sources_spoken_of(self, text: str) -> frozenset[str]:
        """What a text most likely speaks of; see `oracle.classify.protocol.Classifier`."""
        if self._known.isdisjoint(self._features(text)):
            return frozenset()
        likely = [query_type for query_type, share in self.shares(text).items() if share >= LIKELY]
        return frozenset(source for each in likely for source in self._types.needs[each]) - {WRITE}

    def shares(self, text: str) -> dict[str, float]:
        """The share of each type, in their order; they add up to 1."""
        return _shares(self._scores(self._features(text).keys()), self._sharpness)

    def judged(self) -> Iterator[tuple[str, str, dict[str, float]]]:
        """Each example's type and text, and the shares that it has by all the other examples."""
        for query_type, text, scores in self._left_out:
            yield query_type, text, _shares(scores, self._sharpness)

    @cached_property
    def _left_out(self) -> list[tuple[str, str, dict[str, float]]]:
        """Type, text, and scores of each example where it does not count itself."""
        return [
            (query_type, text, self._scores(self._features(text).keys(), without=query_type))
            for query_type, texts in self._examples.items()
            for text in texts
        ]

    @cached_property
    def _sharpness(self) -> float:
        """The one with which the examples' own types have the largest shares."""
        if not self._left_out:
            return 1.0

        def loss(sharpness: float) -> float:
            return -sum(math.log(_shares(scores, sharpness)[of] + 1e-6) for of, _, scores in self._left_out)

        return min(_SHARPNESS, key=loss)

    def _scores(self, features: Iterable[str], *, without: str | None = None) -> dict[str, float]:
        """The evidence for each type, as a logarithm; `without`: leave out an example with these words."""
        known = [each for each in features if each in self._known]
        return {
            query_type: sum(math.log(counts[each] - (query_type == without) + _UNSEEN) for each in known)
            for query_type, counts in self._counts.items()
        }

    def _features(self, text: str) -> dict[str, str]:
        """What counts of a text, and the words that it stands for."""
        tokens = split_tokens(fold(bounded(text)))
        longest = max(map(len, self._phrases), default=0)
        phrases = {
            " ".join(piece): " ".join(piece)
            for start in range(len(tokens))
            for piece in (tuple(tokens[start : start + size]) for size in range(1, longest + 1))
            if piece in self._phrases
        }
        return _stems(tokens) | phrases


def _stems(tokens: Sequence[str]) -> dict[str, str]:
    """The beginnings of words that say something, and the words."""
    told = [token for token in tokens if token not in STOP_WORDS and any(map(str.isalpha, token))]
    return {f"{token[:_STEM_CHARS]}~": token for token in reversed(told)}


def _shares(scores: Mapping[str, float], sharpness: float) -> dict[str, float]:
    highest = max(scores.values())
    parts = {query_type: math.exp((score - highest) * sharpness) for query_type, score in scores.items()}
    whole = sum(parts.values())
    return {query_type: part / whole for query_type, part in parts.items()}


def _refers_back(tokens: Sequence[str]) -> bool:
    """Whether a short message goes on from the one before."""
    if len(tokens) > FOLLOW_UP_WORDS or not REFUSAL.isdisjoint(tokens):
        return False
    return begins_with_more(tokens) or not (BACK | GO_AHEAD).isdisjoint(tokens)
