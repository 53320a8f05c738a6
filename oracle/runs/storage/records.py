"""The data types of the store's interface."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field
from typing import Any, Final, Literal, NamedTuple, Protocol

from pydantic import ConfigDict
from sqlalchemy import Connection, Insert, Row, Table

from bt_runtime.text.data import dataclass
from oracle.core.chunks import TokenUsage
from oracle.runs.storage.schema import KINDS

SpanKind = Literal["turn", "tool", "notice"]

MOST_SPANS: Final = 60
"""Spans of one run; beyond that the shortest neighbours are merged."""


class Span(NamedTuple):
    """A turn, a tool call or a system notification on the run's clock.

    Args:
        start_ms: from the start of the run.
        duration_ms: 0 for a notification.
    """

    kind: SpanKind
    start_ms: int
    duration_ms: int

    @property
    def end_ms(self) -> int:
        """From the start of the run."""
        return self.start_ms + self.duration_ms


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The figures of a finished run.

    Args:
        notices: system notifications that were sent.
        node_errors: exceptions that nodes raised.
        tools: tool calls of the model.
        tool_errors: those that failed, were refused or were cancelled.
        ticks: recorded ticks.
        shape: turns, tool calls and notifications by their start, at most `MOST_SPANS`.
    """

    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    notices: int = 0
    node_errors: int = 0
    tools: int = 0
    tool_errors: int = 0
    ticks: int = 0
    shape: tuple[Span, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The summary as a JSON object; a span is `[kind, start_ms, duration_ms]`."""
        return asdict(self) | {"shape": [list(span) for span in self.shape]}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "RunSummary":
        """The summary behind `to_json`'s object."""
        return cls(**{**fields, "shape": tuple(Span(*span) for span in fields["shape"])})


EventKind = Literal[
    "opened",
    "chunk",
    "request",
    "intent",
    "turn_end",
    "tool_end",
    "closing",
    "tick",
    "signal",
    "rule",
    "debug",
    "resumed",
    "final",
]
RunStatus = Literal["queued", "running", "parked", "finished"]
"""Queued for a worker; running; waiting for a person; ended."""
Kept = Literal["whole", "figures", "gone"]
"""What the store has of a run: all; its row and the figures of its log, without texts; its row alone."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry of the log.

    Args:
        seq: 1, 2, 3, … of everything in the run.
        kind: which class of `oracle.runs.record.events` the data is of.
        data: JSON.
        at: seconds since the epoch.
        chunk_n: the chunk's number; `None` for other events.
        step_key: the request whose outcome this is.
    """

    run_id: str
    seq: int
    kind: EventKind
    data: bytes
    at: float
    chunk_n: int | None = None
    step_key: str | None = None


class StoredChunk(NamedTuple):
    """A committed chunk: its number, and its JSON object as it goes out. A tuple, as there are thousands a second."""

    n: int
    data: bytes


class ChunkPage(NamedTuple):
    """Some chunks of a run, in order.

    Args:
        chunks: their numbers follow each other.
        is_last: the run has ended, and there are no chunks after these.
    """

    chunks: Sequence[StoredChunk]
    is_last: bool


class Claim(Protocol):
    """Something that only one run can have; it is taken in the transaction that begins the run."""

    def take(self, connection: Connection, insert: Callable[[Table], Insert], *, run_id: str, at: float) -> None:
        """Take it, or find that another run has it.

        Args:
            connection: of the transaction, which a refusal rolls back.
            insert: `Dialect.insert`, which waits for another worker that is inserting the same row.
            run_id: the run that begins.
            at: seconds since the epoch.

        Raises:
            StorageError: another run has it, and this one does not begin.
        """
        ...


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be started.

    Args:
        user_id: its owner.
        context_id: its conversation.
        tree: the name of the control.
        input: the request as it was accepted.
        limits: the `AgentConfig` in force.
        timeout_s: its deadline, in seconds from now.
        begins_conversation: the conversation is created with the run.
        project_id: label of a new conversation.
        tree_sha: the version of the tree, if it is one.
        claims: what it needs for itself, or does not begin.
        shadow_of: the run that it shadows; it then has no conversation, and takes none.
    """

    id: str
    user_id: str
    context_id: str
    tree: str
    input: Mapping[str, Any]
    limits: Mapping[str, Any]
    timeout_s: float
    begins_conversation: bool = True
    project_id: str | None = None
    tree_sha: str | None = None
    claims: tuple[Claim, ...] = ()
    shadow_of: str | None = None

    @property
    def created_conversation(self) -> str | None:
        """The id of the conversation that is created with the run; `None`: there was one before."""
        return self.context_id if self.begins_conversation else None


@dataclass(frozen=True, slots=True)
class Places:
    """How many runs may be running at a time; `None`: any number.

    Args:
        here: how many more this worker takes.
        in_all: the number for all workers together.
        per_user: the number for one user, on all workers.
    """

    here: int | None = None
    in_all: int | None = None
    per_user: int | None = None

    @property
    def are_shared(self) -> bool:
        """Whether workers have to count together."""
        return self.in_all is not None or self.per_user is not None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Args:
        termination_reason: the reason that its `done` gives.
        answer: the content chunks joined.
        turns: finished LLM turns.
        tokens_estimated: some of them are estimates.
        model_used: the model that answered.
        error: `{error, error_type}` of the last error chunk, with `{cause, detail}` for operators if they are known;
            `None` if there was none.
        summary: its figures.
        usage: the tokens by kind.
        cache_miss: the commonest reason for which its turns have missed the provider's cache; `None`: none was given.
    """

    termination_reason: str
    answer: str
    turns: int
    tokens_used: int
    tokens_estimated: bool
    model_used: str
    error: Mapping[str, Any] | None = None
    summary: RunSummary = RunSummary()
    usage: TokenUsage = field(default_factory=TokenUsage)
    cache_miss: str | None = None


Rating = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the user thinks of an answer; the text may be empty."""

    rating: Rating
    text: str = ""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as it is kept. Times are seconds since the epoch, UTC; fields of the end are `None` before it."""

    id: str
    user_id: str
    context_id: str
    worker: str
    epoch: int
    tree: str
    tree_sha: str | None
    input: Mapping[str, Any]
    limits: Mapping[str, Any]
    status: RunStatus
    created_at: float
    deadline_at: float
    n: int = 0
    """Greater than that of every earlier run."""
    finished_at: float | None = None
    forgotten_at: float | None = None
    termination_reason: str | None = None
    answer: str | None = None
    error: Mapping[str, Any] | None = None
    turns: int | None = None
    tokens_used: int | None = None
    tokens_estimated: bool | None = None
    model_used: str | None = None
    summary: RunSummary | None = None
    texts_dropped_at: float | None = None
    shadow_of: str | None = None
    """The run that it shadows; `None` for what a user has asked."""
    parked_at: float | None = None
    """When it began to wait for people, the last time."""
    attempts: int = 0
    """How often a worker has claimed it since a turn or a tool call of it has ended; 1 for a run that goes well."""
    progress_seq: int = 0
    """The last such end in its log when it was claimed; 0: there was none."""
    wake_at: float | None = None
    """When it continues by itself, if it is parked; `None`: only when it is woken."""
    feedback: Feedback | None = None
    """What its user thinks of it; the text goes with those of the run."""

    @property
    def trace_id(self) -> str | None:
        """The id of its trace; `None` if it has none, or its texts were deleted."""
        noted = self.input.get("trace")
        return None if noted is None else noted["run"]["traceparent"].split("-")[1]

    @property
    def log_fields(self) -> Mapping[str, str]:
        """The fields of its log lines."""
        trace_id = self.trace_id
        return {"run_id": self.id, "user_id": self.user_id, **({"trace_id": trace_id} if trace_id else {})}

    @property
    def kept(self) -> Kept:
        """What the store has of it; of one whose log still has texts that are being deleted nothing is shown."""
        is_half_dropped = self.texts_dropped_at is not None and self.answer is not None
        if self.forgotten_at is not None or is_half_dropped:
            return "gone"
        return "whole" if self.texts_dropped_at is None else "figures"


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command to the worker of a run."""

    run_id: str
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


def record_of(row: Row[Any]) -> RunRecord:
    """The run behind a row of the table."""
    fields = row._asdict()
    # A copy of the figure in the summary, for filters; for the queue alone; for sums alone.
    for name in ("node_errors", "turn", *KINDS, "cache_miss"):
        del fields[name]
    if fields["summary"] is not None:
        fields["summary"] = RunSummary.from_json(fields["summary"])
    if fields["feedback"] is not None:
        fields["feedback"] = Feedback(**fields["feedback"])
    return RunRecord(**fields)
