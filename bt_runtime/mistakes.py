"""Mistakes in tree files, and the way they are told: like a compiler's, all of a file together.

    trees/oracle.yaml:14:15: 'llm_turn' has no setting 'timeout'
       14 |     - llm_turn: {timeout: 120}
          |                  ^
    hint: did you mean 'timeout_s'?

What is printed may come from anywhere: control and bidirectional characters are shown as escapes, a tab as one space,
and the caret counts the columns of a terminal (wide characters take two, combining ones none).
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bt_runtime.definition import Place

MOST_MISTAKES = 100
"""How many mistakes are told; nobody reads more of a file than that."""

_WINDOW_COLUMNS = 100
"""How much of a long line is shown around the caret."""
_MARGIN_COLUMNS = 40
_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong in a tree file.

    Args:
        place: where; line and column count from 1, a column counts characters.
        message: what is wrong, with the value as given.
        hint: what would be right, if that is known.
        path: the node it concerns; `None` outside of the nodes.
    """

    place: Place
    message: str
    hint: str | None = None
    path: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The wire form: `{line, column, message, hint, path}`."""
        return {
            "line": self.place.line,
            "column": self.place.column,
            "message": self.message,
            "hint": self.hint,
            "path": self.path,
        }


def in_order(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """The mistakes sorted by file (first mentioned first) and place, each told once."""
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
        mistakes: what to tell.
        sources: the text of each file by its name; without it the line and the caret are left out.
        omitted: how many there are besides.

    Returns:
        One block per mistake, separated by line breaks; no line break at the end.
    """
    lines = {file: text.removeprefix("\ufeff").splitlines() for file, text in (sources or {}).items()}
    told = list(mistakes)
    blocks = [_format_one(mistake, lines.get(mistake.place.file, ())) for mistake in told[:MOST_MISTAKES]]
    more = omitted + max(0, len(told) - MOST_MISTAKES)
    if more:
        blocks.append(f"and {more:,} more mistake{'' if more == 1 else 's'}")
    return "\n".join(blocks)


def _format_one(mistake: Mistake, lines: Iterable[str]) -> str:
    place = mistake.place
    block = [f"{visible(place.file)}:{place.line}:{place.column}: {_clipped(visible(mistake.message))}"]
    known = list(lines) if not isinstance(lines, list) else lines
    if 1 <= place.line <= len(known):
        text, caret = _window(known[place.line - 1], column=place.column)
        gutter = f"{place.line:>5}"
        block.append(f"{gutter} | {text}".rstrip())
        block.append(f"{' ' * len(gutter)} | {' ' * caret}^")
    if mistake.hint:
        block.append(f"hint: {_clipped(visible(mistake.hint))}")
    return "\n".join(block)


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


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


def visible(text: str) -> str:
    """The text on one line: a tab as a space, what a terminal would obey or hide as an escape."""
    if text.isprintable():
        return text
    return "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character == "\t" or (character.isspace() and character not in "\n\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"):
        return " "
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _width(text: str) -> int:
    """How many terminal columns the text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
