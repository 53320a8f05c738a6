"""Text that the model has said before, and a response that begins with it.

It is about a response that says again what the answer has already, or repeats itself. Rules:

- Words are compared without case, in runs of four, each run once; lists, tables and code share words with what stands
  before them, but few runs.
- A text repeats an earlier one if three quarters of its runs stand there, and half of those of its last 40 words: one
  that quotes and then goes on does not repeat. A text with few different runs repeats only what it is word by word.
- A text repeats itself if it ends with one passage of several words over and over.
"""

from oracle.core.search.query import fold, tokens

MOST_REPEATED_TURNS = 2
"""Consecutive responses that repeat; the first is followed by a note to the model."""

LOOP_CHARS = 2048
"""Characters of the same passage from which a response counts as repeating itself."""

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


_SAME_CHARS = 96
"""How many characters at its beginning are the same as before, word by word; beyond that it is compared whenever it has
grown by an eighth."""


class Echo:
    """Compares a response, piece by piece, with what was said before it; any chunking has the same result.

    Args:
        said: the answer so far; empty where a repetition is no lack of progress.
    """

    def __init__(self, said: str) -> None:
        self._said = SaidText(said) if said else None
        self._held = ""
        self._look_at = _SAME_CHARS if said else 0

    def feed(self, text: str) -> str:
        """Take the next piece of the visible text; returns what may be shown now."""
        if self._said is None or not self._look_at:
            return text
        self._held += text
        if not self._said.has(self._held[:_SAME_CHARS]):
            return self.release()
        while self._look_at <= len(self._held):
            if not self._said.is_repeated_by(self._held[: self._look_at]):
                return self.release()
            self._look_at += self._look_at // 8
        return ""

    def release(self) -> str:
        """Hold nothing back any more; returns what was held."""
        held, self._held, self._look_at = self._held, "", 0
        return held

    def end(self, text: str, *, is_whole: bool) -> tuple[bool, str]:
        """The response has ended: whether it repeats, and what of it is to be shown now.

        Args:
            text: all of it.
            is_whole: it is complete, and may be the last: it is shown if it differs in a few words, which may correct
                what was said before.
        """
        if self._said is None:
            return False, ""
        repeats, held = self._said.is_repeated_by(text), self.release()
        is_exact = is_whole or len(text) < _SAME_CHARS
        return repeats, "" if repeats and (not is_exact or self._said.has(text)) else held
