"""The control that shadows run under: the plain loop, a tree as it is now, or a recorded version of a tree."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bt_runtime import Registry, TreeDefinition, TreeFileError, TreeNotFoundError
from bt_runtime.library.named import read_sources
from oracle.agent.control.choosing import DEFAULT_TREE, Chosen, Controls
from oracle.core.errors import OperatorError
from oracle.decision import AgentConfig, make_decision_tree
from oracle.runs.storage.store import Store

LOOP: Final = "loop"
_OF_LOOP: Final = "default"
"""The registered decision tree that drives the plain loop."""
_SHOWN: Final = 12
_VERSION: Final = re.compile(r"(?P<tree>[^@]+)@(?P<sha>[0-9a-f]{6,64})")


@dataclass(frozen=True, slots=True)
class ShadowControl:
    """What drives shadows.

    Args:
        name: under which their runs are recorded.
        choose: the control for a query with these limits.
        shadows: the name that a question must have given to be shadowed.
    """

    name: str
    choose: Callable[[AgentConfig], Chosen]
    shadows: str = DEFAULT_TREE


def label_of(tree: str, sha: str | None) -> str:
    """A control for people and for groups of pairs: `loop`, `oracle@3f2a91c07d55`, or a decision tree's name."""
    if sha is not None:
        return f"{tree}@{sha[:_SHOWN]}"
    return LOOP if tree in (DEFAULT_TREE, _OF_LOOP) else tree


async def shadow_control(wanted: str, *, controls: Controls, store: Store, registry: Registry) -> ShadowControl:
    """The control of that description.

    Args:
        wanted: `loop`, the name of a tree, or `tree@digest` with the first six digits or more of a version that a run
            has used.
        controls: the trees of the service.
        store: has the versions of trees that runs have used.
        registry: the kinds of nodes.

    Raises:
        OperatorError: there is no such control.
        UserError: there is no such tree.
        TreeFileError: the tree has mistakes.
        StoreUnavailableError: the database cannot be read at present.
    """
    if wanted == LOOP:
        return ShadowControl(_OF_LOOP, lambda config: make_decision_tree(_OF_LOOP, config))
    if (version := _VERSION.fullmatch(wanted)) is not None:
        tree = await _recorded(version["tree"], version["sha"], store=store, registry=registry)
        return ShadowControl(tree.name, lambda _: tree, shadows=tree.name)
    controls.choose(wanted, AgentConfig())
    return ShadowControl(wanted, lambda config: controls.choose(wanted, config))


async def _recorded(name: str, sha: str, *, store: Store, registry: Registry) -> TreeDefinition:
    version = await store.trees.find_alike(sha)
    if version is None or version.name != name:
        raise OperatorError(
            f"ORACLE_SHADOW_CONTROL names the version {sha!r} of {name!r}, which no recorded run has used, or more "
            "than one begins so; `oracle runs list` shows the versions that runs have used"
        )
    try:
        return read_sources(version.source, name=name, registry=registry)
    except (TreeFileError, TreeNotFoundError) as error:
        first = str(error).partition("\n")[0]
        raise OperatorError(f"the version {sha!r} of {name!r} cannot be read any more: {first}") from None
