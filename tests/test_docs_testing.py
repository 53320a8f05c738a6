"""The part of docs/testing.md on scenarios: its examples are run, and every field is in the reference."""

import re
from dataclasses import fields as fields_of
from pathlib import Path
from typing import get_args

import pytest

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.expectations import EXPECTATIONS, ChunksInOrder, Requests
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.model import Action, Scenario, ToolAnswer, ToolScript, Turn
from oracle.features.scenarios.playing import Player
from tests.oracle.features.scenarios.playing import player
from tests.test_docs_control import RIGHT
from trees import FOLDER

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "internals" / "testing.md").read_text(encoding="utf-8")
EXAMPLE_TREES = ROOT / "examples" / "trees"
EXAMPLES = re.findall(r"^```yaml\n((?:[^`]*\n)?scenarios:\n.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def on_page_of_trees(tmp_path_factory):
    """A player that also finds the trees of docs/control.md and of examples/trees."""
    folder = tmp_path_factory.mktemp("trees")
    for name, text in RIGHT.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return Player(TreeLibrary([folder, EXAMPLE_TREES, FOLDER], registry=REGISTRY))


def verdicts(text, player):
    return [judge(scenario, player.play(scenario)) for scenario in from_yaml(text, file="docs.yaml")]


@pytest.mark.parametrize("text", [each for each in EXAMPLES if not each.startswith("# fails")])
def test_every_example_passes(text, on_page_of_trees):
    for verdict in verdicts(text, on_page_of_trees):
        assert verdict.passed, verdict.report(text)


def test_the_example_that_fails_reports_what_the_page_shows():
    (text,) = [each for each in EXAMPLES if each.startswith("# fails\n")]
    (verdict,) = verdicts(text, player())
    shown = re.search(r"^```text\n(docs.yaml.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    assert verdict.report(text) == shown.rstrip("\n")


def test_every_field_is_in_the_reference():
    named = set(re.findall(r"`([a-z_]+)`", REFERENCE))
    parts = {field.name for part in (Scenario, Turn, ToolScript, ToolAnswer) for field in fields_of(part)}
    fields = {
        *("about", "scenarios", "tokens"),
        *parts - {"place", "places", "usage"},
        *EXPECTATIONS,
        *get_args(Requests.form)[0].model_fields,
        *ChunksInOrder.kinds,
        *get_args(Action),
    }
    assert fields - named == set()
