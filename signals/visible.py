"""The visible text on its way out: shown at once, but for white space that may have to go with a signal at the end."""

import re

from .markup import WHITE

_LINE_BREAK = re.compile(r"[\r\n]")

GAP_CHARS = 4096
"""At most so much white space around a signal at the end is held back and dropped."""


class VisibleText:
    """Collects the visible text of one response.

    White space is held back from the first line break after a word on, all of it at the start and after a block.
    It is shown as soon as a word follows. If a block has come in between and the response ends, it is dropped: these
    are the blank lines around a block at the end (decision 17).
    """

    __slots__ = ("_after_block", "_gap", "_hold_all", "append", "shown")

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.append = self.shown.append  # for text that is known to end in a word; the stream's fast path
        self._gap = ""
        self._hold_all = True
        self._after_block = False

    @property
    def held_chars(self) -> int:
        """How much white space is held back."""
        return len(self._gap)

    @property
    def settled(self) -> bool:
        """Nothing is held, and the current line has a word."""
        return not self._gap and not self._hold_all

    def show(self, text: str) -> None:
        """Add decided text."""
        if not text:
            return
        words = len(text) if text[-1] > " " else len(text.rstrip(WHITE))
        if words:
            if self._gap:
                self.append(self._gap)
                self._gap = ""
            self._hold_all = self._after_block = False
        if self._gap or self._hold_all:
            self._hold(text)
            return
        held_from = words if words == len(text) else _line_break(text, words)
        if held_from:
            self.append(text[:held_from])
        if held_from < len(text):
            self._hold(text[held_from:])

    def skip_block(self) -> None:
        """A signal block stood here."""
        self._hold_all = self._after_block = True

    def end(self) -> None:
        """The response is over: release what is held, unless a block has made it the end's blank lines."""
        if self._gap and not self._after_block:
            self.append(self._gap)
        self._gap = ""

    def _hold(self, white: str) -> None:
        gap = self._gap + white
        if len(gap) > GAP_CHARS:
            self.append(gap[:-GAP_CHARS])
            gap = gap[-GAP_CHARS:]
        self._gap = gap


def _line_break(text: str, start: int) -> int:
    """The first line break from `start` on, else the end."""
    found = _LINE_BREAK.search(text, start)
    return found.start() if found else len(text)
