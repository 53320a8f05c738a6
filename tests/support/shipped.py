"""The trees that ship, read once by each process: reading them anew takes longer than a query with them."""

from functools import cache
from pathlib import Path

from bt_runtime import ReloadingTrees, TreeDefinition, TreeLibrary
from oracle.agent.nodes import REGISTRY
from trees import FOLDER


@cache
def _read() -> ReloadingTrees:
    return ReloadingTrees(TreeLibrary([FOLDER], registry=REGISTRY))


def shipped(name: str = "oracle") -> TreeDefinition:
    """A tree that ships."""
    return _read().load(name)


def served(*folders: Path) -> ReloadingTrees:
    """The trees of these folders and those that ship; `oracle` is read again where a folder has a part of it."""
    found = ReloadingTrees(TreeLibrary([*folders, FOLDER], registry=REGISTRY))
    found._states["oracle"] = _read().state("oracle")
    return found
