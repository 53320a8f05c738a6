"""Trees as commands name them: by NAME, or by a FILE."""

import os
from pathlib import Path

from bt_runtime import TreeDefinition, TreeLibrary
from bt_runtime.library.named import read_source
from bt_runtime.text.yaml_reader import YAML_ENDINGS
from oracle.cli.errors import CommandError


def named_tree(library: TreeLibrary, name: str, *, samples: bool = False) -> TreeDefinition:
    """The tree of that name or, if the name looks like a path, of that file.

    Subtrees of a file are searched in its own folder first, then in the library.

    Args:
        library: where names are searched.
        name: the name or path, exactly as the user wrote it.
        samples: give parameters without a default sample values; otherwise such a tree is a mistake.

    Raises:
        CommandError: it is a folder.
        TreeNotFoundError: there is no tree of that name.
        TreeFileError: it has mistakes, or its file cannot be read.
    """
    if os.sep not in name and not name.endswith(YAML_ENDINGS):
        return library.load_source(library.source(name), samples=samples)
    path = Path(name)
    if path.is_dir():
        raise CommandError(f"{name!r} is a folder; name a tree, or one tree file")
    return library.beside(path.parent).load_source(read_source(path, name=path.stem), samples=samples)
