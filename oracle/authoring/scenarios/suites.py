"""Scenario files and folders: found, played and judged together."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bt_runtime import TreeDefinition, TreeFileError, TreeLibrary, TreeNotFoundError
from bt_runtime.text.yaml_reader import YAML_ENDINGS
from oracle.authoring.scenarios.judging import ScenarioVerdict, judge
from oracle.authoring.scenarios.model import Scenario
from oracle.authoring.scenarios.playing import Player, PlayError
from oracle.authoring.scenarios.reading import ScenarioFileError, from_yaml, read_scenario_text
from oracle.core.errors import UserError

FOLDER_NAME: Final = "scenarios"


@dataclass(frozen=True, slots=True)
class Unplayed:
    """A scenario that could not be played.

    Args:
        problem: why.
    """

    scenario: Scenario
    problem: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """How the scenarios of a file went.

    Args:
        mistakes: of the file, as text; empty if it could be read.
        source: its text.
        duration_s: real seconds.
    """

    path: Path
    verdicts: tuple[ScenarioVerdict, ...] = ()
    unplayed: tuple[Unplayed, ...] = ()
    mistakes: str = ""
    source: str = ""
    duration_s: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every scenario is as stated."""
        return not (self.mistakes or self.unplayed or self.failures)

    @property
    def failures(self) -> tuple[ScenarioVerdict, ...]:
        """The scenarios that are not as stated."""
        return tuple(each for each in self.verdicts if not each.passed)

    def report(self) -> str:
        """A line on the file, and every failure."""
        if self.mistakes:
            return self.mistakes
        count = len(self.verdicts) + len(self.unplayed)
        failed = len(self.failures) + len(self.unplayed)
        plural = "" if count == 1 else "s"
        how = f"{failed} failed" if failed else "passed"
        lines = [f"{self.path}: {count} scenario{plural}, {how} ({self.duration_s * 1000:.0f} ms)"]
        lines += [each.report(self.source) for each in self.failures]
        lines += [f"{each.scenario.place}: {each.scenario.name}: {each.problem}" for each in self.unplayed]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object."""
        return {
            "file": str(self.path),
            "passed": self.passed,
            "mistakes": self.mistakes,
            "scenarios": [_verdict_json(each) for each in self.verdicts]
            + [_unplayed_json(each) for each in self.unplayed],
        }


@dataclass(slots=True)
class Suite:
    """Plays scenario files; trees in the folder of a file have precedence over those of the library.

    Args:
        library: where trees are found.
    """

    library: TreeLibrary
    _players: dict[Path, Player] = field(default_factory=dict)

    def run(self, path: Path) -> FileResult:
        """Play the scenarios of a file."""
        started_s = time.perf_counter()
        try:
            text = read_scenario_text(path)
            scenarios = from_yaml(text, file=str(path))
        except ScenarioFileError as error:
            return FileResult(path, mistakes=str(error))
        player = self._player(path)
        verdicts, unplayed = [], []
        for scenario in scenarios:
            try:
                verdicts.append(judge(scenario, player.play(scenario)))
            except (PlayError, UserError, TreeFileError) as error:
                unplayed.append(Unplayed(scenario, str(error)))
        return FileResult(path, tuple(verdicts), tuple(unplayed), "", text.decode(), time.perf_counter() - started_s)

    def trees(self) -> Iterator[TreeDefinition]:
        """The trees in the folders of the files that were played; those with mistakes are left out."""
        for folder, player in self._players.items():
            for path in sorted(folder.glob("*.yaml")):
                with suppress(TreeFileError, TreeNotFoundError):
                    tree = player.trees.load(path.stem)
                    if not tree.internal:
                        yield tree

    def _player(self, path: Path) -> Player:
        folder = path.parent
        beside = _normal(folder / ".." if folder.resolve().name == FOLDER_NAME else folder)
        if beside not in self._players:
            folders = [beside, *(each for each in self.library.folders if each.resolve() != beside.resolve())]
            self._players[beside] = Player(TreeLibrary(folders, registry=self.library.registry))
        return self._players[beside]


def _normal(folder: Path) -> Path:
    """The path without `..` in it; relative below the working folder."""
    whole = folder.resolve()
    return whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole


def scenario_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The scenario files among files and folders: of a folder, those in its `scenarios`, or else its own."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inner = path / FOLDER_NAME
        folder = inner if inner.is_dir() else path
        yield from sorted(each for each in folder.iterdir() if each.suffix in YAML_ENDINGS and each.is_file())


def folders_beside(folders: Sequence[Path]) -> list[Path]:
    """The folders of scenarios that belong to the trees of these folders."""
    return [folder / FOLDER_NAME for folder in folders if (folder / FOLDER_NAME).is_dir()]


def _verdict_json(verdict: ScenarioVerdict) -> dict[str, Any]:
    differences = [
        {
            "line": verdict.scenario.place_of(each.path).line,
            "path": list(each.path),
            "expected": each.stated,
            "got": each.got,
            "hint": each.hint,
        }
        for each in verdict.differences
    ]
    return {
        "name": verdict.scenario.name,
        "line": verdict.scenario.place.line,
        "tree": verdict.scenario.tree,
        "visited_trees": list(verdict.played.visited_trees),
        "passed": verdict.passed,
        "differences": differences,
    }


def _unplayed_json(unplayed: Unplayed) -> dict[str, Any]:
    scenario = unplayed.scenario
    return {"name": scenario.name, "tree": scenario.tree, "passed": False, "problem": unplayed.problem}
