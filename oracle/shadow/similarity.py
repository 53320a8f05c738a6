"""How alike two answers are: a plain measure, without a model.

The cosine of the counts of their words, from 0 to 1: words are compared by their stems, without case, diacritics and
stop words, as `oracle.search` indexes them. Two empty answers are alike, an empty one is like no other. Order and
meaning do not count: an answer and its contradiction may be alike, and the same said in other words may be unlike.
"""

from collections import Counter
from math import sqrt

from oracle.search import IDENTIFIER, STOP_WORDS, keys, stem, tokens

ALIKE = 0.7
"""From here on two answers are called similar."""


def similarity(one: str, other: str) -> float:
    """The cosine of the words' counts of two answers, rounded to four places."""
    if one == other:
        return 1.0
    left, right = _words(one), _words(other)
    if not left or not right:
        return 1.0 if left == right and one.split() == other.split() else 0.0
    common = sum(count * right[word] for word, count in left.items() if word in right)
    return round(min(1.0, common / (_length(left) * _length(right))), 4)


def _words(text: str) -> Counter[str]:
    words = (key for token in tokens(text) for key in keys(token) if not key.startswith(IDENTIFIER))
    return Counter(stem(word) for word in words if word not in STOP_WORDS)


def _length(counts: Counter[str]) -> float:
    return sqrt(sum(count * count for count in counts.values()))
