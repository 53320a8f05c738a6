"""The interface through which queries report traces; these defaults trace nothing, and cost one call.

Rules:

- What traces queries (`oracle.features.traces`) overrides all methods of `Traces` and `RunTrace`; nothing of it is
  imported here.
- A caller passes objects that it has, and builds no data: the tracing feature does that.
"""

# ruff: noqa: ARG002  the default traces nothing, so it uses no argument

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from bt_runtime.text.data import dataclass
from oracle.agent.outcomes import TurnOutcome
from oracle.llm.protocol import ModelRequest, ToolUse, Usage
from oracle.tools import ToolResult

TraceHeaders = Mapping[str, Sequence[str]]
"""The headers of W3C Trace Context (`traceparent`, `tracestate`) of a request, with all their values, as they came."""


@dataclass(frozen=True, slots=True)
class TracedEnd:
    """How a run ended.

    Args:
        reason: the termination reason.
        turns: finished turns.
        tokens: the tokens that the token budget was charged with.
        model: the model that answered last.
        error_type: the kind of failure; empty unless the reason is `error`.
        error: what failed, for operators; without secrets.
        question: the user's.
        answer: makes the text of the answer; called only where content is recorded.
    """

    reason: str
    turns: int
    tokens: int
    model: str
    error_type: str = ""
    error: str = ""
    question: str = ""
    answer: Callable[[], str] = str


class RunTrace:
    """The trace of one run."""

    def noted(self) -> Mapping[str, Any]:
        """The trace data of a run's row, as JSON, so that another process can continue the trace."""
        return {}

    def opened(self, *, run_id: str, context_id: str) -> None:
        """The run is about to begin, under this name and in this conversation."""

    def entered(self) -> AbstractContextManager[None]:
        """Work in the block belongs to the run."""
        return nullcontext()

    def turn(
        self,
        request: ModelRequest,
        *,
        model: str,
        number: int,
        visible: bool,
    ) -> AbstractContextManager[Callable[[TurnOutcome, Usage], None]]:
        """A turn, which is under way in the block; the block gets a function to call with its end.

        Args:
            request: what is sent to the provider.
            model: that it is sent to.
            number: of the turn, from 1.
            visible: whether the turn is part of the answer.
        """
        return _NO_TURN

    def tool(self, call: ToolUse) -> AbstractContextManager[Callable[[ToolResult], None]]:
        """A tool call, which is under way in the block; the block gets a function to call with its result."""
        return _NO_TOOL

    def ended(self, end: TracedEnd) -> None:
        """The run has ended, and `Done` was sent."""


class Traces:
    """Makes the traces of runs."""

    def begin(self, *, tree: str, version: str | None, model: str, headers: TraceHeaders) -> RunTrace:
        """A run begins.

        Args:
            tree: the name of the control.
            version: the digest of the tree; `None` for a decision tree in Python.
            model: the model that is asked.
            headers: of the client's request.
        """
        return NOT_TRACED

    def remake(
        self,
        noted: Mapping[str, Any],
        *,
        tree: str,
        version: str | None,
        model: str,
        began_at: float,
    ) -> RunTrace:
        """The trace of a run whose process died, so that its work here belongs to the same span.

        Args:
            noted: what `RunTrace.noted` has returned in its process.
            tree: the name of the control.
            version: the digest of the tree; `None` for a decision tree in Python.
            model: the model that was asked.
            began_at: seconds since the epoch.
        """
        return NOT_TRACED


NOT_TRACED: Final = RunTrace()
NO_TRACES: Final = Traces()
_NO_TURN: Final[AbstractContextManager[Callable[[TurnOutcome, Usage], None]]] = nullcontext(lambda *_: None)
_NO_TOOL: Final[AbstractContextManager[Callable[[ToolResult], None]]] = nullcontext(lambda _: None)
