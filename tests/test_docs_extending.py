"""docs/extending.md: its files are written and its commands done, its Python runs, its feature is installed."""

import ast
import re
import shlex
import subprocess
import sys
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import httpx2
import pytest

from oracle.cli import main
from oracle.core import features
from oracle.features.mcp_client.servers import read_servers
from oracle.features.verifier.parts import STANDARD_TOOLS
from oracle.server.api.app import build_app
from oracle.server.plugins import GROUPS
from oracle.server.settings.reading import read_settings
from oracle.server.wiring import plugins as wiring
from oracle.server.wiring.service import open_service

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split("^## ", TEXT, flags=re.MULTILINE)}
KIND = SECTIONS["A node kind, from an empty file"]


def blocks(language, section=TEXT):
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", section, re.DOTALL | re.MULTILINE)
    return [dedent(text) for _, text in found]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the four files of the page, where its commands are done."""
    for text in (*blocks("python", KIND), *blocks("yaml", KIND)):
        if name := re.match(r"# (\S+)\n", text):
            (tmp_path / name[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORACLE_LLM", "offline")
    (exported, *commands) = blocks("sh", KIND)[0].splitlines()
    for pair in shlex.split(exported)[1:]:
        monkeypatch.setenv(*pair.split("="))
    return commands


def done(line):
    program, *arguments = shlex.split(line, comments=True)
    command = [sys.executable, "-m", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.long("runs the commands of the page")
def test_the_node_kind_is_loaded_used_and_tested_by_the_files_and_commands_of_the_page(files):
    for line in files:
        ran = done(line)
        assert ran.returncode == 0, ran.stderr or ran.stdout
        if line != (shown := line.partition("  # ")[2]) and shown:
            assert shown in ran.stdout
    assert ran.stdout == "Please ask in fewer words.\n"


@pytest.mark.long("runs the tests of the page")
def test_the_action_gets_the_date_from_a_scenario_and_a_test(tmp_path, monkeypatch):
    section = SECTIONS["An action and a decorator"]
    for text in (*blocks("python", section), *blocks("yaml", section)):
        file = tmp_path / re.match(r"# (\S+)\n", text)[1]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, value in (("ORACLE_PLUGINS", "my_dates"), ("PYTHONPATH", "."), ("ORACLE_LLM", "offline")):
        monkeypatch.setenv(name, value)
    for line in ("oracle trees check trees", "oracle trees test trees", "pytest test_my_dates.py"):
        ran = done(line)
        assert ran.returncode == 0, ran.stderr or ran.stdout
    monkeypatch.setenv("ORACLE_TREES_DIR", "trees")
    ran = done("oracle ask --tree deadline Now?")  # with the real date
    assert re.fullmatch(r"-?\d+ days are left\.\n", ran.stdout), ran.stderr


MISTAKES = {
    "my_kinds.py": {
        "kinds = [IsLongQuestion]": ("", "it has none of the attributes tools, kinds, "),
        "def holds": ("def hold", "the class IsLongQuestion of node kind 'is_long_question' does not define holds"),
        '"is_long_question",  #': ('"stop",  #', "'stop' is built in; choose another name"),
        "        return len(": (
            '        self.board["x"] = 1\n        return len(',
            "the blackboard takes no assignment: call board.set('x', …)",
        ),
        'board["question"]': ('board["qestion"]', "there is no blackboard key 'qestion'"),
    },
    "trees/brief.yaml": {
        "{ words: 6 }": ("{ wrods: 6 }", "trees/brief.yaml:10:35: 'is_long_question' has no setting 'wrods'"),
    },
}


@pytest.mark.long("starts a Python for each mistake")
@pytest.mark.parametrize(("name", "right"), [(name, right) for name, each in MISTAKES.items() for right in each])
def test_mistakes_look_like_the_table_says(files, name, right):
    wrong, said = MISTAKES[name][right]
    assert said in TEXT
    text = Path(name).read_text(encoding="utf-8")
    assert right in text
    Path(name).write_text(text.replace(right, wrong), encoding="utf-8")
    ran = done("oracle trees test trees")
    assert ran.returncode == 1
    assert said in ran.stdout + ran.stderr


async def test_the_tool_of_the_page_runs():
    (text,) = blocks("python", SECTIONS["A tool"])
    names = {}
    await eval(compile(text, "extending.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    assert names["registry"].names == ("order_status",)


def test_the_kinds_of_functions_are_made():
    names = {}
    exec(blocks("python", KIND)[-1], names)
    assert [kind.name for kind in names["kinds"]] == ["is_about_offices", "look_around"]


def test_the_servers_of_the_page_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("TICKETS_TOKEN", "a-token")
    file = tmp_path / "servers.yaml"
    file.write_text(blocks("yaml", SECTIONS["Tools of MCP servers"])[0], encoding="utf-8")
    assert list(read_servers(file)) == ["tickets", "files"]


def test_each_group_is_in_the_table():
    assert re.findall(r"^\| `(oracle\.\w+)` \|", TEXT, re.MULTILINE) == list(GROUPS)


def test_the_folders_that_the_page_names_exist():
    for folder in ("plugin_template", "deep_researcher"):
        assert (ROOT / "examples" / folder / "pyproject.toml").is_file()


@cache
def module_of_the_page():
    made = ModuleType("acme_of_the_page")
    made.__file__ = "acme.py"
    exec(blocks("python", SECTIONS["A feature"])[0], made.__dict__)
    return made


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


async def test_the_feature_of_the_page_adds_a_call_and_a_command(greeting, tmp_path, capfd):
    assert main(["greet", "Ann"]) == 0
    assert main(["--help"]) == 0
    assert main(["features"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("Hello, Ann.\n")
    assert "Greet a user." in out
    assert "Greets whoever asks." in out
    async with open_service(read_settings(data_dir=tmp_path, project_dir=tmp_path, llm="offline")) as parts:
        transport = httpx2.ASGITransport(build_app(parts))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert (await client.get("/api/greetings")).json() == ["Hello"]


async def test_a_feature_that_is_left_out_adds_nothing(greeting, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("ORACLE_FEATURES", "-greetings")
    assert main(["greet", "Ann"]) == 2
    assert "No such command 'greet'" in capfd.readouterr().err
    async with open_service(read_settings(data_dir=tmp_path, project_dir=tmp_path, llm="offline")) as parts:
        transport = httpx2.ASGITransport(build_app(parts))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert (await client.get("/api/greetings")).status_code == 404


def test_the_built_in_tools_are_those_that_read_and_those_that_write():
    rows = re.findall(r"^\| `(\w+)` \| (`.*?) \| (.*?) ?\|$", TEXT.partition("### Built-in tools")[2], re.MULTILINE)
    assert {
        (name, group, writes)
        for group, *both in rows[:4]
        for writes, names in enumerate(both)
        for name in re.findall(r"`(\w+)`", names)
    } == {(tool.name, tool.group, tool.writes) for tool in STANDARD_TOOLS}
