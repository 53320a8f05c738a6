"""Mistakes in YAML files, reported as a compiler reports them: all mistakes of a file together.

    trees/oracle.yaml:14:15: 'llm_turn' has no setting 'timeout'
       14 |     - llm_turn: {timeout: 120}
          |                  ^
    hint: did you mean 'timeout_s'?

A warning is a mistake that does not keep a file from being used; its first line is `file:line:column: warning CODE:
message`.

The text may come from any source: control and bidirectional characters are shown as escapes, a tab as one space, and
the caret is placed by terminal columns (wide characters take two, combining ones none).
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import counted, truncated, visible

MOST_MISTAKES = 100
"""How many mistakes are reported."""

LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""What ends a line for the reader of YAML; places count by these, and not by all that Python takes for a break."""

_WINDOW_COLUMNS = 100
"""How much of a long line is shown around the caret."""
_MARGIN_COLUMNS = 40
_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text file; line and column count from 1, a column counts characters."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def place_at(text: str, index: int, *, file: str) -> Place:
    """The place of a character of a text."""
    lines = LINE_BREAK.split(text[:index])
    return Place(file, len(lines), len(lines[-1]) + 1)


def span(start: Place, end: Place | None) -> dict[str, int | None]:
    """The wire form of a part of a file: `{line, column, end_line, end_column}`."""
    end_line, end_column = (end.line, end.column) if end else (None, None)
    return {"line": start.line, "column": start.column, "end_line": end_line, "end_column": end_column}


Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of the text between two places of one file; `end` is behind the last character."""

    start: Place
    end: Place
    text: str

    def to_json(self) -> dict[str, Any]:
        """The wire form: `{line, column, end_line, end_column, text}`."""
        return {**span(self.start, self.end), "text": self.text}


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that removes a mistake.

    Args:
        title: what it does, in the imperative: "Replace 'timeout' by 'timeout_s'".
        edits: of the mistake's file; they do not overlap.
    """

    title: str
    edits: tuple[Edit, ...]

    def to_json(self) -> dict[str, Any]:
        """The wire form: `{title, edits}`."""
        return {"title": self.title, "edits": [edit.to_json() for edit in self.edits]}


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in a file.

    Args:
        place: where it is; line 1, column 1 if the file as a whole is meant.
        message: what is wrong, with the value as given.
        hint: what would be right, if that is known.
        path: the tree node it concerns; `None` outside of tree nodes.
        code: its stable name in lower case with hyphens, under which `docs/checks.md` explains it.
        severity: an error keeps the file from being used, a warning does not.
        end: behind the last character that is meant; `None` if that is not known.
        fixes: changes that remove it, the best one first.
    """

    place: Place
    message: str
    hint: str | None = None
    path: str | None = None
    code: str = "invalid"
    severity: Severity = "error"
    end: Place | None = None
    fixes: tuple[Fix, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether it keeps the file from being used."""
        return self.severity == "error"

    def to_json(self) -> dict[str, Any]:
        """The wire form: `{line, column, end_line, end_column, severity, code, message, hint, path, fixes}`."""
        return {
            **span(self.place, self.end),
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "path": self.path,
            "fixes": [fix.to_json() for fix in self.fixes],
        }


def in_order(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """The mistakes sorted by file (first mentioned first) and place, without duplicates."""
    unique: dict[tuple[Place, str], Mistake] = {}
    files: dict[str, int] = {}
    for mistake in mistakes:
        unique.setdefault((mistake.place, mistake.message), mistake)
        files.setdefault(mistake.place.file, len(files))
    return tuple(
        sorted(
            unique.values(),
            key=lambda mistake: (files[mistake.place.file], mistake.place.line, mistake.place.column),
        )
    )


def format_mistakes(mistakes: Iterable[Mistake], sources: Mapping[str, str] | None = None, *, omitted: int = 0) -> str:
    """Mistakes as text for a terminal or a log, in the order given: the first hundred, and how many more there are.

    Args:
        mistakes: the mistakes to report.
        sources: the text of each file by its name; without it the line and the caret are left out.
        omitted: how many mistakes were left out already.

    Returns:
        One block per mistake, separated by line breaks; no line break at the end.
    """
    lines = {file: LINE_BREAK.split(text.removeprefix("\ufeff")) for file, text in (sources or {}).items()}
    reported = list(mistakes)
    blocks = [_format_one(mistake, lines.get(mistake.place.file, ())) for mistake in reported[:MOST_MISTAKES]]
    more = omitted + max(0, len(reported) - MOST_MISTAKES)
    if more:
        blocks.append(f"and {counted(more, 'more mistake')}")
    return "\n".join(blocks)


def _format_one(mistake: Mistake, lines: Sequence[str]) -> str:
    place = mistake.place
    kind = "" if mistake.is_error else f"warning {mistake.code}: "
    message = truncated(visible(mistake.message), _LONGEST_MESSAGE)
    block = [f"{visible(place.file)}:{place.line}:{place.column}: {kind}{message}"]
    if 1 <= place.line <= len(lines):
        text, caret = _window(lines[place.line - 1], column=place.column)
        gutter = f"{place.line:>5}"
        block.append(f"{gutter} | {text}".rstrip())
        block.append(f"{' ' * len(gutter)} | {' ' * caret}^")
    if mistake.hint:
        block.append(f"hint: {truncated(visible(mistake.hint), _LONGEST_MESSAGE)}")
    return "\n".join(block)


def _window(line: str, *, column: int) -> tuple[str, int]:
    """The part of a line around a column, and the number of terminal columns before the caret."""
    at = min(max(column - 1, 0), len(line))
    first = 0
    if len(line) > _WINDOW_COLUMNS:
        first = max(0, min(at - _MARGIN_COLUMNS, len(line) - _WINDOW_COLUMNS))
    last = min(len(line), first + _WINDOW_COLUMNS)
    before = ("…" if first else "") + visible(line[first:at])
    after = visible(line[at:last]) + ("…" if last < len(line) else "")
    return before + after, _width(before)


def _width(text: str) -> int:
    """How many terminal columns the text takes."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
