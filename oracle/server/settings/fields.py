"""The settings: names, defaults, bounds, and what follows from them."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from oracle.core.features import FeatureError, Setting, features, settings_without_effect
from oracle.core.loading import imported
from oracle.decision import AgentConfig, bounds
from oracle.llm.protocol import DEFAULT_MODEL, MIN_THINKING_TOKENS
from oracle.server.settings.tokens import MIN_SECRET_BYTES, Tokens

PREFIX = "ORACLE_"
LOCAL_USER = "local"
"""The only user where there is no authentication, and an operator."""

RUNS_PER_USER = 8
REQUESTS_PER_MINUTE = 60


def _folder(value: object) -> object:
    # A `.env` file has no shell that would expand the tilde.
    return Path(value.strip()).expanduser() if isinstance(value, str) else value


def _word(value: object, choices: Collection[str]) -> object:
    """One of the choices, however it is written; a wrong one stays as it was given, for the message."""
    folded = value.strip().casefold() if isinstance(value, str) else value
    return folded if folded in choices else value


def _names(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(dict.fromkeys(name for part in value.split(",") if (name := part.strip())))


def _hosts(value: object) -> object:
    return _names(value.lower() if isinstance(value, str) else value)


def _not_blank(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().strip():
        raise ValueError("it is blank")  # `_explain` words it, by the field's name
    return value


def _cannot_be_guessed(value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
    size = MIN_SECRET_BYTES if value is None else len(value.get_secret_value().encode())
    if size < MIN_SECRET_BYTES:
        raise ValueError(
            f"{variable_of(str(info.field_name))} must be at least {MIN_SECRET_BYTES} random bytes, not {size}; "
            "whoever guesses it can sign in as any user (make one with: openssl rand -hex 32)"
        )
    return value


Folder = Annotated[Path, BeforeValidator(_folder)]
Secret = Annotated[SecretStr, AfterValidator(_not_blank)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)]
Hosts = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_hosts)]
PrimaryName = Literal["tree", "loop"]


def ceiling_name(field: str) -> str:
    """The setting that caps a field of `AgentConfig`: `max_token_budget` for `token_budget`."""
    return f"max_{field.removeprefix('max_')}"


def variable_of(field: str) -> str:
    """The environment variable of a field."""
    return PREFIX + field.upper()


def _ceiling(field: str) -> tuple[type[int], Any]:
    least, greatest = bounds(field)
    meaning = f"Upper bound for users' `{field}`."
    return int, Field(default=greatest, ge=least, le=greatest, description=meaning)


_KINDS: Final[Mapping[str, Any]] = {
    "flag": bool,
    "whole": int,
    "number": float,
    "text": str,
    "folder": Folder,
    "names": Names,
    "hosts": Hosts,
    "secret": Secret,
}


def _field_of(setting: Setting) -> tuple[Any, Any]:
    """The type of a feature's setting, and its default with its meaning."""
    kind, choices = _KINDS[setting.kind], setting.choices
    if choices and setting.kind == "folder":
        kind = Annotated[Literal[choices] | Path, BeforeValidator(lambda value: _folder_or_word(value, choices))]
    elif choices:
        kind = Annotated[Literal[choices], BeforeValidator(lambda value: _word(value, choices))]
    if setting.default is None or setting.is_limit:
        kind = kind | None
    if setting.kind == "text" and setting.most is not None:
        kind = Annotated[kind, Field(max_length=int(setting.most))]
    elif setting.most is not None:
        kind = Annotated[kind, Field(ge=setting.least, le=setting.most)]
    if setting.is_limit:
        kind = Annotated[kind, AfterValidator(lambda value: value or None)]
    return kind, Field(default=setting.default, description=setting.meaning)


def _folder_or_word(value: object, choices: Collection[str]) -> object:
    word = _word(value, choices)
    return word if word in choices else _folder(value)


if TYPE_CHECKING:  # a model that is made at run time is no base class for a type checker
    _Listed = BaseSettings
else:
    _Listed = create_model(
        "_Listed",
        __base__=BaseSettings,
        **{each.name: _field_of(each) for feature in features() for each in feature.settings}
        | {ceiling_name(field): _ceiling(field) for field in AgentConfig.model_fields},
    )


def _refuse_taken_names(own: Collection[str]) -> None:
    """Refuse the setting of a feature that has the name of something else in the class of the settings.

    Raises:
        FeatureError: there is one; names both.
    """
    taken = {*own, *map(ceiling_name, AgentConfig.model_fields)}
    for feature in features():
        for name in (each.name for each in feature.settings if each.name in taken):
            raise FeatureError(
                f"the feature {feature.name!r} declares the setting {name!r} of the service; choose another name"
            )


