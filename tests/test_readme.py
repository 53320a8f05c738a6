"""The commands and examples of the README work as printed, and it names every command."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from oracle.cli.entry import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
COMMANDS = [line.split(" #")[0].rstrip() for block in SHELL for line in block.splitlines()]
DEMO = "uvx --from oracle-bt oracle demo"
ASK = '.venv/bin/oracle ask "'


def test_each_command_of_the_readme_is_tested():
    """The demo itself is started by its own tests."""
    asked = [line for line in COMMANDS if line.startswith(ASK)]
    others = {line for line in COMMANDS if not line.startswith(("make ", ASK))}
    assert (others, len(asked)) == ({DEMO, ".venv/bin/oracle demo"}, 1)


@pytest.mark.parametrize("target", re.findall(r"`?make ([a-z]+)`?", README))
def test_every_documented_make_target_exists(target):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_distribution_has_the_name_and_the_program_of_the_demo():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    _, _, distribution, program, command = DEMO.split()
    assert (distribution, program in project["scripts"]) == (project["name"], True)
    assert command in cli.list_commands(None)


@pytest.mark.long("indexes the repository")
def test_the_question_of_the_readme_is_answered(tmp_path):
    (line,) = [line for line in COMMANDS if line.startswith(ASK)]
    ran = subprocess.run(
        [sys.executable, "-m", "oracle", *shlex.split(line)[1:]],
        cwd=ROOT,
        env=os.environ | {"ORACLE_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0
    assert ran.stdout.startswith("I am the offline model: not a language model")
    assert "Sources:" in ran.stdout
    assert "completed" in ran.stderr


def test_the_excerpt_of_the_tree_matches_the_tree():
    (shown,) = yaml.safe_load(re.search(r"```yaml\n(.*?)```", README, re.DOTALL)[1])
    tree = yaml.safe_load((ROOT / "trees" / "oracle.yaml").read_text(encoding="utf-8"))
    (loop,) = [child for child in tree["root"]["finally"]["child"]["sequence"] if "loop" in child]
    loop["loop"].pop("name")
    *_, choice = loop["loop"]["child"]["sequence"]
    choice["selector"] = choice["selector"]["children"]
    assert shown == loop


def _ways(command):
    """The names below a command; `""`: itself."""
    if not isinstance(command, click.Group):
        return [""]
    return [*command.list_commands(None), *([""] if command.invoke_without_command else [])]


def test_the_readme_names_every_command():
    table = README.partition("\n## Documentation\n")[2]
    named = set(re.findall(r"`oracle ([a-z]+(?: [a-z]+)?)`", table))
    groups = {name: cli.get_command(None, name) for name in cli.list_commands(None)}
    there = {f"{name} {each}".strip() for name, command in groups.items() for each in _ways(command)}
    assert named == there
