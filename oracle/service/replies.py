"""The bodies of responses, for `/openapi.json`; `oracle.chunks` has the chunks of streams."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, WithJsonSchema

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
    """The reason for an error response."""

    detail: str


class Mistake(BaseModel):
    """One mistake in a request."""

    type: str
    loc: list[str | int]
    msg: str
    input: Any = None
    ctx: dict[str, Any] | None = None


class InvalidRequest(BaseModel):
    """Everything that is wrong with a request."""

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
    """The tree that drives a run; a decision tree in Python has no version."""

    name: str
    version: str | None


class RunBody(BaseModel):
    """The state of a run, or how it ended."""

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
    cause: str | None = Field(description="For operators: what went wrong, and what to check; null for others.")
    cause_detail: dict[str, Any] | None = Field(
        description="For operators: the provider's status, error type and request id, as far as they are known."
    )
    limits: dict[str, int]
    forgotten: bool = Field(description="Its texts have been deleted; only its figures remain.")


class RunList(BaseModel):
    """Runs, newest first."""

    runs: list[RunBody]
    next: str | None = Field(description="The `before` of the next page; null on the last one.")


class TickOutcome(BaseModel):
    """How a request of a node ended; its value is not included."""

    key: str = Field(description="The request: `path@n` for the n-th of that node in this run.")
    state: Literal["done", "failed", "cancelled"]
    at_s: float
    kept: bool = Field(default=False, description="It has a value, or failed.")


class Tick(BaseModel):
    """One tick of the tree: its input, and what it did. Nodes are referred to by their index in `nodes`."""

    tick: int = Field(description="1, 2, 3, …")
    at_s: float = Field(description="Seconds of the run's clock.")
    cause: CauseKind
    causes: list[str] = Field(description="The requests, nodes or keys that caused it.")
    deliveries: list[tuple[str, Any]] = Field(description="(key, value) of each delivery from outside.")
    visited: list[int] = Field(description="The nodes that were ticked, in order of entry.")
    writes: list[tuple[str, Any]] = Field(description="(key, value) of each blackboard write, in order.")
    changes: list[tuple[int, Literal["SUCCESS", "FAILURE", "RUNNING", "INVALID"]]] = Field(
        description="(node, status) of each node whose status differs from that at the end of the previous tick."
    )
    errors: list[tuple[str, str]] = Field(description="(path, error) of exceptions in nodes.")
    outcomes: list[TickOutcome] = Field(description="Outcomes that the tree received at the start of this tick.")


class TickList(BaseModel):
    """Recorded ticks, oldest first."""

    run_id: str
    tree: str
    version: str | None
    nodes: list[str] = Field(description="Paths of the tree's nodes; ticks refer to nodes by their index here.")
    ticks: list[Tick]
    next: int | None = Field(description="The `after` of the next page; null if there are no more ticks yet.")


class SignalList(BaseModel):
    """The signals of the model, and the action taken on each, oldest first."""

    run_id: str
    signals: list[SignalRecord]
    next: int | None = Field(description="The `after` of the next page; null if there are no more signals yet.")


class CancelAnswer(BaseModel):
    """The cancel was accepted; `done` follows in the stream unless the run has ended."""

    run_id: str
    status: Literal["running", "finished"]


class _MessageHead(BaseModel):
    n: int = Field(description="1, 2, 3, … in the conversation.")
    content: str
    at: str = Field(description="ISO 8601, UTC.")
    timestamp: str = Field(description="The same as `at`.")
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
    tool_calls: list[ToolUse] = Field(description="The calls of its run, if the run has no answer.")
    metadata: dict[str, Any]


class AnswerMetadata(BaseModel):
    """The sources of an answer, and why it ended."""

    run_id: str
    termination_reason: TerminationReason
    sources: list[Source]


class AssistantMessage(_MessageHead):
    """An answer: the content chunks of its run, joined."""

    role: Literal["assistant"]
    tool_calls: list[ToolUse] = Field(description="The calls of its run, in order.")
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
    """The query that a conversation is answering; question and answer become messages when its run ends."""

    run_id: str
    question: str
    created_at: str = Field(description="ISO 8601, UTC.")


class ConversationHead(BaseModel):
    """A conversation in a list."""

    context_id: str
    title: str = Field(description="From the first question, or set by the user.")
    project_id: str | None = Field(description="The label given when it was begun.")
    state: Literal["idle", "answering"]
    run_id: str | None = Field(description="The run that it is answering; null while it is idle.")
    created_at: str = Field(description="ISO 8601, UTC.")
    updated_at: str = Field(description="Time of the last question or answer.")


class ConversationList(BaseModel):
    """Conversations, the most recently used first."""

    conversations: list[ConversationHead]
    next: str | None = Field(description="The `before` of the next page; null on the last one.")


class ConversationBody(ConversationHead):
    """A conversation and its newest messages, oldest first."""

    live: LiveBody | None
    messages: list[Message]
    next: int | None = Field(description="The `before` of the page of earlier messages; null if there are none.")


class Me(BaseModel):
    """The caller."""

    user_id: str
    is_operator: bool = Field(description="May see all runs, and save trees.")


class ConfigValues(AgentConfig):
    """All fields of `AgentConfig`."""

    model_config = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)


class Cap(BaseModel):
    """The cap that keeps a field below the user's value."""

    limit: int
    by: Literal["operator", "tree"]


