"""Resolves the name at a position: its declaration, all of its uses, and renaming it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from bt_runtime.language.errors import TreeFileError
from bt_runtime.language.reading.header import read_header
from bt_runtime.language.reading.nodes import LONGEST_NAME
from bt_runtime.language.registry import NAME, RESERVED
from bt_runtime.library.named import read_source
from bt_runtime.text import Edit, Place, brief, visible
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import Document, read_yaml
from oracle.core.errors import TreeAuthorError
from oracle.features.editing.desk import Desk
from oracle.features.editing.occurrences import Occurrence, occurrences
from trees import FOLDER


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name stands for.

    Args:
        sort: the sort of thing that is named.
        name: its name.
        occurrence: where it was asked for.
        tree: the file that declares the parameter or private key; for others the file at hand.
    """

    sort: Literal["key", "parameter", "tree", "node", "kind", "setting", "tool"]
    name: str
    occurrence: Occurrence
    tree: Path


class Files:
    """The tree files around one file, each read once."""

    def __init__(self, desk: Desk, text: str, file: Path) -> None:
        self.desk = desk
        self.file = file
        self._documents: dict[Path, Document] = {file: read_yaml(text, file=str(file))}
        self._found: dict[Path, list[Occurrence]] = {}

    def document(self, file: Path) -> Document:
        """A file, read as YAML; an empty one if it cannot be read."""
        if file not in self._documents:
            try:
                source = (
                    self.desk.beside(self.file).source(file.stem)
                    if self.tree(file.stem) == file
                    else read_source(file, name=file.stem)
                )
                self._documents[file] = read_yaml(source.text, file=str(file))
            except TreeFileError as error:
                self._documents[file] = Document(str(file), "", None, error.mistakes)
        return self._documents[file]

    def tree(self, name: str) -> Path | None:
        """The file of a tree that the file at hand includes."""
        if name == self.file.stem:
            return self.file
        source = self.desk.source(name, beside=self.file)
        return Path(source.file) if source is not None else None

    def names(self, file: Path) -> list[Occurrence]:
        """The names of a file."""
        if file not in self._found:
            self._found[file] = occurrences(self.document(file), self.desk.registry)
        return self._found[file]

    def declared(self, file: Path, sort: Literal["key", "parameter"]) -> frozenset[str]:
        """The keys or parameters that a file declares."""
        return frozenset(each.name for each in self.names(file) if each.sort == sort and each.access == "declare")

    def private(self, file: Path) -> frozenset[str]:
        """The keys that a file declares for itself alone."""
        header = read_header(self.document(file), registry=self.desk.registry)
        return frozenset(name for name in header.declared if header.keys[name].private)

    def included(self, file: Path) -> Iterator[Path]:
        """The files of the trees that a file includes directly; no file twice."""
        names = {each.name: None for each in self.names(file) if each.sort == "tree" and each.access == "read"}
        for name in names:
            tree = self.tree(name)
            if tree is not None and tree != file:
                yield tree

    def all(self) -> list[Path]:
        """The file at hand, then every other tree's."""
        others = (path for path in self.desk.files(beside=self.file) if path != self.file)
        return [self.file, *(path for path in others if path.stem != self.file.stem)]

    def connected(self) -> list[Path]:
        """The files that share a blackboard with the file at hand: what includes it and what that includes."""
        every = self.all()
        neighbours: dict[Path, set[Path]] = {file: set() for file in every}
        for file in every:
            for other in self.included(file):
                neighbours[file].add(other)
                neighbours.setdefault(other, set()).add(file)
        reached, waiting = {self.file}, [self.file]
        while waiting:
            for other in neighbours.get(waiting.pop(), ()):
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
        return [file for file in every if file in reached]


def symbol_at(files: Files, line: int, column: int) -> Symbol | None:
    """What the name at a position stands for; `None` if there is no name, or the file is not YAML."""
    here = Place(str(files.file), line, column)
    touching = [each for each in files.names(files.file) if _touches(each, here)]
    exact = [each for each in touching if each.is_exact]
    return _symbol(files, exact[-1]) if exact else None


def _touches(occurrence: Occurrence, here: Place) -> bool:
    start, end = occurrence.start, occurrence.end
    return start.line == here.line == end.line and start.column <= here.column <= end.column


