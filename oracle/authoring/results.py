"""What trials have last said about the trees that are served, in the memory of this process."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bt_runtime import TreeState
from oracle.authoring.editor import text_of

_MOST_KEPT: Final = 1_000  # versions whose verdict is remembered

Served = frozenset[tuple[str, str]]  # name and run version of each tree


@dataclass(frozen=True, slots=True)
class Verified:
    """The verdict of a verification; `at` in seconds since the epoch."""

    verdict: str
    at: float


@dataclass(frozen=True, slots=True)
class Tested:
    """How many scenarios reach a tree, and how many of them have passed; `at` in seconds since the epoch."""

    passed: int
    scenarios: int
    at: float


class TrialResults:
    """The last results. They hold for the versions that were tried, and are forgotten with the process.

    A verification is of one tree with its parts. Scenarios play trees as a whole, so that their result is of all trees
    together: once one of them changes, it is not known.

    Args:
        now: seconds since the epoch.
    """

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._verified: OrderedDict[str, Verified] = OrderedDict()  # by run version, the oldest first
        self._tested: tuple[Served, Mapping[str, Tested]] | None = None

    def note_verified(self, state: TreeState, report: Mapping[str, Any]) -> None:
        """Note what a verification of what is served has found."""
        if state.tree is None:
            return
        self._verified[state.tree.sha] = Verified(report["verdict"], self._now())
        self._verified.move_to_end(state.tree.sha)
        if len(self._verified) > _MOST_KEPT:
            self._verified.popitem(last=False)

    def note_tested(self, states: Sequence[TreeState], files: Iterable[Mapping[str, Any]]) -> None:
        """Note how the scenarios went with what is served.

        Args:
            states: of all trees before they were played.
            files: of scenarios, with their results.
        """
        passed = {each.name: 0 for each in states}
        reached = dict(passed)
        for scenario in (each for file in files for each in file["scenarios"]):
            for tree in {scenario["tree"], *scenario.get("visited_trees", ())} & passed.keys():
                reached[tree] += 1
                passed[tree] += scenario["passed"]
        at = self._now()
        self._tested = _served(states), {tree: Tested(passed[tree], reached[tree], at) for tree in passed}

    def verified(self, states: Iterable[TreeState]) -> Mapping[str, Verified]:
        """The last verdicts on what is served, by the names of the trees."""
        served = {state.name: state.tree.sha for state in states if state.tree is not None}
        return {name: self._verified[sha] for name, sha in served.items() if sha in self._verified}

    def tested(self, states: Sequence[TreeState]) -> Mapping[str, Tested]:
        """How the scenarios of each tree went with what is served now; empty if that is not known."""
        served, found = self._tested or (None, {})
        return found if served == _served(states) else {}


def is_served(state: TreeState, text: str) -> bool:
    """Whether a text of a tree is its present file, and what new runs use."""
    return state.error is None and text_of(state) == text


def _served(states: Iterable[TreeState]) -> Served:
    return frozenset((state.name, state.tree.sha if state.tree is not None else "") for state in states)
