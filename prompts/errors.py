"""What can be wrong with prompts, by who must act.

PromptError
├── PromptFilesError   the prompt author or operator: files that cannot be used, all mistakes together
├── PromptSizeError    the prompt author or operator: what must be included does not fit
└── PromptInputError   us: `compose` was called with something that cannot be
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class PromptError(Exception):
    """Base of everything that this package raises."""


class PromptSizeError(PromptError):
    """The segments that are always included exceed the bound; the message names the sizes."""


class PromptInputError(PromptError, ValueError):
    """`compose` was given a value that it cannot use."""


@dataclass(frozen=True, slots=True)
class PromptMistake:
    """One mistake in a prompt file.

    Args:
        file: the file, as the author would open it.
        message: what is wrong, with the value as given.
        line: counted from 1; `None` when the file as a whole is meant.
        column: counted from 1; `None` when the line as a whole is meant.
        hint: what would be right; empty if the message says it.
        source_line: the text of the line, for the excerpt.
    """

    file: str
    message: str
    line: int | None = None
    column: int | None = None
    hint: str = ""
    source_line: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        rows = [f"{place}: {self.message}"]
        if self.line is not None and self.source_line is not None:
            rows += self._excerpt(self.line, self.source_line)
        if self.hint:
            rows.append(f"hint: {self.hint}")
        return "\n".join(rows)

    def _excerpt(self, line: int, source_line: str) -> list[str]:
        shown = "".join(char if char.isprintable() else "�" for char in source_line[:_EXCERPT_CHARS])
        rows = [f"{line:>5} | {shown}"]
        if self.column is not None and self.column <= len(shown) + 1:
            rows.append(" " * 5 + " | " + " " * (self.column - 1) + "^")
        return rows


_EXCERPT_CHARS = 160


class PromptFilesError(PromptError):
    """Prompt files are wrong; `mistakes` holds all of them, in the order of the files."""

    def __init__(self, mistakes: Sequence[PromptMistake]) -> None:
        super().__init__("\n".join(str(mistake) for mistake in mistakes))
        self.mistakes = tuple(mistakes)


def suggest(given: str, known: Iterable[str]) -> str:
    """The sentence that helps after a wrong name: the nearest right one, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(given.casefold(), names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(names)}"
