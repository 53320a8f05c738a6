"""`AgentConfig`: the limits and thresholds that a user sets, and how wrong ones are told.

Source of names, defaults and bounds: 012 FR-001, FR-003 and its data model, as settled by decisions 1-3.
"""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from bt_runtime.text import did_you_mean
from oracle.errors import UserError


class ConfigError(UserError, ValueError):
    """Limits that cannot be used; the message names every field, its value and its bounds."""


class AgentConfig(BaseModel):
    """The user's limits for one query. Immutable; snake_case and camelCase are read, snake_case is written.

    Args:
        max_iterations: most LLM turns of a query; a tree may allow fewer.
        soft_warning_percent: share of the turns after which user and model are warned.
        token_budget: most tokens of a query, counted as input + cache creation + output.
        token_warning_percent: share of the budget after which user and model are warned.
        timeout_seconds: one deadline for the whole query.
        max_tool_calls_per_turn: calls beyond this are answered with an error and not run.
        max_parallel_tools: how many of a turn's calls run at a time.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )

    max_iterations: int = Field(default=15, ge=1, le=50)
    soft_warning_percent: int = Field(default=70, ge=50, le=90)
    token_budget: int = Field(default=50_000, ge=1_000, le=200_000)
    token_warning_percent: int = Field(default=80, ge=50, le=95)
    timeout_seconds: int = Field(default=120, ge=10, le=600)
    max_tool_calls_per_turn: int = Field(default=5, ge=1, le=20)
    max_parallel_tools: int = Field(default=3, ge=1, le=10)

    def with_limits(self, limits: Mapping[str, Any]) -> Self:
        """The same configuration with some fields replaced.

        Raises:
            ConfigError: an unknown field, or a value out of bounds; nothing is replaced then.
        """
        named = {_by_name(name): value for name, value in limits.items()}
        try:
            return type(self).model_validate(self.model_dump() | named)
        except ValidationError as error:
            raise ConfigError("\n".join(map(_explain, error.errors()))) from None


_LIMITS = ("max_iterations", "token_budget", "timeout_seconds", "max_tool_calls_per_turn", "max_parallel_tools")


def stricter(wanted: AgentConfig, allowed: AgentConfig) -> AgentConfig:
    """The configuration `wanted`, each limit lowered to that of `allowed` where that is lower (decision 31)."""
    return wanted.model_copy(update={name: min(getattr(wanted, name), getattr(allowed, name)) for name in _LIMITS})


def bounds(field: str) -> tuple[int, int]:
    """Least and greatest value of a field."""
    limits = {type(limit).__name__: limit for limit in AgentConfig.model_fields[field].metadata}
    return limits["Ge"].ge, limits["Le"].le


def _by_name(name: str) -> str:
    for field in AgentConfig.model_fields:
        if name == to_camel(field):
            return field
    return name


def _explain(error: Any) -> str:  # noqa: ANN401  pydantic's ErrorDetails
    field = str(error["loc"][0]) if error["loc"] else "?"
    value = error["input"]
    if error["type"] == "extra_forbidden":
        hint = did_you_mean(field, AgentConfig.model_fields) or f"fields are {', '.join(AgentConfig.model_fields)}"
        return f"there is no limit {field!r}; {hint}"
    low, high = bounds(_by_name(field))
    return f"{_by_name(field)} must be a whole number from {low:,} to {high:,}, not {value!r}"
