"""Between places, as the checker counts them, and the positions of the protocol.

A place has lines and columns from 1 and counts characters; a line ends where YAML says so. A position counts from 0, in
the code units that editor and server have agreed on (UTF-16 unless they can do better), and only a line
feed, a carriage return, or both end a line.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Final

from lsprotocol.types import Position, PositionEncodingKind, Range

from bt_runtime.text import Place
from oracle.features.editing.lines import Lines

_BREAK = re.compile(r"\r\n|\n|\r")

_UNITS: Final[Mapping[PositionEncodingKind, Callable[[str], int]]] = {
    PositionEncodingKind.Utf8: lambda character: len(character.encode("utf-8", "surrogatepass")),
    PositionEncodingKind.Utf16: lambda character: 2 if ord(character) > 0xFFFF else 1,
    PositionEncodingKind.Utf32: lambda _character: 1,
}


class Coordinates:
    """Positions in one text.

    Args:
        text: the text.
        file: its name in places.
        encoding: the code units of the positions.
    """

    def __init__(self, text: str, *, file: str, encoding: PositionEncodingKind = PositionEncodingKind.Utf16) -> None:
        self.lines = Lines(text, file=file)
        self._text = text
        self._units = _UNITS[encoding]
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        self._ends = [*(match.start() for match in _BREAK.finditer(text)), len(text)]

    def place(self, position: Position) -> Place:
        """The place of a position; the nearest one for a position outside of the text."""
        if position.line >= len(self._starts):
            return self.lines.place_at(len(self._text))
        index, units = self._starts[position.line], 0
        while index < self._ends[position.line] and units < position.character:
            units += self._units(self._text[index])
            index += 1
        return self.lines.place_at(index)

    def position(self, place: Place) -> Position:
        """The position of a place."""
        index = self.lines.index(place)
        line = bisect_right(self._starts, index) - 1
        before = self._text[self._starts[line] : index]
        return Position(line, sum(map(self._units, before)))

    def range(self, start: Place, end: Place | None = None) -> Range:
        """The range between two places."""
        return Range(self.position(start), self.position(end or start))
