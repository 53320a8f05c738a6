"""What ships, read once by each process: reading the trees anew takes longer than a query with them."""

from functools import cache
from pathlib import Path

from bt_runtime import Registry, ReloadingTrees, TreeDefinition, TreeLibrary, TreeNotFoundError
from bt_runtime.changes.reloading import TreeFiles, TreeState
from oracle.agent.nodes import REGISTRY
from prompts import SegmentLibrary, load_segments
from trees import FOLDER


class Trees(ReloadingTrees):
    """The trees of folders; one that ships, with all its parts as they ship, is not read again."""

    def _read(self, name: str, files: TreeFiles, before: TreeState | None) -> TreeState:
        if before is None and self.library.registry is REGISTRY:
            state = _state(name)
            if state and all(files.found.get(each) == source for each, source in state.asked.items()):
                return state
        return super()._read(name, files, before)


@cache
def _reading() -> ReloadingTrees:
    return ReloadingTrees(TreeLibrary([FOLDER], registry=REGISTRY))


@cache
def _state(name: str) -> TreeState | None:
    try:
        return _reading().state(name)
    except TreeNotFoundError:
        return None


def shipped(name: str = "oracle") -> TreeDefinition:
    """A tree that ships."""
    return _reading().load(name)


def served(*folders: Path, registry: Registry = REGISTRY) -> ReloadingTrees:
    """The trees of these folders and those that ship."""
    return Trees(TreeLibrary([*folders, FOLDER], registry=registry))


@cache
def segments() -> SegmentLibrary:
    """The segments of the prompts that ship."""
    return load_segments()
