"""The registry of the built-in kinds and keys, and `load` for single files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bt_runtime.kinds import BUILTIN_KEYS, KIND_PLACES
from bt_runtime.language.definition import TreeDefinition
from bt_runtime.language.kind import Value
from bt_runtime.language.registry import Registry
from bt_runtime.library.named import TreeLibrary, read_source

STANDARD: Final = Registry(KIND_PLACES, BUILTIN_KEYS)
"""The built-in kinds and keys; `STANDARD.extended(kinds=…, keys=…)` adds a host's own."""


def load(
    path: str | Path, *, registry: Registry = STANDARD, arguments: Mapping[str, Value] | None = None
) -> TreeDefinition:
    """The tree of a file, with subtrees from the same folder.

    Args:
        path: of the file, which has the name of its tree.
        registry: the kinds and keys that exist.
        arguments: values for its parameters, if it has any.

    Raises:
        TreeFileError: the file, or one that it includes, cannot be read, has mistakes, or needs arguments.
    """
    file = Path(path)
    library = TreeLibrary([file.parent], registry=registry)
    return library.load_source(read_source(file, name=file.stem), arguments=arguments)
