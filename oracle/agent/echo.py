"""A response that begins as a repetition is held back until it says something new."""

from oracle.decision.repeated_text import SaidText

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