def _symbol(files: Files, occurrence: Occurrence) -> Symbol | None:
    if occurrence.sort == "argument" or occurrence.sort == "output":  # noqa: PLR1714  mypy narrows by it
        tree = files.tree(occurrence.of) if occurrence.of else None
        named: Literal["parameter", "key"] = "parameter" if occurrence.sort == "argument" else "key"
        return Symbol(named, occurrence.name, occurrence, tree) if tree is not None else None
    if occurrence.sort == "name":
        is_parameter = occurrence.name in files.declared(files.file, "parameter")
        return Symbol("parameter" if is_parameter else "key", occurrence.name, occurrence, files.file)
    return Symbol(occurrence.sort, occurrence.name, occurrence, files.file)


def uses_of(files: Files, symbol: Symbol) -> list[Occurrence]:
    """Every place of a key, parameter, tree or node name; the file at hand comes first."""
    if symbol.sort == "node":
        return [symbol.occurrence]
    if symbol.sort == "parameter":
        inside = [
            each for each in files.names(symbol.tree) if each.name == symbol.name and each.sort in {"parameter", "name"}
        ]
        return [*inside, *_by_inclusion(files, symbol, "argument")]
    if symbol.sort == "key" and symbol.name in files.private(symbol.tree):
        return [*_key_uses(files, symbol.tree, symbol.name), *_by_inclusion(files, symbol, "output")]
    if symbol.sort == "key":
        return [each for file in _sharing(files, symbol.name) for each in _key_uses(files, file, symbol.name)]
    return [
        each
        for file in files.all()
        for each in files.names(file)
        if each.sort == symbol.sort and each.name == symbol.name
    ]


def _sharing(files: Files, name: str) -> list[Path]:
    """The files whose nodes mean the same key: connected files that do not declare the name for themselves."""
    if name in files.desk.registry.keys:
        return files.connected()
    return [
        file
        for file in files.connected()
        if name not in files.declared(file, "parameter") and name not in files.private(file)
    ]


def _key_uses(files: Files, file: Path, name: str) -> list[Occurrence]:
    is_parameter = name in files.declared(file, "parameter")
    return [
        each
        for each in files.names(file)
        if each.name == name and (each.sort == "key" or (each.sort == "name" and not is_parameter))
    ]


def _by_inclusion(files: Files, symbol: Symbol, sort: Literal["argument", "output"]) -> list[Occurrence]:
    """Where the trees that include a file name one of its parameters or private keys."""
    return [
        each
        for file in files.all()
        for each in files.names(file)
        if each.sort == sort and each.name == symbol.name and each.of and files.tree(each.of) == symbol.tree
    ]


def declaration_of(files: Files, symbol: Symbol) -> list[Occurrence]:
    """Where a key or parameter is declared, or a tree's name is written; empty for what the host declares."""
    if symbol.sort == "tree":
        tree = files.tree(symbol.name)
        names = files.names(tree) if tree is not None else []
        declared = [each for each in names if each.sort == "tree" and each.access == "declare"]
        if declared or tree is None:
            return declared[:1]
        return [Occurrence("tree", symbol.name, Place(str(tree)), Place(str(tree)))]
    uses = uses_of(files, symbol) if symbol.sort in {"key", "parameter", "node"} else []
    declared = [each for each in uses if each.access == "declare" and each.sort == symbol.sort]
    here = [each for each in declared if each.start.file == str(files.file)]
    return here[:1] or declared


def definition(desk: Desk, text: str, file: Path, *, line: int, column: int) -> tuple[Occurrence, ...]:
    """Where the name at a position is declared: the file of a tree, the line of a key or parameter.

    Empty for what the host declares, and where there is no name.
    """
    files = Files(desk, text, file)
    symbol = symbol_at(files, line, column)
    return tuple(declaration_of(files, symbol)) if symbol is not None else ()


def references(
    desk: Desk, text: str, file: Path, *, line: int, column: int, declarations: bool = True
) -> tuple[Occurrence, ...]:
    """Every place of the name at a position, in all files that mean the same by it.

    For the name of a tree those are its uses in all files of the folder; for a key, those in this tree, in the trees
    that it includes, and in those that include it.

    Args:
        desk: the trees around the file.
        text: the text of the file.
        file: its file.
        line: the line of the name, counted from 1.
        column: a character of the name, counted from 1.
        declarations: whether declarations count.
    """
    files = Files(desk, text, file)
    symbol = symbol_at(files, line, column)
    uses = uses_of(files, symbol) if symbol is not None else []
    return tuple(each for each in uses if declarations or each.access != "declare")


_NODE_NAME = re.compile(rf"[^\s/#:,\[\]{{}}'\"&*!|>%@`-][^/#:,\[\]{{}}'\"\s]{{0,{LONGEST_NAME - 1}}}")
"""A name that needs no quotes in any style of YAML."""


