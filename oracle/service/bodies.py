"""What requests and answers look like, for the checks and for `/openapi.json`."""

from typing import Annotated, Any, Literal

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
from oracle.chunks import TerminationReason
from oracle.decision import AgentConfig, bounds

_LONGEST_NAME = 200
_CAMEL = {to_camel(name): name for name in AgentConfig.model_fields if to_camel(name) != name}


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul_character", "a NUL character is no text")
    return text


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


class Limits(BaseModel):
    """Any fields of `AgentConfig`, in snake_case or camelCase; those that are left out stay as they are."""

    model_config = ConfigDict(extra="forbid", strict=True)

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


class QueryRequest(BaseModel):
    """A question, and how it is to be answered."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
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


class ErrorAnswer(BaseModel):
    """Why there is no other answer."""

    detail: str


class Mistake(BaseModel):
    """One thing that is wrong with a request."""

    type: str
    loc: list[str | int]
    msg: str
    input: Any = None
    ctx: dict[str, Any] | None = None


class InvalidRequest(BaseModel):
    """All that is wrong with a request."""

    detail: list[Mistake]


class SourceBody(BaseModel):
    """Where something in the answer comes from."""

    path: str
    source_type: Literal["code", "vault", "thread", "web"]
    line: int | None = None
    snippet: str | None = None
    score: float | None = None


class SystemMessage(BaseModel):
    """A notification: the chunk as it was streamed."""

    type: Literal["system"]
    system_type: str
    system_message: str
    severity: Literal["info", "warning", "error"]
    metadata: dict[str, Any]
    timestamp: str


class WholeAnswer(BaseModel):
    """A query's answer as one object."""

    answer: str
    sources: list[SourceBody]
    system_messages: list[SystemMessage]
    tokens_used: int
    tokens_estimated: bool
    model_used: str
    turns: int
    context_id: str
    run_id: str
    termination_reason: TerminationReason
    error: str | None = Field(default=None, description="What failed; only with the reason `error`.")
    error_type: str | None = Field(default=None, description="The kind of failure; only with the reason `error`.")


class TreeVersionBody(BaseModel):
    """The tree that drives a run; no version under a decision tree in Python."""

    name: str
    version: str | None


class RunBody(BaseModel):
    """How a run stands, or ended."""

    run_id: str
    user_id: str
    context_id: str
    status: Literal["running", "finished"]
    created_at: str = Field(description="ISO 8601, UTC.")
    deadline_at: str
    finished_at: str | None
    tree: TreeVersionBody
    turns: int = Field(description="Finished LLM turns so far.")
    tokens_used: int
    tokens_estimated: bool
    model_used: str | None
    termination_reason: TerminationReason | None
    error: str | None
    error_type: str | None
    limits: dict[str, int]
    forgotten: bool = Field(description="Its texts have been deleted; only figures are left.")


class RunList(BaseModel):
    """Runs, newest first."""

    runs: list[RunBody]
    next: str | None = Field(description="Give it as `before` for the runs that follow; none: there are no more.")


class TickList(BaseModel):
    """Recorded ticks, oldest first."""

    run_id: str
    tree: str
    version: str | None
    nodes: list[str] = Field(description="Paths of the tree's nodes; ticks name nodes by their index here.")
    ticks: list[dict[str, Any]]
    next: int | None = Field(description="Give it as `after` for the ticks that follow; none: there are no more yet.")


class SignalList(BaseModel):
    """What the model said about itself, and what was done about it, oldest first."""

    run_id: str
    signals: list[dict[str, Any]]
    next: int | None = Field(description="Give it as `after` for those that follow; none: there are no more yet.")


class CancelAnswer(BaseModel):
    """The cancel was taken; `done` follows in the stream, if it was not there."""

    run_id: str
    status: Literal["running", "finished"]


class MessageBody(BaseModel):
    """A message of a conversation; `system` ones are notifications, which the model never sees."""

    role: Literal["user", "assistant", "system"]
    content: str
    at: str
    metadata: dict[str, Any]


class ConversationBody(BaseModel):
    """A conversation, oldest message first."""

    context_id: str
    project_id: str | None
    messages: list[MessageBody]


class ConfigValues(BaseModel):
    """All fields of `AgentConfig`."""

    max_iterations: int
    soft_warning_percent: int
    token_budget: int
    token_warning_percent: int
    timeout_seconds: int
    max_tool_calls_per_turn: int
    max_parallel_tools: int


class Cap(BaseModel):
    """What keeps a field below the user's value."""

    limit: int
    by: Literal["operator", "tree"]


class AgentSettings(ConfigValues):
    """The user's limits (defaults where nothing is set), and those that will hold."""

    effective: ConfigValues
    capped: dict[str, Cap] = Field(description="The fields whose effective value is lower than the user's, and why.")


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok", "ready"]
