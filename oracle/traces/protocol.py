"""Who traces runs: `Traces` for a process, `RunTrace` for a run, `StepSpan` for a turn or a tool call.

Rules:

- Nothing here waits, and nothing raises into the run.
- Spans begin and end in the task that does the work; within them `trace_headers` are theirs.
- `NO_TRACES` and its parts do nothing; callers ask `is_on` before they put data together.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Final, Protocol, Self, TypeVar

from oracle.traces.context import TraceContext
from oracle.traces.facts import RunBegin, RunEnd, ToolBegin, ToolEnd, TurnBegin, TurnEnd

EndT_contra = TypeVar("EndT_contra", contravariant=True)


class StepSpan(Protocol[EndT_contra]):
    """A step under way; a context manager, within which it is the current span."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def ended(self, end: EndT_contra) -> None:
        """It ended so; without this call it counts as cancelled."""
        ...


TurnSpan = StepSpan[TurnEnd]
ToolSpan = StepSpan[ToolEnd]


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
