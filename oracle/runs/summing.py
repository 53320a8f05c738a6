"""The summary of a run, from what is recorded of it, while it runs or from its log."""

from dataclasses import dataclass, field

from bt_runtime import Outcome
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.chunks import Answer
from oracle.storage import RunSummary, Span
from oracle.storage.summary import MOST_SPANS, merged

_MOST_KEPT = 2 * MOST_SPANS  # before neighbours are merged


@dataclass(slots=True)
class Summing:
    """A fold over what is recorded of a run.

    Args:
        start_s: the start of the run, in seconds of its clock.
    """

    start_s: float = 0.0
    _notices: int = 0
    _node_errors: int = 0
    _ticks: int = 0
    _spans: list[Span] = field(default_factory=list)

    def tick(self, *, errors: int) -> None:
        """A tick was recorded, with so many errors of nodes."""
        self._ticks += 1
        self._node_errors += errors

    def notice(self, *, at_s: float) -> None:
        """A system notification was sent."""
        self._notices += 1
        self._add(Span("notice", self._ms(at_s), 0))

    def outcome(self, outcome: Outcome) -> None:
        """A turn or tool calls have ended; other outcomes have no part in the summary."""
        value = outcome.value
        if isinstance(value, TurnOutcome):
            self._add(Span("turn", max(0, self._ms(outcome.at_s) - value.duration_ms), value.duration_ms))
        elif isinstance(value, ToolsOutcome):
            for result in value.results:
                if result.started_s is not None:
                    self._add(Span("tool", self._ms(result.started_s), result.duration_ms))

    def interrupted_turn(self, *, start_s: float, end_s: float) -> None:
        """A turn has no outcome, because the process died; `end_s` is when it was last heard of."""
        self._add(Span("turn", self._ms(start_s), self._ms(end_s) - self._ms(start_s)))

    def summary(self, answer: Answer) -> RunSummary:
        """The figures so far, and those of the chunks."""
        return RunSummary(
            notices=self._notices,
            node_errors=self._node_errors,
            tools=len(answer.calls),
            tool_errors=sum(result.is_error for result in answer.results.values()),
            ticks=self._ticks,
            shape=tuple(merged(self._spans)),
        )

    def _add(self, span: Span) -> None:
        self._spans.append(span)
        if len(self._spans) > _MOST_KEPT:
            self._spans = merged(self._spans)

    def _ms(self, at_s: float) -> int:
        return max(0, round((at_s - self.start_s) * 1000))
