"""Writes lines to a terminal in colours, or to a file or pipe as plain text."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text
from rich.theme import Theme

from oracle.core.logs.configuring import is_interactive, wants_colour

ColorChoice = Literal["auto", "always", "never"]

_NARROWEST: Final = 80
_PIPED_WIDTH: Final = 120
_LEAVE: Final = b"\x1b[?1049l\x1b[?25h"
_THEME: Final = Theme(
    {
        "strong": "bold",
        "dim": "dim",
        "ok": "#16a07c",
        "fail": "#d5671f",
        "run": "#2f6fe6",
        "err": "bold #d81b47",
        "warn": "#b88000",
    }
)
"""Tones that can be read on a light and on a dark background."""
_ASCII: Final = str.maketrans("✓✗━╸·◆▸◂▼▲▪█▄│…→“”", '+x=-.!><v^*##|~>""')
"""For streams that cannot have the marks themselves; each has one cell, so that nothing moves."""


class Screen:
    """Where a command writes its lines.

    Args:
        color: whether in colours; `auto`: on a terminal, unless NO_COLOR is set.
        stream: what is written to; standard output if it is left out.
        environ: where `COLUMNS` is looked up.
    """

    def __init__(
        self, color: ColorChoice = "auto", *, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.stream: Any = sys.stdout if stream is None else stream
        self.is_terminal = is_interactive(self.stream)
        has_colour = color == "always" or (color == "auto" and self.is_terminal and wants_colour())
        system: Literal["auto", "truecolor"] = "auto" if self.is_terminal else "truecolor"
        self._console = Console(
            file=self.stream,
            theme=_THEME,
            highlight=False,
            markup=False,
            emoji=False,
            force_terminal=True if has_colour else None,
            color_system=system if has_colour else None,
        )
        has_width = self.is_terminal or environ.get("COLUMNS", "").isdigit()
        self.width = max(_NARROWEST, self._console.width) if has_width else _PIPED_WIDTH

    @property
    def height(self) -> int:
        """Of the terminal, in lines."""
        return self._console.height

    def write(self, lines: Iterable[Text]) -> None:
        """Write the lines."""
        with self._console.capture() as painted:
            for line in lines:
                line.rstrip()
                self._console.print(line, soft_wrap=True)
        text, encoding = painted.get(), getattr(self.stream, "encoding", None) or "utf-8"
        try:
            text.encode(encoding)
        except (UnicodeEncodeError, LookupError):
            text = text.translate(_ASCII).encode("ascii", "replace").decode()
        self.stream.write(text)
        self.stream.flush()

    @contextmanager
    def alternate(self) -> Iterator[Live]:
        """Draw on the terminal's other screen; what was on the first one is there again afterwards."""
        with Live(
            console=self._console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        ) as live:
            yield live

    def draw(self, live: Live, lines: Iterable[Text]) -> None:
        """Draw the lines on the other screen, over what is there; no more of them than its height."""
        live.update(Group(*lines), refresh=True)

    def restore(self) -> None:
        """Leave the other screen without taking any lock: the interrupted code may hold it."""
        if self.is_terminal:
            with suppress(OSError, ValueError):
                os.write(self.stream.fileno(), _LEAVE)
