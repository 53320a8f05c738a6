"""Runs as OpenTelemetry spans, by the conventions for generative AI (`names`), and W3C Trace Context around them.

Rules:

- The spans of a run make a tree: `invoke_agent` > `chat` > `execute_tool`. A tool call belongs to the turn whose model
  asked for it, although that turn has ended then; a call of the tree's own belongs to the run.
- A span under way is OpenTelemetry's current one in its task and in what that starts, so that spans of a tool's own
  belong to it. Nothing here waits, and nothing raises into the run. A run that is not sampled gets no further spans.
- What a client sends is not trusted: OpenTelemetry's propagator ignores a `traceparent` that is not valid, with the
  `tracestate` with it, and drops an invalid `tracestate` alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Concatenate, Final, ParamSpec

from opentelemetry.context import Context, attach, detach
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

from bt_runtime import working_node
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.tracing import NOT_TRACED, RunTrace, TracedEnd, TraceHeaders, Traces
from oracle.core.traces import HEADERS
from oracle.features.traces import names
from oracle.llm.protocol import ModelRequest, ToolUse, Usage
from oracle.tools import ToolResult

_LONGEST: Final = 1_024
"""Characters of an attribute that is no content."""
_NS: Final = 1_000_000_000
_MOST: Final = 2**63 - 1
"""What an attribute can hold; a provider may report anything, and a larger number would fail the whole batch."""
_TOOL_ERROR: Final = "tool_error"
_W3C: Final = TraceContextTextMapPropagator()

REMADE: Final[ContextVar[SpanContext | None]] = ContextVar("oracle_remade_span", default=None)
"""Whose ids the next span gets; `None`: random ones."""

P = ParamSpec("P")
AttributeValue = str | bool | int | list[str]


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


def _noted_place(headers: Mapping[str, str] | None) -> SpanContext | None:
    given = headers or {}
    return place_of(*([given[name]] if name in given else [] for name in ("traceparent", "tracestate")))


class SpanTraces(Traces):
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

    def begin(self, *, tree: str, version: str | None, model: str, headers: TraceHeaders) -> RunTrace:
        """A run begins; if the headers say nothing, OpenTelemetry's current span is above it, if there is one."""
        parent = place_of(headers.get("traceparent", ()), headers.get("tracestate", ()))
        return self._begun(parent, tree=tree, version=version, model=model) or NOT_TRACED

    def remake(
        self, noted: Mapping[str, Any], *, tree: str, version: str | None, model: str, began_at: float
    ) -> RunTrace:
        """The trace of a run whose process died, under its own ids; no trace if it was not sampled."""
        place, parent = (_noted_place(noted.get(whose)) for whose in ("run", "parent"))
        if place is None or not place.trace_flags.sampled:
            return NOT_TRACED
        token = REMADE.set(place)
        try:
            trace = self._begun(
                parent, tree=tree, version=version, model=model, above=Context(), start_ns=round(began_at * _NS)
            )
        finally:
            REMADE.reset(token)
        if trace is None:
            return NOT_TRACED
        trace.span.set_attribute(names.RECOVERED, True)  # noqa: FBT003  the value
        trace.span.add_event(names.RECOVERED)
        return trace

    def _begun(
        self,
        parent: SpanContext | None,
        *,
        tree: str,
        version: str | None,
        model: str,
        above: Context | None = None,
        start_ns: int | None = None,
    ) -> "RunSpans | None":
        """The span of a run; `None` if OpenTelemetry is switched off."""
        attributes: dict[str, AttributeValue] = {
            names.OPERATION: names.INVOKE_AGENT,
            names.PROVIDER: self.system,
            names.AGENT: _short(tree),
            names.REQUEST_MODEL: _short(model),
        }
        if version is not None:
            attributes[names.AGENT_VERSION] = version
        if parent is not None:
            above = set_span_in_context(NonRecordingSpan(parent), Context())
        name = f"{names.INVOKE_AGENT} {_short(tree)}"
        span = self.tracer.start_span(
            name, above, SpanKind.INTERNAL, attributes, start_time=start_ns, record_exception=False
        )
        return RunSpans(self, span, parent) if span.get_span_context().is_valid else None


