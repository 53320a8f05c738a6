"""The page on scenarios: its examples are run, and every field is on it."""

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
from tests.test_docs_trees import RIGHT
from trees import FOLDER

PAGE = (Path(__file__).parents[1] / "docs" / "scenarios.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def on_page_of_trees(tmp_path_factory):
    """A player that also finds the trees of docs/trees.md."""
    folder = tmp_path_factory.mktemp("trees")
    for name, text in RIGHT.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return Player(TreeLibrary([folder, FOLDER], registry=REGISTRY))


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


def test_every_field_is_on_the_page():
    named = set(re.findall(r"`([a-z_]+)`", PAGE)) | set(re.findall(r"`([a-z_]+): ", PAGE))
    parts = {field.name for part in (Scenario, Turn, ToolScript) for field in fields_of(part)}
    fields = {
        *("about", "scenarios", "tokens"),
        *parts - {"place", "places", "usage"},
        *EXPECTATIONS,
        *get_args(Requests.form)[0].model_fields,
        *ChunksInOrder.kinds,
        *get_args(Action),
    }
    assert fields - named == {"writes"}
    assert all(f"{each}: " in PAGE for each in (*(field.name for field in fields_of(ToolAnswer)), "writes"))


def test_the_example_in_python_runs(capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "docs/scenarios.md", "exec"), {})
    assert "name: A limit of one turn" in capsys.readouterr().out
