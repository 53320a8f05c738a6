"""The commands and examples of the README work as printed."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from oracle.cli.entry import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GENERATE = runpy.run_path(str(ROOT / "docs" / "generate.py"))
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
COMMANDS = [line.split(" #")[0].rstrip() for block in SHELL for line in block.splitlines()]


def oracle(line, *, cwd=ROOT, **environment):
    """Run a README line that calls the console script, in this Python."""
    words = shlex.split(line.split(".venv/bin/oracle", 1)[1])
    return subprocess.run(
        [sys.executable, "-m", "oracle", *words],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("target", re.findall(r"`?make ([a-z]+)`?", README))
def test_every_documented_make_target_exists(target):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.long("starts the command line for each step")
def test_each_step_of_the_readme_works_repeatedly(tmp_path):
    steps = [line for line in COMMANDS if line.startswith((".venv/bin/oracle", "${EDITOR", "ORACLE_TREES_DIR="))]
    clone = cloned(tmp_path, edits=r"/- say: This/d; s/^\( *\)- compose_prompt.*/&\n\1- say: This is my own tree./")
    answers = []
    own_tree = next(at for at, step in enumerate(steps) if "trees init" in step)
    for first in (0, own_tree):  # what is asked before there is a tree of one's own changes nothing
        for step in steps[first:]:
            ran = shell(step, cwd=clone)
            assert ran.returncode == 0, f"{step}\n{ran.stdout}{ran.stderr}"
            if " ask " in step:
                assert "Sources:" in ran.stdout
                assert "completed" in ran.stderr
        answers.append(ran.stdout)
    assert answers[0].startswith("This is my own tree.\n\nI am the offline model")  # the edit is seen
    (text, _, sources), (again, _, sources_again) = (answer.partition("\nSources:\n") for answer in answers)
    assert text == again
    assert sources  # they stand in the order in which calls that ran side by side came back
    assert sorted(sources.splitlines()) == sorted(sources_again.splitlines())
    listed = shell("ORACLE_TREES_DIR=my-trees .venv/bin/oracle trees list", cwd=clone).stdout
    assert re.search(r"^oracle +my-trees/oracle\.yaml \(yours, in place of ", listed, re.MULTILINE)
    assert "differs from the shipped file" in shell(".venv/bin/oracle trees init my-trees", cwd=clone).stdout


def cloned(tmp_path, *, edits):
    """A copy of the project for the steps: `oracle` runs in this Python, the editor is a script.

    It has the compiled modules, since `oracle` is loaded from the copy, and not what only makes questions slower.
    """
    clone = tmp_path / "clone"
    left_out = shutil.ignore_patterns(".*", "tests", "my-trees", "web", "benchmarks", "build", "files")
    shutil.copytree(ROOT, clone, ignore=left_out)
    shutil.copy(ROOT / ".gitignore", clone)
    programs = {
        ".venv/bin/oracle": f'exec {shlex.quote(sys.executable)} -m oracle "$@"',
        "editor": f'sed -i.before \'{edits}\' "$1" && rm "$1.before"',
    }
    for name, script in programs.items():
        program = clone / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return clone


def shell(line, *, cwd):
    return subprocess.run(
        line,
        shell=True,
        cwd=cwd,
        env=os.environ | {"EDITOR": "./editor"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_folder_of_the_readme_is_ignored_by_git():
    assert "my-trees/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


@pytest.mark.long("starts a process")
def test_a_mistake_reads_as_the_readme_shows_it(tmp_path):
    (shown,) = re.findall(r"```\n(my-trees/oracle\.yaml:.*?)```", README, re.DOTALL)
    own = tmp_path / "my-trees"
    own.mkdir()
    text = (ROOT / "trees" / "oracle.yaml").read_text(encoding="utf-8")
    (own / "oracle.yaml").write_text(GENERATE["mistaken"](text), encoding="utf-8")
    ran = oracle(".venv/bin/oracle trees check my-trees/oracle.yaml", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (1, shown)


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
    named = {match[1] for match in re.finditer(r"^\| `oracle ([a-z]+(?: [a-z]+)?)", README, re.MULTILINE)}
    groups = {name: cli.get_command(None, name) for name in cli.list_commands(None)}
    there = {f"{name} {each}".strip() for name, command in groups.items() for each in _ways(command)}
    assert named == there
