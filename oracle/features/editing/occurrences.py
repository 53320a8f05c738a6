"""Finds every name in a readable tree file, with its exact place and what it names.

Names inside of expressions and texts are found at their columns in the file, whatever the style of the scalar: the
words of the value are matched with the words of the source. Where an escape hides a word the place is not exact, which
a rename must refuse.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from bt_runtime.drawing.grammar import NAME_OF_TREE, Part, file_part
from bt_runtime.language.expressions.operations import FUNCTIONS
from bt_runtime.language.expressions.syntax import LONGEST_EXPRESSION
from bt_runtime.language.kind import Kind
from bt_runtime.language.registry import RESERVED, Registry
from bt_runtime.text import Place
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import Document, Entry, YamlNode
from oracle.features.editing.grammar import (
    Expected,
    KindValue,
    NameValue,
    NodeValue,
    Role,
    SettingValue,
    setting_value,
    shorthand_value,
    step,
)
from oracle.features.editing.lines import LARGEST_TEXT, Lines

Sort = Literal["key", "parameter", "name", "argument", "output", "tree", "node", "kind", "setting", "tool"]

_WORD: Final = re.compile(r"[^\W\d]\w*")
_IN_EXPRESSION: Final = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<placeholder>\$\{[^}]*\})|(?P<dotted>\.\s*[^\W\d]\w*)|(?P<word>[^\W\d]\w*)(?P<call>\s*\()?"""
)
_IN_TEMPLATE: Final = re.compile(r"(?<!\$)\{(?P<word>[A-Za-z_]\w*)\}")
_PARAMETER: Final = re.compile(r"\$\$\{|\$\{(?P<word>[^\W\d]\w*)\}")
_ESCAPE: Final = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place.

    Args:
        sort: what it names. `name`: a word of an expression, which is a key or a parameter of the file.
        name: the name.
        start: where it begins; where its scalar begins if `is_exact` is false.
        end: behind it.
        access: whether it is declared, read or written here.
        of: for an argument and an output the tree that is included; for a setting the kind.
        is_exact: the text between the places is the name.
    """

    sort: Sort
    name: str
    start: Place
    end: Place
    access: Literal["declare", "read", "write"] = "read"
    of: str = ""
    is_exact: bool = True


def occurrences(document: Document, registry: Registry) -> list[Occurrence]:
    """All names of a file in the order of the file; none if it is not YAML, or much larger than any tree."""
    if document.root is None or len(document.text) > LARGEST_TEXT:
        return []
    finder = _Finder(Lines(document.text, file=document.file), registry)
    return list(finder.walk(document.root, file_part(registry)))


class _Finder:
    def __init__(self, lines: Lines, registry: Registry) -> None:
        self._lines = lines
        self._registry = registry
        self._tree = ""
        """The tree that the node at hand includes."""

    def walk(self, node: YamlNode, expected: Expected | None) -> Iterator[Occurrence]:
        """The names of a value and of what is in it."""
        data = node.data
        if isinstance(data, dict):
            yield from self._mapping(data, expected)
        elif isinstance(data, tuple):
            for number, item in enumerate(data):
                below = step(expected, number, (), self._registry) if expected is not None else None
                yield from self.walk(item, below)
        elif isinstance(data, str):
            yield from self._scalar(node, data, expected)

    def _mapping(self, data: dict[str, Entry], expected: Expected | None) -> Iterator[Occurrence]:
        siblings = tuple(data)
        if isinstance(expected, KindValue):
            self._tree = _tree_named(expected.kind, data)
        for name, entry in data.items():
            below = step(expected, name, siblings, self._registry) if expected is not None else None
            yield from self._key(entry, expected, below)
            yield from self.walk(entry.node, below)

    def _key(self, entry: Entry, expected: Expected | None, below: Expected | None) -> Iterator[Occurrence]:
        if isinstance(expected, Part):
            if expected.declares:
                yield self._at(entry, expected.declares, access="declare")
        elif isinstance(expected, NodeValue):
            yield self._at(entry, "kind")
        elif isinstance(expected, KindValue) and isinstance(below, SettingValue) and len(below.at) > 1:
            container = setting_value(expected.kind, str(below.at[0]))
            yield from self._mapping_key(entry, container)
        elif isinstance(expected, KindValue):
            yield self._at(entry, "setting", of=expected.kind.name)
        elif isinstance(expected, SettingValue):
            yield from self._mapping_key(entry, expected)

    def _mapping_key(self, entry: Entry, container: SettingValue | None) -> Iterator[Occurrence]:
        roles = container.key_roles if container is not None else frozenset[Role]()
        if "write-key" in roles:
            yield self._at(entry, "key", access="write")
        elif "read-key" in roles:
            yield self._at(entry, "key")
        elif "tree-outputs" in roles:
            yield self._at(entry, "output", of=self._tree)
        elif "tree-arguments" in roles:
            yield self._at(entry, "argument", of=self._tree)
        elif "action-arguments" in roles:
            yield self._at(entry, "argument")

    def _scalar(self, node: YamlNode, text: str, expected: Expected | None) -> Iterator[Occurrence]:
        if isinstance(expected, KindValue):
            expected = shorthand_value(expected.kind)
        if isinstance(expected, NodeValue):
            yield self._whole(node, "kind", text)
        elif isinstance(expected, NameValue):
            yield self._whole(node, "node", text, access="declare")
        elif expected is NAME_OF_TREE:
            yield self._whole(node, "tree", text, access="declare")
        elif isinstance(expected, SettingValue):
            yield from self._setting(node, text, expected)

    def _setting(self, node: YamlNode, text: str, setting: SettingValue) -> Iterator[Occurrence]:
        roles = setting.roles
        yield from self._words(node, text, _PARAMETER, "parameter")
        if "expression" in roles:
            if len(text) <= LONGEST_EXPRESSION:
                yield from self._words(node, text, _IN_EXPRESSION, "name")
        elif "template" in roles:
            yield from self._words(node, text, _IN_TEMPLATE, "key")
        elif "write-key" in roles:
            yield self._whole(node, "key", text, access="write")
        elif roles & {"read-key", "delivery-key"}:
            yield self._whole(node, "key", text)
        elif "tree" in roles:
            yield self._whole(node, "tree", text)
        elif "action" in roles:
            yield self._whole(node, "tool", text)

    def _words(self, node: YamlNode, text: str, pattern: re.Pattern[str], sort: Sort) -> Iterator[Occurrence]:
        """The names that a pattern finds in a scalar."""
        found = [match for match in pattern.finditer(text) if _is_name(match)]
        places = self._places(node, text) if found else {}
        for match in found:
            start = places.get(match.start("word"))
            if start is None:
                yield self._whole(node, sort, match["word"], is_exact=False)
            else:
                yield Occurrence(sort, match["word"], start, _behind(start, match["word"]))

    def _places(self, node: YamlNode, text: str) -> dict[int, Place]:
        """The place in the file of each word of a scalar; nothing if an escape hides one."""
        end = node.end or node.place
        begin = self._lines.index(node.place)
        source = self._lines.text[begin : self._lines.index(end)]
        if source.startswith('"'):
            source = _ESCAPE.sub(lambda match: " " * len(match[0]), source)
        elif source[:1] in {"|", ">"}:
            head, separator, rest = source.partition("\n")
            source = " " * len(head) + separator + rest
        written = list(_WORD.finditer(source))
        words = list(_WORD.finditer(text))
        if [word[0] for word in written] != [word[0] for word in words]:
            return {}
        return {
            word.start(): self._lines.place_at(begin + place.start())
            for word, place in zip(words, written, strict=True)
        }

    def _at(
        self,
        entry: Entry,
        sort: Sort,
        *,
        access: Literal["declare", "read", "write"] = "read",
        of: str = "",
    ) -> Occurrence:
        """An occurrence that is a key."""
        return self._token(entry.place, entry.end, sort, entry.key, access, of)

    def _whole(
        self,
        node: YamlNode,
        sort: Sort,
        name: str,
        *,
        access: Literal["declare", "read", "write"] = "read",
        is_exact: bool = True,
    ) -> Occurrence:
        """An occurrence that is a scalar."""
        found = self._token(node.place, node.end, sort, name, access, "")
        return found if is_exact else Occurrence(sort, name, found.start, found.end, access, "", is_exact=False)

    def _token(
        self,
        place: Place,
        end: Place | None,
        sort: Sort,
        name: str,
        access: Literal["declare", "read", "write"],
        of: str,
    ) -> Occurrence:
        quoted = self._lines[place.line][place.column - 1 : place.column] in {"'", '"'}
        start = Place(place.file, place.line, place.column + quoted)
        stop = _behind(start, name)
        is_exact = self._lines.between(start, stop) == name
        return Occurrence(sort, name, start, stop if is_exact else end or stop, access, of, is_exact)


def _tree_named(kind: Kind, data: Mapping[str, Entry]) -> str:
    """The tree that a node includes by its settings; empty if it includes none."""
    for name, entry in data.items():
        setting = setting_value(kind, name)
        if setting is not None and "tree" in setting.roles and isinstance(entry.node.data, str):
            return entry.node.data
    return ""


def _is_name(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    word = groups.get("word")
    if word is None or (groups.get("call") and word in FUNCTIONS):
        return False
    return word.lower() not in RESERVED


def _behind(start: Place, text: str) -> Place:
    return Place(start.file, start.line, start.column + len(text))
