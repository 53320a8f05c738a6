"""Reads the version of the tree that a run has used, as far as it can still be read."""

from dataclasses import dataclass
from functools import lru_cache

from bt_runtime import Registry, TreeDefinition, TreeFileError, TreeNotFoundError
from bt_runtime.library.named import read_sources
from oracle.replay.histories.model import TreeFacts
from oracle.replay.histories.nodes import stored_tree_facts, tree_facts
from oracle.runs.storage.trees import TreeVersion


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """A version of a tree.

    Args:
        facts: what is known of it; `None`: nothing.
        definition: that can be run; `None`: it cannot.
        problem: why not; empty if it can.
    """

    facts: TreeFacts | None = None
    definition: TreeDefinition | None = None
    problem: str = ""


def read_version(version: TreeVersion | None, *, registry: Registry) -> ReadVersion:
    """Read a version with the kinds of today; never raises."""
    if version is None:
        return ReadVersion(problem="its version of the tree is not in the store any more")
    try:
        return _read(version.sha, version.name, version.nodes, tuple(version.source.items()), registry)
    except TypeError as error:  # of a damaged row
        return ReadVersion(problem=f"its version of the tree cannot be read any more: {error}")


@lru_cache(maxsize=16)
def _read(
    sha: str, name: str, nodes: tuple[str, ...], source: tuple[tuple[str, str], ...], registry: Registry
) -> ReadVersion:
    """The same; kept, because most runs that are looked at have one of few versions."""
    version = TreeVersion(sha, name, nodes, dict(source))
    try:
        definition = read_sources(version.source, name=version.name, registry=registry)
        facts = tree_facts(definition, registry=registry)
    except (TreeFileError, TreeNotFoundError) as error:
        problem = str(error).partition("\n")[0]
    except Exception as error:  # noqa: BLE001  of a damaged row
        problem = type(error).__name__
    else:
        if definition.paths == version.nodes:
            return ReadVersion(facts, definition)
        problem = "it has other nodes when it is read today"
    return ReadVersion(
        stored_tree_facts(version), problem=f"its version of the tree cannot be read any more: {problem}"
    )


def definition_of(tree: TreeFacts, *, registry: Registry) -> TreeDefinition | None:
    """A version of a tree as a history has it; `None` if it cannot be read."""
    sources = {file.removesuffix(".yaml"): text for file, text in tree.files.items()}
    return read_version(
        TreeVersion(tree.version, tree.name, tuple(node.path for node in tree.nodes), sources), registry=registry
    ).definition
