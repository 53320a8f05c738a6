import os

import pytest

from oracle.decision import AgentConfig, bounds
from oracle.features.claude.model import DEFAULT_MODEL
from oracle.server.settings.fields import Settings, ceiling_name, variable_of
from oracle.server.settings.reading import SettingsError, misspelt_variables, read_settings
from oracle.server.settings.table import settings_table
from oracle.server.settings.tokens import Tokens


def test_without_anything_set_the_shipped_defaults_hold():
    settings = read_settings()
    assert (settings.llm, settings.control, settings.log) == ("auto", "tree", "warning")
    assert str(settings.vault) == ".oracle/vault"
    assert settings.capped(AgentConfig()) == AgentConfig()


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


def test_all_wrong_values_are_reported_at_once(monkeypatch):
    for name, value in {
        "ORACLE_LLM": "Claude",
        "ORACLE_CONTROL": "both",
        "ORACLE_MAX_ITERATIONS": "99",
        "ORACLE_THINKING_TOKENS": "lots",
        "ORACLE_LOG": "loud",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert str(caught.value).splitlines() == [
        "ORACLE_MAX_ITERATIONS must be a whole number from 1 to 50, not '99'",
        "ORACLE_LLM must be 'auto', 'anthropic' or 'offline', not 'Claude'",
        "ORACLE_CONTROL must be 'tree', 'loop' or 'shadow', not 'both'",
        "ORACLE_THINKING_TOKENS must be a whole number from 0 to 128,000, not 'lots'",
        "ORACLE_LOG must be 'debug', 'info', 'warning', 'error' or 'critical', not 'loud'",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ORACLE_MODEL", "offline"),
        ("ORACLE_MODELS", "claude-opus-5, offline"),
        ("ORACLE_AUXILIARY_MODEL", "offline"),
    ],
)
def test_the_embedded_model_is_not_chosen_by_a_name_of_models(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert str(caught.value) == (
        f"{name} must name models of providers, not 'offline'; to have the offline model answer, set ORACLE_LLM=offline"
    )


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
    file.write_text("ORACLE_LOG=debug\nORACLE_LLM='offline' # why\nANTHROPIC_API_KEY=hush-hush\n")
    settings = read_settings(file)
    assert (settings.log, settings.llm) == ("error", "offline")
    assert os.environ["ANTHROPIC_API_KEY"] == "hush-hush"
    assert "hush-hush" not in repr(settings)


def test_a_settings_file_sets_our_variables_and_three_of_the_sdk_and_no_others(monkeypatch, tmp_path):
    before = dict(os.environ)
    others = ["LD_PRELOAD", "PATH", "PYTHONPATH", "HTTPS_PROXY", "SSL_CERT_FILE", "ANTHROPIC_CUSTOM_HEADERS", "PGHOST"]
    lines = [f"{name}=/evil" for name in [*others, "ANTHROPIC_CONFIG_DIR", "ANTHROPIC_PROFILE", "XORACLE_LOG"]]
    (tmp_path / ".env").write_text("\n".join([*lines, "ORACLE_LOG=error", "export ANTHROPIC_AUTH_TOKEN=hush"]))
    assert read_settings(tmp_path / ".env").log == "error"
    assert dict(os.environ) == before | {"ORACLE_LOG": "error", "ANTHROPIC_AUTH_TOKEN": "hush"}


def test_a_value_of_a_settings_file_takes_nothing_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush-hush")
    (tmp_path / ".env").write_text("ORACLE_MODEL=${ANTHROPIC_API_KEY}\n")
    assert read_settings(tmp_path / ".env").model == "${ANTHROPIC_API_KEY}"


@pytest.mark.parametrize("secret", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"])
@pytest.mark.parametrize("beside", ["", "ANTHROPIC_API_KEY=of-the-file\n", "ANTHROPIC_AUTH_TOKEN=of-the-file\n"])
def test_a_key_of_the_environment_is_not_sent_to_an_address_of_a_settings_file(monkeypatch, tmp_path, secret, beside):
    monkeypatch.setenv(secret, "hush-hush")
    (tmp_path / ".env").write_text(f"{beside}ANTHROPIC_BASE_URL=http://u:pw@evil.example:8\n")
    with pytest.raises(SettingsError) as refused:
        read_settings(tmp_path / ".env")
    assert str(refused.value) == (
        f"the settings file '{tmp_path}/.env' sets ANTHROPIC_BASE_URL to 'evil.example:8', where {secret} of the "
        "environment would be sent; set ANTHROPIC_BASE_URL in the environment too if that is right, or put the secret "
        "into the file beside it"
    )
    assert "ANTHROPIC_BASE_URL" not in os.environ


def test_a_users_own_login_is_not_sent_to_an_address_of_a_settings_file(tmp_path):
    (tmp_path / ".env").write_text("ORACLE_LLM=anthropic\nANTHROPIC_BASE_URL=http://evil.example\n")
    with pytest.raises(SettingsError, match="sets ANTHROPIC_BASE_URL without a key"):
        read_settings(tmp_path / ".env")


def test_an_address_goes_with_a_key_from_where_it_comes_from(monkeypatch, tmp_path):
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=of-the-file\nANTHROPIC_BASE_URL=http://gateway.example\n")
    read_settings(tmp_path / ".env")
    assert os.environ["ANTHROPIC_BASE_URL"] == "http://gateway.example"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-the-environment")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://another.example")
    read_settings(tmp_path / ".env")
    assert os.environ["ANTHROPIC_BASE_URL"] == "http://another.example"


@pytest.mark.parametrize(
    ("url", "is_refused"),
    [
        ("postgresql://evil.example/oracle", True),
        ("postgres://anna@evil.example/oracle", True),
        ("postgresql://anna:own@db.example/oracle", False),
        ("postgresql://db.example/oracle?password=own", False),
        ("sqlite:////tmp/oracle.db", False),
    ],
)
def test_a_database_password_of_the_environment_is_not_sent_to_a_server_of_a_settings_file(
    monkeypatch, tmp_path, url, is_refused
):
    monkeypatch.setenv("PGPASSWORD", "hush-hush")
    (tmp_path / ".env").write_text(f"ORACLE_DATABASE_URL={url}\n")
    if is_refused:
        with pytest.raises(SettingsError, match=r"where PGPASSWORD of the environment would be sent"):
            read_settings(tmp_path / ".env")
    else:
        assert read_settings(tmp_path / ".env").database_url.get_secret_value() == url


def test_a_settings_file_that_is_missing_is_empty(tmp_path):
    assert read_settings(tmp_path / ".env").llm == "auto"


def test_a_settings_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / ".env").write_bytes(b"ORACLE_LLM=\xff\xfe\n")
    with pytest.raises(SettingsError, match="is not UTF-8 text"):
        read_settings(tmp_path / ".env")


