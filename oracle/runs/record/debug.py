"""The events of a debugger in the log, and the debugging state that follows from them.

The log is the one place that has this state, so that every worker answers the same. The values and results
themselves are also inputs of the next tick, in its record; a replay needs nothing of this.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Literal

from bt_runtime.text.data import dataclass
from oracle.core.encoding import from_json, to_json
from oracle.runs.storage.breakpoints import Breakpoint, BreakpointKind
from oracle.runs.storage.records import EventKind

DebugEventKind = Literal["pausing", "paused", "stepped", "set", "forced", "renewed", "resumed"]
Standing = Literal["running", "pausing", "paused", "stepping"]
ResumeCause = Literal["command", "lease", "limit", "cancel", "stopping"]
"""Why a run continues: an operator, no operator within the lease, a cancel of the query, or the service is stopping."""


@dataclass(frozen=True, slots=True)
class BreakpointHit:
    """A breakpoint that a run has hit.

    Args:
        breakpoint: its id.
        path: the node that is about to begin, or has raised.
        expression: the condition that is true, if the breakpoint has one.
        error: that the node raised, as `Type: message`.
        is_ahead: the node has not been ticked: its tick comes next. Otherwise the tick is over; a node of `path` that
            did not raise has begun in it, and the work that it asked for has not.
    """

    breakpoint: str
    kind: BreakpointKind
    path: str | None = None
    expression: str | None = None
    error: str | None = None
    is_ahead: bool = False

    @classmethod
    def of(
        cls, which: Breakpoint, *, path: str | None = None, error: str | None = None, is_ahead: bool = False
    ) -> "BreakpointHit":
        """A hit of a breakpoint."""
        return cls(which.id, which.kind, path, which.expression, error, is_ahead)


@dataclass(frozen=True, slots=True)
class Debugged:
    """An action of a debugger on the run.

    Args:
        what: happened.
        tick: the last one before it; 0 before the first.
        by: the operator; `None` where none has caused it.
        more: `hit` and `resumes_at` of `paused`, `key` and `value` of `set`, `path` and `result` of `forced`,
            `resumes_at` of `renewed`, `why` and `paused_s` of `resumed`.
    """

    kind: ClassVar[EventKind] = "debug"
    what: DebugEventKind
    tick: int
    by: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """The data of the event."""
        return to_json({"what": self.what, "tick": self.tick, "by": self.by, **self.more})

    @classmethod
    def from_json(cls, data: bytes) -> "Debugged":
        """What `to_json` has written.

        Raises:
            ValueError: it is something else.
        """
        fields = from_json(data)
        try:
            return cls(fields.pop("what"), fields.pop("tick"), fields.pop("by"), fields)
        except (KeyError, AttributeError, TypeError) as error:
            raise ValueError(f"this is no event of a debugger: {type(error).__name__}: {error}") from None


@dataclass(frozen=True, slots=True)
class DebugState:
    """The state of a run that can be debugged.

    Args:
        tick: the last one before it came into this state.
        since: when that was; seconds since the epoch.
        by: the operator who has caused it; `None`: no operator (a breakpoint, the lease, a cancel).
        hit: the breakpoint that has paused it.
        resumes_at: when it goes on without a further command; `None` unless it is paused.
        values: blackboard values that the next tick gets.
        results: forced results that the next tick gets, by node.
        why: why it was resumed last.
    """

    standing: Standing = "running"
    tick: int = 0
    since: float | None = None
    by: str | None = None
    hit: BreakpointHit | None = None
    resumes_at: float | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    why: ResumeCause | None = None

    def after(self, event: Debugged, *, at: float) -> "DebugState":
        """The state after an event."""
        more = event.more
        match event.what:
            case "pausing":
                return DebugState("pausing", event.tick, at, event.by)
            case "paused":
                hit = more.get("hit")
                return DebugState(
                    "paused",
                    event.tick,
                    at,
                    event.by,
                    None if hit is None else BreakpointHit(**hit),
                    more.get("resumes_at"),
                )
            case "stepped":
                return DebugState("stepping", event.tick, at, event.by)
            case "set":
                return replace(self, values={**self.values, more["key"]: more["value"]})
            case "forced":
                return replace(self, results={**self.results, more["path"]: more["result"]})
            case "renewed":
                return replace(self, resumes_at=more.get("resumes_at"))
            case "resumed":
                return DebugState("running", event.tick, at, event.by, why=more.get("why"))
