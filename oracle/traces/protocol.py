"""What is told of a run to whoever traces it: run, turns, tool calls, as plain data.

Rules:

- Nothing here waits, and nothing raises into the run.
- Spans begin and end in the task that does the work; within them `trace_headers` are theirs.
- `NO_TRACES` and its parts do nothing; callers ask `is_on` before they put data together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Protocol, Self

from oracle.traces.context import TraceContext


@dataclass(frozen=True, slots=True)
class RunBegin:
    """What a run begins with, as far as it is known before it is opened; a sampler sees it.

    Args:
        tree: the name of the control.
        version: of the tree; `None` for a decision tree in Python.
        model: the model that is asked.
    """

    tree: str
    version: str | None
    model: str


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Args:
        reason: the termination reason.
        turns: finished turns.
        tokens: as the budget counts them.
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


@dataclass(frozen=True, slots=True)
class TurnBegin:
    """A request to the model.

    Args:
        model: the requested model.
        max_tokens: the limit on its output.
        number: of the turn in its run, from 1.
        node: the path of the node that asked for it; empty where no tree does.
        is_side: it is not part of the answer.
    """

    model: str
    max_tokens: int
    number: int
    node: str = ""
    is_side: bool = False


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended.

    Args:
        input_tokens: the whole input, cached or not; `None` if the provider has not reported it. So are the others.
        stop_reason: as the provider reports it; `None` if the turn was interrupted or failed.
        model: the model that answered; empty if unknown.
        budget_tokens: as the budget counts them.
        first_text_ms: from the request to the first visible text; `None` if there was none.
        signal: the type of the signal that counted; empty if there was none.
        is_cancelled: it was interrupted.
        error_type: the kind of failure; empty if there was none.
        error: what failed, for operators; without secrets.
        text: what the user saw of it.
        calls: the tool calls: id, name, arguments.
    """

    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int
    cache_creation_tokens: int
    stop_reason: str | None
    model: str
    budget_tokens: int
    first_text_ms: int | None = None
    signal: str = ""
    is_cancelled: bool = False
    error_type: str = ""
    error: str = ""
    request_ids: Sequence[str] = ()
    server_tools: Sequence[str] = ()
    text: str = ""
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = ()


@dataclass(frozen=True, slots=True)
class ToolBegin:
    """A tool call that begins.

    Args:
        call_id: matches it to the turn that asked for it.
        node: the path of the node that runs it; empty where no tree does.
    """

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    node: str = ""


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """How a tool call ended.

    Args:
        is_error: it failed.
        text: the result.
    """

    is_error: bool
    text: str


class TurnSpan(Protocol):
    """A turn under way; a context manager, within which it is the current span."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def ended(self, end: TurnEnd) -> None:
        """It ended so; without this call it counts as cancelled."""
        ...


class ToolSpan(Protocol):
    """A tool call under way; a context manager, within which it is the current span."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def ended(self, end: ToolEnd) -> None:
        """It ended so; without this call it counts as cancelled."""
        ...


class RunTrace(Protocol):
    """The trace of one run."""

    @property
    def is_on(self) -> bool:
        """Whether anything is traced."""
        ...

    @property
    def context(self) -> TraceContext | None:
        """The place of the run in its trace; `None` if it has none."""
        ...

    @property
    def parent(self) -> TraceContext | None:
        """What the client's request said."""
        ...

    def opened(self, *, run_id: str, context_id: str) -> None:
        """The run is about to begin, under this name and in this conversation."""
        ...

    def headers(self) -> Mapping[str, str]:
        """What requests say that belong to the run and to none of its spans."""
        ...

    def turn(self, begin: TurnBegin) -> TurnSpan:
        """A turn begins when this is entered."""
        ...

    def tool(self, begin: ToolBegin) -> ToolSpan:
        """A tool call begins when this is entered."""
        ...

    def ended(self, end: RunEnd) -> None:
        """The run has ended; a run that never does is not exported."""
        ...


class Traces(Protocol):
    """Traces runs."""

    @property
    def is_on(self) -> bool:
        """Whether anything is traced."""
        ...

    def begin(self, begin: RunBegin, parent: TraceContext | None) -> RunTrace:
        """A run begins now.

        Args:
            begin: what is known of it.
            parent: what the client's request said.
        """
        ...

    def recovered(
        self,
        begin: RunBegin,
        end: RunEnd,
        *,
        context: TraceContext,
        parent: TraceContext | None,
        run_id: str,
        context_id: str,
        began_at: float,
    ) -> None:
        """A run whose process died was ended from its log.

        Args:
            begin: what is known of its beginning.
            end: how it was ended.
            context: its place in its trace, as its process had written it down.
            parent: what the client's request said.
            run_id: its name.
            context_id: its conversation.
            began_at: seconds since the epoch.
        """
        ...


class _NoSpan:
    """Is not recorded."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def ended(self, end: object) -> None:
        """Forget it."""


class _NoTrace:
    """Is not recorded."""

    is_on = False
    context = None
    parent = None

    def opened(self, *, run_id: str, context_id: str) -> None:
        """Forget it."""

    def headers(self) -> Mapping[str, str]:
        """None."""
        return {}

    def turn(self, begin: TurnBegin) -> TurnSpan:  # noqa: ARG002
        """A span that is not recorded."""
        return NO_SPAN

    def tool(self, begin: ToolBegin) -> ToolSpan:  # noqa: ARG002
        """A span that is not recorded."""
        return NO_SPAN

    def ended(self, end: RunEnd) -> None:
        """Forget it."""


class _NoTraces:
    """Traces nothing."""

    is_on = False

    def begin(self, begin: RunBegin, parent: TraceContext | None) -> RunTrace:  # noqa: ARG002
        """A trace that is not recorded."""
        return NO_TRACE

    def recovered(self, begin: RunBegin, end: RunEnd, **_: object) -> None:
        """Forget it."""


NO_SPAN: Final = _NoSpan()
NO_TRACE: Final[RunTrace] = _NoTrace()
NO_TRACES: Final[Traces] = _NoTraces()
