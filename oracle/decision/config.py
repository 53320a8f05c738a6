"""`AgentConfig`: the limits and thresholds that a user sets.

This model is the only place that has their names, defaults and bounds: request bodies, ceilings, answers and
documentation are derived from its fields.
"""

from collections.abc import Mapping
from typing import Any, Final, Self

from pydantic import (
    AliasChoices,
    AliasGenerator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from bt_runtime.text import did_you_mean
from bt_runtime.text.phrases import truncated
from oracle.core.errors import UserError

_LONGEST_QUOTE = 80


class ConfigError(UserError, ValueError):
    """Limits that cannot be used; the message names every field, its value and its bounds."""

    loc = ("body", "limits")


def _spellings(name: str) -> AliasChoices:
    return AliasChoices(name, to_camel(name))


class AgentConfig(BaseModel):
    """The user's limits for one query. Immutable; snake_case and camelCase are read, snake_case is written."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=AliasGenerator(validation_alias=_spellings),
        validate_by_name=True,
        loc_by_alias=False,
    )

    max_iterations: int = Field(
        default=15, ge=1, le=50, description="The most LLM turns of a run; the tree may allow fewer."
    )
    soft_warning_percent: int = Field(
        default=70, ge=50, le=90, description="Share of the turns after which user and model are warned."
    )
    token_budget: int = Field(
        default=50_000,
        ge=1_000,
        le=200_000,
        description="The most tokens of a run: input, cache creation and output.",
    )
    token_warning_percent: int = Field(
        default=80, ge=50, le=95, description="Share of the budget after which user and model are warned."
    )
    timeout_seconds: int = Field(default=120, ge=10, le=600, description="The time limit of the whole run.")
    max_tool_calls_per_turn: int = Field(
        default=5, ge=1, le=20, description="Calls beyond this number are answered with an error and not run."
    )
    max_parallel_tools: int = Field(default=3, ge=1, le=10, description="How many calls of a turn run at a time.")

    @field_validator("*", mode="wrap")
    @classmethod
    def _name_the_bounds(cls, value: object, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> int:
        try:
            return int(check(value))
        except ValidationError:
            low, high = bounds(str(info.field_name))
            raise PydanticCustomError(
                "limit_out_of_bounds",
                "{field} must be a whole number from {least} to {greatest}, not {value}",
                {"field": info.field_name, "least": f"{low:,}", "greatest": f"{high:,}", "value": _quoted(value)},
            ) from None

    def with_limits(self, limits: Mapping[str, Any]) -> Self:
        """The same configuration with some fields replaced.

        Raises:
            ConfigError: an unknown field, or a value out of bounds; nothing is replaced then.
        """
        if not limits:
            return self
        named = {_FIELDS.get(name, name): value for name, value in limits.items()}
        try:
            return type(self).model_validate(self.model_dump() | named)
        except ValidationError as error:
            raise ConfigError("\n".join(map(_explain, error.errors()))) from None


_FIELDS: Final = {str(spelling): name for name in AgentConfig.model_fields for spelling in _spellings(name).choices}
"""The field of each spelling."""

_LIMITS: Final = tuple(name for name in AgentConfig.model_fields if not name.endswith("_percent"))


def stricter(wanted: AgentConfig, allowed: AgentConfig) -> AgentConfig:
    """The configuration `wanted`, each limit lowered to that of `allowed` where that is lower."""
    return wanted.model_copy(update={name: min(getattr(wanted, name), getattr(allowed, name)) for name in _LIMITS})


def bounds(field: str) -> tuple[int, int]:
    """Least and greatest value of a field."""
    limits = {type(limit).__name__: limit for limit in AgentConfig.model_fields[field].metadata}
    return limits["Ge"].ge, limits["Le"].le


def _quoted(value: object) -> str:
    return truncated(repr(value), _LONGEST_QUOTE)


def _explain(error: Any) -> str:  # noqa: ANN401  pydantic's ErrorDetails
    if error["type"] != "extra_forbidden":
        return str(error["msg"])
    field = str(error["loc"][0])
    hint = did_you_mean(field, AgentConfig.model_fields) or f"there are {', '.join(AgentConfig.model_fields)}"
    return f"there is no limit {field!r}; {hint}"
