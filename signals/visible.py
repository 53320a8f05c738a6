"""The visible text: shown at once, except for white space that may be dropped with a signal at the end."""

from .markup import WHITE

GAP_CHARS = 4096
"""The maximum of white space around a signal at the end that is held back and dropped."""


class VisibleText:
    """Collects the visible text of one response.

    White space is held back from the first line break after a word on, all of it at the start and after a block.
    It is shown as soon as a word follows. If a block came in between and the response ends, it is dropped: it is the
    blank lines around a block at the end.
    """

    __slots__ = ("_after_block", "_gap", "append", "settled", "shown")

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.append = self.shown.append  # for text that is known to end in a word; the stream's fast path
        self.settled = False  # nothing is held, and the current line has a word
        self._gap = ""
        self._after_block = False

    @property
    def held_chars(self) -> int:
        """How much white space is held back."""
        return len(self._gap)

    def show(self, text: str) -> str:
        """Add decided text, not empty; return what may be shown now."""
        if self.settled and text[-1] > " ":
            self.append(text)
            return text
        words = text.rstrip(WHITE)
        if words or self.settled:
            line_end = len(text) - len(text[len(words) :].lstrip(" \t"))
            shown, gap = self._gap + text[:line_end], text[line_end:]
            self.settled = not gap
            if words:
                self._after_block = False
        else:
            shown, gap = "", self._gap + text
        if len(gap) > GAP_CHARS:
            shown += gap[:-GAP_CHARS]
            gap = gap[-GAP_CHARS:]
        self._gap = gap
        if shown:
            self.append(shown)
        return shown

    def skip_block(self) -> None:
        """Note that a signal block was here."""
        self.settled, self._after_block = False, True

    def end(self) -> None:
        """End the response: release what is held, or drop it if it follows or surrounds a block."""
        if self._gap and not self._after_block:
            self.append(self._gap)
        self._gap = ""
