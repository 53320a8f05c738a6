"""Runs, turns and tool calls as OpenTelemetry spans, by the conventions for generative AI (`names`).

The spans of a run make a tree: `invoke_agent` > `chat` > `execute_tool`. A tool call belongs to the turn whose model
asked for it, although that turn has ended then; a call of the tree's own belongs to the run.

Besides `trace_headers`, each span is OpenTelemetry's current one while it is under way, so that spans of a tool's own
belong to it.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, set_span_in_context

from oracle.traces import content, names
from oracle.traces.context import TraceContext, carrying
from oracle.traces.facts import RunBegin, RunEnd, ToolBegin, ToolEnd, TurnBegin, TurnEnd
from oracle.traces.otel_context import FixedIds, as_context, as_ours
from oracle.traces.protocol import NO_TRACE, RunTrace, ToolSpan, TurnSpan

_LONGEST: Final = 1_024
"""Characters of an attribute that is no content."""
_TOOL_ERROR: Final = "tool_error"
_NS: Final = 1_000_000_000
_MOST: Final = 2**63 - 1
"""What an attribute can hold; a provider may report anything, and a larger number would fail the whole batch."""

_Value = str | bool | int | list[str]


class OtelTraces:
    """Makes spans of runs.

    Args:
        provider: where the spans go.
        ids: the provider's generator of ids.
        system: whose models answer, as the conventions name providers.
        with_content: whether questions, answers, arguments and results are recorded.
    """

    is_on = True

    def __init__(self, provider: TracerProvider, *, ids: FixedIds, system: str, with_content: bool = False) -> None:
        self.tracer = provider.get_tracer(names.SCOPE)
        self.system = system
        self.with_content = with_content
        self._ids = ids

    def begin(self, begin: RunBegin, parent: TraceContext | None) -> RunTrace:
        """A run begins now; its parent is the client's span, otherwise OpenTelemetry's current one, if there is one."""
        span = self._run_span(begin, None if parent is None else as_context(parent))
        return OtelRunTrace(self, span, parent) if span.get_span_context().is_valid else NO_TRACE

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
        """Export the span that the dead process owes: with its ids, from the beginning of the run to now."""
        if not context.is_sampled:
            return
        with self._ids.fixed(context):
            above = Context() if parent is None else as_context(parent)
            span = self._run_span(begin, above, start_ns=round(began_at * _NS))
        trace = OtelRunTrace(self, span, parent)
        trace.opened(run_id=run_id, context_id=context_id)
        span.set_attribute(names.RECOVERED, True)  # noqa: FBT003  the value
        span.add_event(names.RECOVERED)
        trace.ended(end)

    def _run_span(self, begin: RunBegin, above: Context | None, *, start_ns: int | None = None) -> Span:
        attributes: dict[str, _Value] = {
            names.OPERATION: names.INVOKE_AGENT,
            names.PROVIDER: self.system,
            names.AGENT: _short(begin.tree),
            names.REQUEST_MODEL: _short(begin.model),
        }
        if begin.version is not None:
            attributes[names.AGENT_VERSION] = begin.version
        name = f"{names.INVOKE_AGENT} {_short(begin.tree)}"
        return self.tracer.start_span(
            name, above, SpanKind.INTERNAL, attributes, start_time=start_ns, record_exception=False
        )


class OtelRunTrace:
    """The span of a run, and what its turns and tool calls hang from."""

    def __init__(self, traces: OtelTraces, span: Span, parent: TraceContext | None) -> None:
        self.parent = parent
        self.traces = traces
        self.is_on = span.is_recording()
        self.context: TraceContext | None = as_ours(span.get_span_context())
        self.about: dict[str, _Value] = {}
        """What all spans of the run say."""
        self._span = span
        self._askers: dict[str, Span] = {}
        self._input_tokens = 0
        self._output_tokens = 0

    def opened(self, *, run_id: str, context_id: str) -> None:
        """The run is about to begin, under this name and in this conversation."""
        self.about = {names.RUN: run_id, names.CONVERSATION: context_id}
        self._span.set_attributes(self.about)

    def headers(self) -> Mapping[str, str]:
        """What requests say that belong to the run and to none of its spans."""
        return {} if self.context is None else self.context.headers

    def turn(self, begin: TurnBegin) -> TurnSpan:
        """A turn begins now."""
        attributes: dict[str, _Value] = {
            names.OPERATION: names.CHAT,
            names.PROVIDER: self.traces.system,
            names.REQUEST_MODEL: _short(begin.model),
            names.MAX_TOKENS: begin.max_tokens,
            names.STREAM: True,
            names.TURN: begin.number,
            names.IS_SIDE: begin.is_side,
            **self.about,
        }
        return _Turn(self, self._start(f"{names.CHAT} {_short(begin.model)}", attributes, begin.node, SpanKind.CLIENT))

    def tool(self, begin: ToolBegin) -> ToolSpan:
        """A tool call begins now."""
        attributes: dict[str, _Value] = {
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL: _short(begin.name),
            names.TOOL_TYPE: "function",
            names.TOOL_CALL: _short(begin.call_id),
            **self.about,
        }
        if self.traces.with_content:
            attributes[names.TOOL_ARGUMENTS] = content.arguments(begin.arguments)
        above = self._askers.get(begin.call_id)
        return _Tool(
            self, self._start(f"{names.EXECUTE_TOOL} {_short(begin.name)}", attributes, begin.node, above=above)
        )

    def ended(self, end: RunEnd) -> None:
        """The run has ended."""
        span = self._span
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
            span.set_attribute(names.INPUT_MESSAGES, content.message("user", end.question))
            span.set_attribute(names.OUTPUT_MESSAGES, content.message("assistant", end.answer(), reason=end.reason))
        if end.error_type:
            fail(span, end.error_type, end.error)
        span.end()

    def turn_ended(self, span: Span, end: TurnEnd) -> None:
        """Count a turn's tokens, and remember which calls it asked for."""
        self._input_tokens = _count(self._input_tokens + (end.input_tokens or 0))
        self._output_tokens = _count(self._output_tokens + (end.output_tokens or 0))
        if end.calls:
            self._askers = {call_id: span for call_id, *_ in end.calls}

    def _start(
        self,
        name: str,
        attributes: dict[str, _Value],
        node: str,
        kind: SpanKind = SpanKind.INTERNAL,
        above: Span | None = None,
    ) -> Span:
        if node:
            attributes[names.NODE] = _short(node)
        parent = set_span_in_context(above or self._span, Context())
        return self.traces.tracer.start_span(name, parent, kind, attributes, record_exception=False)


