"""Scenario files and folders: found, played and judged together, and rewritten to what happened."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Final, cast

import yaml

from bt_runtime import TreeDefinition, TreeFileError, TreeLibrary, TreeNotFoundError
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import LOADER, YAML_ENDINGS
from oracle.authoring.trials import TrialGround
from oracle.core.errors import UserError
from oracle.features.scenarios.expectations import EXPECTATIONS
from oracle.features.scenarios.files import ScenarioFileError, dump, from_yaml, read_scenario_text
from oracle.features.scenarios.judging import ScenarioVerdict, judge
from oracle.features.scenarios.model import Json, Scenario
from oracle.features.scenarios.playing import Player, PlayError

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


def try_scenarios(ground: TrialGround) -> list[dict[str, Any]]:
    """Play the scenarios beside the trees of a trial.

    Raises:
        UserError: there are none.
    """
    files = list(scenario_files([ground.folder / FOLDER_NAME]))
    if not files:
        raise UserError("there are no scenario files; see docs/testing.md", status=409)
    suite = Suite(ground.library)
    return [suite.run(file).to_json() for file in files]


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


@dataclass(frozen=True, slots=True)
class _Change:
    """A part of the text, from `start` to before `end`, and what takes its place."""

    start: int
    end: int
    text: str


def updated(text: str, verdicts: Iterable[ScenarioVerdict]) -> str:
    """The text of a scenario file with the statements that do not hold replaced by what happened.

    Only what differs is replaced, as deep inside a statement as its shape stays the same. What holds for every query
    cannot be stated, and so is not updated.

    Args:
        text: the whole text of a file without mistakes.
        verdicts: on its scenarios.
    """
    text = text.removeprefix("\ufeff")
    root = yaml.compose(text, Loader=LOADER)
    items = cast("yaml.SequenceNode", _entry(root, "scenarios")).value
    scenarios = {_entry(item, "name").value: item for item in items}
    changes: list[_Change] = []
    for verdict in verdicts:
        if verdict.passed:
            continue
        expect = _entry(scenarios[verdict.scenario.name], "expect")
        for name, stated in verdict.scenario.expect.items():
            actual = EXPECTATIONS[name].actual(stated, verdict.played)
            changes += _replaced(_entry(expect, name), stated, actual)
    for change in sorted(changes, key=lambda each: each.start, reverse=True):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def _entry(node: yaml.Node | None, name: str) -> yaml.Node:
    pairs: Sequence[tuple[yaml.Node, yaml.Node]] = cast("yaml.MappingNode", node).value
    return next(value for key, value in pairs if key.value == name)


def _replaced(node: yaml.Node, stated: Json, actual: Json) -> Iterator[_Change]:
    """The changes that make a value of the file the actual one."""
    if stated == actual:
        return
    if isinstance(node, yaml.MappingNode) and isinstance(actual, dict) and list(stated) == list(actual):
        for key, value in node.value:
            yield from _replaced(value, stated[key.value], actual[key.value])
    elif isinstance(node, yaml.SequenceNode) and isinstance(actual, list) and len(stated) == len(actual):
        for item, before, after in zip(node.value, stated, actual, strict=True):
            yield from _replaced(item, before, after)
    else:
        yield _Change(node.start_mark.index, _end(node), _written(node, actual))


def _end(node: yaml.Node) -> int:
    """Behind the last character of a value; a block ends with its last part, before the comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index) - (isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"))


def _written(node: yaml.Node, value: Json) -> str:
    """The value as YAML at the place of the node: on one line, or as a block that is indented like it."""
    is_block = isinstance(node, yaml.CollectionNode) and not node.flow_style and isinstance(value, dict | list)
    if not (is_block and value):
        return _on_one_line(value)
    column = int(node.start_mark.column)
    lines = [_on_one_line(item) for item in value] if isinstance(value, list) else _pairs(value)
    mark = "- " if isinstance(value, list) else ""
    return f"\n{' ' * column}".join(mark + line for line in lines)


def _pairs(value: dict[str, Json]) -> list[str]:
    return [f"{_on_one_line(name)}: {_on_one_line(each)}" for name, each in value.items()]


def _on_one_line(value: Json) -> str:
    """The value in flow style."""
    return dump(value, on_one_line=True)