@pytest.mark.parametrize("line", ["just words", "9 = = x y", "A='never closed", "ORACLE_LLM offline"])
def test_a_line_of_a_settings_file_that_is_none_is_told_by_its_number_and_not_quoted(tmp_path, recwarn, line):
    (tmp_path / ".env").write_text(f"# fine\nORACLE_LOG=error\n{line}\n")
    try:
        read_settings(tmp_path / ".env")
    except SettingsError as error:
        assert str(error) == f"line 3 of the settings file '{tmp_path}/.env' is not NAME=value"  # noqa: PT017
    else:
        assert line.startswith("9")  # odd, and yet a name and a value
    assert not recwarn


def test_sdk_variables_that_are_set_to_nothing_count_as_not_set(monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", " ")
    (tmp_path / ".env").write_text("ANTHROPIC_BASE_URL=http://127.0.0.1:9\nANTHROPIC_AUTH_TOKEN=\n")
    read_settings(tmp_path / ".env")
    assert os.environ["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert "ANTHROPIC_API_KEY" not in os.environ
    assert "ANTHROPIC_AUTH_TOKEN" not in os.environ


def test_without_authentication_there_is_one_user_who_operates_and_has_no_limits():
    settings = read_settings()
    assert not settings.has_auth
    assert settings.operators == ("local",)
    assert (settings.runs_per_user, settings.requests_per_minute) == (None, None)


@pytest.mark.parametrize(("name", "value"), [("ORACLE_JWT_SECRET", "s" * 32), ("ORACLE_TOKENS", "t" * 16 + "=anna")])
def test_with_authentication_nobody_operates_and_everybody_has_limits(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    settings = read_settings()
    assert settings.has_auth
    assert not settings.tokens.has_weak
    assert settings.operators == ()
    assert (settings.runs_per_user, settings.requests_per_minute) == (8, 60)


def test_limits_per_user_can_be_set_and_taken_away(monkeypatch):
    monkeypatch.setenv("ORACLE_TOKENS", "t=anna")
    monkeypatch.setenv("ORACLE_RUNS_PER_USER", "0")
    monkeypatch.setenv("ORACLE_REQUESTS_PER_MINUTE", "7")
    settings = read_settings()
    assert (settings.runs_per_user, settings.requests_per_minute) == (None, 7)


def test_operators_are_named_and_local_is_one_only_where_there_are_no_tokens(monkeypatch):
    monkeypatch.setenv("ORACLE_OPERATORS", "anna, bob,,anna")
    assert read_settings().operators == ("anna", "bob", "local")
    monkeypatch.setenv("ORACLE_TOKENS", "t=anna")
    assert read_settings().operators == ("anna", "bob")


def test_tokens_tell_users_and_may_end_as_base64_does(monkeypatch):
    monkeypatch.setenv("ORACLE_TOKENS", " abc===anna , def=bob@example.com,ghi=anna")
    tokens = read_settings().tokens
    assert dict(tokens) == {"abc==": "anna", "def": "bob@example.com", "ghi": "anna"}
    assert tokens.get("xyz") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hush-hush", "entry 1 of ORACLE_TOKENS is without a =; entries are token=user, separated by commas"),
        ("a=b,", "entry 2 of ORACLE_TOKENS is empty; entries are token=user, separated by commas"),
        ("hush-hush=", "entry 1 of ORACLE_TOKENS has no user; entries are token=user, separated by commas"),
        ("a=b,=hush-hush", "entry 2 of ORACLE_TOKENS has no token; entries are token=user, separated by commas"),
        (
            "hush-hush=a,hush-hush=b",
            "entry 2 of ORACLE_TOKENS repeats a token; each token has one user",
        ),
        (
            "hush hush=a",
            "entry 1 of ORACLE_TOKENS has an invalid token; it may contain only A-Z a-z 0-9 - . _ ~ + / and =",
        ),
        (
            "hush-hush=a\tb",
            "entry 1 of ORACLE_TOKENS has a user whose name is not 1-200 printable characters",
        ),
    ],
)
def test_wrong_tokens_are_told_by_their_number_and_never_shown(monkeypatch, text, message):
    monkeypatch.setenv("ORACLE_TOKENS", text)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert str(caught.value) == message


def test_no_secret_is_in_what_settings_say_of_themselves(monkeypatch):
    monkeypatch.setenv("ORACLE_TOKENS", "hush-hush=anna")
    monkeypatch.setenv("ORACLE_JWT_SECRET", "hush-hush" * 4)
    monkeypatch.setenv("ORACLE_DATABASE_URL", "postgresql://me:hush-hush@db/oracle")
    settings = read_settings()
    assert "hush" not in repr(settings) + str(settings) + str(settings.model_dump()) + repr(settings.tokens)
    with pytest.raises(KeyError) as caught:
        settings.tokens["hush-hush-2"]
    assert "hush" not in repr(caught.value)


@pytest.mark.parametrize("name", ["ORACLE_JWT_SECRET", "ORACLE_DATABASE_URL"])
def test_a_blank_secret_is_refused(monkeypatch, name):
    monkeypatch.setenv(name, "  ")
    with pytest.raises(SettingsError, match=f"^{name} is blank; give it a value, or unset it"):
        read_settings()


@pytest.mark.parametrize("secret", ["x", "hush-hush", "s" * 31])
def test_a_secret_that_can_be_guessed_is_refused_and_not_shown(monkeypatch, secret):
    monkeypatch.setenv("ORACLE_JWT_SECRET", secret)
    with pytest.raises(SettingsError) as refused:
        read_settings()
    assert str(refused.value).startswith(
        f"ORACLE_JWT_SECRET must be at least 32 random bytes, not {len(secret)}; whoever guesses it can sign in as any"
    )
    assert "hush" not in repr(refused.value)


def test_a_token_that_can_be_guessed_is_noticed(monkeypatch):
    monkeypatch.setenv("ORACLE_TOKENS", "t" * 15 + "=anna")
    assert read_settings().tokens.has_weak


def test_web_pages_that_may_call_are_origins(monkeypatch):
    monkeypatch.setenv("ORACLE_CORS_ORIGINS", "https://chat.example.com, http://localhost:3000")
    assert read_settings().cors_origins == ("https://chat.example.com", "http://localhost:3000")


@pytest.mark.parametrize(
    "origin", ["chat.example.com", "https://a.b/", "https://a.b/c", "ftp://a.b", "https://", "null"]
)
def test_what_is_no_origin_is_refused(monkeypatch, origin):
    monkeypatch.setenv("ORACLE_CORS_ORIGINS", origin)
    with pytest.raises(
        SettingsError, match=r"ORACLE_CORS_ORIGINS must be origins like 'https://chat.example.com', not"
    ):
        read_settings()


def test_any_web_page_may_call_only_where_it_needs_a_token(monkeypatch):
    monkeypatch.setenv("ORACLE_CORS_ORIGINS", "*")
    with pytest.raises(SettingsError, match="must not be '\\*' without authentication"):
        read_settings()
    monkeypatch.setenv("ORACLE_TOKENS", "t=anna")
    assert read_settings().cors_origins == ("*",)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("ORACLE_RUNS_PER_USER", "-1", "a whole number from 0 to 10,000"),
        ("ORACLE_REQUESTS_PER_MINUTE", "many", "a whole number from 0 to 1,000,000"),
        ("ORACLE_MAX_BODY_BYTES", "0", "a whole number from 1,000 to 100,000,000"),
        ("ORACLE_READER_GRACE_S", "nan", "a number from 0 to 86,400"),
        ("ORACLE_DRAIN_S", "inf", "a number from 0 to 3,600"),
        ("ORACLE_COUNTED_PAUSE_S", "-1", "a number from 0 to 3,600"),
        ("ORACLE_RETAIN_DAYS", "1.5", "a whole number from 0 to 100,000"),
        ("ORACLE_RETAIN_MB", "-5", "a whole number from 0 to 100,000,000"),
        ("ORACLE_VAULT_SHARED", "maybe", "1 or 0"),
    ],
)
def test_a_setting_of_the_service_that_is_wrong_is_told_alone(monkeypatch, name, value, right):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert str(caught.value) == f"{name} must be {right}, not {value!r}"


