"""Trees that are reloaded when their files change: new runs use a changed file at once, an invalid one is rejected.

Reading and checking a tree takes milliseconds, checking whether its files have changed takes microseconds; so a tree is
read again only when the path, size or modification time of one of its files changes. A run keeps the definition that it
began with.
"""

from dataclasses import dataclass
from pathlib import Path

import structlog

from bt_runtime.definition import TreeDefinition
from bt_runtime.errors import TreeError, TreeFileError
from bt_runtime.library import TreeLibrary

log = structlog.get_logger(__name__)

_Fingerprint = tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class _Loaded:
    definition: TreeDefinition
    files: _Fingerprint
    rejected: _Fingerprint | None = None


class ReloadingTrees:
    """A library's trees, cached until their files change."""

    def __init__(self, library: TreeLibrary) -> None:
        self.library = library
        self._loaded: dict[str, _Loaded] = {}

    def names(self) -> tuple[str, ...]:
        """The names of all trees, sorted."""
        return self.library.names()

    def is_internal(self, name: str) -> bool:
        """Whether a tree is only a part of others.

        Raises:
            TreeNotFoundError: there is no such tree.
        """
        try:
            return self.load(name).internal
        except TreeFileError:
            return self.library.is_internal(name)

    def load(self, name: str) -> TreeDefinition:
        """The tree of the present files, or the last valid one while they have mistakes.

        Raises:
            TreeNotFoundError: there is no such tree.
            TreeFileError: it has mistakes, and no valid version was loaded before.
        """
        loaded = self._loaded.get(name)
        if loaded is None:
            loaded = self._loaded[name] = _Loaded(*self._read(name))
            return loaded.definition
        files = self._fingerprint(loaded.definition)
        if files not in (loaded.files, loaded.rejected):
            self._reload(name, loaded, files)
        return loaded.definition

    def _reload(self, name: str, loaded: _Loaded, files: _Fingerprint) -> None:
        try:
            loaded.definition, loaded.files = self._read(name)
        except TreeError as error:
            loaded.rejected = files
            log.warning("tree.rejected", tree=name, serving=loaded.definition.sha, mistakes=str(error))
        else:
            loaded.rejected = None
            log.info("tree.reloaded", tree=name, sha=loaded.definition.sha)

    def _read(self, name: str) -> tuple[TreeDefinition, _Fingerprint]:
        """The tree, with the state of its files before they were read, so that a change during reading is noticed."""
        files = self._fingerprint(self.library.load(name))
        return self.library.load(name), files

    def _fingerprint(self, definition: TreeDefinition) -> _Fingerprint:
        return tuple(self._state(name) for name in (definition.name, *definition.subtrees))

    def _state(self, name: str) -> tuple[str, int, int]:
        """Path, size and modification time of the file of `name`."""
        for folder in self.library.folders:
            path = Path(folder, f"{name}.yaml")
            try:
                found = path.stat()
            except OSError:
                continue
            return str(path), found.st_size, found.st_mtime_ns
        return name, -1, 0
