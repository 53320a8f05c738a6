"""docs/plugins.md: its examples are one module that is loaded, a tree that is checked and run, and a valid segment."""

import json
import re
import sys
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import httpx2
import pytest

from oracle.cli import main
from oracle.core import features
from oracle.server.api.app import build_app
from oracle.server.plugins import GROUPS
from oracle.server.settings.reading import read_settings
from oracle.server.wiring import plugins as wiring
from oracle.server.wiring.service import open_service

TEXT = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@cache
def module_of_the_page():
    """Made once: a process registers a decision tree once."""
    made = ModuleType("acme_of_the_page")
    made.__file__ = "acme.py"
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


@pytest.fixture
def greeting(monkeypatch):
    """The package of the page's feature is installed."""
    made = module_of_the_page()
    monkeypatch.setitem(sys.modules, "acme", made)
    point = EntryPoint("greetings", "acme:GREETINGS", "oracle.features")
    assert point.value in TEXT
    monkeypatch.setattr(features, "entry_points", lambda group: [point])
    features.installed_features.cache_clear()
    wiring._loaded.cache_clear()
    yield
    features.installed_features.cache_clear()
    wiring._loaded.cache_clear()


async def test_the_feature_of_the_page_adds_a_call_a_command_and_a_kind(greeting, tmp_path, capfd):
    assert main(["greet", "Ann"]) == 0
    assert main(["--help"]) == 0
    assert main(["features"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("Hello, Ann.\n")
    assert "Greet a user." in out
    assert "Greets whoever asks." in out
    async with open_service(read_settings(data_dir=tmp_path, project_dir=tmp_path, llm="offline")) as parts:
        assert "is_polite" in parts.trees.trees.library.registry.kinds
        transport = httpx2.ASGITransport(build_app(parts))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert (await client.get("/api/greetings")).json() == ["Hello"]


async def test_a_feature_that_is_left_out_adds_nothing(greeting, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("ORACLE_FEATURES", "-greetings")
    assert main(["greet", "Ann"]) == 2
    assert "No such command 'greet'" in capfd.readouterr().err
    async with open_service(read_settings(data_dir=tmp_path, project_dir=tmp_path, llm="offline")) as parts:
        assert "is_polite" not in parts.trees.trees.library.registry.kinds
        transport = httpx2.ASGITransport(build_app(parts))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert (await client.get("/api/greetings")).status_code == 404
