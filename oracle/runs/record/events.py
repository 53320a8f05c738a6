"""The log of a run: one class for each kind of event, and the one way to its bytes and back.

A log is read in its order by a `LogDecoder`, because some events refer to those before them: a tick to the outcomes
that it takes, and the sentence that closes an answer to the event with its reason.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Final, Literal, NamedTuple

from bt_runtime import Outcome, TickRecord
from bt_runtime.text.data import dataclass
from oracle.agent.journal import RequestRecord, RuleBreach
from oracle.agent.run import AgentRun
from oracle.classify.types import QueryClassification, QueryShares
from oracle.core.chunks import Chunk, Closing, Content, TerminationReason, read_chunk, write_chunk
from oracle.core.encoding import from_json, to_json
from oracle.runs.record.debug import Debugged
from oracle.runs.record.outcome_json import decode_outcome, encode_outcome, outcome_kind
from oracle.runs.record.ticks import decode_tick, encode_tick
from oracle.runs.storage.records import EventKind, LogEntry
from oracle.runs.storage.run_log import RunLog
from oracle.tools import Tool, placing_words
from signals import SignalRecord

_LONGEST_KEY: Final = 512  # characters of a step's key in its column; the data has the whole key
_TEXTS: Final = (b'{"type":"content"', b'{"type":"thinking"')
"""The prefixes of the chunks that most logs consist of."""


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool as the control of a run sees it.

    Args:
        name: the name by which the model calls it.
        group: what it works on: `code`, `vault`, `threads`, ...
        writes: a call may change data.
        query_types: the types of queries that it says it serves; `None`: it says nothing.
        words: those that place it; empty if its group does.
        needs_approval: a person must approve each call of the model.
        on_demand: the control alone offers it (`oracle.tools.Tool`).
        labels: what it reads and where it writes; `None`: nobody has said.
    """

    name: str
    group: str
    writes: bool
    query_types: tuple[str, ...] | None = None
    words: str = ""
    needs_approval: bool = False
    on_demand: bool = False
    labels: frozenset[str] | None = None

    @classmethod
    def of(cls, tool: Tool) -> "KnownTool":
        """What the control sees of a tool."""
        words = placing_words(tool)
        flags = (tool.needs_approval, tool.on_demand)
        return cls(tool.name, tool.group, tool.writes, tool.query_types, words, *flags, tool.labels)

    def to_list(self) -> list[Any]:
        """Its fields for JSON; the last ones stand there only if they say something."""
        fields = [self.name, self.group, self.writes, self.query_types, self.words, self.needs_approval]
        if self.labels is not None:
            return [*fields, self.on_demand, sorted(self.labels)]
        return [*fields, True] if self.on_demand else fields

    @classmethod
    def from_list(cls, fields: Sequence[Any]) -> "KnownTool":
        """Read the output of `to_list`."""
        name, group, writes, query_types, words, needs_approval, *rest = fields
        types = None if query_types is None else tuple(query_types)
        labels = frozenset(rest[1]) if len(rest) > 1 else None
        return cls(name, group, writes, types, words, needs_approval, bool(rest and rest[0]), labels)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a run began with.

    Args:
        start_s: the start of the query, by the run's clock, in seconds.
        previous: the classification of the query before in the conversation; `None` if there was none.
        previous_errors: a tool failed in the query before.
        tools: all tools of the user.
        encoded: how the encoder read the question; `None` if it did not answer.
        grants: the names of the tools that a person had allowed for the conversation.
        versions: of this package and of those that add to it; if it is empty, the run cannot go on after its worker.
        history: tokens of the history that went to the model, those that it could have had, and whether earlier
            messages were left out of it, or a summary stood for them.
        read_before: what earlier queries of the conversation had read (`Query.read_before`).
    """

    kind: ClassVar[EventKind] = "opened"
    start_s: float
    previous: QueryClassification | None = None
    previous_errors: bool = False
    tools: tuple[KnownTool, ...] = ()
    encoded: QueryShares | None = None
    grants: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    history: tuple[int, int, bool] = (0, 0, False)
    read_before: tuple[str, ...] = ()

    @classmethod
    def of(cls, run: AgentRun, *, versions: tuple[str, ...] = ()) -> "Opened":
        """The inputs of this query."""
        tools = tuple(map(KnownTool.of, run.equipment.tools.tools))
        query = run.query
        return cls(
            run.state.start_time,
            query.previous,
            query.previous_errors,
            tools,
            encoded=query.encoded,
            grants=query.grants,
            versions=versions,
            history=(query.history_tokens, query.history_room, query.is_history_partial),
            read_before=query.read_before,
        )

    def to_json(self) -> bytes:
        """The data of the event."""
        previous = self.previous
        return to_json(
            {
                "start_s": self.start_s,
                "previous": previous
                and [previous.query_type, previous.confidence, previous.second_type, previous.sources],
                "previous_errors": self.previous_errors,
                "tools": [tool.to_list() for tool in self.tools],
                "encoded": self.encoded and dict(self.encoded),
                "grants": self.grants,
                "versions": self.versions,
                **({"history": self.history} if any(self.history) else {}),  # older logs have none
                **({"read_before": self.read_before} if self.read_before else {}),
            }
        )

    @classmethod
    def from_json(cls, data: bytes) -> "Opened":
        """What `to_json` has written.

        Raises:
            ValueError: it is something else.
        """
        fields = from_json(data)
        try:
            tools = [KnownTool.from_list(each) for each in fields["tools"]]
            return cls(
                float(fields["start_s"]),
                _previous(fields["previous"]),
                fields["previous_errors"],
                tuple(tools),
                encoded=_encoded(fields["encoded"]),
                grants=tuple(fields["grants"]),
                versions=tuple(fields["versions"]),
                history=_history(*fields.get("history", ())),
                read_before=tuple(fields.get("read_before", ())),
            )
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"this is not the beginning of a run: {type(error).__name__}: {error}") from None


def _history(tokens: int = 0, room: int = 0, is_partial: bool = False) -> tuple[int, int, bool]:  # noqa: FBT001, FBT002
    return tokens, room, is_partial


@dataclass(frozen=True, slots=True)
class TurnRequested:
    """A turn of the model was asked for."""

    kind: ClassVar[EventKind] = "request"
    request: RequestRecord


@dataclass(frozen=True, slots=True)
class ChunkSent:
    """A chunk was sent to the user."""

    kind: ClassVar[EventKind] = "chunk"
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """A turn of the model has ended; its outcome was durable before anything started that depends on it."""

    kind: ClassVar[EventKind] = "turn_end"
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The tool calls of a turn have ended, or what a node has called itself."""

    kind: ClassVar[EventKind] = "tool_end"
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class ClosingBegun:
    """The next piece of the answer is the sentence that says why it ends."""

    kind: ClassVar[EventKind] = "closing"
    reason: TerminationReason


