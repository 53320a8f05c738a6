"""Places in a text as the reader of YAML counts them: lines and columns from 1, a column counts characters."""

import re

from bt_runtime.text import Place
from bt_runtime.text.mistakes import LINE_BREAK

LARGEST_TEXT = 200_000
"""A longer text gets mistakes alone, no completion or hover: the largest trees have a tenth of these characters."""
_TOKEN = re.compile(r"""\$?\w[\w-]*|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\S""")


class Lines:
    """The lines of one text.

    Args:
        text: without a byte order mark, as places are counted.
        file: its name in places.
    """

    def __init__(self, text: str, *, file: str) -> None:
        self.text = text
        self.file = file
        breaks = [match.span() for match in LINE_BREAK.finditer(text)]
        self._starts = [0, *(end for _, end in breaks)]
        self._ends = [*(start for start, _ in breaks), len(text)]

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, line: int) -> str:
        """A line by its number from 1, without its break; empty beyond the end."""
        if not 1 <= line <= len(self._starts):
            return ""
        return self.text[self._starts[line - 1] : self._ends[line - 1]]

    def index(self, place: Place) -> int:
        """The character that a place is before; the nearest one for a place outside of the text."""
        if place.line > len(self._starts):
            return len(self.text)
        line = max(place.line, 1) - 1
        return min(self._starts[line] + max(place.column, 1) - 1, self._ends[line])

    def place(self, line: int, column: int) -> Place:
        """A place in this file."""
        return Place(self.file, line, column)

    def place_at(self, index: int) -> Place:
        """The place of a character."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= index else (low, middle)
        return Place(self.file, low + 1, index - self._starts[low] + 1)

    def between(self, start: Place, end: Place) -> str:
        """The text between two places."""
        return self.text[self.index(start) : self.index(end)]

    def token_end(self, place: Place) -> Place:
        """Behind the word or the quoted text at a place; one character further where there is none."""
        match = _TOKEN.match(self[place.line], place.column - 1)
        length = len(match[0]) if match else 1
        return Place(self.file, place.line, place.column + length)
