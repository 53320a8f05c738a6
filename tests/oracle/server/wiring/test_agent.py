import asyncio
import subprocess
import sys

import pytest

import oracle
from bt_runtime.analysis.files import check_files
from oracle import Ask, Fittings, SettingsError, build_oracle, open_oracle, read_settings
from oracle.core.chunks import Content, Done
from oracle.llm.offline import OfflineModel
from oracle.server.wiring.agent import build_model, build_tools, own_data, tree_library, uses_provider
from oracle.testing import ScriptedModel, ScriptedTurn
from oracle.tools import ToolRegistry, ToolSetupError, project_tools
from oracle.tools.code_files import list_project, private_below
from prompts import PromptError


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("llm", "environ", "expected"),
    [
        ("auto", {}, False),
        ("auto", {"ANTHROPIC_API_KEY": " "}, False),
        ("auto", {"ANTHROPIC_API_KEY": "k"}, True),
        ("auto", {"ANTHROPIC_AUTH_TOKEN": "t"}, True),
        ("offline", {"ANTHROPIC_API_KEY": "k"}, False),
        ("anthropic", {}, True),
    ],
)
def test_the_provider_answers_if_it_is_asked_for_or_there_is_a_key(llm, environ, expected, monkeypatch):
    settings = read_settings(llm=llm)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert uses_provider(settings) is expected


