"""The scenarios that ship: all pass on the shipped trees, and visit all of them."""

import re
from functools import cache
from pathlib import Path

import pytest

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.coverage import Coverage, total
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.suites import Suite
from trees import FOLDER

FILES = sorted((FOLDER / "scenarios").glob("*.yaml"))
IDS = re.compile(r"(012|020) (US\d-\d|FR-\d{3}(\.\d)?|SC-\d{3}|Edge-\d)|decision \d{1,2}")


@cache
def result_of(file):
    return Suite(TreeLibrary([FOLDER], registry=REGISTRY)).run(file)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_shipped_scenario_passes(file):
    result = result_of(file)
    assert result.passed, result.report()
    assert result.verdicts


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_shipped_scenario_names_what_it_shows(file):
    for scenario in read_scenario_file(file):
        assert scenario.shows, scenario.name
        assert all(IDS.fullmatch(each) for each in scenario.shows), (scenario.name, scenario.shows)
        assert "reason" in scenario.expect, scenario.name


def test_the_shipped_scenarios_visit_everything_of_the_shipped_trees():
    coverage = Coverage()
    for file in FILES:
        for verdict in result_of(file).verdicts:
            coverage.add(verdict.played)
    files = list(coverage.files())
    assert {Path(each.file).resolve() for each in files} == {path.resolve() for path in FOLDER.glob("*.yaml")}
    assert total(files) >= 95, [str(gap) for each in files for gap in each.gaps]
