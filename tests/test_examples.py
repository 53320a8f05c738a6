"""The packages in `examples` are installed in a fresh environment, and found there by their entry points."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PATIENCE_S = 120

pytestmark = pytest.mark.long("starts each example as a process")


def run(*words, cwd, code=0):
    """Run a program without settings of ours; standard output."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "ORACLE_", "PYTHON"))
    }
    ran = subprocess.run(
        [*map(str, words)], cwd=cwd, env=kept, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout + (ran.stderr if code else "")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """An environment with copies of both packages; Oracle and what it needs are borrowed from this one."""
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=ROOT)
    python = folder / "venv" / "bin" / "python"
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=ROOT).strip())
    # Oracle is installed here as editable, by a path file that a borrowed folder does not pass on.
    (own / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    for name in ("plugin_template", "deep_researcher"):
        copy = shutil.copytree(EXAMPLES / name, folder / name)
        offline = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index")
        run(sys.executable, "-m", "pip", "--python", python, "install", *offline, copy, cwd=folder)
    (folder / "project").mkdir()
    (folder / "project" / "login.py").write_text('"""How users log in: with a password."""\n')
    return SimpleNamespace(oracle=(python, "-m", "oracle"), folder=folder / "project", installed=own)


def test_the_command_lists_what_both_packages_add(fresh):
    listed = run(*fresh.oracle, "plugins", cwd=fresh.folder).splitlines()
    assert listed == [
        "oracle.tools  my-plugin 0.1.0: opening_hours",
        "oracle.kinds  my-plugin 0.1.0: is_about_offices, my_plugin.kinds.CountVisits, visits (key)",
        "oracle.kinds  oracle-deep-researcher 1.0: collect",
        "oracle.decision_trees  my-plugin 0.1.0: brief",
        "oracle.trees  my-plugin 0.1.0: my_tree",
        "oracle.trees  oracle-deep-researcher 1.0: deep_researcher, researcher",
        "oracle.prompts  my-plugin 0.1.0: tone",
    ]


def test_their_trees_are_valid_and_their_scenarios_pass(fresh):
    folders = [fresh.installed / name / "trees" for name in ("my_plugin", "deep_researcher")]
    checked = run(*fresh.oracle, "trees", "check", *folders, cwd=fresh.folder)
    assert "my_tree.yaml: OK" in checked
    assert "deep_researcher.yaml: OK" in checked
    tested = run(*fresh.oracle, "trees", "test", *folders, cwd=fresh.folder)
    assert "my_tree.yaml: 2 scenarios, passed" in tested
    assert "deep_researcher.yaml: 5 scenarios, passed" in tested


def test_a_question_is_answered_with_the_tree_tool_and_kind_of_the_template(fresh):
    asked = ("ask", "When is the office in Lima open?", "--tree", "my_tree", "--json")
    chunks = [json.loads(line) for line in run(*fresh.oracle, *asked, cwd=fresh.folder).splitlines()]
    assert chunks[-1]["termination_reason"] == "completed"
    assert next(chunk["tool_call"]["name"] for chunk in chunks if chunk["type"] == "tool_call") == "opening_hours"
    assert any("open from 8 to 16." in chunk.get("content", "") for chunk in chunks)


def test_a_question_is_answered_by_the_researchers(fresh):
    asked = ("ask", "How do users log in?", "--tree", "deep_researcher", "--json")
    chunks = [json.loads(line) for line in run(*fresh.oracle, *asked, cwd=fresh.folder).splitlines()]
    assert chunks[-1]["turns"] == 4
    assert "search_code" in [chunk["tool_call"]["name"] for chunk in chunks if chunk["type"] == "tool_call"]


def test_a_package_that_breaks_later_stops_every_command_with_its_name(fresh):
    tools = fresh.installed / "my_plugin" / "tools.py"
    text = tools.read_text()
    tools.write_text("raise RuntimeError('the licence has expired')\n")
    try:
        said = run(*fresh.oracle, "ask", "Hello", cwd=fresh.folder, code=1)
    finally:
        tools.write_text(text)
    assert said == (
        "Error: oracle.tools: my_plugin (my-plugin 0.1.0) cannot be loaded: RuntimeError: the licence has expired\n"
    )
