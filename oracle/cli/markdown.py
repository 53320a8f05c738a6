"""Renders a block of Markdown for a terminal.

Rules:

- Nothing is lost: if the rendered block lacks a letter of its text, the text is shown as it was written.
- A link is shown as its text and address; no terminal hyperlink is written.
- HTML, entities, images and link definitions are shown as plain text.
- Control characters are escaped after rendering, so decoding cannot bring any to the terminal.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from markdown_it import MarkdownIt
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, TableElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from oracle.cli.text import clean

_THEME: Final = Theme(
    {
        "markdown.code": "cyan",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.link": "underline",
        "markdown.link_url": "dim",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.hr": "dim",
    }
)
_CODE_THEME: Final = "ansi_dark"
_LONGEST_CHARS: Final = 100_000
_INFO: Final = re.compile(r"^[^\S\n]*(?:[-*+][^\S\n]+|\d{1,9}[.)][^\S\n]+)?(`{3,}|~{3,})[^\n]*$", re.MULTILINE)


class MarkdownBlock:
    """Renders a block of cleaned text: all of it, or at most its last `tail` lines."""

    def __init__(self, text: str, *, tail: int | None = None) -> None:
        self._text = text
        self._tail = tail

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines, without the spaces that would fill them."""
        lines = self._rendered(console, options)
        for line in lines if self._tail is None else lines[-self._tail :]:
            yield from line
            yield Segment.line()

    def _rendered(self, console: Console, options: ConsoleOptions) -> list[list[Segment]]:
        lines: list[list[Segment]] = []
        if len(self._text) <= _LONGEST_CHARS:
            with console.use_theme(_THEME), suppress(Exception):  # the text is shown as it is if rendering fails
                lines = _lines(console, _Markdown(self._text), options)
        # Whether a letter is missing; the language of a fence does not count.
        shown = Counter(_letters(segment.text for line in lines for segment in line))
        if Counter(_letters([_INFO.sub("", self._text)])) - shown:
            lines = _lines(console, Text(self._text, overflow="fold"), options)
        return lines


class _Heading(Heading):
    """A heading aligned to the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        self.text.justify = "default"
        yield self.text


class _Code(CodeBlock):
    """A code block, indented, on the background of the terminal."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        code = str(self.text).rstrip()
        yield Syntax(
            code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 2), background_color="default"
        )


class _Table(TableElement):
    """A table no wider than its content; long words are folded, not cut."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for cell in self.header.row.cells if self.header is not None and self.header.row is not None else ():
            table.add_column(cell.content, overflow="fold")
        for row in self.body.rows if self.body is not None else ():
            table.add_row(*(cell.content for cell in row.cells))
        yield table


class _Markdown(Markdown):
    """Markdown without the syntax that hides text: HTML, entities, images, link definitions."""

    elements = Markdown.elements | {
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", code_theme=_CODE_THEME, hyperlinks=False)
        self.markup = text
        parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
        parser.disable(["entity", "image", "autolink", "reference", "html_block", "html_inline"])
        self.parsed = parser.parse(text)


def _lines(console: Console, renderable: Any, options: ConsoleOptions) -> list[list[Segment]]:  # noqa: ANN401
    rendered = console.render(renderable, options.update(height=None))
    segments = (part if part.control else Segment(clean(part.text), part.style) for part in rendered)
    lines = [_without_fill(line) for line in Segment.split_lines(segments)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def _without_fill(line: list[Segment]) -> list[Segment]:
    """The line without invisible spaces at its end."""
    kept = list(line)
    while kept and not kept[-1].text.strip(" ") and not _shows_blanks(kept[-1].style):
        kept.pop()
    if kept and not _shows_blanks(kept[-1].style):
        kept[-1] = Segment(kept[-1].text.rstrip(" "), kept[-1].style)
    return kept


def _shows_blanks(style: Style | None) -> bool:
    return style is not None and bool(style.underline or style.reverse or style.strike)


def _letters(texts: Any) -> Iterator[str]:  # noqa: ANN401  an iterable of texts
    return (character for text in texts for character in text if character.isalpha())
