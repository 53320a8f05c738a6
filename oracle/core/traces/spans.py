"""Runs as OpenTelemetry spans, by the conventions for generative AI (`names`), and W3C Trace Context around them.

Rules:

- Where traces are off there is no `Traces` and no `RunTrace`: callers ask for `None` once, and put no data together.
- The spans of a run make a tree: `invoke_agent` > `chat` > `execute_tool`. A tool call belongs to the turn whose model
  asked for it, although that turn has ended then; a call of the tree's own belongs to the run.
- A span under way is OpenTelemetry's current one in its task and in what that starts, so that spans of a tool's own
  belong to it. Nothing here waits, and nothing raises into the run.
- What a client sends is not trusted: OpenTelemetry's propagator ignores a `traceparent` that is not valid, with the
  `tracestate` with it, and drops an invalid `tracestate` alone.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from opentelemetry.context import Context, attach, create_key, detach, get_value, set_value
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from oracle.core.traces import content, names

_LONGEST: Final = 1_024
"""Characters of an attribute that is no content."""
_NS: Final = 1_000_000_000
_MOST: Final = 2**63 - 1
"""What an attribute can hold; a provider may report anything, and a larger number would fail the whole batch."""
_IN_RUN: Final = create_key("oracle-in-run")
_W3C: Final = TraceContextTextMapPropagator()

REMADE: Final[ContextVar[SpanContext | None]] = ContextVar("oracle_remade_span", default=None)
"""Whose ids the next span gets; `None`: random ones."""

AttributeValue = str | bool | int | list[str]


def trace_headers() -> dict[str, str]:
    """The headers that carry on the present trace: `traceparent`, and `tracestate` if there is one.

    For tools and models, to be added to the requests that they make themselves, in the task that calls them or in one
    that is started from it. Empty where traces are off, and outside of a run.
    """
    headers: dict[str, str] = {}
    if get_value(_IN_RUN):
        _W3C.inject(headers)
    return headers


def headers_of(place: SpanContext) -> dict[str, str]:
    """The headers of a request that is made at this place of a trace."""
    headers: dict[str, str] = {}
    _W3C.inject(headers, set_span_in_context(NonRecordingSpan(place), Context()))
    return headers


def place_of(parents: Sequence[str], states: Sequence[str] = ()) -> SpanContext | None:
    """The place in a trace that the headers of a request name.

    Args:
        parents: the values of all `traceparent` headers.
        states: the values of all `tracestate` headers.

    Returns:
        `None` if there is not exactly one valid `traceparent`.
    """
    if len(parents) != 1:
        return None
    found = _W3C.extract({"traceparent": list(parents), "tracestate": list(states)}, Context())
    place = get_current_span(found).get_span_context()
    return place if place.is_valid else None


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


class Traces:
    """Makes the spans of runs.

    Args:
        tracer: where the spans go.
        system: whose models answer, as the conventions name providers.
        with_content: whether questions, answers, arguments and results are recorded.
    """

    def __init__(self, tracer: Tracer, *, system: str, with_content: bool = False) -> None:
        self.tracer = tracer
        self.system = system
        self.with_content = with_content

    def begin(
        self,
        *,
        tree: str,
        version: str | None,
        model: str,
        parent: SpanContext | None,
        began_at: float | None = None,
        above: Context | None = None,
    ) -> "RunTrace | None":
        """A run begins.

        Args:
            tree: the name of the control.
            version: the digest of the tree; `None` for a decision tree in Python.
            model: the model that is asked.
            parent: the place that the client's request named; `None`: it named none, and OpenTelemetry's current span
                is above the run, if there is one.
            began_at: seconds since the epoch; `None`: now.
            above: what is above it if no request said anything; `None`: the current span.

        Returns:
            `None` if OpenTelemetry is switched off.
        """
        attributes: dict[str, AttributeValue] = {
            names.OPERATION: names.INVOKE_AGENT,
            names.PROVIDER: self.system,
            names.AGENT: short(tree),
            names.REQUEST_MODEL: short(model),
        }
        if version is not None:
            attributes[names.AGENT_VERSION] = version
        if parent is not None:
            above = set_span_in_context(NonRecordingSpan(parent), Context())
        span = self.tracer.start_span(
            f"{names.INVOKE_AGENT} {short(tree)}",
            above,
            SpanKind.INTERNAL,
            attributes,
            start_time=None if began_at is None else round(began_at * _NS),
            record_exception=False,
        )
        return RunTrace(self, span, parent) if span.get_span_context().is_valid else None

    def remake(
        self,
        place: SpanContext,
        *,
        tree: str,
        version: str | None,
        model: str,
        parent: SpanContext | None,
        began_at: float,
    ) -> "RunTrace | None":
        """The trace of a run whose process died, under its own ids; `None` if the trace is not sampled.

        Args:
            place: that of the run in its trace, as its process had written it down.
            tree: the name of the control.
            version: the digest of the tree; `None` for a decision tree in Python.
            model: the model that was asked.
            parent: the place in a trace that the client's request had named.
            began_at: seconds since the epoch.
        """
        if not place.trace_flags.sampled:
            return None
        token = REMADE.set(place)
        try:
            trace = self.begin(
                tree=tree, version=version, model=model, parent=parent, began_at=began_at, above=Context()
            )
        finally:
            REMADE.reset(token)
        if trace is not None:
            trace.span.set_attribute(names.RECOVERED, True)  # noqa: FBT003  the value
            trace.span.add_event(names.RECOVERED)
        return trace


class RunTrace:
    """The span of a run, and what its turns and tool calls hang from."""

    def __init__(self, traces: Traces, span: Span, parent: SpanContext | None) -> None:
        self.traces = traces
        self.span = span
        self.parent = parent
        self.about: dict[str, AttributeValue] = {}
        """What all spans of the run say."""
        self.askers: dict[str, Span] = {}
        """The turns that asked for the tool calls of now, by the ids of the calls."""
        self._input_tokens = 0
        self._output_tokens = 0

    @property
    def is_recording(self) -> bool:
        """Whether the run is sampled, and has not ended."""
        return self.span.is_recording()

    @property
    def place(self) -> SpanContext:
        """That of the run in its trace."""
        return self.span.get_span_context()

    def opened(self, *, run_id: str, context_id: str) -> None:
        """The run is about to begin, under this name and in this conversation."""
        self.about = {names.RUN: run_id, names.CONVERSATION: context_id}
        self.span.set_attributes(self.about)

    def entered(self) -> AbstractContextManager[None]:
        """What is done in the block belongs to the run."""
        return _current(self.span)

    @contextmanager
    def step(
        self,
        name: str,
        attributes: dict[str, AttributeValue],
        *,
        node: str = "",
        kind: SpanKind = SpanKind.INTERNAL,
        above: Span | None = None,
    ) -> Iterator[Span]:
        """A turn or a tool call, which is under way in the block; one that is interrupted is marked as cancelled.

        Args:
            name: the name of the span, as the conventions form it.
            attributes: what is known at its beginning.
            node: the path of the node that asked for it; empty where no tree does.
            kind: `CLIENT` if the work is done by another service.
            above: the turn that asked for it; `None`: the run.
        """
        if node:
            attributes[names.NODE] = short(node)
        parent = set_span_in_context(above or self.span, Context())
        span = self.traces.tracer.start_span(name, parent, kind, {**attributes, **self.about}, record_exception=False)
        try:
            with _current(span):
                yield span
        except Exception as error:
            fail(span, type(error).__qualname__)
            raise
        except BaseException:
            span.set_attribute(names.CANCELLED, True)  # noqa: FBT003  the value
            raise
        finally:
            span.end()

    def add_tokens(self, *, input_tokens: int, output_tokens: int) -> None:
        """Count the tokens of a turn, so that the run can say those of all."""
        self._input_tokens = count(self._input_tokens + input_tokens)
        self._output_tokens = count(self._output_tokens + output_tokens)

    def ended(self, end: TracedEnd) -> None:
        """The run has ended; one that never does is not exported."""
        span = self.span
        if not span.is_recording():
            return
        span.set_attributes(
            {
                names.REASON: end.reason,
                names.TURNS: end.turns,
                names.BUDGET_TOKENS: count(end.tokens),
                names.RESPONSE_MODEL: short(end.model),
            }
        )
        if self._input_tokens or self._output_tokens:  # else no turn has reported any, as far as it is known here
            span.set_attribute(names.INPUT_TOKENS, self._input_tokens)
            span.set_attribute(names.OUTPUT_TOKENS, self._output_tokens)
        if self.traces.with_content:
            span.set_attribute(names.INPUT_MESSAGES, content.message("user", end.question))
            span.set_attribute(names.OUTPUT_MESSAGES, content.message("assistant", end.answer(), reason=end.reason))
        if end.error_type:
            fail(span, end.error_type, end.error)
        span.end()


@contextmanager
def _current(span: Span) -> Iterator[None]:
    token = attach(set_value(_IN_RUN, True, set_span_in_context(span)))  # noqa: FBT003  the value
    try:
        yield
    finally:
        detach(token)


def fail(span: Span, error_type: str, error: str = "") -> None:
    """Mark a span as failed."""
    span.set_attribute(names.ERROR_TYPE, short(error_type))
    span.set_status(Status(StatusCode.ERROR, short(error) or None))


def count(number: int) -> int:
    """A number as an attribute can hold it."""
    return min(number, _MOST)


def short(text: str) -> str:
    """A text that is no content, as an attribute can hold it."""
    return content.text(text, longest=_LONGEST)