class AgentSettings(ConfigValues):
    """The user's limits (defaults where none is set), and those that will apply."""

    effective: ConfigValues
    capped: dict[str, Cap] = Field(description="The fields whose effective value is lower than the user's, and why.")


class EditBody(BaseModel):
    """A replacement of the text between two places; line and column count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class FixBody(BaseModel):
    """A change that removes a mistake."""

    title: str
    edits: list[EditBody]


class TreeMistake(BaseModel):
    """A mistake in a tree file, with its place."""

    file: str = Field(description="The name of the file: `follow_signal.yaml`.")
    line: int = Field(description="From 1.")
    column: int = Field(description="From 1, in characters.")
    end_line: int | None
    end_column: int | None
    severity: Literal["error", "warning"]
    code: str
    message: str
    hint: str | None
    path: str | None = Field(description="The node that it concerns.")
    fixes: list[FixBody]


class TreeHead(BaseModel):
    """A tree in a list."""

    name: str
    description: str
    internal: bool = Field(description="It is a part of other trees; a question cannot name it.")
    origin: Literal["operator", "shipped"] = Field(description="Whose file serves the name.")
    version: str | None = Field(description="Of the present file: SHA-256 of its bytes; null if it cannot be read.")
    run_version: str | None = Field(
        description="What new runs use, subtrees included: `tree.version` of a run; null if no version was ever valid."
    )
    is_current: bool = Field(description="New runs use the present file; otherwise it has mistakes.")
    includes: list[str] = Field(description="The trees that it includes, directly or not.")
    used_by: list[str] = Field(description="The trees that include it, directly or not.")
    mistake_count: int
    warning_count: int
    file: str | None = Field(description="For operators: the path of the present file; null for others.")


class TreeList(BaseModel):
    """The trees, by name."""

    trees: list[TreeHead]
    problem: str | None = Field(description="For operators: why the folders cannot be read at present.")


class TreeNode(BaseModel):
    """A node of a tree; its index in the list is the one that ticks of its runs have."""

    path: str
    kind: str
    name: str | None
    file: str = Field(description="The name of the file that it stands in.")
    line: int
    column: int


class TreeBody(TreeHead):
    """A tree: its present file, and what new runs use."""

    source: str | None = Field(description="The text of the present file; null if it cannot be read.")
    outline: str | None = Field(description="What new runs use, drawn as text.")
    picture: str | None = Field(description="What new runs use, drawn as SVG.")
    nodes: list[TreeNode] = Field(description="Of what new runs use, in the order of the file.")
    mistakes: list[TreeMistake] = Field(description="Of the present file and those that it includes.")
    warnings: list[TreeMistake]


class TreeMistakes(BaseModel):
    """Why a tree is not saved: all mistakes that it would bring, in its file and in those that include it."""

    detail: list[TreeMistake]


class TreeRefusal(RootModel[TreeMistakes | InvalidRequest]):
    """Mistakes in the tree, or in the request itself."""


class TreeConflict(BaseModel):
    """Why a tree is not saved: the edit was not made from the present version, or the folder cannot be written."""

    detail: str
    version: str | None = Field(default=None, description="The present version; null if there is no file.")
    user_id: str | None = Field(default=None, description="Who saved it; null if its file was changed by other means.")
    at: str | None = Field(default=None, description="When; ISO 8601, UTC.")
    note: str | None = Field(default=None, description="Why.")
    difference: str | None = Field(
        default=None, description="What has changed since the version that the edit was made from, a line per change."
    )


class TreeCheck(BaseModel):
    """The result of a check."""

    ok: bool = Field(description="There are no mistakes; there may be warnings.")
    mistakes: list[TreeMistake]
    warnings: list[TreeMistake]


class TreeCompletion(BaseModel):
    """Something that can be typed at a position."""

    label: str = Field(description="What a list shows.")
    kind: str = Field(description="What it is: a node kind, a setting, a key, a value, …")
    detail: str
    doc: str = Field(description="Markdown.")
    line: int = Field(description="With the next three: the text that it replaces.")
    column: int
    end_line: int
    end_column: int
    insert: str = Field(description="What takes its place.")
    snippet: str | None = Field(description="The same with places to fill in, as `${1:name}`.")


class TreeCompletions(BaseModel):
    """What can be typed at a position, the likeliest first."""

    items: list[TreeCompletion]


class ReplayDifference(BaseModel):
    """Where a recorded query would first have gone another way."""

    model_config = ConfigDict(populate_by_name=True)

    tick: int
    path: str = Field(description="The first node that does something else; empty if only its effects differ.")
    file: str | None
    line: int | None
    in_: Literal["old", "new"] = Field(alias="in", description="The tree that the node is of.")
    old: str | None = Field(description="What the present tree does; null for other users' queries.")
    new: str | None = Field(description="What the tree would do; null for other users' queries.")


class ReplayedRun(BaseModel):
    """A recorded query on the present tree and on the text."""

    tree: str = Field(description="The tree that it named.")
    run_id: str
    verdict: Literal["same", "another_way", "differs", "unknown"]
    difference: ReplayDifference | None
    old_end: TerminationReason | None = Field(description="Why it ends; null if that is not known.")
    new_end: TerminationReason | None
    unknown: str | None = Field(description="Why an end is not known.")


class TreeComparison(BaseModel):
    """Which recorded queries would have gone another way; those of each tree newest first."""

    runs: list[ReplayedRun]


class ScenarioDifference(BaseModel):
    """What happened in place of what is stated."""

    model_config = ConfigDict(extra="allow")

    line: int
    expected: Any
    got: Any
    hint: str | None = None


class ScenarioResult(BaseModel):
    """A scenario that was played."""

    model_config = ConfigDict(extra="allow")

    name: str
    passed: bool
    problem: str | None = Field(default=None, description="Why it could not be played.")
    differences: list[ScenarioDifference] | None = None


class ScenarioFile(BaseModel):
    """A file of scenarios."""

    file: str
    passed: bool
    mistakes: str | None
    scenarios: list[ScenarioResult]


class TreeTest(BaseModel):
    """The scenarios, with the text in place."""

    passed: bool
    files: list[ScenarioFile]


class VerifiedProperty(BaseModel):
    """The verdict on one property, or on one rule of the tree."""

    name: str
    text: str
    verdict: Literal["proven", "refuted", "not_decided"]
    problem: str = Field(description="What is wrong, or why it is not decided; empty if it is proven.")
    is_rule: bool
    story: list[str] | None = Field(description="The shortest counterexample, by lines.")


class VerifiedWithin(BaseModel):
    """The bounds of an exploration."""

    turns: int
    stopped_at: str | None = Field(description="What has stopped it; null if it is complete.")


class TreeVerification(BaseModel):
    """All behaviours of a tree with a text in place, as far as they were explored."""

    tree: str
    verdict: Literal["proven", "refuted", "not_decided"] = Field(description="The worst of all.")
    properties: list[VerifiedProperty]
    bounds: VerifiedWithin
    states: int
    transitions: int
    ends: int
    seconds: float
    megabytes: float


class TreeEditBody(BaseModel):
    """A version of a tree's file."""

    version: str
    how: Literal["saved", "restored", "file", "shipped"] = Field(
        description="Saved or taken back by a user; a change of the file by other means; or a part of a release."
    )
    user_id: str | None
    note: str | None
    at: str = Field(description="ISO 8601, UTC.")
    size: int = Field(description="Bytes.")
    is_present: bool = Field(description="It is the text of the present file.")


class TreeEditList(BaseModel):
    """Versions of a tree, newest first."""

    name: str
    versions: list[TreeEditBody]


class TreeTextBody(BaseModel):
    """The text of a version."""

    name: str
    version: str
    source: str


class Health(BaseModel):
    """The process is alive."""

    status: Literal["ok", "ready"]
    broken_trees: int | None = Field(
        default=None,
        description="Trees whose files have mistakes: their last valid versions are in use. Left out if there is none.",
    )
