"""The context of editing: the trees around a file, kinds, keys and tools; and one position in a text."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import codes_of
from bt_runtime.drawing.grammar import file_part
from bt_runtime.language.errors import TreeFileError, TreeNotFoundError
from bt_runtime.language.kind import KEY_TYPES, Key, KeyType
from bt_runtime.language.reading.header import Header, read_header
from bt_runtime.language.reading.loading import TreeSource
from bt_runtime.language.registry import Registry
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import read_yaml
from oracle.features.editing.grammar import Expected, step
from oracle.features.editing.lines import Lines
from oracle.features.editing.scanning import Spot, declarations, spot_at
from oracle.llm.protocol import ToolDefinition
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError
from oracle.server.wiring.agent import build_tools, tree_library
from oracle.tools import ToolRegistry, ToolSetupError


@dataclass(frozen=True, slots=True)
class Desk:
    """Where trees are edited.

    Args:
        library: the trees that files are checked with; its `texts` are those that are not saved yet.
        tools: what `action` can call, by name; only those have descriptions.
        codes: the codes of warnings, which can be silenced, each with its meaning.
    """

    library: TreeLibrary
    tools: Mapping[str, ToolDefinition] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)

    @property
    def registry(self) -> Registry:
        """The kinds and the host's keys."""
        return self.library.registry

    def beside(self, file: Path) -> TreeLibrary:
        """The library as the tree of a file sees it: its own folder comes first."""
        return self.library.beside(file.parent)

    def source(self, name: str, *, beside: Path) -> TreeSource | None:
        """The text of a tree that a file includes; `None` if it cannot be read."""
        try:
            return self.beside(beside).source(name)
        except (TreeFileError, TreeNotFoundError):
            return None

    def header(self, name: str, *, beside: Path) -> Header | None:
        """The header of a tree that a file includes; `None` if its file cannot be read."""
        source = self.source(name, beside=beside)
        if source is None:
            return None
        return read_header(read_yaml(source.text, file=source.file), registry=self.registry)

    def files(self, *, beside: Path) -> Iterator[Path]:
        """The file of every tree, a file's own folder first; no name twice."""
        library = self.beside(beside)
        for name in library.names():
            yield library.find(name)


@dataclass(frozen=True, slots=True)
class Names:
    """The names that the nodes of one file may use.

    Args:
        keys: the host's blackboard keys, and those that the file declares.
        parameters: the parameters that the file declares.
        declared: the names among `keys` that the file declares.
    """

    keys: Mapping[str, Key]
    parameters: Mapping[str, Key]
    declared: frozenset[str]

    def values(self, name: str) -> tuple[str, ...]:
        """The texts that a key can have, without the empty one; none if they are not known."""
        key = self.keys.get(name)
        return tuple(value for value in (key.values if key else None) or () if isinstance(value, str) and value)


def names_in(lines: Lines, registry: Registry) -> Names:
    """The names of a file, as far as it is written."""
    fields: dict[tuple[str, str], dict[str, str]] = {}
    for written in declarations(lines):
        section, name, *rest = map(str, written.path[:3])
        values = fields.setdefault((section, name), {})
        if rest:
            values[rest[0]] = written.value
        elif written.value:
            values["type"] = written.value
    keys = {name: _key(name, values) for (section, name), values in fields.items() if section == "blackboard"}
    parameters = {name: _key(name, values) for (section, name), values in fields.items() if section == "parameters"}
    declared = frozenset(keys)
    for name, key in keys.items():
        known = registry.keys.get(name)
        if known is not None:
            keys[name] = replace(known, default=key.default, description=key.description or known.description)
    return Names({**registry.keys, **keys}, parameters, declared)


def _key(name: str, values: Mapping[str, str]) -> Key:
    written = values.get("type", "")
    key_type: KeyType = next((each for each in KEY_TYPES if each == written), "any")
    is_delivered, is_private = values.get("from") == "delivery", values.get("private") == "true"
    description = values.get("description", "")
    return Key(name, key_type, values.get("default"), description, deliverable=is_delivered, private=is_private)


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


def editing_desk(settings: Settings, library: TreeLibrary | None = None) -> Desk:
    """The desk over the operator's trees and tools.

    Args:
        settings: the operator's.
        library: the trees; `None`: those of the settings.

    Raises:
        SettingsError: the operator's folder of trees is not a folder.
    """
    tools: ToolRegistry | None = None
    with suppress(ToolSetupError, SettingsError):  # they are reported where the tools are made
        tools = build_tools(settings, has_web_search=False)
    offered = [tool.name for tool in tools.tools if not tool.is_server_side] if tools is not None else []
    definitions = tools.definitions(offered) if tools is not None else ()
    library = tree_library(settings, tools) if library is None else library
    codes = {name: code.summary for name, code in codes_of(library.registry).items() if code.severity == "warning"}
    return Desk(library, {tool.name: tool for tool in definitions}, codes)
