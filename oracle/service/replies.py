"""What answers look like, for `/openapi.json`; `oracle.chunks` has what streams carry."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from bt_runtime import CauseKind
from oracle.chunks import ErrorType, Severity, Source, SystemNotice, SystemType, TerminationReason
from oracle.decision import AgentConfig
from oracle.signals import SignalRecord

_Number = Annotated[int | float, WithJsonSchema({"type": "number"})]  # 7 stays 7, and is not 7.0


class Metadata(BaseModel):
    """The numbers behind a notification; which there are depends on `system_type`."""

    model_config = ConfigDict(extra="allow")

    current_value: _Number | None = None
    limit_value: _Number | None = None
    percent: _Number | None = None
    limit_type: Literal["iteration", "token", "timeout"] | None = None


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


class WholeAnswer(BaseModel):
    """A query's answer as one object."""

    answer: str
    sources: list[Source]
    system_messages: list[SystemNotice]
    tokens_used: int
    tokens_estimated: bool
    model_used: str
    turns: int
    context_id: str
    run_id: str
    termination_reason: TerminationReason
    error: str | None = Field(default=None, description="What failed; only with the reason `error`.")
    error_type: ErrorType | None = Field(default=None, description="The kind of failure; only with the reason `error`.")


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
    error_type: ErrorType | None
    cause: str | None = Field(description="For operators: what went wrong, and what to check. Others read none.")
    cause_detail: dict[str, Any] | None = Field(
        description="For operators: the provider's status, type of error and request id, as far as they are known."
    )
    limits: dict[str, int]
    forgotten: bool = Field(description="Its texts have been deleted; only figures are left.")


class RunList(BaseModel):
    """Runs, newest first."""

    runs: list[RunBody]
    next: str | None = Field(description="Give it as `before` for the runs that follow; none: there are no more.")


class TickOutcome(BaseModel):
    """How a request of a node ended; what it brought is not told here."""

    key: str = Field(description="The request: `path@n` for the n-th of that node in this run.")
    state: Literal["done", "failed", "cancelled"]
    at_s: float
    kept: bool = Field(default=False, description="It brought something, or failed.")


class Tick(BaseModel):
    """One tick of the tree: what it was told, and what it did. Nodes are named by their index in `nodes`."""

    tick: int = Field(description="1, 2, 3, …")
    at_s: float = Field(description="Seconds of the run's clock.")
    cause: CauseKind
    causes: list[str] = Field(description="The requests, nodes or keys behind the cause.")
    deliveries: list[tuple[str, Any]] = Field(description="(key, value) of what came from outside.")
    visited: list[int] = Field(description="The nodes that were ticked, in order of entry.")
    writes: list[tuple[str, Any]] = Field(description="(key, value) of each blackboard write, in order.")
    changes: list[tuple[int, Literal["SUCCESS", "FAILURE", "RUNNING", "INVALID"]]] = Field(
        description="(node, status) where the status is another than at the end of the tick before."
    )
    errors: list[tuple[str, str]] = Field(description="(path, error) of exceptions in nodes.")
    outcomes: list[TickOutcome] = Field(description="Results that the tree got at the start of this tick.")


class TickList(BaseModel):
    """Recorded ticks, oldest first."""

    run_id: str
    tree: str
    version: str | None
    nodes: list[str] = Field(description="Paths of the tree's nodes; ticks name nodes by their index here.")
    ticks: list[Tick]
    next: int | None = Field(description="Give it as `after` for the ticks that follow; none: there are no more yet.")


class SignalList(BaseModel):
    """What the model said about itself, and what was done about it, oldest first."""

    run_id: str
    signals: list[SignalRecord]
    next: int | None = Field(description="Give it as `after` for those that follow; none: there are no more yet.")


class CancelAnswer(BaseModel):
    """The cancel was taken; `done` follows in the stream, if it was not there."""

    run_id: str
    status: Literal["running", "finished"]


class _MessageHead(BaseModel):
    n: int = Field(description="1, 2, 3, … in the conversation.")
    content: str
    at: str = Field(description="ISO 8601, UTC.")
    timestamp: str = Field(description="The same.")
    run_id: str = Field(description="The query that it belongs to.")


class ToolUse(BaseModel):
    """A tool call and its result; long arguments and results are shortened, with a mark that says so."""

    id: str
    name: str
    arguments: dict[str, Any]
    tool_result: str
    is_error: bool
    duration_ms: int
    timestamp: str = Field(description="ISO 8601, UTC.")


class UserMessage(_MessageHead):
    """A question."""

    role: Literal["user"]
    tool_calls: list[ToolUse] = Field(description="Those of its run, if it has no answer.")
    metadata: dict[str, Any]


class AnswerMetadata(BaseModel):
    """What an answer rests on, and why it ended."""

    run_id: str
    termination_reason: TerminationReason
    sources: list[Source]


class AssistantMessage(_MessageHead):
    """An answer: the content chunks of its run, joined."""

    role: Literal["assistant"]
    tool_calls: list[ToolUse] = Field(description="Those of its run, in order.")
    metadata: AnswerMetadata


class SystemMessage(_MessageHead):
    """A notification, with the fields of its chunk; the model never sees it."""

    role: Literal["system"]
    system_type: SystemType
    system_message: str
    severity: Severity
    metadata: Metadata


Message = Annotated[UserMessage | AssistantMessage | SystemMessage, Field(discriminator="role")]


class LiveBody(BaseModel):
    """What a conversation is answering; question and answer are among its messages when the run has ended."""

    run_id: str
    question: str
    created_at: str = Field(description="ISO 8601, UTC.")


class ConversationHead(BaseModel):
    """A conversation as it is listed."""

    context_id: str
    title: str = Field(description="From the first question, or as the user has it.")
    project_id: str | None = Field(description="The label that it was begun with.")
    state: Literal["idle", "answering"]
    run_id: str | None = Field(description="The run that it is answering; none while it is idle.")
    created_at: str = Field(description="ISO 8601, UTC.")
    updated_at: str = Field(description="When something was asked or answered last.")


class ConversationList(BaseModel):
    """Conversations, the one that was used last first."""

    conversations: list[ConversationHead]
    next: str | None = Field(description="Give it as `before` for those that follow; none: there are no more.")


class ConversationBody(ConversationHead):
    """A conversation and its newest messages, oldest first."""

    live: LiveBody | None
    messages: list[Message]
    next: int | None = Field(description="Give it as `before` for earlier messages; none: there are no earlier ones.")


class Me(BaseModel):
    """Who asks."""

    user_id: str
    is_operator: bool = Field(description="May see all runs, and save trees.")


class ConfigValues(AgentConfig):
    """All fields of `AgentConfig`."""

    model_config = ConfigDict(extra="ignore")


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