class _Step:
    """A span that is the current one within a block; without an end it counts as cancelled."""

    def __init__(self, trace: OtelRunTrace, span: Span) -> None:
        self.trace = trace
        self.span = span
        self._has_ended = False
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.callback(detach, attach(set_span_in_context(self.span)))
        self._stack.enter_context(carrying(as_ours(self.span.get_span_context()).headers))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        if isinstance(error, Exception):
            fail(self.span, type(error).__qualname__)
        elif not self._has_ended:
            self.span.set_attribute(names.CANCELLED, True)  # noqa: FBT003  the value
        self.span.end()

    def close(self) -> None:
        """It has ended by itself."""
        self._has_ended = True


class _Turn(_Step):
    def ended(self, end: TurnEnd) -> None:
        """It ended so."""
        self.close()
        self.trace.turn_ended(self.span, end)
        optional: dict[str, _Value | None] = {
            names.INPUT_TOKENS: None if end.input_tokens is None else _count(end.input_tokens),
            names.OUTPUT_TOKENS: None if end.output_tokens is None else _count(end.output_tokens),
            names.CACHE_READ_TOKENS: _count(end.cache_read_tokens) or None,
            names.CACHE_CREATION_TOKENS: _count(end.cache_creation_tokens) or None,
            names.BUDGET_TOKENS: _count(end.budget_tokens),
            names.FINISH_REASONS: [end.stop_reason] if end.stop_reason else None,
            names.RESPONSE_MODEL: _short(end.model) or None,
            names.FIRST_TEXT_MS: end.first_text_ms,
            names.SIGNAL: end.signal or None,
            names.SERVER_TOOLS: [_short(each) for each in end.server_tools] or None,
            names.REQUEST_IDS: [_short(each) for each in end.request_ids] or None,
            names.CANCELLED: end.is_cancelled or None,
        }
        if self.trace.traces.with_content:
            reason = end.stop_reason or ""
            optional[names.OUTPUT_MESSAGES] = content.message("assistant", end.text, end.calls, reason=reason)
        self.span.set_attributes({name: value for name, value in optional.items() if value is not None})
        if end.error_type:
            fail(self.span, end.error_type, end.error)


class _Tool(_Step):
    def ended(self, end: ToolEnd) -> None:
        """It ended so."""
        self.close()
        if self.trace.traces.with_content:
            self.span.set_attribute(names.TOOL_RESULT, content.text(end.text))
        if end.is_error:
            fail(self.span, _TOOL_ERROR)


def fail(span: Span, error_type: str, error: str = "") -> None:
    """Mark a span as failed."""
    span.set_attribute(names.ERROR_TYPE, _short(error_type))
    span.set_status(Status(StatusCode.ERROR, _short(error) or None))


def _count(number: int) -> int:
    return min(number, _MOST)


def _short(text: str) -> str:
    return content.text(text, longest=_LONGEST)
