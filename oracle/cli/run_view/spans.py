"""Lines of styled text with a width in terminal cells; pure data, which `painting` turns into output.

Text from outside becomes a span by `text` alone, which keeps it on one line and shows control characters as escapes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len

from bt_runtime.text import visible

Style = Literal["plain", "strong", "dim", "ok", "fail", "run", "err", "warn"]
Ground = Literal["", "head", "ok", "fail", "run", "err"]
"""What lies behind the text: the column of the tick, or the band of the node that decided."""

_LONGEST = 2_000  # characters of a text that are looked at; more never fits


class Span(NamedTuple):
    """Text of one style; it has no control characters."""

    text: str
    style: Style = "plain"
    ground: Ground = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the view."""

    spans: tuple[Span, ...] = ()

    @property
    def text(self) -> str:
        """Without styles, and without blanks at its end."""
        return "".join(span.text for span in self.spans).rstrip()

    @property
    def width(self) -> int:
        """In cells."""
        return sum(cell_len(span.text) for span in self.spans)

    def fitted(self, width: int, *, ground: Ground = "") -> "Line":
        """Exactly that wide: shortened with `…`, or filled with blanks."""
        spans = list(self.spans)
        excess = self.width - width
        if excess > 0:
            spans = _cut(spans, width)
            excess = Line(tuple(spans)).width - width
        if excess < 0:
            spans.append(Span(" " * -excess))
        if ground:
            spans = [span._replace(ground=span.ground or ground) for span in spans]
        return Line(tuple(spans))


def line(*parts: Span | str) -> Line:
    """A line of spans, and of plain text of our own."""
    return Line(tuple(part if isinstance(part, Span) else Span(part) for part in parts))


def text(value: str, style: Style = "plain") -> Span:
    """Text from outside, on one line and without control characters."""
    return Span(safe(value), style)


def safe(value: str) -> str:
    """Text from outside, on one line and without control characters."""
    return visible(" ".join(value[:_LONGEST].split()))


def shortened(value: str, width: int) -> str:
    """The text if it fits into that many cells, else its beginning and `…`."""
    if cell_len(value) <= width:
        return value
    return _beginning(value, width - 1).rstrip() + "…" if width > 0 else ""


def _cut(spans: Iterable[Span], width: int) -> list[Span]:
    """As much of them as fits, and `…`."""
    kept: list[Span] = []
    room = width - 1
    for span in spans:
        cells = cell_len(span.text)
        if cells <= room:
            kept.append(span)
            room -= cells
            continue
        kept.append(span._replace(text=_beginning(span.text, room).rstrip() + "…" if width > 0 else ""))
        break
    return kept


def wrapped(value: str, width: int) -> Iterable[str]:
    """The text in lines of at most that many cells, broken at blanks where there are any."""
    current, room = "", width
    for word in value.split():
        cells = cell_len(word)
        gap = 1 if current else 0
        if cells + gap <= room:
            current, room = f"{current} {word}" if current else word, room - cells - gap
            continue
        if current:
            yield current
        rest = word
        while cell_len(rest) > width:
            piece = _beginning(rest, width) or rest[0]
            yield piece
            rest = rest[len(piece) :]
        current, room = rest, width - cell_len(rest)
    if current:
        yield current


def _beginning(value: str, width: int) -> str:
    """As many characters as fit."""
    room = width
    for position, character in enumerate(value):
        room -= cell_len(character)
        if room < 0:
            return value[:position]
    return value
