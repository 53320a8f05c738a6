"""The trees of docs/people.md are right, and its scenarios play as it says."""

import re
from pathlib import Path

import pytest

from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_files
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player
from trees import FOLDER

PAGE = (Path(__file__).parents[1] / "docs" / "people.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
TREES = {re.search(r"tree: (\w+)", text)[1]: text for text in BLOCKS if text.startswith("tree:")}
SCENARIOS = [
    pytest.param(scenario, id=scenario.name)
    for text in BLOCKS
    if text.startswith("# scenarios")
    for scenario in from_yaml(text, file="people.md")
]


@pytest.fixture
def library(tmp_path):
    for name, text in TREES.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return TreeLibrary([tmp_path, FOLDER], registry=REGISTRY)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_scenarios_of_the_page_play(scenario, library):
    verdict = judge(scenario, Player(library).play(scenario))
    assert verdict.passed, verdict.report(PAGE)


@pytest.mark.parametrize("name", TREES)
def test_the_trees_of_the_page_have_no_warnings(name, library):
    report = check_files(library, [library.find(name)])
    assert (report.mistakes, report.warnings) == ((), ()), str(report)