def test_tokens_are_a_mapping_that_cannot_be_changed():
    tokens = Tokens({"a": "anna"})
    assert (len(tokens), list(tokens), "a" in tokens, "b" in tokens) == (1, ["a"], True, False)
    assert not hasattr(tokens, "__setitem__")


def test_a_wrong_value_is_quoted_in_part_if_it_is_long(monkeypatch):
    monkeypatch.setenv("ORACLE_LLM", "x" * 10_000)
    with pytest.raises(SettingsError) as caught:
        read_settings()
    assert len(str(caught.value)) < 300


def test_a_slip_in_a_name_is_told_and_foreign_names_are_not():
    foreign = ("ORACLE_HOME", "ORACLE_SID", "ORACLE_BASE", "ORACLE_PATH", "ANTHROPIC_MODEL", "PATH", "ORACLE_", "MODEL")
    slips = {
        "ORACLE_MODLE": "ORACLE_MODEL",
        "ORACLE_TREE_DIR": "ORACLE_TREES_DIR",
        "ORACLE_LOG_LEVEL": "ORACLE_LOG",
        "ANTHROPIC_APIKEY": "ANTHROPIC_API_KEY",
    }
    environ = dict.fromkeys((*foreign, *slips, "ORACLE_LLM", "ANTHROPIC_API_KEY"), "x")
    assert list(misspelt_variables(environ)) == [
        f"{name} is not a setting and has no effect; did you mean {right}?" for name, right in sorted(slips.items())
    ]


