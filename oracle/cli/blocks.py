"""Splits streamed Markdown into blocks: paragraphs, list items, code, tables.

Rules:

- A block is finished when no later line can belong to it; then it can be written and never drawn again.
- Nothing is dropped: the blocks, joined, are the lines of the text except blank lines between blocks.
- A list item is a block of its own, so that a long list is shown item by item.

Only the end of a block is detected here; its renderer decides what the block is. markdown-it cannot take its place: it
parses whole texts, and parsing what has come so far with each piece would take quadratic time.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

from bt_runtime.text.data import dataclass

_FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_FENCE_IN_LIST: Final = re.compile(r"\s*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_ITEM: Final = re.compile(r" {0,1}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_INTERRUPTS: Final = re.compile(r" {0,3}(?:#{1,6}(?:\s|$)|[-*+]\s|1[.)]\s)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:\s|$)")

_Kind = Literal["none", "text", "item", "fence"]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of a text.

    Args:
        text: its lines.
        is_tight: no empty line separates it from the previous block; both are items of one list.
    """

    text: str
    is_tight: bool = False


class BlockReader:
    """Splits a text that is fed in pieces."""

    def __init__(self) -> None:
        self._kind: _Kind = "none"
        self._lines: list[str] = []
        self._rest = ""
        self._fence = ""
        self._is_tight = False
        self._had_blank = False

    @property
    def pending(self) -> TextBlock | None:
        """The unfinished block; `None` if it has no text yet."""
        text = "\n".join((*self._lines, self._rest)) if self._rest else "\n".join(self._lines)
        return TextBlock(text, self._is_tight) if text.strip() else None

    def feed(self, text: str) -> list[TextBlock]:
        """Add the next piece; return the blocks that it finishes."""
        *lines, self._rest = (self._rest + text).split("\n")
        return [block for line in lines for block in self._take(line)]

    def close(self) -> list[TextBlock]:
        """End the text; return the blocks that are left."""
        finished = self.feed("\n") if self._rest else []
        return [*finished, *self._finish()]

    def _take(self, line: str) -> Iterator[TextBlock]:
        if self._fence:
            self._lines.append(line)
            marks = line.strip()
            if len(marks) >= len(self._fence) and set(marks) == {self._fence[0]}:
                self._fence = ""
                if self._kind == "fence":
                    yield from self._finish()
        elif not line.strip() and self._kind == "item":
            self._lines.append("")
            self._had_blank = True
        elif not line.strip():
            yield from self._finish()
        elif self._goes_on(line):
            self._add(line)
        else:
            was_item = self._kind == "item"
            yield from self._finish()
            self._begin(line, is_tight=was_item)
            if _HEADING.match(line):
                yield from self._finish()

    def _goes_on(self, line: str) -> bool:
        """Whether a line that is not blank belongs to the current block."""
        if self._kind == "item":
            is_indented = line.startswith(("  ", "\t"))
            return is_indented or not (self._had_blank or _ITEM.match(line) or _begins_block(line))
        return self._kind == "text" and not _begins_block(line)

    def _begin(self, line: str, *, is_tight: bool) -> None:
        fence = _FENCE.match(line)
        self._kind = "fence" if fence else "item" if _ITEM.match(line) else "text"
        self._is_tight = is_tight and self._kind == "item"
        self._fence = fence["mark"] if fence else ""
        if self._kind == "item":
            self._add(line)
        else:
            self._lines.append(line)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._had_blank = False
        if self._kind == "item" and (fence := _FENCE_IN_LIST.match(line)):
            self._fence = fence["mark"]

    def _finish(self) -> Iterator[TextBlock]:
        text, is_tight = "\n".join(self._lines).rstrip("\n"), self._is_tight
        self._kind, self._lines, self._fence, self._had_blank, self._is_tight = "none", [], "", False, False
        if text.strip():
            yield TextBlock(text, is_tight)


def _begins_block(line: str) -> bool:
    return _FENCE.match(line) is not None or _INTERRUPTS.match(line) is not None