@dataclass(frozen=True, slots=True)
class Ticked:
    """A tick of the tree, with the outcomes that it took."""

    kind: ClassVar[EventKind] = "tick"
    tick: TickRecord


@dataclass(frozen=True, slots=True)
class SignalRead:
    """A signal of the model was read, or found missing."""

    kind: ClassVar[EventKind] = "signal"
    signal: SignalRecord


@dataclass(frozen=True, slots=True)
class RuleBroken:
    """A rule of the tree was broken, or would have been."""

    kind: ClassVar[EventKind] = "rule"
    breach: RuleBreach


@dataclass(frozen=True, slots=True)
class Intended:
    """A tool that writes is about to be called; it is durable before the call begins."""

    kind: ClassVar[EventKind] = "intent"
    call_id: str
    tool: str
    step: str
    """The path of the node whose work it is."""
    at: str = ""
    """ISO 8601; a repetition of the call has the same."""


class UnderWay(NamedTuple):
    """Work that was under way when the worker of a run died, and how it was handled.

    Args:
        what: a turn of the model, a tool call, or other work of a node.
        name: of the tool, or the path of the node.
        how: `continued` after what was said, `repeated` from its start, `kept` with the result that was there,
            `unknown` whether it was carried out, `not_run` because the turn that asked for it has ended early.
    """

    what: Literal["turn", "tool", "node"]
    name: str
    how: Literal["continued", "repeated", "kept", "unknown", "not_run"]