def test_a_setting_of_a_former_version_is_named_with_what_holds_in_its_place():
    queue, budget = misspelt_variables({"ORACLE_SHADOW_QUEUE": "7", "ORACLE_SHADOW_TOKEN_BUDGET": "9000"})
    assert queue.startswith("ORACLE_SHADOW_QUEUE is no longer a setting and has no effect; remove it: up to 100 ended")
    assert budget.endswith("ORACLE_SHADOW_TOKENS_PER_HOUR limits all of them")


def test_the_table_has_every_setting_with_its_default_and_a_meaning():
    rows = {row.name: row for row in settings_table()}
    assert {variable_of(field) for field in Settings.model_fields} <= set(rows)
    assert all(row.meaning for row in rows.values())
    assert rows["ORACLE_VAULT_DIR"].default == ""
    assert rows["ORACLE_MAX_TOKEN_BUDGET"].default == "200000"


def test_the_table_shows_no_secret(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "very-secret")
    assert "very-secret" not in str(settings_table())


WEBHOOKS = {
    "ORACLE_WEBHOOK_URLS": "https://Hooks.example.com/a, http://127.0.0.1:9000/",
    "ORACLE_WEBHOOK_HOSTS": "HOOKS.example.com",
    "ORACLE_WEBHOOK_PRIVATE_HOSTS": "127.0.0.1",
    "ORACLE_WEBHOOK_SECRET": f"whsec_{'a' * 32}",
}


