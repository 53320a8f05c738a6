"""Who notices a mutant of a shipped tree: the reader, the checker, the rules, the scenarios, the verifier."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.tree_mutants.mutating import Mutant
from bt_runtime import Monitors, TreeDefinition, TreeFileError, TreeLibrary
from bt_runtime.analysis.files import warnings_of
from oracle.agent.nodes import REGISTRY
from oracle.core.errors import UserError
from oracle.features.rules.recorded import events_of
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.model import Scenario
from oracle.features.scenarios.played import Played
from oracle.features.scenarios.playing import Player, PlayError
from oracle.features.scenarios.suites import folders_beside, scenario_files
from oracle.features.verifier.verify import Scope, verify
from trees import FOLDER

ENTRY: Final = "oracle"
"""The tree that the service runs; the others are parts of it."""
NOTICERS: Final = ("reader", "checker", "rules", "scenarios", "verifier")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant.

    Args:
        by: who noticed it: all of `NOTICERS` that did, or the first one; empty if nobody did.
        why: by what it was noticed first.
    """

    mutant: Mutant
    by: tuple[str, ...] = ()
    why: str = ""


class Noticing:
    """Asks about one mutant after the other, of the trees in a folder.

    Args:
        folder: of the trees, with their scenarios in `scenarios` beside them.
        whole: ask everybody about each mutant; otherwise stop at the first who notices.
        verifies: ask the verifier as well, which takes seconds a mutant.
    """

    def __init__(self, folder: Path = FOLDER, *, whole: bool = False, verifies: bool = False) -> None:
        self._folder = folder
        self._whole = whole
        self._verifies = verifies
        self._player = Player(TreeLibrary([folder], registry=REGISTRY))
        self.scenarios = [
            scenario for path in scenario_files(folders_beside([folder])) for scenario in read_scenario_file(path)
        ]
        self._visits: list[frozenset[tuple[str, int]]] = []
        self._tree = self._player.trees.load(ENTRY)
        self._lines = {node.path: (Path(node.place.file).name, node.place.line) for node in self._tree.nodes()}
        self._known = _warnings(self._tree)

    def prepare(self) -> list[str]:
        """Play the scenarios on the trees as they are, to know which lines each visits; returns what fails."""
        failing = []
        for scenario in self.scenarios:
            played = self._player.play(scenario)
            self._visits.append(frozenset(self._lines[path] for path, count in played.visits.items() if count))
            if not judge(scenario, played).passed or _broken_rules(played):
                failing.append(scenario.name)
        return failing

    def verdict(self, mutant: Mutant) -> Verdict:
        """Who notices it."""
        found: dict[str, str] = {}
        for by, why in self._noticed(mutant):
            found.setdefault(by, why)
            if not self._whole:
                break
        return Verdict(mutant, tuple(by for by in NOTICERS if by in found), next(iter(found.values()), ""))

    def _noticed(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        with library_with(mutant, self._folder) as library:
            yield from self._noticed_in(library, mutant)

    def _noticed_in(self, library: TreeLibrary, mutant: Mutant) -> Iterator[tuple[str, str]]:
        try:
            tree = library.load(ENTRY)
        except TreeFileError as error:
            yield "reader", error.mistakes[0].message
            return
        if new := _warnings(tree) - self._known:
            yield "checker", min(new)[0]
        yield from self._played(library, mutant)
        if self._verifies:
            yield from _verified(tree)

    def _played(self, library: TreeLibrary, mutant: Mutant) -> Iterator[tuple[str, str]]:
        """The scenarios, those first that visit the changed line."""
        player = Player(library, segments=self._player.segments)
        missing = {"rules", "scenarios"}
        for scenario in self._in_order(mutant):
            for by, why in _of_scenario(player, scenario):
                if by in missing:
                    missing.discard(by)
                    yield by, why
            if not missing:
                return

    def _in_order(self, mutant: Mutant) -> Sequence[Scenario]:
        line = (mutant.file, mutant.line)
        pairs = list(zip(self.scenarios, self._visits, strict=True))
        first = [scenario for scenario, visits in pairs if line in visits]
        return [*first, *(scenario for scenario, visits in pairs if line not in visits)]


@contextmanager
def library_with(mutant: Mutant, folder: Path = FOLDER) -> Iterator[TreeLibrary]:
    """A copy of the trees with the mutant."""
    with TemporaryDirectory() as copy:
        for path in folder.glob("*.yaml"):
            text = mutant.text if path.name == mutant.file else path.read_text(encoding="utf-8")
            (Path(copy) / path.name).write_text(text, encoding="utf-8")
        yield TreeLibrary([Path(copy)], registry=REGISTRY)


def _warnings(tree: TreeDefinition) -> frozenset[tuple[str, str]]:
    """Code and path of each warning."""
    return frozenset((str(each.code), each.path or "") for each in warnings_of(tree, registry=REGISTRY))


def _of_scenario(player: Player, scenario: Scenario) -> Iterator[tuple[str, str]]:
    try:
        played = player.play(scenario)
    except (PlayError, UserError) as error:
        yield "scenarios", f"{scenario.name}: {error}"
        return
    for rule in _broken_rules(played):
        yield "rules", f"{rule} ({scenario.name})"
    if not judge(scenario, played).passed:
        yield "scenarios", scenario.name


def _broken_rules(played: Played) -> list[str]:
    """The names of the tree's rules that a run has broken."""
    events = (happening.event for happening in events_of(played.facts, played.tree.paths))
    return [rule.name for rule in Monitors(played.tree.rules).broken_by(events)]


def _verified(tree: TreeDefinition) -> Iterator[tuple[str, str]]:
    """What the verifier refutes."""
    report = verify(tree, Scope(stop_early=True))
    for result in report.results:
        if result.verdict == "refuted":
            yield "verifier", f"{result.name}: {result.problem.partition(chr(10))[0]}"
