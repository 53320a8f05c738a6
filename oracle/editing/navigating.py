"""From a name to its declaration, and to all of its uses."""

from pathlib import Path

from oracle.editing.desk import Desk
from oracle.editing.occurrences import Occurrence
from oracle.editing.symbols import Files, declaration_of, symbol_at, uses_of


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
        line: from 1.
        column: in characters from 1.
        declarations: whether declarations count.
    """
    files = Files(desk, text, file)
    symbol = symbol_at(files, line, column)
    uses = uses_of(files, symbol) if symbol is not None else []
    return tuple(each for each in uses if declarations or each.access != "declare")
