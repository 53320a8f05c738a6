"""Reads a YAML text with syntax errors, as far as possible: without the lines that cannot be parsed.

Rules:

- Cutting a line also cuts the lines indented below it, so that no value gets another parent. Lines keep
  their numbers.
- At most `MOST_CUTS` times, of at most `MOST_CHARACTERS` and `MOST_LEVELS`: YAML's own reader takes time that grows
  with the square of the depth. A text that cannot be read then stays unread.
- The rest may refer to what was cut. So a mistake in the rest is reported only if the cut cannot have caused it:
  not on a line around a cut, not in another setting of the same mapping, and not about a name in these lines.
"""

import re
from collections.abc import Iterator
from typing import Final

import yaml

from bt_runtime.text.data import dataclass
from bt_runtime.text.mistakes import Mistake
from bt_runtime.text.yaml_reader import parse_events, syntax_mistake

MOST_CUTS: Final = 8
MOST_CHARACTERS: Final = 100_000
MOST_LEVELS: Final = 100
_QUOTED = re.compile(r"'([^']*)'")
_INCLUDING = "subtree"
_ABOUT_NAMES = frozenset({"unknown-key", "wrong-expression", "wrong-argument", "wrong-value", "unknown-parameter"})
"""Codes of mistakes about names that are declared elsewhere, in this file or in a tree that it includes."""
BELIEVED: Final = frozenset(
    {
        *("unknown-kind", "unknown-setting", "wrong-value", "duplicate-name", "unknown-key", "read-only-key"),
        *("wrong-expression", "unknown-action", "wrong-argument", "unknown-tree", "unknown-parameter"),
    }
)
"""Codes of mistakes that are about one place; what is missing elsewhere causes others."""


@dataclass(frozen=True, slots=True)
class ReadablePart:
    """A text without the lines that cannot be read.

    Args:
        text: with empty lines in their place.
        cut: the words of those lines, and of the lines near them.
        near: the numbers of the lines whose meaning may depend on what was cut.
    """

    text: str
    cut: str
    near: frozenset[int]

    def bears_out(self, mistake: Mistake) -> bool:
        """Whether a mistake in the rest would be one in the whole text as well."""
        if mistake.code not in BELIEVED or mistake.place.line in self.near:
            return False
        if mistake.code not in _ABOUT_NAMES:
            return True
        return _INCLUDING not in self.cut and not any(name in self.cut for name in _QUOTED.findall(mistake.message))


def readable_part(text: str) -> ReadablePart | None:
    """The part of a text that can be read; `None` if its syntax is right, or nothing can be made of it."""
    if len(text) > MOST_CHARACTERS:
        return None
    lines = text.split("\n")
    cut: list[str] = []
    near: set[int] = set()
    for _ in range(MOST_CUTS):
        line = _wrong_line("\n".join(lines))
        if line is None:
            return ReadablePart("\n".join(lines), "\n".join(cut), frozenset(near)) if cut else None
        if line > len(lines) or not lines[line - 1].strip():
            return None
        around = list(_near(lines, line))
        near.update(around)
        cut += [lines[number - 1] for number in around]
        for number in _block(lines, line):
            cut.append(lines[number - 1])
            lines[number - 1] = ""
    return None


def _wrong_line(text: str) -> int | None:
    """The number of the line with the first mistake of syntax; `None` if there is none.

    Of a text with too many levels it is one behind the text.
    """
    levels = 0
    try:
        for event in parse_events(text):
            levels += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if levels > MOST_LEVELS:
                return text.count("\n") + 2
    except yaml.YAMLError as error:
        return syntax_mistake(error, text, "").place.line
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_bare(line: str) -> bool:
    """Whether a line has nothing but white space or a comment."""
    return not line.strip() or line.lstrip().startswith("#")


def _block(lines: list[str], line: int) -> Iterator[int]:
    """The numbers of a line and of those that are indented more deeply below it."""
    indent = _indent(lines[line - 1])
    yield line
    for number in range(line + 1, len(lines) + 1):
        if not _is_bare(lines[number - 1]):
            if _indent(lines[number - 1]) <= indent:
                return
            yield number


def _near(lines: list[str], line: int) -> Iterator[int]:
    """The numbers of the lines that a line is below, and of those in the same mapping."""
    above, below = range(line - 1, 0, -1), range(line + 1, len(lines) + 1)
    own = indent = _indent(lines[line - 1])
    for number in above:
        if not _is_bare(lines[number - 1]) and _indent(lines[number - 1]) < indent:
            indent = _indent(lines[number - 1])
            yield number
    if lines[line - 1].lstrip().startswith("-"):
        return  # an item: the others do not depend on it
    for way in (above, below):
        for number in way:
            if not _is_bare(lines[number - 1]):
                if _indent(lines[number - 1]) < own:
                    break
                if _indent(lines[number - 1]) == own:
                    yield number