def test_webhooks_have_addresses_hosts_and_a_key(monkeypatch):
    assert read_settings()["webhook_urls"] == ()
    for name, value in WEBHOOKS.items():
        monkeypatch.setenv(name, value)
    settings = read_settings()
    assert settings["webhook_urls"] == ("https://Hooks.example.com/a", "http://127.0.0.1:9000/")
    assert settings["webhook_hosts"] == ("hooks.example.com",)
    assert WEBHOOKS["ORACLE_WEBHOOK_SECRET"] not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ORACLE_WEBHOOK_SECRET", None, "24 random bytes or more with ORACLE_WEBHOOK_URLS"),
        ("ORACLE_WEBHOOK_SECRET", "whsec_YWJj", "must be 'whsec_' and base64 of 24 random bytes or more"),
        ("ORACLE_WEBHOOK_SECRET", "whsec_" + "!" * 64, "must be 'whsec_' and base64 of 24 random bytes or more"),
        ("ORACLE_WEBHOOK_HOSTS", "example.com", "WEBHOOK_HOSTS must name 'hooks.example.com'"),
        ("ORACLE_WEBHOOK_URLS", "http://hooks.example.com/p4th", "must be https addresses"),
        ("ORACLE_WEBHOOK_URLS", "ftp://127.0.0.1/", "must be https addresses"),
        (
            "ORACLE_WEBHOOK_URLS",
            "https://hooks.example.com.evil.example/",
            "must name 'hooks.example.com.evil.example'",
        ),
        ("ORACLE_WEBHOOK_URLS", "https://hooks.example.com@evil.example/p4th", "must name 'evil.example'"),
        ("ORACLE_WEBHOOK_URLS", "https:///x", "must name ''"),
        ("ORACLE_WEBHOOK_URLS", "https://[::1/x", "must be https addresses"),
    ],
)
def test_webhooks_that_could_not_be_sent_are_refused(monkeypatch, name, value, words):
    for each, given in WEBHOOKS.items():
        monkeypatch.setenv(each, given)
    monkeypatch.setenv(name, value or "")
    with pytest.raises(SettingsError, match=words) as caught:
        read_settings()
    assert "p4th" not in str(caught.value)
