"""Writes lines to a terminal in colours, or to a file or pipe as plain text."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal, TextIO

from rich.console import Console
from rich.style import Style as RichStyle
from rich.text import Text

from oracle.cli.run_view.spans import Ground, Line, Style
from oracle.logs import is_interactive, wants_colour

ColorChoice = Literal["auto", "always", "never"]

_NARROWEST: Final = 80
_PIPED_WIDTH: Final = 120

Palette = tuple[Mapping[Style, str], Mapping[Ground, str]]

# From the console's tokens. Where the background is not known, the tones are those that can be read on both, and
# nothing is put behind text.
_DARK: Palette = (
    {
        "plain": "#bcbcc7",
        "strong": "bold #ededf1",
        "dim": "#7d7d8a",
        "ok": "#4fd3a9",
        "fail": "#ffa06b",
        "run": "#4d8af5",
        "err": "bold #ff7d95",
        "warn": "#f3c552",
    },
    {"": "", "head": "on #2f2f39", "ok": "on #10312a", "fail": "on #3a2113", "run": "on #17284a", "err": "on #40141f"},
)
_LIGHT: Palette = (
    {
        "plain": "#44444f",
        "strong": "bold #17171c",
        "dim": "#656572",
        "ok": "#0a7357",
        "fail": "#a8450f",
        "run": "#1d5fd1",
        "err": "bold #bd1139",
        "warn": "#7a5200",
    },
    {"": "", "head": "on #e9e9ed", "ok": "on #def3ec", "fail": "on #fcebdf", "run": "on #dfeafe", "err": "on #fde6ec"},
)
_EITHER: Palette = (
    {
        "plain": "",
        "strong": "bold",
        "dim": "dim",
        "ok": "#16a07c",
        "fail": "#d5671f",
        "run": "#2f6fe6",
        "err": "bold #d81b47",
        "warn": "#b88000",
    },
    dict.fromkeys(("", "head", "ok", "fail", "run", "err"), ""),
)

_ASCII = str.maketrans(
    {
        "✓": "+",
        "✗": "x",
        "━": "=",
        "╸": "-",
        "·": ".",
        "◆": "!",
        "▸": ">",
        "◂": "<",
        "▼": "v",
        "▲": "^",
        "▪": "*",
        "█": "#",
        "▄": "#",
        "│": "|",
        "…": "~",
        "→": ">",
        "“": '"',
        "”": '"',
    }
)
"""For streams that cannot have the marks themselves; each has one cell, so that nothing moves."""


_HOME, _ERASE_TO_RIGHT, _ERASE_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
_LEAVE = b"\x1b[?1049l\x1b[?25h"


class Screen:
    """Where a command writes its lines.

    Args:
        color: whether in colours; `auto`: on a terminal, unless NO_COLOR is set.
        stream: by default standard output.
        environ: the environment.
    """

    def __init__(
        self, color: ColorChoice = "auto", *, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.stream: Any = sys.stdout if stream is None else stream
        self.is_terminal = is_interactive(self.stream)
        has_colour = color == "always" or (color == "auto" and self.is_terminal and wants_colour())
        self.console = Console(
            file=self.stream,
            highlight=False,
            markup=False,
            emoji=False,
            force_terminal=True if has_colour else None,
            color_system=("truecolor" if color == "always" and not self.is_terminal else "auto")
            if has_colour
            else None,
        )
        self._has_colour = has_colour
        self._palette = _palette(environ)
        self._styles: dict[tuple[Style, Ground], RichStyle] = {}
        self.width = self._width(environ)

    @property
    def height(self) -> int:
        """Of the terminal, in lines."""
        return self.console.height

    def write(self, lines: Iterable[Line]) -> None:
        """Write the lines."""
        for each in lines:
            self.stream.write(f"{self._painted(each)}\n")
        self.stream.flush()

    @contextmanager
    def alternate(self) -> Iterator[None]:
        """Draw on the terminal's other screen; what was on the first one is there again afterwards."""
        with self.console.screen(hide_cursor=True):
            yield

    def draw(self, lines: Iterable[Line]) -> None:
        """Draw the lines on the other screen, over what is there; no more of them than its height."""
        frame = f"{_ERASE_TO_RIGHT}\n".join(map(self._painted, lines))
        self.stream.write(f"{_HOME}{frame}{_ERASE_BELOW}")  # in one piece, so that nothing flickers
        self.stream.flush()

    def restore(self) -> None:
        """Leave the other screen without taking any lock: the interrupted code may hold it."""
        if self.is_terminal:
            with suppress(OSError, ValueError):
                os.write(self.stream.fileno(), _LEAVE)

    def _painted(self, each: Line) -> str:
        """The line as the stream takes it."""
        if not self._has_colour:
            return self._encodable(each.text)
        parts = [(self._encodable(span.text), self._style(span.style, span.ground)) for span in each.spans]
        with self.console.capture() as painted:
            self.console.print(Text.assemble(*parts, end=""), soft_wrap=True, end="")
        return painted.get()

    def _width(self, environ: Mapping[str, str]) -> int:
        if self.is_terminal or environ.get("COLUMNS", "").isdigit():
            return max(_NARROWEST, self.console.width)
        return _PIPED_WIDTH

    def _style(self, style: Style, ground: Ground) -> RichStyle:
        found = self._styles.get((style, ground))
        if found is None:
            ink, grounds = self._palette
            found = RichStyle.parse(f"{ink[style]} {grounds[ground]}".strip() or "none")
            self._styles[style, ground] = found
        return found

    def _encodable(self, text: str) -> str:
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        try:
            text.encode(encoding)
        except (UnicodeEncodeError, LookupError):
            return text.translate(_ASCII)
        return text


def _palette(environ: Mapping[str, str]) -> Palette:
    """The tones for the background of the terminal, if that says which it has (`COLORFGBG`)."""
    ground = environ.get("COLORFGBG", "").rpartition(";")[2]
    if not ground.isdigit():
        return _EITHER
    return _LIGHT if ground in ("7", "15") else _DARK
