"""docs/plugins.md: its examples are one module that is loaded, a tree that is checked and run, and a valid segment."""

import json
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from oracle.cli import main
from oracle.server.plugins import GROUPS
from oracle.server.wiring import plugins as wiring

TEXT = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@cache
def module_of_the_page():
    """Made once: a process registers a decision tree once."""
    made = ModuleType("acme_of_the_page")
    exec("\n".join(blocks("python")), made.__dict__)
    return made


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """The module of the page's Python, with its tree and its segment."""
    (tmp_path / "trees").mkdir()
    (tmp_path / "prompts").mkdir()
    (tmp_path / "trees" / "weather.yaml").write_text(blocks("yaml")[0])
    (tmp_path / "prompts" / "umbrellas.md").write_text(blocks("markdown")[0])
    made = module_of_the_page()
    monkeypatch.setitem(sys.modules, made.__name__, made)
    made.trees, made.prompts = tmp_path / "trees", tmp_path / "prompts"
    monkeypatch.setenv("ORACLE_PLUGINS", made.__name__)
    monkeypatch.chdir(tmp_path)
    wiring._loaded.cache_clear()
    yield made
    wiring._loaded.cache_clear()


def test_the_page_has_an_example_of_each_group_and_all_of_them_are_loaded(loaded, capfd):
    assert main(["plugins", "--json"]) == 0
    listed = json.loads(capfd.readouterr().out)["plugins"]
    assert [each["group"] for each in listed] == list(GROUPS)
    assert [name for each in listed for name in each["names"]] == [
        *("forecast", "is_raining", "weather (key)", "single_turn", "weather", "umbrellas", "responses")
    ]
    assert all(f"| `{group}` |" in TEXT for group in GROUPS)


def test_the_tree_of_the_page_has_no_mistake_and_answers(loaded, capfd):
    assert main(["trees", "check", "trees"]) == 0
    assert "warning" not in capfd.readouterr().out
    assert main(["ask", "Hello there", "--tree", "weather", "--json"]) == 0
    assert "Take an umbrella." in capfd.readouterr().out


def test_the_folders_that_the_page_names_exist():
    for folder in ("plugin_template", "deep_researcher"):
        assert (Path(__file__).parents[1] / "examples" / folder / "pyproject.toml").is_file()
