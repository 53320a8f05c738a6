"""What other packages add, on the command line: listed, used, and refused before anything starts."""

import json
import sys
import textwrap

import pytest

from oracle.server.settings.fields import Settings
from oracle.server.wiring import plugins as wiring
from oracle.server.wiring.agent import build_tools
from oracle.tools import BUILT_IN_TOOLS

TOOL = '''
from oracle.tools import tool

@tool(group="weather", when_to_use="When the user asks about the weather.", query_types="always")
def forecast(place: str) -> str:
    """Say what the weather will be."""
    print("printed by the tool")
    return f"Rain in {place}."

tools = [forecast]
'''
TREE = """
tree: rainy
blackboard: {found: str}
root:
  sequence:
    - classify_query
    - compose_prompt
    - action: {call: forecast, with: {place: "'Ulm'"}, into: found}
    - llm_turn
    - say: "{found}"
    - stop: completed
"""
KIND = '''
from bt_runtime import condition_kind

def is_raining(board):
    """SUCCESS if it rains."""
    return True

kinds = [condition_kind("is_raining", is_raining)]
'''


@pytest.fixture(autouse=True)
def nothing_is_kept_between_tests():
    wiring._loaded.cache_clear()
    before = set(sys.modules)
    yield
    wiring._loaded.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith("acme"):
            del sys.modules[name]


