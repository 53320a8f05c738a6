"""The trees of examples/trees are right, do what their scenarios say, and show every kind that no shipped tree uses."""

from pathlib import Path

import pytest

from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_files
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.model import Scenario
from oracle.features.scenarios.playing import Player
from tests.test_docs_control import RIGHT
from trees import FOLDER

EXAMPLES = Path(__file__).parents[1] / "examples" / "trees"
LIBRARY = TreeLibrary([EXAMPLES, FOLDER], registry=REGISTRY)
SCENARIOS = read_scenario_file(EXAMPLES / "scenarios" / "examples.yaml")
ELSEWHERE = {"py_trees", "offer_tools"}
"""Kinds with an example of their own: that of examples/plugin_template, and an edit on docs/control.md."""


def test_they_have_neither_mistakes_nor_warnings() -> None:
    report = check_files(LIBRARY, [EXAMPLES])
    assert (report.ok, report.warnings) == (True, ()), str(report)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_their_scenarios_pass(scenario: Scenario) -> None:
    verdict = judge(scenario, Player(LIBRARY).play(scenario))
    assert verdict.passed, verdict.report("")


def test_every_kind_is_used_in_a_shipped_tree_an_example_or_the_page_on_trees(tmp_path: Path) -> None:
    for name, text in RIGHT.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    library = TreeLibrary([tmp_path, EXAMPLES, FOLDER], registry=REGISTRY)
    names = ("oracle", "patient", "drafts", *(name for name, text in RIGHT.items() if "parameters:" not in text))
    used = {node.kind for name in names for node in library.load(name).nodes()}
    assert set(REGISTRY.kinds) - used == ELSEWHERE
