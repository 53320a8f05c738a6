"""The bodies of responses, for `/openapi.json`; `oracle.core.chunks` has the chunks of streams."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from bt_runtime import CauseKind
from oracle.classify.protocol import EncoderState
from oracle.core import chunks
from oracle.decision import AgentConfig
from oracle.replay.histories.model import StepFacts, VisitFacts
from oracle.runs.storage.records import Feedback, Kept, RunStatus, RunSummary
from oracle.runs.storage.run_pages import RunCounts
from signals import SignalRecord

_Number = Annotated[int | float, WithJsonSchema({"type": "number"})]  # 7 stays 7, and is not 7.0


class ReplyBody(BaseModel):
    """The body of a response. Calls write their bodies themselves, so it is built for the document alone."""

    model_config = ConfigDict(defer_build=True)


class Metadata(ReplyBody):
    """The numbers behind a notification; which there are depends on `system_type`."""

    model_config = ConfigDict(extra="allow")

    current_value: _Number | None = None
    limit_value: _Number | None = None
    percent: _Number | None = None
    limit_type: Literal["iteration", "token", "timeout"] | None = None


class ErrorAnswer(ReplyBody):
    """The reason for an error response."""

    detail: str


class RequestMistake(ReplyBody):
    """One mistake in a request."""

    __qualname__ = "Mistake"  # its name in `/openapi.json`
    model_config = ConfigDict(title="Mistake")

    type: str
    loc: list[str | int]
    msg: str
    input: Any = None
    ctx: dict[str, Any] | None = None


class InvalidRequest(ReplyBody):
    """Everything that is wrong with a request."""

    detail: list[RequestMistake]


class WholeAnswer(ReplyBody):
    """A query's answer as one object."""

    answer: str
    sources: list[chunks.Source]
    system_messages: list[chunks.SystemNotice]
    tokens_used: int
    tokens_estimated: bool
    model_used: str
    turns: int
    context_id: str
    run_id: str
    termination_reason: chunks.TerminationReason
    usage: chunks.TokenUsage | None = Field(default=None, description="Left out if there was none or it is not known.")
    error: str | None = Field(default=None, description="The text of the error; only with the reason `error`.")
    error_type: chunks.ErrorType | None = Field(
        default=None, description="The kind of failure; only with the reason `error`."
    )


class TreeVersionBody(ReplyBody):
    """The tree that drives a run; a decision tree in Python has no version."""

    name: str
    version: str | None


class RunBody(ReplyBody):
    """The state of a run, or how it ended."""

    run_id: str
    user_id: str
    context_id: str
    question: str = Field(description="Its first 300 characters; empty if its texts have been deleted.")
    status: RunStatus
    created_at: str = Field(description="ISO 8601, UTC.")
    deadline_at: str
    finished_at: str | None
    duration_s: float | None = Field(description="Null while it is under way.")
    tree: TreeVersionBody
    turns: int = Field(description="Finished LLM turns so far.")
    tokens_used: int
    tokens_estimated: bool
    model_used: str | None
    termination_reason: chunks.TerminationReason | None
    error: str | None
    error_type: chunks.ErrorType | None
    cause: str | None = Field(description="For operators: what went wrong, and what to check; null for others.")
    cause_detail: dict[str, Any] | None = Field(
        description="For operators: the provider's status, error type and request id, where known."
    )
    limits: dict[str, int]
    turn_limit: int = Field(
        description="The turn limit: `max_iterations`, or the tree's limit if that is lower and still known."
    )
    shadow_of: str | None = Field(description="The run that it shadows; null for a user's own question.")
    feedback: Feedback | None = Field(description="The user's rating of the answer; null if there is none.")
    trace_id: str | None = Field(description="Its OpenTelemetry trace; null if traces are off.")
    summary: RunSummary | None = Field(description="Null while it is under way.")
    forgotten: bool = Field(description="Its texts have been deleted; only its figures remain.")
    kept: Kept = Field(
        description="What is still stored. `whole`: everything; `figures`: this record and the figures of its ticks "
        "and signals; `gone`: only this record."
    )


class RunList(ReplyBody):
    """Runs, newest first."""

    runs: list[RunBody]
    next: str | None = Field(description="The `before` of the next page; null on the last one.")
    counts: RunCounts | None = Field(description="Null if you did not ask for it.")