@pytest.fixture
def plugin(monkeypatch, tmp_path):
    """Makes a module and names it in `ORACLE_PLUGINS`."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(text, *, name="acme"):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        monkeypatch.setenv("ORACLE_PLUGINS", name)

    return make


@pytest.fixture
def kept(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    return folder


def test_the_command_lists_what_was_loaded(oracle, plugin, kept):
    (kept / "rainy.yaml").write_text(TREE)
    plugin(TOOL + f"trees = {str(kept)!r}\n")
    ran = oracle("plugins")
    assert (ran.code, ran.out) == (0, "oracle.tools  acme: forecast\noracle.trees  acme: rainy\n")
    found = json.loads(oracle("plugins", "--json").out)["plugins"]
    assert found[0] == {"group": "oracle.tools", "package": "acme", "names": ["forecast"]}
    assert "rainy kept/rainy.yaml (added by a package)" in " ".join(oracle("trees", "list").out.split())


def test_without_plugins_the_command_says_where_it_looks(oracle):
    assert oracle("plugins").out.startswith("No package adds anything. Searched entry points: oracle.tools,")


def test_what_a_plugin_prints_stays_out_of_the_chunks(oracle, plugin, kept):
    (kept / "rainy.yaml").write_text(TREE)
    plugin("print('printed by the import')\n" + TOOL + f"trees = {str(kept)!r}\n")
    ran = oracle("ask", "What is the weather in Ulm?", "--json", "--tree", "rainy")
    chunks = [json.loads(line) for line in ran.out.splitlines()]
    assert chunks[-1]["termination_reason"] == "completed"
    assert any("Rain in Ulm." in chunk.get("content", "") for chunk in chunks)
    assert "printed by the import" in ran.err
    assert "printed by the tool" in ran.err


def test_a_settings_file_cannot_name_code_that_runs(oracle, plugin, tmp_path, monkeypatch):
    plugin("print('the module was run')\n" + TOOL)
    monkeypatch.delenv("ORACLE_PLUGINS")
    (tmp_path / ".env").write_text("ORACLE_PLUGINS=acme\n")
    warning = (
        "ORACLE_PLUGINS decides which code runs, so it has no effect in a settings file; set it in the environment"
    )
    ran = oracle("plugins")
    assert (ran.code, ran.err) == (0, f"Note: {warning}\n")
    assert ran.out.startswith("No package adds anything.")
    served = oracle("serve", "--port", "0")
    assert (served.code, served.err) == (1, f"Error: {warning}\n")
    monkeypatch.setenv("ORACLE_PLUGINS", "acme")
    ran = oracle("plugins")
    assert (ran.code, ran.out) == (0, "oracle.tools  acme: forecast\n")
    assert ran.err == "the module was run\n"


def test_what_was_loaded_is_in_the_log(oracle, plugin, monkeypatch):
    plugin(TOOL)
    monkeypatch.setenv("ORACLE_LOG", "info")
    assert "oracle.tools: forecast (acme)" in oracle("ask", "Hello").err


@pytest.mark.parametrize("command", [("ask", "Hello"), ("serve", "--port", "0"), ("trees", "check"), ("plugins",)])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("raise RuntimeError('no licence')", "cannot be loaded: RuntimeError: no licence", id="raises"),
        pytest.param("import sys\nsys.exit(3)", "cannot be loaded: SystemExit: 3", id="exits"),
        pytest.param("tools = None", "TypeError: it must be a tool (see oracle.tools.tool), not None", id="nonsense"),
        pytest.param("def broken(:", "cannot be loaded: SyntaxError: ", id="syntax"),
        pytest.param("x = 1", "it has none of the attributes tools, kinds", id="nothing"),
        pytest.param(
            TOOL.replace("forecast", "read_file"), "oracle.tools of acme: 'read_file' is built in", id="built-in"
        ),
        pytest.param("prompts = 'no/such'", "there is no folder 'no/such'", id="no-folder"),
    ],
)
def test_a_plugin_that_cannot_be_used_stops_every_command_with_the_reason(oracle, plugin, command, text, said):
    plugin(text)
    ran = oracle(*command)
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err
    assert ran.err.startswith("Error: ")
    assert "Traceback" not in ran.err


def test_ctrl_c_while_a_plugin_is_imported_is_ctrl_c(oracle, plugin):
    plugin("raise KeyboardInterrupt")
    assert oracle("plugins").code == 130
    plugin("import os, signal\nos.kill(os.getpid(), signal.SIGINT)", name="acme_interrupted")
    with pytest.raises(SystemExit) as ended:
        oracle("ask", "Hello")
    assert ended.value.code == 130


def test_a_broken_tree_of_a_plugin_is_a_mistake_with_its_place(oracle, plugin, kept):
    (kept / "broken.yaml").write_text("tree: broken\nroot: {lm_turn: {}}\n")
    plugin(f"trees = {str(kept)!r}\n")
    checked = oracle("trees", "check")
    assert checked.code == 1
    assert "kept/broken.yaml:2:8: there is no node kind 'lm_turn'" in checked.out
    assert "hint: did you mean 'llm_turn'?" in checked.out
    assert oracle("ask", "Hello", "--tree", "broken").code == 1
    assert oracle("ask", "Hello").code == 0  # the other trees are as good as before


def test_an_invalid_prompt_file_of_a_plugin_stops_the_start_with_its_place(oracle, plugin, kept):
    (kept / "tone.md").write_text("no header\n")
    plugin(f"prompts = {str(kept)!r}\n")
    for command in (("plugins",), ("ask", "Hello")):
        ran = oracle(*command)
        assert ran.code == 1
        assert "tone.md:1:1: " in ran.err


def test_a_prompt_file_in_the_subfolder_oracle_counts_as_well(oracle, plugin, kept):
    (kept / "oracle").mkdir()
    (kept / "oracle" / "base.md").write_text("replaces the shipped one\n")
    plugin("prompts = 'kept'\n")
    assert "oracle.prompts of acme: 'base' is built in; choose another name" in oracle("plugins").err


def test_the_schema_has_the_kinds_of_plugins(oracle, plugin, tmp_path):
    plugin(KIND)
    assert "is_raining" in oracle("trees", "schema").out
    oracle("trees", "init", "mine")
    assert "is_raining" in (tmp_path / "mine" / "tree.schema.json").read_text()


def test_the_names_of_the_built_in_tools_are_complete(tmp_path):
    tools = build_tools(Settings(project_dir=tmp_path), has_web_search=True)
    assert {tool.name for tool in tools.tools if not tool.on_demand} == BUILT_IN_TOOLS
