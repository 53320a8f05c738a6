"""Repeated text: whether a response says again what the answer has already, or goes round within itself.

Rules:

- Words are compared without case, in runs of four, each run once; lists, tables and code share words with what stands
  before them, but few runs.
- A text repeats an earlier one if three quarters of its runs stand there, and half of those of its last 40 words: one
  that quotes and then goes on does not repeat. A text with few different runs repeats only what it is word by word.
- A text goes round if it ends with one passage of several words over and over.
"""

from oracle.core.search.words import fold, tokens

MOST_REPEATED_TURNS = 2
"""Consecutive responses that repeat; the first is followed by a note to the model."""

LOOP_CHARS = 2048
"""How much of the same passage makes a response that goes round."""

_LONGEST = 20_000
"""Characters of a text that are compared, counted from its end."""
_RUN = 4
_LEAST_RUNS, _LEAST_CHARS = 6, 40
_LAST_WORDS = 40
_LONGEST_PASSAGE = LOOP_CHARS // 4
_LEAST_WORDS_OF_A_PASSAGE = 3


class SaidText:
    """A text that was said, of which another one may be a repetition."""

    def __init__(self, text: str) -> None:
        self._text = _flat(text)
        self._runs = _runs(tokens(fold(self._text)))

    def has(self, text: str) -> bool:
        """Whether a later text stands there word by word."""
        return _flat(text) in self._text

    def is_repeated_by(self, text: str) -> bool:
        """Whether a later text says the same again; it may differ in a few words."""
        words = tokens(fold(_flat(text)))
        runs = _runs(words)
        if len(runs) < _LEAST_RUNS:
            return len(text.strip()) >= _LEAST_CHARS and self.has(text)
        new, last = runs - self._runs, _runs(words[-_LAST_WORDS:])
        return 4 * len(new) <= len(runs) and 2 * len(last - self._runs) <= len(last)


def goes_round(text: str) -> bool:
    """Whether a text ends with `LOOP_CHARS` of one passage over and over; takes the same time for any text."""
    end = text[-LOOP_CHARS:]
    mark = end[-64:]
    period = len(end) - len(mark) - end.rfind(mark, 0, -1)
    if len(end) < LOOP_CHARS or period > _LONGEST_PASSAGE or end[period:] != end[:-period]:
        return False
    return len(set(tokens(end[:period]))) >= _LEAST_WORDS_OF_A_PASSAGE


def _flat(text: str) -> str:
    return " ".join(text[-_LONGEST:].split())


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[at:] for at in range(_RUN)), strict=False))
