"""What an operator sets: from the environment and a `.env` file, checked at once, told in words.

Rules:

- A setting is a field of `Settings`; its variable is `ORACLE_` and the field's name in capitals.
- No secret is a setting of ours: the provider's SDK reads its key itself, so nothing here can print one.
- The table for help and README comes from the fields, so it cannot lie.
"""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import dotenv
from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from oracle.decision import AgentConfig, bounds
from oracle.models.anthropic_request import DEFAULT_MODEL
from oracle.models.thinking import MIN_THINKING_TOKENS

PREFIX = "ORACLE_"

_LONGEST_QUOTE = 120


class SettingsError(ValueError):
    """Settings that cannot be used; one line for each, with the variable, the value, and what would be right."""


class SettingRow(NamedTuple):
    """A line of the table of settings."""

    name: str
    default: str
    meaning: str


def _folder(value: object) -> object:
    # A `.env` file has no shell that would expand the tilde.
    return Path(value.strip()).expanduser() if isinstance(value, str) else value


Folder = Annotated[Path, BeforeValidator(_folder)]
Engine = Literal["auto", "anthropic", "offline"]
ControlName = Literal["tree", "loop"]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]


def ceiling_name(field: str) -> str:
    """The setting that caps a field of `AgentConfig`: `max_token_budget` for `token_budget`."""
    return f"max_{field.removeprefix('max_')}"


def _ceiling(field: str) -> Any:  # noqa: ANN401  pydantic's FieldInfo, which stands for a default of any type
    least, greatest = bounds(field)
    return Field(default=greatest, ge=least, le=greatest, description=f"The most that a user may set `{field}` to.")


class Settings(BaseSettings):
    """The operator's settings. Immutable; each field's meaning is its description."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True, str_strip_whitespace=True
    )

    llm: Engine = Field(
        default="auto",
        description="Who answers: `anthropic`, `offline` (embedded, no key, no network), or `auto`: `anthropic` if "
        "there is a key, else `offline`.",
    )
    model: str = Field(default=DEFAULT_MODEL, description="The provider's model that answers.")
    models: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Further models that a request may name, separated by commas; empty: any."
    )
    control: ControlName = Field(
        default="tree",
        description="What drives a query: the YAML `tree`, or the plain `loop` of the default decision tree.",
    )
    data_dir: Folder = Field(default=Path(".oracle"), description="Where the service keeps its data.")
    trees_dir: Folder | None = Field(
        default=None, description="A folder of tree files that is searched before the shipped ones."
    )
    prompts_dir: Folder | None = Field(
        default=None, description="A folder of prompt segments that take the place of the shipped ones."
    )
    project_dir: Folder = Field(default=Path(), description="The project whose code is searched and read.")
    vault_dir: Folder | None = Field(
        default=None, description="The folder of notes and threads; the default is `vault` in the data folder."
    )
    thinking_tokens: int = Field(
        default=2048,
        ge=0,
        le=128_000,
        description="How many tokens of a turn the model may think, at least 1024 and fewer than it may say; 0 turns "
        "thinking off.",
    )
    max_output_tokens: int = Field(
        default=8192, ge=1, le=128_000, description="The most tokens that one turn may say, thinking included."
    )
    max_iterations: int = _ceiling("max_iterations")
    max_soft_warning_percent: int = _ceiling("soft_warning_percent")
    max_token_budget: int = _ceiling("token_budget")
    max_token_warning_percent: int = _ceiling("token_warning_percent")
    max_timeout_seconds: int = _ceiling("timeout_seconds")
    max_tool_calls_per_turn: int = _ceiling("max_tool_calls_per_turn")
    max_parallel_tools: int = _ceiling("max_parallel_tools")
    log: LogLevel = Field(default="warning", description="The least level that is logged, to standard error.")

    @field_validator("llm", "control", "log", mode="before")
    @classmethod
    def _fold(cls, value: object, info: ValidationInfo) -> object:
        folded = value.strip().casefold() if isinstance(value, str) else value
        # A wrong one stays as it was given, for the message.
        return folded if folded in get_args(cls.model_fields[str(info.field_name)].annotation) else value

    @field_validator("models", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(name for part in value.split(",") if (name := part.strip()))

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
    def vault(self) -> Path:
        """The folder of notes and threads."""
        return self.data_dir / "vault" if self.vault_dir is None else self.vault_dir

    @property
    def default_config(self) -> AgentConfig:
        """The limits of users who have set none, within the ceilings."""
        return self.capped(AgentConfig())

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


def read_settings(env_file: Path | None = None, **given: Any) -> Settings:  # noqa: ANN401  checked by the fields
    """Read the settings from the environment.

    Args:
        env_file: its variables are put into the environment first, where they are not set: for ours, and for the
            provider's SDK. One that does not exist is empty.
        given: values that go before the environment, by field; `None` means not given.

    Raises:
        SettingsError: naming every value that cannot be used.
    """
    if env_file is not None:
        _load(env_file)
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise SettingsError("\n".join(_explain(each) for each in error.errors(include_url=False))) from None


def misspelt_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that looks like one of ours and is none; others may well use our prefix."""
    known = [variable_of(field).removeprefix(PREFIX) for field in Settings.model_fields]
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if name.startswith(PREFIX) and rest not in known:
            near = difflib.get_close_matches(rest, known, n=1, cutoff=0.8)
            if near:
                yield f"{name} is no setting and has no effect; did you mean {PREFIX}{near[0]}?"


def variable_of(field: str) -> str:
    """The environment variable of a field."""
    return PREFIX + field.upper()


def settings_table() -> tuple[SettingRow, ...]:
    """Every setting with its default and its meaning: ours, then those that the provider's SDK reads."""
    ours = (
        SettingRow(variable_of(name), _shown_default(name, field.default), field.description or "")
        for name, field in Settings.model_fields.items()
    )
    return (*ours, *_SDK_ROWS)


_SDK_ROWS = (
    SettingRow("ANTHROPIC_API_KEY", "", "The provider's key; read by its SDK, never shown or stored."),
    SettingRow("ANTHROPIC_AUTH_TOKEN", "", "A bearer token in place of the key, for gateways."),
    SettingRow("ANTHROPIC_BASE_URL", "", "The provider's address, if it is another; read by its SDK."),
)


def _shown_default(name: str, default: object) -> str:
    if name == "vault_dir":
        return str(Path(".oracle") / "vault")
    return "" if default in (None, ()) else str(default)


def _load(env_file: Path) -> None:
    try:
        if env_file.is_file():
            dotenv.load_dotenv(env_file, override=False)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in a value
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        raise SettingsError(f"the settings file {str(env_file)!r} cannot be read: {reason}") from None


def _explain(error: Mapping[str, Any]) -> str:
    if not error["loc"]:  # a rule over several fields, which names them itself
        return str(error["ctx"]["error"]) if "ctx" in error else str(error["msg"])
    field = str(error["loc"][0])
    return f"{variable_of(field)} must be {_what_is_right(field)}, not {_quoted(error['input'])}"


def _what_is_right(field: str) -> str:
    info = Settings.model_fields[field]
    if choices := get_args(info.annotation):
        words = [repr(choice) for choice in choices if isinstance(choice, str)]
        if words:
            note = " ('shadow' is not there yet)" if field == "control" else ""
            return f"{', '.join(words[:-1])} or {words[-1]}{note}"
    limits = {type(limit).__name__: limit for limit in info.metadata}
    if "Ge" in limits:
        return f"a whole number from {limits['Ge'].ge:,} to {limits['Le'].le:,}"
    return "a text" if info.annotation is str else "a path"


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