@dataclass(frozen=True, slots=True)
class Resumed:
    """A worker continues a run that another one has left.

    Args:
        attempt: 1, 2, 3, … since the last turn or tool call that has ended.
        pause_s: from the last event before to this one, by the wall clock.
        counted_s: how much of it counts against the deadline.
        clock_s: where the run's clock continues.
        under_way: the requests without an outcome when the last worker lost the run.
        version: the version of this package that continues the run.
        is_woken: the run was parked; it waited for a person or a time, and nothing was lost.
    """

    kind: ClassVar[EventKind] = "resumed"
    attempt: int
    pause_s: float
    counted_s: float
    clock_s: float
    under_way: tuple[UnderWay, ...] = ()
    version: str = ""
    is_woken: bool = False

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Resumed":
        """The event behind its fields."""
        return cls(**{**fields, "under_way": tuple(UnderWay(*each) for each in fields["under_way"])})


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The last event; `RunLog.finish` writes it in one commit with the last chunk and the row."""

    kind: ClassVar[EventKind] = "final"
    termination_reason: TerminationReason
    turns: int
    tokens_used: int


LogEvent = (
    Opened
    | TurnRequested
    | ChunkSent
    | TurnFinished
    | ToolFinished
    | ClosingBegun
    | Ticked
    | SignalRead
    | RuleBroken
    | Debugged
    | Intended
    | Resumed
    | RunEnded
)


def ended(outcome: Outcome) -> TurnFinished | ToolFinished:
    """The event of an outcome."""
    return TurnFinished(outcome) if outcome_kind(outcome) == "turn_end" else ToolFinished(outcome)


def encode(event: LogEvent) -> bytes:
    """The data of an event.

    Raises:
        TypeError: a value in it is no JSON data.
    """
    return _ENCODERS[type(event)](event)


def append(log: RunLog, event: LogEvent) -> int:
    """Append an event to the log of its run; returns how many bytes it has.

    A `Closing` is two events: the reason, and the sentence as the piece of the answer that it is for clients.

    Raises:
        TypeError: a value in it is no JSON data.
    """
    if isinstance(event, ChunkSent):
        return append_chunk(log, event.chunk)
    data = encode(event)
    log.append(event.kind, data, step_key=_step_key(event))
    return len(data)


def append_chunk(log: RunLog, chunk: Chunk) -> int:
    """`append` of a chunk that was sent, of which there are thousands a second."""
    if isinstance(chunk, Closing):
        append(log, ClosingBegun(chunk.reason))
    data = write_chunk(chunk)
    log.chunk(data)
    return len(data)


def _step_key(event: LogEvent) -> str | None:
    match event:
        case TurnRequested(request):
            return request.step[-_LONGEST_KEY:]
        case TurnFinished(outcome) | ToolFinished(outcome):
            return outcome.key[-_LONGEST_KEY:]
    return None


class LogDecoder:
    """Reads the events of one log in their order.

    Args:
        has_ticks: the log may have ticks; without them no outcome is remembered.
        has_texts: with the pieces of the answer and of the model's thinking, of which most logs consist.
    """

    def __init__(self, *, has_ticks: bool = True, has_texts: bool = True) -> None:
        self._has_ticks = has_ticks
        self._has_texts = has_texts
        self._outcomes: dict[str, Outcome] = {}
        self._closing: TerminationReason | None = None

    def decode(self, entry: LogEntry) -> LogEvent | None:
        """The next event; `None` for a piece of text that is not wanted, or a kind that a later version has written.

        Raises:
            ValueError: it is damaged; its cause says how.
        """
        try:
            return self._decoded(entry.kind, entry.data)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
            raise ValueError(f"event {entry.seq} ({entry.kind}) is damaged: {type(error).__name__}: {error}") from error

    def _decoded(self, kind: str, data: bytes) -> LogEvent | None:
        match kind:
            case "chunk":
                return self._chunk(data)
            case "tick":
                return Ticked(self._tick(data))
            case "turn_end":
                return TurnFinished(self._outcome(data))
            case "tool_end":
                return ToolFinished(self._outcome(data))
            case "closing":
                self._closing = from_json(data)["reason"]
                return ClosingBegun(self._closing)
        decode = _DECODERS.get(kind)
        return None if decode is None else decode(data)

    def _chunk(self, data: bytes) -> ChunkSent | None:
        if not self._has_texts and self._closing is None and data.startswith(_TEXTS):
            return None
        chunk = read_chunk(data)
        if self._closing is not None and isinstance(chunk, Content):
            chunk, self._closing = Closing(chunk.content, self._closing), None
        return ChunkSent(chunk)

    def _outcome(self, data: bytes) -> Outcome:
        outcome = decode_outcome(data)
        if self._has_ticks:
            self._outcomes[outcome.key] = outcome
        return outcome

    def _tick(self, data: bytes) -> TickRecord:
        tick = decode_tick(data, self._outcomes)
        for outcome in tick.outcomes:
            self._outcomes.pop(outcome.key, None)
        return tick


def _request(found: Any) -> TurnRequested:  # noqa: ANN401  JSON data
    return TurnRequested(RequestRecord(**found | {name: tuple(found[name]) for name in ("segments", "tools")}))


_DECODERS: Final[Mapping[str, Callable[[bytes], LogEvent]]] = {
    "request": lambda data: _request(from_json(data)),
    "signal": lambda data: SignalRead(SignalRecord.model_validate(from_json(data))),
    "rule": lambda data: RuleBroken(RuleBreach(**from_json(data))),
    "debug": Debugged.from_json,
    "opened": Opened.from_json,
    "intent": lambda data: Intended(**from_json(data)),
    "resumed": lambda data: Resumed.from_json(from_json(data)),
    "final": lambda data: RunEnded(**from_json(data)),
}
"""Of the kinds that refer to no other event."""
_ENCODERS: Final[Mapping[type[LogEvent], Callable[[Any], bytes]]] = {
    Opened: Opened.to_json,
    TurnRequested: lambda event: to_json(event.request),
    ChunkSent: lambda event: write_chunk(event.chunk),
    TurnFinished: lambda event: encode_outcome(event.outcome),
    ToolFinished: lambda event: encode_outcome(event.outcome),
    ClosingBegun: lambda event: to_json({"reason": event.reason}),
    Ticked: lambda event: encode_tick(event.tick),
    SignalRead: lambda event: to_json(event.signal.to_json()),
    RuleBroken: lambda event: to_json(event.breach.to_json()),
    Debugged: Debugged.to_json,
    Intended: to_json,
    Resumed: lambda event: to_json(asdict(event)),
    RunEnded: to_json,
}


def _encoded(fields: Any) -> QueryShares | None:  # noqa: ANN401  JSON data
    return None if fields is None else {str(query_type): float(share) for query_type, share in fields.items()}


def _previous(fields: Any) -> QueryClassification | None:  # noqa: ANN401  JSON data
    if fields is None:
        return None
    query_type, confidence, second_type, sources = fields
    return QueryClassification.of(query_type, confidence=confidence, second_type=second_type, sources=sources)
