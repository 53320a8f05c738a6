"""Which providers there are, by the settings; and a whole question that one of them answers."""

import json

import pytest
import structlog

import oracle.features.openai_compatible.providers as module
from bt_runtime.text import estimate_tokens
from oracle.agent.answering import Ask
from oracle.cli.asking import show_answer
from oracle.cli.interrupts import Interrupts
from oracle.core.features import features
from oracle.features.openai_compatible.opening import other_models
from oracle.features.openai_compatible.providers import BUILT_IN, Provider, read_providers
from oracle.llm.deferred import DeferredModel
from oracle.llm.offline import OfflineModel
from oracle.llm.protocol import Usage
from oracle.llm.routing import RoutedModel, provider_of
from oracle.server.settings.reading import SettingsError, read_settings, refused_variables
from oracle.server.wiring.agent import build_model, note_of_window, open_oracle, uses_provider
from oracle.server.wiring.service import open_service
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.features.openai_compatible.conftest import KEY
from tests.support.provider.completions import CompletionsServer


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, set()),
        ({"model": "ollama/qwen3:8b"}, {"ollama"}),
        ({"models": ("openai/gpt-5", "claude-opus-5", "vllm/a/b")}, {"openai", "vllm"}),
        ({"auxiliary_model": "lmstudio/a"}, {"lmstudio"}),
        ({"model": "anthropic/claude-opus-5"}, set()),
    ],
)
def test_a_built_in_provider_is_used_where_the_settings_name_a_model_of_it(given, expected):
    assert set(other_models(read_settings(**given)).makers) == expected


def test_only_openai_needs_a_key():
    assert {name: each.key_env for name, each in BUILT_IN.items() if each.key_env} == {"openai": "OPENAI_API_KEY"}


async def test_the_model_is_that_of_the_provider_without_any_key_of_claudes():
    settings = read_settings(model="ollama/qwen3:8b")
    assert uses_provider(settings)
    model = build_model(settings)
    assert isinstance(model, RoutedModel)
    assert isinstance(model.first, DeferredModel)
    assert (model.name, model.has_web_search) == ("ollama/qwen3:8b", False)
    await model.aclose()


@pytest.mark.parametrize(
    "given",
    [{"model": "olama/qwen3:8b"}, {"model": "ollama/qwen3:8b", "features": ("-openai-compatible",)}],
    ids=["misspelt", "left-out"],
)
def test_a_provider_that_there_is_not_is_reported_and_the_embedded_model_answers(given):
    with structlog.testing.capture_logs() as logged:
        assert isinstance(build_model(read_settings(**given)), OfflineModel)
    [entry] = logged
    assert entry["event"] == "provider.left_out"
    assert repr(given["model"].partition("/")[0]) in entry["problem"]


def test_a_model_whose_package_is_missing_stops_the_start(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"oracle-bt\[openai\]"):
        build_model(read_settings(model="ollama/qwen3:8b"))
    assert other_models(read_settings()).makers == {}


def test_the_feature_can_be_left_out():
    assert "openai-compatible" not in [each.name for each in features(["-openai-compatible"])]


def test_the_address_of_each_local_server_is_on_this_machine():
    local = [each for each in BUILT_IN.values() if each.key_env is None]
    assert all(each.base_url.startswith("http://127.0.0.1:") for each in local)
    assert isinstance(local[0], Provider)


# --- the file


