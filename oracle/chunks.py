"""The chunks of the one stream that a client sees: what a query said, did and ended with.

Rules that hold for every run, whoever drives it:

- Exactly one `Done`, and it is the last chunk.
- The `Content` chunks, joined, are the answer, and what the conversation keeps.
- No signal XML in any of them.

Chunks are plain frozen dataclasses because one is made for every piece of text; `to_wire` gives the JSON object that
the contract fixes. Wire names are held by a golden test.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

SourceType = Literal["code", "vault", "thread", "web"]
Severity = Literal["info", "warning", "error"]
SystemType = Literal[
    "limit_warning",
    "limit_reached",
    "no_progress",
    "error_limit",
    "stuck",
    "capability_gap",
    "delegation_recommended",
    "fallback",
]
ErrorType = Literal[
    "provider_auth",
    "provider_overloaded",
    "provider_failed",
    "provider_refused",
    "context_too_large",
    "tree_failed",
    "service_stopping",
    "interrupted",
    "internal",
]
TerminationReason = Literal[
    "user_cancelled",
    "completed",
    "max_iterations",
    "token_budget",
    "timeout",
    "no_progress",
    "error_limit",
    "error",
    "stuck",
]


@dataclass(frozen=True, slots=True)
class Source:
    """Where something in the answer comes from.

    Args:
        path: relative to the root of its kind; an address for `web`.
        source_type: which root.
        line: the first line that matters, from 1.
        snippet: a short extract.
        score: how well it fits, greater is better; only comparable within one result.
    """

    path: str
    source_type: SourceType
    line: int | None = None
    snippet: str | None = None
    score: float | None = None

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, without the fields that have no value."""
        fields = {
            "path": self.path,
            "source_type": self.source_type,
            "line": self.line,
            "snippet": self.snippet,
            "score": self.score,
        }
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the model's thinking."""

    type: ClassVar[str] = "thinking"
    content: str

    def to_wire(self) -> dict[str, Any]:
        """The JSON object."""
        return {"type": "thinking", "content": self.content}


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of the answer."""

    type: ClassVar[str] = "content"
    content: str

    def to_wire(self) -> dict[str, Any]:
        """The JSON object."""
        return {"type": "content", "content": self.content}


@dataclass(frozen=True, slots=True)
class SourceFound:
    """A source that the answer may rest on; each is sent once a query."""

    type: ClassVar[str] = "source"
    source: Source

    def to_wire(self) -> dict[str, Any]:
        """The JSON object."""
        return {"type": "source", "source": self.source.to_wire()}


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model called a tool; sent before the tool runs."""

    type: ClassVar[str] = "tool_call"
    id: str
    name: str
    arguments: Mapping[str, Any]

    def to_wire(self) -> dict[str, Any]:
        """The JSON object."""
        call = {"id": self.id, "name": self.name, "arguments": dict(self.arguments)}
        return {"type": "tool_call", "tool_call": call}


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """What a tool call brought; also sent for calls that were refused, not run or cancelled."""

    type: ClassVar[str] = "tool_result"
    tool_call_id: str
    tool_result: str
    is_error: bool
    duration_ms: int

    def to_wire(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "type": "tool_result",
            "tool_call_id": self.tool_call_id,
            "tool_result": self.tool_result,
            "is_error": self.is_error,
            "duration_ms": self.duration_ms,
        }


@dataclass(frozen=True, slots=True)
class SystemNotice:
    """A notification in the chat, neither the user's nor the model's; never sent to the model.

    Args:
        system_type: what it is about.
        system_message: one sentence for the user.
        severity: how a client may colour it.
        metadata: the numbers behind the sentence.
        timestamp: ISO 8601, UTC.
    """

    type: ClassVar[str] = "system"
    system_type: SystemType
    system_message: str
    severity: Severity
    timestamp: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "type": "system",
            "system_type": self.system_type,
            "system_message": self.system_message,
            "severity": self.severity,
            "metadata": dict(self.metadata),
            "timestamp": self.timestamp,
        }


@dataclass(frozen=True, slots=True)
class Failed:
    """The query failed; what was said before stays, and `Done` follows."""

    type: ClassVar[str] = "error"
    error: str
    error_type: ErrorType

    def to_wire(self) -> dict[str, Any]:
        """The JSON object."""
        return {"type": "error", "error": self.error, "error_type": self.error_type}


@dataclass(frozen=True, slots=True)
class Done:
    """The last chunk of every query.

    Args:
        termination_reason: why it stopped.
        tokens_used: counted as the token budget counts them.
        tokens_estimated: the provider reported nothing for at least one turn, so some of them are estimates.
        model_used: the model that answered.
        context_id: the conversation to continue with.
        run_id: this query.
        turns: finished LLM turns.
    """

    type: ClassVar[str] = "done"
    termination_reason: TerminationReason
    tokens_used: int
    tokens_estimated: bool
    model_used: str
    context_id: str
    run_id: str
    turns: int

    def to_wire(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "type": "done",
            "termination_reason": self.termination_reason,
            "tokens_used": self.tokens_used,
            "tokens_estimated": self.tokens_estimated,
            "model_used": self.model_used,
            "context_id": self.context_id,
            "run_id": self.run_id,
            "turns": self.turns,
        }


Chunk = Thinking | Content | SourceFound | ToolCalled | ToolReturned | SystemNotice | Failed | Done
