"""One position in a text with all that is known of it."""

import re
from dataclasses import dataclass
from pathlib import Path

from oracle.authoring.editing.desk import Desk, Names, names_in
from oracle.authoring.editing.grammar import Expected, step
from oracle.authoring.editing.header import file_part
from oracle.authoring.editing.lines import Lines
from oracle.authoring.editing.scanning import Spot, spot_at

_WORD_AFTER = re.compile(r"[\w-]*")


@dataclass(frozen=True, slots=True)
class Context:
    """A position in a text.

    Args:
        desk: the trees around the file.
        lines: the text.
        file: the path of the text, which need not exist.
        spot: where the position is in the structure of the text.
        expected: what belongs to the spot's path; `None` if nothing is known of it.
        names: the keys and parameters that the file may use.
    """

    desk: Desk
    lines: Lines
    file: Path
    spot: Spot
    expected: Expected | None
    names: Names


def context_at(desk: Desk, lines: Lines, file: Path, line: int, column: int) -> Context:
    """The context of a cursor; line and column count characters from 1."""
    spot, names = spot_at(lines, line, column), names_in(lines, desk.registry)
    expected: Expected | None = file_part(desk.registry, tuple(names.keys))
    for depth, part in enumerate(spot.path):
        siblings = tuple(spot.scalars[depth]) if depth < len(spot.scalars) else ()
        expected = step(expected, part, siblings, desk.registry) if expected is not None else None
    return Context(desk, lines, file, spot, expected, names)


def context_of_word(desk: Desk, lines: Lines, file: Path, line: int, column: int) -> Context:
    """The context at the end of the word that a position touches."""
    rest = _WORD_AFTER.match(lines[line], max(column - 1, 0))
    return context_at(desk, lines, file, line, rest.end() + 1 if rest else column)