class TickOutcome(ReplyBody):
    """How a request of a node ended; its value is not included."""

    key: str = Field(description="The id of the request: `path@n` is the n-th of that node in this run.")
    state: Literal["done", "failed", "cancelled"]
    at_s: float
    kept: bool = Field(default=False, description="Whether it succeeded or failed.")


class Tick(ReplyBody):
    """One tick of the tree: its input, and what it did. Nodes are referred to by their index in `nodes`."""

    tick: int = Field(description="1, 2, 3, …")
    at_s: float = Field(description="Seconds of the run's clock.")
    cause: CauseKind
    causes: list[str] = Field(description="The requests, nodes or keys that caused it.")
    deliveries: list[tuple[str, Any]] = Field(description="(key, value) of each delivery from outside the run.")
    visited: list[int] = Field(description="The nodes that were ticked, in order of entry.")
    writes: list[tuple[str, Any]] = Field(description="(key, value) of each blackboard write, in order.")
    changes: list[tuple[int, Literal["SUCCESS", "FAILURE", "RUNNING", "INVALID"]]] = Field(
        description="(node, status) of each node whose status differs from that at the end of the previous tick."
    )
    errors: list[tuple[str, str]] = Field(description="(path, error) of exceptions in nodes.")
    outcomes: list[TickOutcome] = Field(description="Outcomes that the tree received at the start of this tick.")
    took_ms: float = Field(description="How long the tick took, in real milliseconds; 0 if not measured.")
    turn: int = Field(default=0, description="The turn it belongs to. This field and those below come with `reasons`.")
    decision: int | None = Field(
        default=None, description="The node that decided what happens next; null if that is not known."
    )
    headline: str = Field(default="", description="What happened and what was decided, in one sentence.")
    marks: str = Field(default="", description="One character per node: what it did, or that it was not ticked.")
    why: list[StepFacts] = Field(default=[], description="The steps from the root to the decision, as sentences.")
    visits: list[VisitFacts] = Field(default=[], description="How that decision was made; empty if not known.")


class TickList(ReplyBody):
    """Recorded ticks, oldest first."""

    run_id: str
    tree: str
    version: str | None
    nodes: list[str] = Field(description="Paths of the tree's nodes; ticks refer to nodes by their index here.")
    ticks: list[Tick]
    next: int | None = Field(description="The `after` of the next page; null if there are no more ticks yet.")


class SignalList(ReplyBody):
    """The signals of the model, and the action taken on each, oldest first."""

    run_id: str
    signals: list[SignalRecord]
    next: int | None = Field(description="The `after` of the next page; null if there are no more signals yet.")


class SourceText(ReplyBody):
    """Lines of a source that a run has cited, as its file is now."""

    run_id: str
    path: str
    source_type: Literal["code", "vault", "thread"]
    line: int | None = Field(description="The requested line.")
    first_line: int = Field(description="The number of the first of `lines`, from 1.")
    lines: list[str] = Field(description="Plain text without line ends; long ones are cut, with a mark that says so.")
    total_lines: int = Field(description="How many lines the file has.")
    is_exact: bool = Field(description="Whether the file is valid in its encoding; otherwise wrong bytes are U+FFFD.")
    is_whole: bool = Field(description="Whether the whole file was read; only the beginning of a very large file is.")


class CancelAnswer(ReplyBody):
    """The cancel was accepted; `done` follows in the stream unless the run has ended."""

    run_id: str
    status: RunStatus


class _MessageHead(ReplyBody):
    n: int = Field(description="1, 2, 3, … in the conversation.")
    content: str
    at: str = Field(description="ISO 8601, UTC.")
    timestamp: str = Field(description="The same as `at`.")
    run_id: str = Field(description="The run that it belongs to.")


class MessageToolCall(ReplyBody):
    """A tool call and its result; long arguments and results are shortened, with a mark that says so."""

    __qualname__ = "ToolUse"  # its name in `/openapi.json`
    model_config = ConfigDict(title="ToolUse")

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
    tool_calls: list[MessageToolCall] = Field(description="The calls of its run, if the run has no answer.")
    metadata: dict[str, Any]


class AnswerMetadata(ReplyBody):
    """The sources of an answer, and why it ended."""

    run_id: str
    termination_reason: chunks.TerminationReason
    sources: list[chunks.Source]


class AssistantMessage(_MessageHead):
    """An answer: the content chunks of its run, joined."""

    role: Literal["assistant"]
    tool_calls: list[MessageToolCall] = Field(description="The calls of its run, in order.")
    metadata: AnswerMetadata