def test_the_start_without_claude_says_so_where_it_is_asked_for(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert isinstance(build_model(read_settings(features=("-claude",))), OfflineModel)
    with pytest.raises(SettingsError, match="ORACLE_LLM=anthropic asks for the feature 'claude', which is left out"):
        build_model(read_settings(llm="anthropic", features=("-claude",)))


async def test_the_model_is_the_one_that_the_settings_name(monkeypatch):
    assert isinstance(build_model(read_settings()), OfflineModel)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    model = build_model(read_settings(model="claude-haiku-5-5"))
    assert model.name == "claude-haiku-5-5"
    await model.aclose()


def test_an_invalid_address_is_an_error_with_what_to_check(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-secret")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:notaport")
    with pytest.raises(SettingsError, match="check the ANTHROPIC_… and proxy variables") as caught:
        build_model(read_settings())
    assert "k-secret" not in str(caught.value)


@pytest.mark.parametrize("proxy", ["foo://proxy.example.com", "socks5://127.0.0.1:1"])
def test_an_unusable_proxy_is_an_error_and_nothing_else_is_printed(monkeypatch, capfd, proxy):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-secret")
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(SettingsError, match="check the ANTHROPIC_… and proxy variables"):
        build_model(read_settings())
    assert capfd.readouterr() == ("", "")


def test_what_belongs_to_the_service_is_never_shown_as_a_file_of_the_project(tmp_path):
    settings = read_settings(project_dir=tmp_path, data_dir=tmp_path / "data")
    (tmp_path / "data" / "vault").mkdir(parents=True)
    shown = project_tools(tmp_path, private=own_data(settings))
    (tmp_path / "data" / "vault" / "plan.md").write_text("heron")
    (tmp_path / "main.py").write_text("heron = 1")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    tools = {tool.name: tool for tool in shown}

    async def call(name, **arguments):
        return await ToolRegistry(tools.values()).call(name, arguments)

    async def look():
        found = await call("search_code", query="heron")
        assert [source.path for source in found.sources] == ["main.py"]
        assert (await call("list_files", pattern="*.md")).is_empty
        for path in ("data/vault/plan.md", "DATA/vault/plan.md", "link/vault/plan.md"):
            read = await call("read_file", path=path)
            assert read.is_error
            assert "heron" not in read.text

    asyncio.run(look())


def test_a_database_beside_the_files_of_the_project_is_private_and_they_are_not(tmp_path):
    settings = read_settings(project_dir=tmp_path, data_dir=tmp_path)
    names = {path.name for path in own_data(settings)}
    assert {"oracle.db", "oracle.db-wal", "oracle.db-shm", "oracle.db.lock"} <= names
    (tmp_path / "oracle.db").write_text("x")
    (tmp_path / "main.py").write_text("x")
    listed = list_project(tmp_path, private=private_below(tmp_path, own_data(settings)))
    assert [file.path for file in listed.files] == ["main.py"]


def test_vaults_of_users_in_the_projects_own_folder_are_refused(tmp_path):
    given = {"project_dir": tmp_path, "vault_dir": tmp_path, "tokens": {"t": "anna"}}
    with pytest.raises(SettingsError, match="ORACLE_VAULT_SHARED=1"):
        build_tools(read_settings(**given), has_web_search=False)
    assert build_tools(read_settings(**given, vault_shared=True), has_web_search=False).names


def test_the_web_is_searched_only_where_the_provider_does_it():
    with_web = build_tools(read_settings(), has_web_search=True).names
    without = build_tools(read_settings(), has_web_search=False).names
    assert set(with_web) - set(without) == {"web_search"}
    assert {"search_code", "vault_search", "thread_read", "vault_write"} <= set(without)


def test_a_missing_project_is_an_error_with_the_setting(tmp_path):
    with pytest.raises(ToolSetupError, match="--project or ORACLE_PROJECT_DIR"):
        build_tools(read_settings(project_dir=tmp_path / "none"), has_web_search=False)


def test_a_missing_vault_is_an_error_with_the_setting(tmp_path):
    with pytest.raises(SettingsError, match="--vault or ORACLE_VAULT_DIR"):
        build_tools(read_settings(vault_dir=tmp_path / "none"), has_web_search=False)


def test_the_operators_trees_go_before_the_shipped_ones(tmp_path):
    (tmp_path / "oracle.yaml").write_text("tree: oracle\nroot: {stop: completed}\n")
    library = tree_library(read_settings(trees_dir=tmp_path))
    assert library.find("oracle") == tmp_path / "oracle.yaml"
    assert "fallback" in library.names()


def test_an_invalid_folder_of_trees_is_an_error():
    with pytest.raises(SettingsError, match=r"the folder of trees 'none' does not exist; set ORACLE_TREES_DIR"):
        tree_library(read_settings(trees_dir="none"))


def test_an_invalid_folder_of_prompts_is_an_error():
    with pytest.raises(PromptError, match="does not exist"):
        build_oracle(read_settings(prompts_dir="none"), Fittings(OfflineModel()))


@pytest.mark.parametrize("control", ["tree", "loop"])
async def test_a_query_is_answered_from_end_to_end(control):
    model = ScriptedModel([ScriptedTurn(text="Hello there.")])
    chunks = []
    query = await build_oracle(read_settings(control=control), Fittings(model)).open(Ask("Hi!"), emit=chunks.append)
    await query.run()
    assert "".join(chunk.content for chunk in chunks if isinstance(chunk, Content)) == "Hello there."
    assert isinstance(chunks[-1], Done)
    assert model.requests[0].max_tokens == 8192
    assert model.requests[0].thinking_tokens == 2048


async def test_the_operators_ceilings_hold_for_users_who_set_nothing(monkeypatch):
    monkeypatch.setenv("ORACLE_MAX_TOKEN_BUDGET", "1500")
    model = ScriptedModel([ScriptedTurn(text="Hello there.")])
    query = await build_oracle(read_settings(), Fittings(model)).open(Ask("Hi!"), emit=lambda _: None)
    await query.run()
    assert model.requests[0].max_tokens <= 1500


async def test_an_opened_oracle_is_ready_to_be_asked():
    async with open_oracle(read_settings()) as ready:
        chunks = []
        query = await ready.open(Ask("Thanks!"), emit=chunks.append)
        await query.run()
    assert chunks[-1].model_used == "offline-extractive"


def test_every_name_of_the_door_is_there():
    assert oracle.__all__ == sorted(oracle.__all__)
    assert all(getattr(oracle, name) for name in oracle.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(oracle, "nonsense")  # noqa: B009  an attribute that type checkers know is none


@pytest.mark.long("starts an interpreter")
@pytest.mark.parametrize("module", ["oracle.server.wiring", "oracle.cli.asking", "oracle.cli.trees"])
def test_the_sdk_is_not_loaded_where_no_provider_is_asked(module):
    code = f"import sys, {module}; sys.exit('anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["nowhere", "fallback"])
def test_a_list_of_trees_with_one_that_no_question_can_name_is_refused(tmp_path, name):
    settings = read_settings(project_dir=tmp_path, data_dir=tmp_path / "data", trees=("oracle", name))
    with pytest.raises(SettingsError, match=f"ORACLE_TREES names '{name}'"):
        build_oracle(settings, Fittings(OfflineModel()))


def test_trees_are_checked_against_the_tools_that_there_are(tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "wrong.yaml").write_text("tree: wrong\nroot: {action: {call: search_code, with: {qurey: question}}}\n")
    (folder / "none.yaml").write_text("tree: none\nroot: {action: web_search}\n")
    settings = read_settings(project_dir=tmp_path, data_dir=tmp_path / "data", trees_dir=folder)
    told = check_files(tree_library(settings), [folder]).mistakes
    assert [mistake.message for mistake in told] == [
        "a tree cannot call 'web_search': the provider runs it within a turn",
        "'search_code' needs the argument 'query'",
        "'search_code' has no argument 'qurey'",
    ]
    without = read_settings(project_dir=tmp_path / "nowhere", data_dir=tmp_path / "data", trees_dir=folder)
    assert check_files(tree_library(without), [folder]).ok


def test_trees_are_checked_against_the_models_and_prompts_that_the_operator_allows(tmp_path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "near-limit.md").write_text(
        "---\nid: near-limit\ndescription: A.\npriority: 9\nalways: false\n---\nB.\n"
    )
    names = ("{ model: strong, prompt: near-limit }", "{ model: weak }", "{ prompt: near }", "{ prompt: base }")
    for number, turn in enumerate(names):
        (tmp_path / "trees" / f"t{number}.yaml").write_text(f"tree: t{number}\nroot: {{ llm_turn: {turn} }}\n")
    settings = read_settings(models="strong,stronger", prompts_dir=tmp_path, trees_dir=tmp_path / "trees")
    assert [mistake.message for mistake in check_files(tree_library(settings), [tmp_path / "trees"]).mistakes] == [
        "the model 'weak' may not be used",
        "there is no segment 'near' among the prompts",
    ]
    unbounded = read_settings(prompts_dir=tmp_path, trees_dir=tmp_path / "trees")
    assert len(check_files(tree_library(unbounded), [tmp_path / "trees"]).mistakes) == 1


def test_trees_may_call_the_tools_that_a_host_brings(tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "own.yaml").write_text("tree: own\nroot: {action: search_code}\n")
    settings = read_settings(project_dir=tmp_path, data_dir=tmp_path / "data", trees_dir=folder)
    assert "needs the argument" in str(
        check_files(tree_library(settings, build_tools(settings, has_web_search=False)), [folder])
    )
    assert "there is no action" in str(check_files(tree_library(settings, ToolRegistry([])), [folder]))
