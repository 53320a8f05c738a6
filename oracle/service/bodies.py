"""What requests look like, for the checks and for `/openapi.json`; `replies` has what answers look like."""

from itertools import islice
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, ValidationError

from oracle.agent.query import LONGEST_QUESTION
from oracle.conversations import one_line
from oracle.decision import AgentConfig, bounds

_LONGEST_NAME = 200
_MOST_UNKNOWN = 50  # fields of a request that are looked at one by one
_CAMEL = {to_camel(name): name for name in AgentConfig.model_fields if to_camel(name) != name}


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul_character", "a NUL character is no text")
    return text


def _as_title(text: str) -> str:
    line = one_line(text)
    if not line:
        raise PydanticCustomError("empty_title", "a title has something to read, 1-{most} characters", {"most": 200})
    return line


Title = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_as_title)]
Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_without_nul)]


def _limit(name: str) -> Any:  # noqa: ANN401  pydantic's FieldInfo, which stands for a default of any type
    least, greatest = bounds(name)
    # A factory, because the schema would show a default; a field that is not given stays as it is.
    return Field(default_factory=int, ge=least, le=greatest, description=_MEANINGS[name])


_MEANINGS = {
    "max_iterations": "Most LLM turns of a query; the tree may allow fewer.",
    "soft_warning_percent": "Share of the turns after which user and model are warned.",
    "token_budget": "Most tokens of a query.",
    "token_warning_percent": "Share of the budget after which user and model are warned.",
    "timeout_seconds": "One deadline for the whole query.",
    "max_tool_calls_per_turn": "Calls beyond this are answered with an error and not run.",
    "max_parallel_tools": "How many of a turn's calls run at a time.",
}


class RequestBody(BaseModel):
    """What a request may hold: fields that are known, in their own types.

    Of a great number of unknown fields some are refused by name; the work is that of reading them all, no more.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _bound_unknown(cls, given: object) -> object:
        if not isinstance(given, dict) or len(given) <= _MOST_UNKNOWN:
            return given
        known = {name: given[name] for name in (*cls.model_fields, *_CAMEL) if name in given}
        return {**dict(islice(given.items(), _MOST_UNKNOWN)), **known}


class Limits(RequestBody):
    """Any fields of `AgentConfig`, in snake_case or camelCase; those that are left out stay as they are."""

    max_iterations: int = _limit("max_iterations")
    soft_warning_percent: int = _limit("soft_warning_percent")
    token_budget: int = _limit("token_budget")
    token_warning_percent: int = _limit("token_warning_percent")
    timeout_seconds: int = _limit("timeout_seconds")
    max_tool_calls_per_turn: int = _limit("max_tool_calls_per_turn")
    max_parallel_tools: int = _limit("max_parallel_tools")

    @model_validator(mode="before")
    @classmethod
    def _read_camel_case(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        # Where a field is given in both ways the second stays what it is, an unknown field.
        return {_CAMEL[key] if key in _CAMEL and _CAMEL[key] not in given else key: each for key, each in given.items()}

    @field_validator("*", mode="wrap")
    @classmethod
    def _explain(cls, value: object, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> int:
        if isinstance(value, float) and value.is_integer():  # JSON knows one kind of number: 6.0 is 6
            value = int(value)
        try:
            return int(check(value))
        except ValidationError:
            field = str(info.field_name)
            least, greatest = bounds(field)
            shown = repr(value)
            raise PydanticCustomError(
                "limit_out_of_bounds",
                "{field} must be a whole number from {least} to {greatest}, not {value}",
                {
                    "field": field,
                    "least": f"{least:,}",
                    "greatest": f"{greatest:,}",
                    "value": shown if len(shown) <= 80 else f"{shown[:79]}…",
                },
            ) from None

    @property
    def given(self) -> dict[str, int]:
        """The fields that the request has set."""
        return self.model_dump(exclude_unset=True)


class QueryRequest(RequestBody):
    """A question, and how it is to be answered."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "How does the login work?", "limits": {"max_iterations": 5}}]},
    )

    question: Annotated[str, AfterValidator(_without_nul)] = Field(
        min_length=1, max_length=LONGEST_QUESTION, description="What is asked."
    )
    context_id: str | None = Field(default=None, description="The conversation to continue; none begins one.")
    project_id: Name | None = Field(default=None, description="A label of a new conversation.")
    model: Name | None = Field(default=None, description="The provider's model that is to answer.")
    tree: Name | None = Field(default=None, description="The control: a tree's name.")
    limits: Limits = Field(default_factory=Limits, description="For this query only.")


class TitleChange(RequestBody):
    """Another title."""

    title: Title