def _has_auth(data: Mapping[str, Any]) -> bool:
    return bool(data.get("jwt_secret") or data.get("tokens") or data.get("oidc_issuers"))


def _setting(default: object, meaning: str) -> Any:  # noqa: ANN401  of the field's type
    return Field(default=default, description=meaning)


def _optional(meaning: str) -> Any:  # noqa: ANN401
    return _setting(None, meaning)


def _several(meaning: str) -> Any:  # noqa: ANN401
    return _setting((), meaning)


class Settings(_Listed):
    """The operator's settings. Immutable; each field's meaning is its description."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        str_strip_whitespace=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,  # pydantic's own message would quote a secret
    )

    llm: Literal["auto", "anthropic", "offline"] = _setting(
        "auto",
        "The provider: `anthropic`, `offline` (embedded, no network), or `auto`: `anthropic` with a key, else the "
        "provider of `ORACLE_MODEL`, else `offline`.",
    )
    model: str = _setting(
        DEFAULT_MODEL, "The model: one of Claude's, or another provider's, such as `ollama/qwen3:8b`."
    )
    models: Names = _several("Other models that requests and trees may name; empty: any.")
    trees: Names = _several("Trees that a request may name; empty: all that are not `internal`.")
    control: Literal["tree", "loop", "shadow"] = _setting(
        "tree",
        "What controls a run: the YAML `tree`, the built-in `loop`, or `shadow`: one answers and the other runs for "
        "comparison.",
    )
    data_dir: Folder = _setting(Path(".oracle"), "The folder for the service's data.")
    database_url: Secret | None = _optional(
        "`postgresql://…`, or `sqlite:////path/to/file`; default: `oracle.db` in the data folder."
    )
    trees_dir: Folder | None = _optional(
        "Your tree files. They override the shipped ones; saved trees go here. Default: `trees` in the data folder."
    )
    prompts_dir: Folder | None = _optional("Your prompt segments. They override the shipped ones.")
    plugins: Names = _several("Python modules to load as plugins, besides installed packages. Environment only.")
    domain: Annotated[Literal["code"] | Path, BeforeValidator(lambda given: _folder_or_word(given, ("code",)))] = Field(
        default="code",
        description="The subject of questions: `code`, or a folder made by `oracle domain new`. Environment only.",
    )
    features: Names = _several(
        "Features to switch off, such as `-shadow,-webhooks`; see `oracle features`. Environment only."
    )
    project_dir: Folder = _setting(Path(), "The project whose code is searched.")
    vault_dir: Folder | None = _optional("The folder for notes and threads; default: `vault` in the data folder.")
    jwt_secret: Annotated[Secret | None, AfterValidator(_cannot_be_guessed)] = _optional(
        f"Turns authentication on: the secret of HS256 JWTs, at least {MIN_SECRET_BYTES} random bytes. `sub` is the "
        "user."
    )
    tokens: Annotated[Tokens, NoDecode] = Field(
        default_factory=Tokens,
        description="Turns authentication on: bearer tokens and their users, as `token=user,…`.",
    )
    oidc_issuers: Names = _several(
        "Turns authentication on: OpenID Connect issuers, as `name=https://…,…`; the user is `name:sub`. Needs "
        "`oracle-bt[oidc]`."
    )
    oidc_audiences: Names = _several("Accepted audiences (`aud`), as `name=audience,…`; at least one for each issuer.")
    oidc_operators: Names = _several(
        "Claims that make a user an operator, as `name=claim=value,…`; `a.b` is a nested claim."
    )
    chat_backends: Names = _several(
        "Users of `ORACLE_TOKENS` that are chat backends; their requests name the user, who becomes `backend:user`."
    )
    openwebui_jwt_secret: Annotated[Secret | None, AfterValidator(_cannot_be_guessed)] = _optional(
        f"Open WebUI's `FORWARD_USER_INFO_HEADER_JWT_SECRET`, at least {MIN_SECRET_BYTES} random bytes."
    )
    user_token_header: str | None = _optional("The header with the user's access token, sent by a chat backend.")
    user_header: str | None = _optional(
        "The header with the user's name, sent by a chat backend without proof; such a user is never an operator."
    )
    operators: Names = Field(
        default_factory=lambda data: () if _has_auth(data) else (LOCAL_USER,),
        description="Users who may see all runs and save trees; without authentication `local` is one.",
    )
    vault_shared: bool = _setting(
        default=False,
        meaning="`1`: all users share the vault. `0`: with authentication, each has a folder in it.",
    )
    cors_origins: Names = _several("Web origins that may call the API, such as `https://chat.example.com`.")
    runs_per_user: Annotated[int | None, Field(ge=0, le=10_000)] = Field(
        default_factory=lambda data: RUNS_PER_USER if _has_auth(data) else None,
        description=f"Runs in progress per user; more get 429. Default: {RUNS_PER_USER} with authentication. "
        "0: no limit.",
    )
    running_per_worker: Annotated[int | None, Field(ge=0, le=100_000)] = _optional(
        "Runs that one worker executes at a time; more wait. 0: no limit."
    )
    running_in_all: Annotated[int | None, Field(ge=0, le=1_000_000)] = _optional(
        "Runs that all workers together execute at a time; more wait. 0: no limit."
    )
    running_per_user: Annotated[int | None, Field(ge=0, le=10_000)] = _optional(
        "Runs of one user that execute at a time; more wait. 0: no limit."
    )
    requests_per_minute: Annotated[int | None, Field(ge=0, le=1_000_000)] = Field(
        default_factory=lambda data: REQUESTS_PER_MINUTE if _has_auth(data) else None,
        description="Requests per user and minute; ten times as many may only read. Default: "
        f"{REQUESTS_PER_MINUTE} with authentication. 0: no limit.",
    )
    max_body_bytes: Annotated[int, Field(ge=1_000, le=100_000_000)] = _setting(
        1_000_000,
        "Size limit of a request's body; at least 8 MB for protocols that send the whole history.",
    )
    reader_grace_s: Annotated[float, Field(ge=0, le=86_400)] = _setting(
        60, "Seconds after which a streamed run without a reader is cancelled."
    )
    drain_s: Annotated[float, Field(ge=0, le=3_600)] = _setting(10, "Seconds that runs may take to end after SIGTERM.")
    counted_pause_s: Annotated[float, Field(ge=0, le=3_600)] = _setting(
        30, "The most seconds that count against a run's timeout while no worker executes it, such as during a restart."
    )
    conversation_headers: Names = _setting(
        ("X-OpenWebUI-Chat-Id", "X-Conversation-Id"),
        "Headers in which a chat product names its conversation; the first one present counts.",
    )
    task_headers: Names = _setting(
        ("X-OpenWebUI-Task",),
        "Headers that mark a chat product's own request, such as for a title.",
    )
    auxiliary: Literal["model", "known"] = _setting(
        "model",
        "How such requests are answered: by the `model`, or from what is `known` (a title from the question).",
    )
    auxiliary_model: str | None = _optional("The model for such requests; default: `ORACLE_MODEL`.")
    retain_days: Annotated[int, Field(ge=0, le=100_000)] = _setting(
        30, "Days that the logs of ended runs are kept; 0: forever. Conversations stay."
    )
    retain_texts_days: Annotated[int | None, Field(ge=0, le=100_000)] = _optional(
        "Days that the texts in those logs are kept; 0: a minute. Default: as long as the logs."
    )
    retain_mb: Annotated[int, Field(ge=0, le=100_000_000)] = _setting(
        0, "Database size in megabytes above which the oldest logs are deleted; 0: no limit."
    )
    thinking_tokens: Annotated[int, Field(ge=0, le=128_000)] = _setting(
        2048,
        f"Thinking tokens per turn: 0 (off), or at least {MIN_THINKING_TOKENS} and below `ORACLE_MAX_OUTPUT_TOKENS`.",
    )
    max_output_tokens: Annotated[int, Field(ge=1, le=128_000)] = _setting(
        8192, "Output tokens per turn, thinking included."
    )
    log: Literal["debug", "info", "warning", "error", "critical"] = _setting(
        "warning",
        "The lowest level that is logged; `oracle serve` defaults to `info`.",
    )

    @field_validator("llm", "control", "log", "auxiliary", mode="before")
    @classmethod
    def _fold(cls, value: object, info: ValidationInfo) -> object:
        return _word(value, get_args(cls.model_fields[str(info.field_name)].annotation))

    @field_validator("model", "models", "auxiliary_model")
    @classmethod
    def _names_no_embedded_model(cls, value: str | tuple[str, ...] | None, info: ValidationInfo) -> object:
        if "offline" in ((value,) if isinstance(value, str) else value or ()):
            raise ValueError(
                f"{PREFIX}{str(info.field_name).upper()} must name models of providers, not 'offline'; to have the "
                f"offline model answer, set {PREFIX}LLM=offline"
            )
        return value

    @field_validator("runs_per_user", "requests_per_minute", "running_per_worker", "running_in_all", "running_per_user")
    @classmethod
    def _zero_is_no_limit(cls, value: int | None) -> int | None:
        return value or None

    @field_validator("tokens", mode="plain")
    @classmethod
    def _read_tokens(cls, value: object) -> Tokens:
        if isinstance(value, Tokens):
            return value
        if isinstance(value, Mapping):
            return Tokens(value)
        return Tokens.parse(str(value))

    @field_validator("operators")
    @classmethod
    def _local_operates(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return value if _has_auth(info.data) or LOCAL_USER in value else (*value, LOCAL_USER)

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for origin in value:
            if origin == "*" and not _has_auth(info.data):
                raise ValueError(
                    f"{PREFIX}CORS_ORIGINS must not be '*' without authentication, or any web page could read your "
                    "data; list the origins"
                )
            if origin != "*" and not _is_origin(origin):
                raise ValueError(
                    f"{PREFIX}CORS_ORIGINS must be origins like 'https://chat.example.com', not {origin[:100]!r}"
                )
        return value

    @model_validator(mode="after")
    def _features_are_there_and_can_be_used(self) -> "Settings":
        given = {name: getattr(self, name) for name in self.model_fields_set}
        problems = list(settings_without_effect(self.features, given))
        for feature in features(self.features):
            if feature.checks is not None and feature.is_asked_for(self):
                problems += imported(feature.checks)(self)
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  of the setting's kind
        """The value of a setting that a feature has declared."""
        return getattr(self, name)

    @model_validator(mode="after")
    def _thinking_has_room(self) -> "Settings":
        if "thinking_tokens" not in self.model_fields_set or self.thinking_tokens == 0:
            return self
        if self.thinking_tokens < MIN_THINKING_TOKENS:  # which would silently be none
            raise ValueError(
                f"{PREFIX}THINKING_TOKENS must be 0 or at least {MIN_THINKING_TOKENS:,}, not {self.thinking_tokens!r}"
            )
        if self.thinking_tokens >= self.max_output_tokens:
            raise ValueError(
                f"{PREFIX}THINKING_TOKENS must be less than {PREFIX}MAX_OUTPUT_TOKENS ({self.max_output_tokens:,}), "
                f"not {self.thinking_tokens!r}"
            )
        return self

    @property
    def has_auth(self) -> bool:
        """Whether requests must carry a token; without, there is the one user `local`."""
        return self.jwt_secret is not None or bool(self.tokens or self.oidc_issuers)

    @property
    def primary_control(self) -> PrimaryName:
        """What answers users; with shadows what their feature's setting says, and the tree where that is not there."""
        return getattr(self, "shadow_primary", "tree") if self.control == "shadow" else self.control

    @property
    def vault(self) -> Path:
        """The folder of notes and threads."""
        return self.data_dir / "vault" if self.vault_dir is None else self.vault_dir

    @property
    def trees_folder(self) -> Path:
        """The folder of the operator's trees."""
        return self.data_dir / "trees" if self.trees_dir is None else self.trees_dir

    @property
    def database_file(self) -> Path:
        """Where SQLite's file is, if no other database is set."""
        return self.data_dir / "oracle.db"

    @property
    def database_address(self) -> str:
        """The address of the database: the setting, else that of the file. May contain a password."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{os.path.abspath(self.database_file)}"  # noqa: PTH100  keeps links

    @property
    def ceilings(self) -> Mapping[str, int]:
        """The most that each field of `AgentConfig` may be, by its name."""
        return {field: getattr(self, ceiling_name(field)) for field in AgentConfig.model_fields}

    def capped(self, config: AgentConfig) -> AgentConfig:
        """The user's limits, lowered to the operator's ceilings where they are higher."""
        wanted = config.model_dump()
        return config.model_copy(update={field: min(wanted[field], most) for field, most in self.ceilings.items()})

    def allows_model(self, name: str) -> bool:
        """Whether a request may name the model."""
        return not self.models or name == self.model or name in self.models

    _refuse_taken_names({*locals()})  # before pydantic lets the one take the place of the other


def split_address(text: str) -> SplitResult:
    """The parts of an address; empty if the text is not one."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def _is_origin(text: str) -> bool:
    parts = split_address(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and text == f"{parts.scheme}://{parts.netloc}"
