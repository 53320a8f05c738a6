"""The set-ups in `docs/watching.md` and the extension in `examples/vscode` are valid, and their command exists."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_text
from oracle.agent.nodes import REGISTRY
from oracle.cli.entry import cli

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8").split("\n## Set up your editor\n")[1]
EXTENSION = ROOT / "examples" / "vscode"


def blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found


def assert_command_exists(words: list[str]) -> None:
    assert Path(words[0]).name == "oracle"
    command: click.Command | None = cli
    for word in words[1:]:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    assert command.name == "lsp"


def test_the_settings_of_vs_code_are_those_of_the_extension() -> None:
    settings = json.loads(blocks("json")[0])
    known = json.loads((EXTENSION / "package.json").read_text())["contributes"]["configuration"]["properties"]
    assert set(settings) == set(known)
    assert_command_exists(settings["oracleTrees.command"])
    assert_command_exists(known["oracleTrees.command"]["default"])


def test_the_settings_of_zed_start_the_server() -> None:
    settings = json.loads(blocks("json")[1])
    (server,) = settings["lsp"].values()
    assert_command_exists([server["binary"]["path"], *server["binary"]["arguments"]])
    assert settings["languages"]["YAML"]["language_servers"] == list(settings["lsp"])


def test_the_settings_of_neovim_start_the_server() -> None:
    (lua,) = blocks("lua")
    command = re.search(r"cmd = \{ (.*?) \}", lua)
    assert command is not None
    assert_command_exists(json.loads(f"[{command[1]}]"))
    assert len(set(re.findall(r'vim\.lsp\.(?:config|enable)\("(\w+)"', lua))) == 1
    assert lua.count("{") == lua.count("}")
    assert lua.count("(") == lua.count(")")


def test_the_extension_is_installed_under_the_name_that_the_page_says() -> None:
    package = json.loads((EXTENSION / "package.json").read_text())
    assert f"{package['name']}-{package['version']}.vsix" in PAGE


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_the_extension_is_valid_javascript() -> None:
    assert subprocess.run(["node", "--check", str(EXTENSION / "extension.js")], check=False).returncode == 0


def test_the_tree_with_a_schema_line_is_valid(tmp_path: Path) -> None:
    (tree,) = blocks("yaml")
    report = check_text(TreeLibrary((), registry=REGISTRY), tmp_path / "mine.yaml", tree)
    assert report.ok, str(report)
