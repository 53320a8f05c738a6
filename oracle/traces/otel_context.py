"""Places in a trace, as ours and as OpenTelemetry's; and a span that is made again under its own ids."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    TraceState,
    format_span_id,
    format_trace_id,
    set_span_in_context,
)

from oracle.traces.context import TraceContext


class FixedIds(RandomIdGenerator):
    """Random ids, except where a span that was never exported is made again under its own."""

    _ids: ContextVar[tuple[int, int] | None] = ContextVar("oracle_fixed_ids", default=None)

    def generate_trace_id(self) -> int:
        """An id of a trace."""
        fixed = self._ids.get()
        return super().generate_trace_id() if fixed is None else fixed[0]

    def generate_span_id(self) -> int:
        """An id of a span."""
        fixed = self._ids.get()
        return super().generate_span_id() if fixed is None else fixed[1]

    @contextmanager
    def fixed(self, context: TraceContext) -> Iterator[None]:
        """Spans that begin in the block have these ids."""
        token = self._ids.set((int(context.trace_id, 16), int(context.span_id, 16)))
        try:
            yield
        finally:
            self._ids.reset(token)


def as_context(parent: TraceContext) -> Context:
    """What a client's request said, for OpenTelemetry."""
    state = TraceState.from_header([parent.state]) if parent.state else None
    return set_span_in_context(
        NonRecordingSpan(
            SpanContext(
                int(parent.trace_id, 16),
                int(parent.span_id, 16),
                is_remote=True,
                trace_flags=TraceFlags(parent.flags),
                trace_state=state,
            )
        ),
        Context(),
    )


def as_ours(span: SpanContext) -> TraceContext:
    """The place of a span of OpenTelemetry's."""
    state = span.trace_state.to_header() if span.trace_state else ""
    return TraceContext(format_trace_id(span.trace_id), format_span_id(span.span_id), int(span.trace_flags), state)