class RenameError(TreeAuthorError):
    """The name cannot be changed; the message says why."""


def renamed_at(desk: Desk, text: str, file: Path, *, line: int, column: int) -> Occurrence:
    """The name at a position.

    Raises:
        RenameError: there is no name there, or none that can be changed.
    """
    files = Files(desk, text, file)
    return _named_symbol(files, line, column).occurrence


def rename(desk: Desk, text: str, file: Path, *, line: int, column: int, name: str) -> tuple[Edit, ...]:
    """The changes that give a key, parameter or node another name, in this file and in those that share the name.

    Args:
        desk: the trees around the file.
        text: the text of the file.
        file: its file.
        line: the line of the name, counted from 1.
        column: a character of the name, counted from 1.
        name: the new name.

    Raises:
        RenameError: the name cannot be changed, or not to this one.
    """
    files = Files(desk, text, file)
    symbol = _named_symbol(files, line, column)
    uses = uses_of(files, symbol)
    _check_new(files, symbol, uses, name)
    _check_files(files, symbol, uses)
    return tuple(Edit(each.start, each.end, name) for each in _in_order(uses))


def _in_order(uses: list[Occurrence]) -> list[Occurrence]:
    unique = {each.start: each for each in uses}
    return sorted(unique.values(), key=lambda each: (each.start.file, each.start.line, each.start.column))


def _named_symbol(files: Files, line: int, column: int) -> Symbol:
    if files.document(files.file).root is None:
        raise RenameError("the file is not valid YAML; correct that first")
    symbol = symbol_at(files, line, column)
    if symbol is None:
        raise RenameError("there is no name here; keys, parameters and the names of nodes can be renamed")
    if symbol.sort == "tree":
        raise RenameError(f"a tree has the name of its file: rename the file {visible(symbol.name)}.yaml and its uses")
    if symbol.sort not in {"key", "parameter", "node"}:
        raise RenameError(f"{symbol.name!r} cannot be renamed; keys, parameters and the names of nodes can")
    if symbol.sort == "key" and symbol.name in files.desk.registry.keys:
        raise RenameError(f"{symbol.name!r} is a key of the host; only keys that trees declare can be renamed")
    if symbol.sort == "key" and not any(each.access == "declare" for each in uses_of(files, symbol)):
        raise RenameError(f"{symbol.name!r} is declared nowhere")
    return symbol


def _check_new(files: Files, symbol: Symbol, uses: list[Occurrence], name: str) -> None:
    if symbol.sort == "node":
        if not _NODE_NAME.fullmatch(name) or not name.isprintable():
            raise RenameError(f"{brief(name)} cannot name a node: use letters, digits, '_' and '-'")
        return
    if not NAME.fullmatch(name) or name in RESERVED:
        why = "it is a word of expressions" if name in RESERVED else "use lower-case letters, digits and '_'"
        raise RenameError(f"{brief(name)} cannot be a name here: {why}")
    if name in files.desk.registry.keys:
        raise RenameError(f"{name!r} is a key of the host already")
    for file in _affected(files, symbol, uses):
        for sort in ("key", "parameter"):
            if name in files.declared(file, sort):
                what = "key" if sort == "key" else "parameter"
                raise RenameError(f"{name!r} is a {what} already, declared in {visible(file.name)}")


def _affected(files: Files, symbol: Symbol, uses: list[Occurrence]) -> Iterator[Path]:
    """The files in which the new name must be free."""
    if symbol.sort == "parameter":
        yield symbol.tree
        return
    yield from files.connected()
    yield from (Path(each.start.file) for each in uses)


def _check_files(files: Files, symbol: Symbol, uses: list[Occurrence]) -> None:
    for each in uses:
        if not each.is_exact:
            place = f"{visible(Path(each.start.file).name)}:{each.start.line}:{each.start.column}"
            raise RenameError(f"{symbol.name!r} is written with an escape at {place}; write it plainly there first")
        if Path(each.start.file).parent == FOLDER and files.file.parent != FOLDER:
            tree = Path(each.start.file).stem
            raise RenameError(f"the shipped tree {tree!r} uses {symbol.name!r} too; copy it beside this file first")
    word = re.compile(rf"\b{re.escape(symbol.name)}\b")
    for file in files.all() if symbol.sort != "node" else ():
        document = files.document(file)
        if document.root is None and word.search(document.text):
            raise RenameError(
                f"{visible(file.name)} has {symbol.name!r} too, but is not valid YAML; correct that first"
            )
