"""What the README tells a stranger to do works as printed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
COMMANDS = [line.split(" #")[0].rstrip() for block in SHELL for line in block.splitlines()]


def oracle(line, *, cwd=ROOT, **environment):
    """Run a README line that calls the console script, in this Python, without a key."""
    words = shlex.split(line.split(".venv/bin/oracle", 1)[1])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "ORACLE_"))}
    return subprocess.run(
        [sys.executable, "-m", "oracle.cli", *words],
        cwd=cwd,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("target", re.findall(r"`?make ([a-z]+)`?", README))
def test_every_make_target_that_is_named_exists(target):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(((?!http)[^)#]+)", README))))
def test_every_page_that_is_linked_exists(link):
    assert (ROOT / link).exists()


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith(".venv/bin/oracle ask")])
def test_each_question_is_answered_with_sources_and_a_reason(line):
    ran = oracle(line)
    assert ran.returncode == 0, ran.stderr
    assert "Sources:" in ran.stdout
    assert "completed" in ran.stderr


def test_editing_a_copy_of_the_trees_changes_what_happens(tmp_path):
    edited, asked = (line for line in COMMANDS if "my-trees" in line and ".venv/bin/oracle" in line)
    shutil.copytree(ROOT, tmp_path / "clone", ignore=shutil.ignore_patterns(".*", "__pycache__", "tests"))
    own = tmp_path / "clone" / "my-trees"
    own.mkdir()
    for file in (ROOT / "trees").glob("*.yaml"):
        shutil.copy(file, own)
    tree = own / "oracle.yaml"
    tree.write_text(tree.read_text(encoding="utf-8").replace("default: 30", "default: 1"), encoding="utf-8")

    checked = oracle(edited, cwd=tmp_path / "clone")
    assert checked.returncode == 0, checked.stdout
    answered = oracle(asked, cwd=tmp_path / "clone", ORACLE_TREES_DIR="my-trees")
    assert "iteration limit reached (1/1)" in answered.stdout


def test_a_mistake_reads_as_the_readme_shows_it(tmp_path):
    (shown,) = re.findall(r"```\n(my-trees/oracle\.yaml:.*?)```", README, re.DOTALL)
    own = tmp_path / "my-trees"
    own.mkdir()
    text = (ROOT / "trees" / "oracle.yaml").read_text(encoding="utf-8")
    (own / "oracle.yaml").write_text(text.replace("- llm_turn ", "- llm_turn: {timeout: 120} "), encoding="utf-8")
    ran = oracle(".venv/bin/oracle trees check my-trees/oracle.yaml", cwd=tmp_path)
    assert ran.returncode == 1
    where, *rest = (re.sub(r"\s+#.*", "", line) for line in ran.stdout.splitlines() if "subtree" not in line)
    wanted_where, *wanted = shown.splitlines()
    assert re.sub(r":\d+:\d+:", ":", where) == re.sub(r":\d+:\d+:", ":", wanted_where)
    assert [line.split("|")[-1].strip() for line in rest[:3]] == [line.split("|")[-1].strip() for line in wanted]