class RunSpans(RunTrace):
    """The span of a run, and what its turns and tool calls hang from."""

    def __init__(self, traces: SpanTraces, span: Span, parent: SpanContext | None) -> None:
        self.traces = traces
        self.span = span
        self._parent = parent
        self._about: dict[str, AttributeValue] = {}
        """What all spans of the run say."""
        self._askers: dict[str, Span] = {}
        """The turns that asked for the tool calls of now, by the ids of the calls."""
        self._input_tokens = 0
        self._output_tokens = 0

    def noted(self) -> Mapping[str, Any]:
        """The place of the run in its trace, and that of its client, as headers."""
        place, parent = self.span.get_span_context(), self._parent
        return {"run": headers_of(place), "parent": headers_of(parent) if parent else None}

    def opened(self, *, run_id: str, context_id: str) -> None:
        """The run is about to begin, under this name and in this conversation."""
        self._about = {names.RUN: run_id, names.CONVERSATION: context_id}
        self.span.set_attributes(self._about)

    def entered(self) -> AbstractContextManager[None]:
        """What is done in the block belongs to the run."""
        return _current(self.span)

    def turn(
        self, request: ModelRequest, *, model: str, number: int, visible: bool
    ) -> AbstractContextManager[Callable[[TurnOutcome, Usage], None]]:
        """A turn, which is under way in the block."""
        if not self.span.is_recording():
            return NOT_TRACED.turn(request, model=model, number=number, visible=visible)
        short_model = _short(model)
        attributes: dict[str, AttributeValue] = {
            names.OPERATION: names.CHAT,
            names.PROVIDER: self.traces.system,
            names.REQUEST_MODEL: short_model,
            names.MAX_TOKENS: request.max_tokens,
            names.STREAM: True,
            names.TURN: number,
            names.IS_SIDE: not visible,
        }
        return self._step(f"{names.CHAT} {short_model}", attributes, self._note_turn, kind=SpanKind.CLIENT)

    def tool(self, call: ToolUse) -> AbstractContextManager[Callable[[ToolResult], None]]:
        """A tool call, which is under way in the block."""
        if not self.span.is_recording():
            return NOT_TRACED.tool(call)
        attributes: dict[str, AttributeValue] = {
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL: _short(call.name),
            names.TOOL_TYPE: "function",
            names.TOOL_CALL: _short(call.id),
        }
        if self.traces.with_content:
            attributes[names.TOOL_ARGUMENTS] = names.arguments(call.arguments)
        name = f"{names.EXECUTE_TOOL} {_short(call.name)}"
        return self._step(name, attributes, self._note_result, above=self._askers.get(call.id))

    @contextmanager
    def _step(
        self,
        name: str,
        attributes: dict[str, AttributeValue],
        note: Callable[Concatenate[Span, P], None],
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        above: Span | None = None,
    ) -> Iterator[Callable[P, None]]:
        """A span below `above`, or below the run, whose end `note` is given; one that is interrupted is cancelled."""
        if node := working_node():
            attributes[names.NODE] = _short(node)
        parent = set_span_in_context(above or self.span, Context())
        span = self.traces.tracer.start_span(name, parent, kind, {**attributes, **self._about}, record_exception=False)
        try:
            with _current(span):
                yield partial(note, span)
        except Exception as error:
            _fail(span, type(error).__qualname__)
            raise
        except BaseException:
            span.set_attribute(names.CANCELLED, True)  # noqa: FBT003  the value
            raise
        finally:
            span.end()

    def _note_turn(self, span: Span, outcome: TurnOutcome, usage: Usage) -> None:
        billed, fault = usage.billed_input, outcome.fault
        input_tokens = None if billed is None else _count(billed + usage.cache_read_tokens)
        output_tokens = None if usage.output_tokens is None else _count(usage.output_tokens)
        self._input_tokens = _count(self._input_tokens + (input_tokens or 0))
        self._output_tokens = _count(self._output_tokens + (output_tokens or 0))
        if outcome.calls:
            self._askers = {call.id: span for call in outcome.calls}
        known: dict[str, AttributeValue | None] = {
            names.INPUT_TOKENS: input_tokens,
            names.OUTPUT_TOKENS: output_tokens,
            names.CACHE_READ_TOKENS: _count(usage.cache_read_tokens) or None,
            names.CACHE_CREATION_TOKENS: _count(usage.cache_creation_tokens) or None,
            names.BUDGET_TOKENS: _count(outcome.tokens),
            names.FINISH_REASONS: [outcome.stop_reason] if outcome.stop_reason else None,
            names.RESPONSE_MODEL: _short(outcome.model) or None,
            names.FIRST_TEXT_MS: outcome.first_text_ms,
            names.SIGNAL: outcome.signal.type if outcome.signal else None,
            names.SERVER_TOOLS: [_short(name) for name in outcome.server_tools] or None,
            names.REQUEST_IDS: [_short(request_id) for request_id in outcome.request_ids] or None,
            names.CANCELLED: outcome.interrupted or None,
        }
        if self.traces.with_content:
            calls = [(call.id, call.name, call.arguments) for call in outcome.calls]
            reason = outcome.stop_reason or ""
            known[names.OUTPUT_MESSAGES] = names.message("assistant", outcome.text, calls, reason=reason)
        span.set_attributes({name: value for name, value in known.items() if value is not None})
        if fault:
            _fail(span, fault.error_type, fault.cause or fault.message)

    def _note_result(self, span: Span, result: ToolResult) -> None:
        if self.traces.with_content:
            span.set_attribute(names.TOOL_RESULT, names.text(result.text))
        if result.is_error:
            _fail(span, _TOOL_ERROR)

    def ended(self, end: TracedEnd) -> None:
        """The run has ended; one that never does is not exported."""
        span = self.span
        if not span.is_recording():
            return
        span.set_attributes(
            {
                names.REASON: end.reason,
                names.TURNS: end.turns,
                names.BUDGET_TOKENS: _count(end.tokens),
                names.RESPONSE_MODEL: _short(end.model),
            }
        )
        if self._input_tokens or self._output_tokens:  # else no turn has reported any, as far as it is known here
            span.set_attribute(names.INPUT_TOKENS, self._input_tokens)
            span.set_attribute(names.OUTPUT_TOKENS, self._output_tokens)
        if self.traces.with_content:
            span.set_attribute(names.INPUT_MESSAGES, names.message("user", end.question))
            span.set_attribute(names.OUTPUT_MESSAGES, names.message("assistant", end.answer(), reason=end.reason))
        if end.error_type:
            _fail(span, end.error_type, end.error)
        span.end()


@contextmanager
def _current(span: Span) -> Iterator[None]:
    token, headers = attach(set_span_in_context(span)), HEADERS.set(_headers)
    try:
        yield
    finally:
        HEADERS.reset(headers)
        detach(token)


def _headers() -> dict[str, str]:
    headers: dict[str, str] = {}
    _W3C.inject(headers)
    return headers


def _fail(span: Span, error_type: str, error: str = "") -> None:
    """Mark a span as failed."""
    span.set_attribute(names.ERROR_TYPE, _short(error_type))
    span.set_status(Status(StatusCode.ERROR, _short(error) or None))


def _count(number: int) -> int:
    """A number as an attribute can hold it."""
    return min(number, _MOST)


def _short(text: str) -> str:
    """A text that is no content, as an attribute can hold it."""
    return names.text(text, longest=_LONGEST)
