"""Renames a blackboard key, a parameter or a node in all files that use the name."""

import re
from collections.abc import Iterator
from pathlib import Path

from bt_runtime.language.reading.nodes import LONGEST_NAME
from bt_runtime.language.registry import NAME, RESERVED
from bt_runtime.text import Edit, brief, visible
from oracle.authoring.editing.desk import Desk
from oracle.authoring.editing.occurrences import Occurrence
from oracle.authoring.editing.symbols import Files, Symbol, symbol_at, uses_of
from oracle.core.errors import TreeAuthorError
from trees import FOLDER

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
    return _symbol(files, line, column).occurrence


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
    symbol = _symbol(files, line, column)
    uses = uses_of(files, symbol)
    _check_new(files, symbol, uses, name)
    _check_files(files, symbol, uses)
    return tuple(Edit(each.start, each.end, name) for each in _in_order(uses))


def _in_order(uses: list[Occurrence]) -> list[Occurrence]:
    unique = {each.start: each for each in uses}
    return sorted(unique.values(), key=lambda each: (each.start.file, each.start.line, each.start.column))


def _symbol(files: Files, line: int, column: int) -> Symbol:
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
