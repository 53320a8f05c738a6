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
    meaning = f"The most that a user may set `{field}` to."
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
        "Who answers: `anthropic`, `offline` (embedded, no key, no network), or `auto`: `anthropic` if there is a key, "
        "else `offline`.",
    )
    model: str = _setting(
        DEFAULT_MODEL, "The model: one of Claude's, or another provider's, such as `ollama/qwen3:8b`."
    )
    control: Literal["tree", "loop", "shadow"] = _setting(
        "tree",
        "What drives a query: the YAML `tree`, the plain `loop` of the default decision tree, or one of them with the "
        "other in parallel, out of the user's sight: `shadow`.",
    )
    data_dir: Folder = _setting(Path(".oracle"), "Where the service keeps its data.")
    database_url: Secret | None = _optional(
        "The database, if it is another than `oracle.db` in the data folder: `postgresql://…` for several workers or "
        "machines, or `sqlite:////path/to/file`."
    )
    trees_dir: Folder | None = _optional(
        "A folder of tree files that is searched before the shipped ones, and where trees are saved; the default is "
        "`trees` in the data folder."
    )
    prompts_dir: Folder | None = _optional("Your prompt segments. They override the shipped ones.")
    plugins: Names = _several("Python modules to load as plugins, besides installed packages. Environment only.")
    domain: Annotated[Literal["code"] | Path, BeforeValidator(lambda given: _folder_or_word(given, ("code",)))] = Field(
        default="code",
        description="The subject of questions: `code`, or a folder made by `oracle domain new`. Environment only.",
    )
    features: Names = _several(
        "Features that are left out, as `-shadow,-webhooks`, separated by commas; `oracle features` lists them; read "
        "from the environment alone, not from `.env`."
    )
    project_dir: Folder = _setting(Path(), "The project whose code is searched and read.")
    vault_dir: Folder | None = _optional("The folder of notes and threads; the default is `vault` in the data folder.")
    jwt_secret: Annotated[Secret | None, AfterValidator(_cannot_be_guessed)] = _optional(
        "Turns authentication on: the secret of HS256 JSON Web Tokens, whose `sub` is the user; "
        f"at least {MIN_SECRET_BYTES} random bytes."
    )
    tokens: Annotated[Tokens, NoDecode] = Field(
        default_factory=Tokens,
        description="Turns authentication on: bearer tokens and whose they are, as `token=user,…`.",
    )
    oidc_issuers: Names = _several(
        "Turns authentication on: OpenID Connect issuers whose access tokens (RS256, ES256, EdDSA) are taken, as "
        "`name=https://…,…`; the user is `name:sub`; needs `oracle-bt[oidc]`."
    )
    oidc_audiences: Names = _several(
        "What tokens must be for (`aud`), as `name=audience,…`; at least one for each issuer."
    )
    oidc_operators: Names = _several(
        "Claims that make operators, as `name=claim=value,…`: the claim is this text, or a list that has it; `a.b` is "
        "`b` in `a`."
    )
    chat_backends: Names = _several(
        "Users of `ORACLE_TOKENS` that are chat backends, separated by commas: their requests name the user, who is "
        "`backend:user`."
    )
    openwebui_jwt_secret: Annotated[Secret | None, AfterValidator(_cannot_be_guessed)] = _optional(
        "The secret of `X-OpenWebUI-User-Jwt`, by which Open WebUI names users "
        f"(`FORWARD_USER_INFO_HEADER_JWT_SECRET` there); at least {MIN_SECRET_BYTES} random bytes."
    )
    user_token_header: str | None = _optional(
        "The header in which a chat backend sends the user's access token of an issuer."
    )
    user_header: str | None = _optional(
        "The header in which a chat backend may name the user in plain words, which nothing proves: such a user is "
        "never an operator."
    )
    operators: Names = Field(
        default_factory=lambda data: () if _has_auth(data) else (LOCAL_USER,),
        description="Users who may see all runs, separated by commas; without authentication the one user `local` is "
        "one.",
    )
    vault_shared: bool = _setting(
        default=False,
        meaning="With authentication: all users share the vault (`1`), instead of an own folder in it for each.",
    )
    cors_origins: Names = _several(
        "Origins of web pages that may call the API, as `https://chat.example.com`, separated by commas."
    )
    runs_per_user: Annotated[int | None, Field(ge=0, le=10_000)] = Field(
        default_factory=lambda data: RUNS_PER_USER if _has_auth(data) else None,
        description=f"Queries that a user may have under way at a time; 0: any number. Default: {RUNS_PER_USER} with "
        "authentication, else any number.",
    )
    running_per_worker: Annotated[int | None, Field(ge=0, le=100_000)] = _optional(
        "Queries that a worker answers at a time; further ones wait until one ends, or another worker has a place for "
        "them; 0: any number."
    )
    running_in_all: Annotated[int | None, Field(ge=0, le=1_000_000)] = _optional(
        "Queries that all workers together answer at a time; further ones wait; 0: any number."
    )
    running_per_user: Annotated[int | None, Field(ge=0, le=10_000)] = _optional(
        "Queries of one user that are answered at a time; further ones wait; 0: any number."
    )
    requests_per_minute: Annotated[int | None, Field(ge=0, le=1_000_000)] = Field(
        default_factory=lambda data: REQUESTS_PER_MINUTE if _has_auth(data) else None,
        description="Requests that a user may send within a minute, and ten times as many that only read; 0: any "
        f"number. Default: {REQUESTS_PER_MINUTE} with authentication, else any number.",
    )
    max_body_bytes: Annotated[int, Field(ge=1_000, le=100_000_000)] = _setting(
        1_000_000,
        "The most bytes that the body of a request may have; in the protocols of other clients, which send their whole "
        "history, at least 8 MB.",
    )
    reader_grace_s: Annotated[float, Field(ge=0, le=86_400)] = _setting(
        60, "How many seconds a streamed query goes on after its last reader has left, before it is cancelled."
    )
    drain_s: Annotated[float, Field(ge=0, le=3_600)] = _setting(
        10, "How many seconds queries under way may go on once the service has been asked to stop."
    )
    counted_pause_s: Annotated[float, Field(ge=0, le=3_600)] = _setting(
        30, "How many seconds of a pause between two workers of a query count against its timeout at most."
    )
    conversation_headers: Names = _setting(
        ("X-OpenWebUI-Chat-Id", "X-Conversation-Id"),
        "Request headers in which a chat product names its conversation, separated by commas; the first that is there "
        "counts.",
    )
    task_headers: Names = _setting(
        ("X-OpenWebUI-Task",),
        "Request headers in which a chat product says that a request is its own, such as for a title; empty in those "
        "of users.",
    )
    auxiliary: Literal["model", "known"] = _setting(
        "model",
        "Who answers what chat products ask for themselves (titles, tags, further questions): the `model`, by one "
        "plain call, or what is `known` (a title from the question, and nothing else).",
    )
    auxiliary_model: str | None = _optional("The provider's model for that; the default is the one that answers users.")
    retain_days: Annotated[int, Field(ge=0, le=100_000)] = _setting(
        30, "How many days the records of ended queries are kept; 0: without limit. Conversations stay."
    )
    retain_texts_days: Annotated[int | None, Field(ge=0, le=100_000)] = _optional(
        "How many days the texts of ended queries are kept, where their figures are kept longer; 0: a minute; not set: "
        "as long as the records. Conversations stay."
    )
    retain_mb: Annotated[int, Field(ge=0, le=100_000_000)] = _setting(
        0, "How many megabytes the database may hold before the oldest records of ended queries go; 0: any number."
    )
    thinking_tokens: Annotated[int, Field(ge=0, le=128_000)] = _setting(
        2048,
        "How many tokens of a turn the model may think, at least 1024 and fewer than it may say; 0 turns thinking off.",
    )
    max_output_tokens: Annotated[int, Field(ge=1, le=128_000)] = _setting(
        8192, "The most tokens that one turn may say, thinking included."
    )
    log: Literal["debug", "info", "warning", "error", "critical"] = _setting(
        "warning",
        "The least level that is logged, to standard error; `oracle serve` logs from `info` on if this is not set.",
    )

    @field_validator("llm", "control", "log", "auxiliary", mode="before")
    @classmethod
    def _fold(cls, value: object, info: ValidationInfo) -> object:
        return _word(value, get_args(cls.model_fields[str(info.field_name)].annotation))

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
    """The parts of an address; empty where it is none."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def _is_origin(text: str) -> bool:
    parts = split_address(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and text == f"{parts.scheme}://{parts.netloc}"
