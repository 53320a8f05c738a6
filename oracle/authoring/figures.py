"""What is known of the trees that are served: what trials have last said, and how often their nodes have answered.

Rules:

- A node answers in a tick in which it was asked and has SUCCESS or FAILURE at its end.
- Runs count whose tree is what new runs use: the tree, or one that includes it, with the same text of the file.
- A node that is included more than once has the answers of all its copies.
- Only the compact ticks of the logs are read, in a thread, one count at a time, and for a bounded time. A run's log
  does not change once it has ended, so each run is read once and a few numbers of it are kept.
"""

import asyncio
import json
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import structlog

from bt_runtime import NodeDefinition, ReloadingTrees, Status, TreeDefinition, TreeState
from bt_runtime.text.data import dataclass
from oracle.authoring.editor import text_of
from oracle.runs.record.events import Ticked
from oracle.runs.record.reading import statuses_of
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.records import LogEntry
from oracle.runs.storage.run_pages import RunOfVersion
from oracle.runs.storage.store import Store
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


MOST_S: Final = 2.0
"""For one count; the runs that were not reached are counted the next time."""
_PAGE: Final = 500  # ticks that are read at a time
_MOST_KEPT: Final = 2_000  # runs whose answers are remembered

_YES: Final = 1
_NO: Final = 2
_ANSWERS: Final = {Status.SUCCESS: _YES, Status.FAILURE: _NO}

_Place = tuple[int, int, str]  # line, column and kind: of a node in its file


@dataclass(frozen=True, slots=True)
class NodeAnswers:
    """What a node has answered.

    Args:
        path: of the node, in its own tree.
        line: the line in the file, counted from 1.
        column: the column in that line, counted from 1.
        yes: ticks in which it answered SUCCESS.
        no: ticks in which it answered FAILURE.
    """

    path: str
    line: int
    column: int
    yes: int
    no: int


@dataclass(frozen=True, slots=True)
class TreeAnswers:
    """What the nodes of a tree's file have answered.

    Args:
        nodes: in the order of the file.
        runs: that were counted, the newest ones.
        is_complete: all that were wanted; otherwise there was no time for the older ones.
        since: when the oldest of them began, in seconds since the epoch; `None` if there is none.
    """

    nodes: Sequence[NodeAnswers]
    runs: int
    is_complete: bool
    since: float | None


class AnswerCounts:
    """Counts the answers of nodes.

    Args:
        store: has the runs and their logs.
        trees: the snapshot of all trees that the next runs are opened with.
        most_s: how long one count may take.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        store: Store,
        trees: ReloadingTrees,
        *,
        most_s: float = MOST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._trees = trees
        self._most_s = most_s
        self._clock = clock
        self._counting = asyncio.Lock()
        self._tallies: OrderedDict[str, _Tally] = OrderedDict()  # the oldest use first

    async def count(self, tree: TreeDefinition, *, runs: int) -> TreeAnswers:
        """What the nodes of a tree's file have answered in the latest runs.

        Args:
            tree: a tree as it is served.
            runs: the most runs that are read, the latest first.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        users = {each.sha: each for each in self._users(tree)}
        found = await self._store.runs.of_versions(users, limit=runs) if users else []
        async with self._counting:
            tallies = await self._read(found, users)
        return await asyncio.to_thread(_summed, tree, users, found, tallies)

    def _users(self, tree: TreeDefinition) -> list[TreeDefinition]:
        """The trees that are served with the same text of this tree's file in them."""
        text = tree.sources.get(tree.name)
        served = (state.tree for state in self._trees.states())
        return [each for each in served if each is not None and each.sources.get(tree.name) == text]

    async def _read(self, found: Sequence[RunOfVersion], users: Mapping[str, TreeDefinition]) -> "Mapping[str, _Tally]":
        """The tallies of the runs, newest first, as far as there is time."""
        until = self._clock() + self._most_s
        read: dict[str, _Tally] = {}
        for each in found:
            tally = self._tallies.get(each.id)
            if tally is None:
                tally = await self._tally(each, nodes=len(users[each.tree_sha].paths), until=until)
            if tally is None:
                break
            read[each.id] = self._tallies[each.id] = tally
            self._tallies.move_to_end(each.id)
        while len(self._tallies) > _MOST_KEPT:
            self._tallies.popitem(last=False)
        return read

    async def _tally(self, run: RunOfVersion, *, nodes: int, until: float) -> "_Tally | None":
        """The answers of one run; `None` if the time is up."""
        tally, statuses, seq = _Tally(nodes), bytearray(nodes), 0
        while self._clock() < until:
            events = await self._store.log.events(run.id, kinds={Ticked.kind}, after_seq=seq, limit=_PAGE)
            await asyncio.to_thread(tally.add, events, statuses)
            if len(events) < _PAGE:
                return tally
            seq = events[-1].seq
        return None


class _Tally:
    """How often each node of a run has answered, by its index."""

    __slots__ = ("no", "yes")

    def __init__(self, nodes: int) -> None:
        self.yes = array("I", bytes(4 * nodes))
        self.no = array("I", bytes(4 * nodes))

    def add(self, ticks: Collection[LogEntry], statuses: bytearray) -> None:
        """Count further ticks; `statuses` are those after the ticks before."""
        nodes = len(statuses)
        for visited, changes in statuses_of(ticks):
            for index, status in changes:
                if index < nodes:
                    statuses[index] = _ANSWERS.get(status, 0)
            for index in visited:
                if index < nodes and (answer := statuses[index]):
                    (self.yes if answer == _YES else self.no)[index] += 1


def _summed(
    tree: TreeDefinition,
    users: Mapping[str, TreeDefinition],
    found: Sequence[RunOfVersion],
    tallies: Mapping[str, _Tally],
) -> TreeAnswers:
    own = {_place(node): node for node in reversed(tree.nodes()) if _is_of(node, tree.name)}
    yes, no = dict.fromkeys(own, 0), dict.fromkeys(own, 0)
    counted = [run for run in found if run.id in tallies]
    for sha, user in users.items():
        of_version = [tallies[run.id] for run in counted if run.tree_sha == sha]
        places = [(index, _place(node)) for index, node in enumerate(user.nodes()) if _is_of(node, tree.name)]
        for index, place in places if of_version else ():
            if place in own:
                yes[place] += sum(tally.yes[index] for tally in of_version)
                no[place] += sum(tally.no[index] for tally in of_version)
    nodes = [
        NodeAnswers(node.path, node.place.line, node.place.column, yes[place], no[place])
        for place, node in reversed(own.items())
    ]
    since = min((run.created_at for run in counted), default=None)
    return TreeAnswers(nodes, len(counted), len(counted) == len(found), since)


def _is_of(node: NodeDefinition, tree: str) -> bool:
    """Whether a node stands in the file of a tree."""
    return Path(node.place.file).stem == tree


def _place(node: NodeDefinition) -> _Place:
    return node.place.line, node.place.column, node.kind
