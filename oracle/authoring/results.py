"""What trials have last said about the trees that are served."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import structlog

from bt_runtime import TreeState
from oracle.authoring.editor import text_of
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.trees import TreeTrials, TrialKind

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Verified:
    """The verdict of a verification, with its bounds.

    Args:
        verdict: `proven`, `refuted` or `not_decided`.
        at: when, in seconds since the epoch.
        turns: the most turns of a run that was explored.
        states: the number of states that were explored.
        stopped_at: what had stopped the exploration; `None` if it was complete.
    """

    verdict: str
    at: float
    turns: int
    states: int
    stopped_at: str | None

    @property
    def strength(self) -> tuple[bool, int, bool, int]:
        """What stands longest: a counterexample, whatever its bounds; then a complete exploration of more turns."""
        complete_turns = 0 if self.stopped_at else self.turns
        return self.verdict == "refuted", complete_turns, self.verdict == "proven", self.states


@dataclass(frozen=True, slots=True)
class Tested:
    """How many scenarios reach a tree, and how many of them have passed; `at` in seconds since the epoch."""

    passed: int
    scenarios: int
    at: float


class TrialResults:
    """The last results. They hold for the versions that were tried, and for the release that has tried them.

    A verification is of one tree with its parts. Scenarios play trees as a whole, so that their result is of all trees
    together: once one of them changes, it is not known.

    Args:
        trials: keeps them.
    """

    def __init__(self, trials: TreeTrials) -> None:
        self._trials = trials

    async def note_verified(self, state: TreeState, found: Mapping[str, Any]) -> None:
        """Note what a verification of what is served has found, unless a stronger verdict is known.

        Args:
            state: of the tree that was explored.
            found: the fields of `Verified`, without the time.
        """
        if state.tree is None:
            return
        known = (await self.verified([state])).get(state.name)
        if known is None or known.strength <= Verified(**found, at=known.at).strength:
            await self._keep("verified", _subject(state.tree.sha), found)

    async def note_tested(self, states: Sequence[TreeState], scenarios: Iterable[tuple[set[str], bool]]) -> None:
        """Note how the scenarios went with what is served.

        Args:
            states: of all trees before they were played.
            scenarios: the trees that each one reached, and whether it passed.
        """
        counts = {each.name: {"passed": 0, "scenarios": 0} for each in states}
        for trees, passed in scenarios:
            for tree in trees & counts.keys():
                counts[tree]["scenarios"] += 1
                counts[tree]["passed"] += passed
        await self._keep("tested", _served(states), counts)

    async def verified(self, states: Iterable[TreeState]) -> Mapping[str, Verified]:
        """The last verdicts on what is served, by the names of the trees."""
        subjects = {state.name: _subject(state.tree.sha) for state in states if state.tree is not None}
        found = await self._trials.find("verified", set(subjects.values()))
        return {
            name: Verified(**found[subject].data, at=found[subject].at)
            for name, subject in subjects.items()
            if subject in found and "turns" in found[subject].data  # verdicts were kept without their bounds before
        }

    async def tested(self, states: Sequence[TreeState]) -> Mapping[str, Tested]:
        """How the scenarios of each tree went with what is served now; empty if that is not known."""
        subject = _served(states)
        trial = (await self._trials.find("tested", [subject])).get(subject)
        return {} if trial is None else {tree: Tested(**counts, at=trial.at) for tree, counts in trial.data.items()}

    async def _keep(self, kind: TrialKind, subject: str, data: Mapping[str, Any]) -> None:
        try:
            await self._trials.keep(kind, subject, data)
        except StoreUnavailableError:
            log.warning("trial.not_kept", kind=kind)  # who has asked for it gets it all the same


def is_served(state: TreeState, text: str) -> bool:
    """Whether a text of a tree is its present file, and what new runs use."""
    return state.error is None and text_of(state) == text


def _served(states: Iterable[TreeState]) -> str:
    return _subject(*sorted((state.name, state.tree.sha if state.tree is not None else "") for state in states))


def _subject(*tried: Any) -> str:  # noqa: ANN401  JSON data
    """The digest of what was tried by this release."""
    return sha256(json.dumps([version("oracle-bt"), *tried]).encode()).hexdigest()
