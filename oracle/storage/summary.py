"""The figures of a run that a list of runs shows, kept in its row: they can be read without its log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

SpanKind = Literal["turn", "tool", "notice"]

MOST_SPANS: Final = 60
"""Of one run; beyond that the shortest neighbours are merged."""


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

    notices: int = 0
    node_errors: int = 0
    tools: int = 0
    tool_errors: int = 0
    ticks: int = 0
    shape: tuple[Span, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The summary as a JSON object; a span is `[kind, start_ms, duration_ms]`."""
        return {
            "notices": self.notices,
            "node_errors": self.node_errors,
            "tools": self.tools,
            "tool_errors": self.tool_errors,
            "ticks": self.ticks,
            "shape": [list(span) for span in self.shape],
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "RunSummary":
        """The summary behind `to_json`'s object."""
        return cls(**{**fields, "shape": tuple(Span(*span) for span in fields["shape"])})
