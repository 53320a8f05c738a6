"""Writes lines to a terminal in colours, or to a file or pipe as plain text."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal, TextIO, get_args

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.segment import Segment, SegmentLines
from rich.theme import Theme

from bt_runtime.text.data import dataclass
from oracle.core.logs import is_interactive, wants_colour

ColorChoice = Literal["auto", "always", "never"]
COLOR: Final = click.option(
    "--color",
    type=click.Choice(get_args(ColorChoice)),
    default="auto",
    show_default=True,
    help="Use colours; auto: on a terminal, unless NO_COLOR is set.",
)
"""The option of commands that write in colours."""

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


@dataclass(frozen=True, slots=True)
class Page:
    """A view of a run in parts: those above the rows of its tree, the rows, those below.

    Args:
        focus: the position of the row of the node that decided; 0 if there is none.
    """

    head: Sequence[RenderableType]
    rows: Sequence[RenderableType] = ()
    foot: Sequence[RenderableType] = ()
    focus: int = 0

    @property
    def parts(self) -> list[RenderableType]:
        """All of them."""
        return [*self.head, *self.rows, *self.foot]


class Screen:
    """Where a command writes its lines.

    Args:
        color: whether in colours; `auto`: on a terminal, unless NO_COLOR is set.
        widest: how many cells a line may have, however wide the terminal is.
        stream: what is written to; standard output if it is left out.
        environ: where `COLUMNS` is looked up.
    """

    def __init__(
        self,
        color: ColorChoice = "auto",
        *,
        widest: int = 10_000,
        stream: TextIO | None = None,
        environ: Mapping[str, str] = os.environ,
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
            _environ=environ,
        )
        has_width = self.is_terminal or environ.get("COLUMNS", "").isdigit()
        self.width = min(widest, max(_NARROWEST, self._console.width) if has_width else _PIPED_WIDTH)
        self._console.width = self.width

    def write(self, parts: Iterable[RenderableType]) -> None:
        """Write the parts below each other, without the blanks that tables have at the ends of lines."""
        with self._console.capture() as painted:
            self._console.print(Group(*parts), crop=False)  # in a group, because a text alone would wrap
        text = "\n".join(line.rstrip(" ") for line in painted.get().split("\n"))
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
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

    def draw(self, live: Live, page: Page) -> None:
        """Draw the page on the other screen, over what is there: head and foot, and the rows around the decision."""
        live.update(SegmentLines(self.cropped(page, self._console.height), new_lines=True), refresh=True)

    def cropped(self, page: Page, height: int) -> list[list[Segment]]:
        """As many lines of the page as a screen of that height has."""
        head, rows, foot = (self._console.render_lines(Group(*part)) for part in (page.head, page.rows, page.foot))
        room = height - len(head) - len(foot)
        if room < 1 or not rows:
            return [*head, *rows, *foot][:height]
        focus = len(self._console.render_lines(Group(*page.rows[: page.focus])))
        start = max(0, min(focus - room // 2, len(rows) - room))
        return [*head, *rows[start : start + room], *foot]

    def restore(self) -> None:
        """Leave the other screen without taking any lock: the interrupted code may hold it."""
        if self.is_terminal:
            with suppress(OSError, ValueError):
                os.write(self.stream.fileno(), _LEAVE)