class SystemMessage(_MessageHead):
    """A notification, with the fields of its chunk; the model never sees it."""

    role: Literal["system"]
    system_type: chunks.SystemType
    system_message: str
    severity: chunks.Severity
    metadata: Metadata


Message = Annotated[UserMessage | AssistantMessage | SystemMessage, Field(discriminator="role")]


class LiveBody(ReplyBody):
    """The query that a conversation is answering; question and answer become messages when its run ends."""

    run_id: str
    question: str
    created_at: str = Field(description="ISO 8601, UTC.")


class ConversationHead(ReplyBody):
    """A conversation in a list."""

    context_id: str
    title: str = Field(description="From the first question, or set by the user.")
    project_id: str | None = Field(description="The label given at its beginning.")
    state: Literal["idle", "answering"]
    run_id: str | None = Field(description="The run under way in it; null while it is idle.")
    created_at: str = Field(description="ISO 8601, UTC.")
    updated_at: str = Field(description="Time of the last question or answer.")


class ConversationList(ReplyBody):
    """Conversations, the most recently used first."""

    conversations: list[ConversationHead]
    next: str | None = Field(description="The `before` of the next page; null on the last one.")


class ConversationBody(ConversationHead):
    """A conversation and its newest messages, oldest first."""

    live: LiveBody | None
    messages: list[Message]
    next: int | None = Field(description="The `before` of the page of earlier messages; null if there are none.")


class NamedTree(ReplyBody):
    """A tree that a question may name."""

    name: str
    description: str = Field(description="Empty if it has none.")


class SuggestedQuestion(ReplyBody):
    """A question to begin with."""

    question: str
    about: str = Field(description="One or two words on its topic; may be empty.")


class Me(ReplyBody):
    """The caller, and what a question may choose."""

    user_id: str
    is_operator: bool = Field(description="May see all runs, and save trees.")
    can_debug: bool = Field(description="May pause and change runs: an operator, if live debugging is on.")
    project: str | None = Field(description="The name of the project whose code is read; null if there is none.")
    sources: list[chunks.SourceType] = Field(description="The sources that there are tools for.")
    suggestions: list[SuggestedQuestion] = Field(
        description="Suggested questions for an empty page, at most four, best first; only those that the tools can "
        "answer."
    )
    provider: str = Field(
        description="The provider that answers: `anthropic`, another one by the name the operator gave it, or "
        "`offline`: the embedded model, without a network."
    )
    model: str = Field(description="The model that answers a question that names none.")
    models: list[str] = Field(description="The models that a question may name; may be empty.")
    any_model: bool = Field(description="A question may also name any other model of the provider.")
    tree: str = Field(description="The tree that answers a question that names none.")
    trees: list[NamedTree] = Field(description="The trees that a question may name, by name.")
    features: list[str] = Field(description="The features that the service has, as `oracle features` names them.")
    version: str = Field(description="Of the service.")


class ConfigValues(AgentConfig):
    """All fields of `AgentConfig`."""

    model_config = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)


class Cap(ReplyBody):
    """The cap that keeps a field below the user's value."""

    limit: int
    by: Literal["operator", "tree"]


class SettingBody(ReplyBody):
    """A field of the settings; a value beyond its bounds is refused, one beyond a ceiling is lowered to it."""

    description: str
    default: int
    minimum: int
    maximum: int
    ceiling: int | None = Field(description="The operator's ceiling; null if the field has none.")
    tree: int | None = Field(description="The greatest value that the tree uses; null if the tree does not limit it.")


class AgentSettings(ConfigValues):
    """The user's limits (defaults where none is set), and those that will apply."""

    effective: ConfigValues
    capped: dict[str, Cap] = Field(description="The fields whose effective value is lower than the user's, and why.")
    fields: dict[str, SettingBody] = Field(description="Details of each field, by name.")
    tree: str = Field(description="The tree that would answer, which `effective`, `capped` and `fields` speak of.")


class Health(ReplyBody):
    """The process is alive."""

    status: Literal["ok", "ready"]
    broken_trees: int | None = Field(
        default=None,
        description="Trees whose files have mistakes; their last valid versions are in use. Left out if there are "
        "none.",
    )
    encoder: EncoderState | None = Field(
        default=None,
        description="The state of the encoder; unless it is `ready`, only heuristics answer. Left out if it is `off`.",
    )
    missing_tools: list[str] | None = Field(
        default=None,
        description="MCP servers that cannot be reached, and tools (`server.tool`) that differ from what was "
        "approved; they are not offered. Left out if there are none.",
    )
