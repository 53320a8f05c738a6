"""The front matter of a prompt file: a small YAML mapping between two `---` lines, with the place of every entry.

The text is an operator's and may be anything. So before a value is built the events of the YAML are looked at, which
takes no recursion: aliases, anchors and tags are refused, and nesting is bounded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import yaml

MAX_CHARS: Final = 4_000
_MAX_DEPTH: Final = 4
_FENCE: Final = "---"
_ODD_LINE_BREAK: Final = re.compile("[\r\x85\u2028\u2029]")
_FIRST_LINE: Final = 2
"""The line of the file on which the YAML begins, after the opening fence."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value with its place in the file.

    Args:
        value: what YAML makes of it; for a mapping a dict of entries.
        line: of the key, from 1.
        column: of the key, from 1.
    """

    value: object
    line: int
    column: int


class FrontMatterError(Exception):
    """The front matter cannot be read; one mistake with its place. Turned into a `PromptMistake` by the caller."""

    def __init__(self, message: str, *, line: int, column: int | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint


def split_front_matter(text: str) -> tuple[str, str, int]:
    """Part a file.

    Returns:
        The YAML, the body, and the line of the file on which the body begins.

    Raises:
        FrontMatterError: there is none, or it does not end.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        hint = "begin with '---', the keys id, description, priority, and always or when, and a second '---'"
        raise FrontMatterError("the file has no front matter", line=1, hint=hint)
    for number, line in enumerate(lines[1:], start=_FIRST_LINE):
        if line.rstrip() == _FENCE:
            return "\n".join(lines[1 : number - 1]), "\n".join(lines[number:]), number + 1
    raise FrontMatterError("the front matter does not end", line=1, hint="close it with a line '---'")


def parse_front_matter(yaml_text: str) -> dict[str, Entry]:
    """Read the mapping.

    Raises:
        FrontMatterError: it is too long, no YAML, no mapping, or uses what is refused here.
    """
    if len(yaml_text) > MAX_CHARS:
        message = f"the front matter has {len(yaml_text):,} characters, at most {MAX_CHARS:,} are allowed"
        raise FrontMatterError(message, line=1)
    _refuse_odd_line_breaks(yaml_text)
    try:
        _refuse_dangers(yaml_text)
        root = yaml.compose(yaml_text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + _FIRST_LINE, mark.column + 1) if mark else (1, None)
        raise FrontMatterError(f"the front matter is no YAML: {error.problem}", line=line, column=column) from None
    except yaml.YAMLError as error:  # of the character reader, which has no mark
        raise FrontMatterError(f"the front matter is no YAML: {str(error).splitlines()[0]}", line=1) from None
    if not isinstance(root, yaml.MappingNode):
        message = "the front matter must be a mapping of keys to values"
        raise FrontMatterError(message, line=_FIRST_LINE, hint="for example: 'id: code-analysis'")
    return dict(_entries(root))


def _refuse_odd_line_breaks(yaml_text: str) -> None:
    """YAML breaks lines at these too, editors do not: its line numbers would be others than the author's."""
    found = _ODD_LINE_BREAK.search(yaml_text)
    if found:
        line = yaml_text.count("\n", 0, found.start()) + _FIRST_LINE
        column = found.start() - yaml_text.rfind("\n", 0, found.start())
        raise FrontMatterError(
            f"line break {found.group()!r} in front matter", line=line, column=column, hint="remove it"
        )


def _refuse_dangers(yaml_text: str) -> None:
    depth = 0
    for event in yaml.parse(yaml_text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise _error_at(event, f"the front matter is nested deeper than {_MAX_DEPTH} levels")
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            raise _error_at(event, "anchors and aliases are not allowed in front matter", hint="write the value out")
        if (tag := getattr(event, "tag", None)) is not None:
            raise _error_at(event, f"tags are not allowed in front matter, found {tag!r}", hint="write a plain value")


def _error_at(at: yaml.Event | yaml.Node, message: str, *, hint: str = "") -> FrontMatterError:
    line, column = _place(at)
    return FrontMatterError(message, line=line, column=column, hint=hint)


def _place(at: yaml.Event | yaml.Node) -> tuple[int, int]:
    mark = at.start_mark
    return (mark.line + _FIRST_LINE, mark.column + 1) if mark else (_FIRST_LINE, 1)


def _entries(node: yaml.MappingNode) -> Iterator[tuple[str, Entry]]:
    """The entries of a mapping, mappings inside as dicts of entries.

    YAML itself lets the last of two equal keys win, which hides a slip; here it is an error.
    """
    seen: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _error_at(key, "a key in front matter must be a word")
        if key.value in seen:
            raise _error_at(key, f"the key {key.value!r} is given twice")
        seen.add(key.value)
        line, column = _place(key)
        built = dict(_entries(value)) if isinstance(value, yaml.MappingNode) else _construct(value)
        yield key.value, Entry(built, line, column)


def _construct(node: yaml.Node) -> object:
    try:
        return yaml.constructor.SafeConstructor().construct_document(node)
    except (yaml.YAMLError, ValueError):  # e.g. 2024-13-45, which YAML takes for a date
        raise _error_at(node, "the value cannot be read", hint="put it in quotes") from None