@pytest.fixture
def file(tmp_path):
    """Writes a file of providers."""

    def write(text, name="own.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


def problems(path):
    with pytest.raises(SettingsError) as caught:
        read_providers(path)
    return str(caught.value)


def test_providers_and_roles_are_read(file):
    path = file(
        """
        providers:
          gpu: {base_url: "http://10.0.0.5:8000/v1", context_tokens: 32768, body: {reasoning_effort: low}}
          openai: {max_output_tokens: 16000}
          ollama: {base_url: "http://10.0.0.6:11434/v1"}
          openrouter: {kind: openai_compatible, base_url: "https://openrouter.ai/api/v1", key_env: OPENROUTER_API_KEY}
        roles: {fast: ollama/qwen3:8b, strong: claude-opus-5, own: gpu/a}
        """
    )
    providers, roles = read_providers(path)
    assert providers["gpu"].body == {"reasoning_effort": "low"}
    assert providers["openai"] == BUILT_IN["openai"].model_copy(update={"max_output_tokens": 16_000})
    assert providers["ollama"].base_url == "http://10.0.0.6:11434/v1"
    assert providers["openrouter"].key_env == "OPENROUTER_API_KEY"
    assert roles == {"fast": "ollama/qwen3:8b", "strong": "claude-opus-5", "own": "gpu/a"}
    others = other_models(read_settings(providers=path))
    assert set(others.makers) == set(providers)
    assert others.find("fast") == ("ollama", "qwen3:8b")
    assert others.find("strong") == ("", "claude-opus-5")


def test_a_built_in_provider_loses_its_key_with_its_address(file):
    path = file("providers: {openai: {base_url: 'http://10.0.0.5/v1'}}")
    assert read_providers(path)[0]["openai"].key_env is None


def test_a_role_alone_brings_a_built_in_provider(file):
    others = other_models(read_settings(providers=file("roles: {fast: vllm/a}")))
    assert set(others.makers) == {"vllm"}
    assert uses_provider(read_settings(model="fast", providers=file("roles: {fast: vllm/a}")))


def test_all_mistakes_are_reported_with_their_places_and_what_is_right(file):
    said = problems(
        file(
            """\
providers:
  gpu: {base_url: "http://10.0.0.5:8000/v1", context_tokens: many}
  Bad: {base_url: "http://10.0.0.5:8000/v1"}
  none: {context_tokens: 4096}
  ftp: {base_url: "ftp://10.0.0.5/v1"}
  a: {base_url: "http://10.0.0.5/v1", contex_tokens: 5000}
  b: {base_url: "http://10.0.0.5/v1", kind: anthropic}
roles:
  fast: olama/qwen3:8b
  slow: fast
  fine: gpu/a
  none: offline
extra: 1
"""
        )
    )
    places = [line.partition("own.yaml:")[2] for line in said.splitlines() if "own.yaml:" in line]
    assert [place.partition(": ")[2] for place in places] == [
        "'context_tokens' must be a whole number, not 'many'",
        "'Bad' cannot name a provider",
        "the 'base_url' of 'none' is missing, such as https://example.com/v1",
        "the 'base_url' of 'ftp' must be like https://example.com/v1",
        "'provider' has no setting 'contex_tokens'",
        "'kind' must be 'openai_compatible', not 'anthropic'",
        "there is no provider 'olama'",
        "the role 'slow' must be the name of a model",
        "the role 'none' cannot be the offline model, which answers alone or not at all",
        "the file has no field 'extra'",
    ]
    assert [place.partition(": ")[0] for place in places][:2] == ["2:62", "3:3"]
    assert "did you mean 'ollama'" in said
    assert "set ORACLE_LLM=offline" in said


@pytest.mark.parametrize(
    "provider",
    [
        "{base_url: 'https://example.com/v1', api_key: sk-SECRET}",
        "{base_url: 'https://example.com/v1', key_env: sk-SECRET}",
        "{base_url: 'https://example.com/v1', token: sk-SECRET}",
        "{base_url: 'https://example.com/v1', headers: {Authorization: Bearer sk-SECRET}}",
        "{base_url: 'https://example.com/v1', body: {api_key: sk-SECRET}}",
        "{base_url: 'https://anna:sk-SECRET@example.com/v1'}",
    ],
)
def test_a_key_in_the_file_is_refused_and_shown_nowhere(file, provider):
    said = problems(file(f"providers: {{a: {provider}, b: {{}}}}"))
    assert "SECRET" not in said
    assert "key_env: OPENROUTER_API_KEY" in said
    assert "own.yaml:1:" in said


@pytest.mark.parametrize(
    "text", ["[]", "7", "providers: []", "roles: 7", "providers: {a: 7}", "providers: {a: {body: 1}}"]
)
def test_a_file_of_another_shape_is_refused(file, text):
    assert "must be a mapping" in problems(file(text)) or "must be" in problems(file(text))


def test_a_file_that_is_not_there_is_an_error_where_it_was_named(tmp_path):
    with pytest.raises(SettingsError, match=r"the file of providers .* cannot be read"):
        build_model(read_settings(providers=tmp_path / "none.yaml"))


def test_the_file_of_the_data_folder_is_read_and_names_no_keys(file):
    path = file("providers: {gpu: {base_url: 'http://10.0.0.5/v1'}}", ".oracle/providers.yaml")
    assert set(other_models(read_settings()).makers) == {"gpu"}
    path.write_text("providers: {gpu: {base_url: 'http://10.0.0.5/v1', key_env: ANTHROPIC_API_KEY}}")
    with pytest.raises(SettingsError, match="set ORACLE_PROVIDERS to the path of this file, in the environment"):
        other_models(read_settings())
    assert set(other_models(read_settings(providers=path)).makers) == {"gpu"}


def test_a_settings_file_cannot_name_the_file_of_providers(file, monkeypatch):
    monkeypatch.delenv("ORACLE_PROVIDERS", raising=False)
    path = file("providers: {gpu: {base_url: 'http://10.0.0.5/v1', key_env: ANTHROPIC_API_KEY}}")
    settings = read_settings(file(f"ORACLE_PROVIDERS={path}\n", ".env"))
    assert settings["providers"] is None
    assert any("where keys are sent" in each for each in refused_variables({"ORACLE_PROVIDERS": str(path)}, {}))


# --- small context windows


NOTE = "tiny/m has a context of 8,192 tokens, so it gets the short prompt"


async def test_a_small_context_of_the_file_gives_the_short_prompt_and_is_said_at_the_start(file, tmp_path, capfd):
    def settings_of(server, model):
        entries = f"tiny: {{base_url: '{server.url}/v1', context_tokens: 8192}}, gpu: {{base_url: '{server.url}/v1'}}"
        path = file(f"providers: {{{entries}}}\nroles: {{fast: tiny/m}}")
        return read_settings(model=model, providers=path, data_dir=tmp_path / "data")

    async def ask(oracle, model=None):
        return await show_answer(oracle, Ask("Hello!", model=model), interrupts=Interrupts(), as_json=False)

    said = ScriptedTurn(text="Hello.")
    async with CompletionsServer([said] * 3) as server:
        async with open_oracle(settings_of(server, "tiny/m")) as oracle:
            assert [oracle.context_tokens(name) for name in (None, "fast", "gpu/m")] == [8_192, 8_192, None]
            assert note_of_window(oracle) == NOTE
            await ask(oracle)
            assert f"Note: {NOTE}.\n" in capfd.readouterr().err
            await ask(oracle, "gpu/m")
            assert "Note: " not in capfd.readouterr().err
        async with open_oracle(settings_of(server, "gpu/m")) as oracle:
            assert note_of_window(oracle) == ""
            await ask(oracle, "fast")
            assert f"Note: {NOTE.replace('tiny/m', 'fast')}.\n" in capfd.readouterr().err
    sizes = [estimate_tokens(len(body["messages"][0]["content"])) for body in server.bodies]
    assert sizes[0] == sizes[2] < sizes[1] - 300


# --- a whole question


TREE = """
tree: two_models
description: A question for a small model, and the answer of another one.
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn: { model: fast }
    - run_tools
    - llm_turn: { tools: false }
    - stop: completed
"""


@pytest.mark.long("starts a service")
async def test_a_service_answers_by_tools_and_by_the_models_of_two_providers(file, tmp_path, monkeypatch):
    looks = ScriptedTurn(text="I look.", tool_calls=(ScriptedCall("search_code", {"query": "heron"}),))
    found = ScriptedTurn(text="It is in main.py.", thinking="Hm", usage=Usage(100, 0, 0, 10))
    monkeypatch.setenv("LARGE_KEY", KEY)
    async with CompletionsServer([looks]) as small, CompletionsServer([found], api_key=KEY) as large:
        providers = f"""
            providers:
              small: {{base_url: "{small.url}/v1"}}
              large: {{base_url: "{large.url}/v1", key_env: LARGE_KEY}}
            roles: {{fast: small/s, strong: large/l}}
        """
        file(TREE, "trees/two_models.yaml")
        file("heron = 1\n", "project/main.py")
        settings = read_settings(
            model="strong",
            providers=file(providers),
            data_dir=tmp_path / "data",
            trees_dir=tmp_path / "trees",
            project_dir=tmp_path / "project",
        )
        async with open_service(settings) as parts:
            live = await parts.runs.start(Ask("Where is heron defined in the code?", tree="two_models"))
            await live.wait()
            assert provider_of(parts.oracle.model) == "large"
            page = await parts.store.log.page(live.record.id)
            chunks = [json.loads(each.data) for each in page.chunks]
    assert [request.complaint for request in (*small.requests, *large.requests)] == [None, None]
    assert (small.bodies[0]["model"], large.bodies[0]["model"]) == ("s", "l")
    assert "web_search" not in str(small.bodies[0]["tools"])
    assert "main.py" in large.bodies[0]["messages"][-1]["content"]
    assert "".join(chunk.get("content", "") for chunk in chunks if chunk["type"] == "content").endswith("in main.py.")
    assert (chunks[-1]["type"], chunks[-1]["model_used"]) == ("done", "large/l")
