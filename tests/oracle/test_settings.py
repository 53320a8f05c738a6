import os

import pytest

from oracle.decision import AgentConfig, bounds
from oracle.models.anthropic import DEFAULT_MODEL
from oracle.settings import (
    Settings,
    SettingsError,
    ceiling_name,
    misspelt_variables,
    read_settings,
    settings_table,
    variable_of,
)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("ORACLE_", "ANTHROPIC_")):
            monkeypatch.delenv(name)
    before = dict(os.environ)
    yield
    for name in set(os.environ) - set(before):
        del os.environ[name]


def test_without_anything_set_the_shipped_defaults_hold():
    settings = read_settings()
    assert (settings.llm, settings.control, settings.log) == ("auto", "tree", "warning")
    assert str(settings.vault) == ".oracle/vault"
    assert settings.default_config == AgentConfig()


def test_the_shipped_model_is_the_adapters():
    assert read_settings().model == DEFAULT_MODEL


def test_the_environment_is_read(monkeypatch, tmp_path):
    monkeypatch.setenv("ORACLE_LLM", " Offline ")
    monkeypatch.setenv("ORACLE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("ORACLE_MODELS", "a, b,,")
    monkeypatch.setenv("ORACLE_MODEL", "")
    settings = read_settings()
    assert settings.llm == "offline"
    assert settings.vault == tmp_path / "vault"
    assert settings.models == ("a", "b")
    assert settings.model == DEFAULT_MODEL


def test_what_is_given_goes_before_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("ORACLE_PROJECT_DIR", "elsewhere")
    assert read_settings(project_dir=tmp_path, vault_dir=None).project_dir == tmp_path


def test_a_tilde_is_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ORACLE_VAULT_DIR", "~/notes")
    assert read_settings().vault == tmp_path / "notes"


def test_all_wrong_values_are_told_at_once(monkeypatch):
    for name, value in {
        "ORACLE_LLM": "Claude",
        "ORACLE_CONTROL": "shadow",
        "ORACLE_MAX_ITERATIONS": "99",
        "ORACLE_THINKING_TOKENS": "lots",
        "ORACLE_LOG": "loud",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert str(caught.value).splitlines() == [
        "ORACLE_LLM must be 'auto', 'anthropic' or 'offline', not 'Claude'",
        "ORACLE_CONTROL must be 'tree' or 'loop' ('shadow' is not there yet), not 'shadow'",
        "ORACLE_THINKING_TOKENS must be a whole number from 0 to 128,000, not 'lots'",
        "ORACLE_MAX_ITERATIONS must be a whole number from 1 to 50, not '99'",
        "ORACLE_LOG must be 'debug', 'info', 'warning', 'error' or 'critical', not 'loud'",
    ]


@pytest.mark.parametrize(
    ("thinking", "most", "message"),
    [
        ("500", None, "ORACLE_THINKING_TOKENS must be 0 or at least 1,024, not 500"),
        ("4096", "4096", "ORACLE_THINKING_TOKENS must be less than ORACLE_MAX_OUTPUT_TOKENS (4,096), not 4096"),
    ],
)
def test_thinking_that_would_silently_be_none_is_refused(monkeypatch, thinking, most, message):
    monkeypatch.setenv("ORACLE_THINKING_TOKENS", thinking)
    monkeypatch.setenv("ORACLE_MAX_OUTPUT_TOKENS", most or "")
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert str(caught.value) == message


def test_the_default_of_thinking_gives_way_to_a_small_output(monkeypatch):
    monkeypatch.setenv("ORACLE_MAX_OUTPUT_TOKENS", "1000")
    assert read_settings().thinking_tokens == 2048


@pytest.mark.parametrize("field", AgentConfig.model_fields)
def test_every_limit_of_a_user_has_a_ceiling(monkeypatch, field):
    least, greatest = bounds(field)
    monkeypatch.setenv(variable_of(ceiling_name(field)), str(least))
    settings = read_settings()
    lowered = settings.capped(AgentConfig(**{field: greatest}))
    assert lowered == AgentConfig(**{field: least})
    assert settings.capped(AgentConfig(**{field: least})) == AgentConfig(**{field: least})


def test_without_ceilings_the_users_limits_stand():
    config = AgentConfig(max_iterations=50, token_budget=200_000)
    assert read_settings().capped(config) == config


def test_ceilings_are_named_without_a_second_max():
    assert ceiling_name("token_budget") == "max_token_budget"
    assert ceiling_name("max_iterations") == "max_iterations"


def test_a_request_may_name_any_model_unless_they_are_listed(monkeypatch):
    assert read_settings().allows_model("anything")
    monkeypatch.setenv("ORACLE_MODELS", "a,b")
    settings = read_settings()
    assert [name for name in ("a", "b", "c", settings.model) if settings.allows_model(name)] == [
        "a",
        "b",
        settings.model,
    ]


def test_a_settings_file_is_for_us_and_for_the_sdk_and_never_overrides(monkeypatch, tmp_path):
    monkeypatch.setenv("ORACLE_LOG", "error")
    file = tmp_path / ".env"
    file.write_text("ORACLE_LOG=debug\nORACLE_LLM='offline' # why\nANTHROPIC_API_KEY=secret\n")
    settings = read_settings(file)
    assert (settings.log, settings.llm) == ("error", "offline")
    assert os.environ["ANTHROPIC_API_KEY"] == "secret"
    assert "secret" not in repr(settings)


def test_a_settings_file_that_is_missing_is_empty(tmp_path):
    assert read_settings(tmp_path / ".env").llm == "auto"


def test_a_settings_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / ".env").write_bytes(b"ORACLE_LLM=\xff\xfe\n")
    with pytest.raises(SettingsError, match="is not UTF-8 text"):
        read_settings(tmp_path / ".env")


def test_a_wrong_value_is_quoted_in_part_if_it_is_long(monkeypatch):
    monkeypatch.setenv("ORACLE_LLM", "x" * 10_000)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert len(str(caught.value)) < 300


def test_a_slip_in_a_name_is_told_and_foreign_names_are_not():
    environ = {"ORACLE_MODLE": "x", "ORACLE_HOME": "/opt", "ORACLE_SID": "db", "ORACLE_BASE": "/", "ORACLE_LLM": "auto"}
    assert list(misspelt_variables(environ)) == [
        "ORACLE_MODLE is no setting and has no effect; did you mean ORACLE_MODEL?"
    ]


def test_the_table_has_every_setting_with_its_default_and_a_meaning():
    rows = {row.name: row for row in settings_table()}
    assert {variable_of(field) for field in Settings.model_fields} <= set(rows)
    assert all(row.meaning for row in rows.values())
    assert rows["ORACLE_VAULT_DIR"].default == str(read_settings().vault)
    assert rows["ORACLE_MAX_TOKEN_BUDGET"].default == "200000"


def test_the_table_shows_no_secret(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "very-secret")
    assert "very-secret" not in str(settings_table())
