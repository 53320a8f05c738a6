"""Traces of runs, through OpenTelemetry's own API; its SDK is imported only where traces are on (`exporting`).

A tool that makes requests of its own adds `trace_headers()` to them.
"""

from opentelemetry.trace import SpanContext

from oracle.core.errors import OperatorError
from oracle.core.traces.spans import RunTrace, TracedEnd, Traces, headers_of, place_of, trace_headers

__all__ = [
    "RunTrace",
    "SpanContext",
    "TraceSetupError",
    "TracedEnd",
    "Traces",
    "headers_of",
    "place_of",
    "trace_headers",
]


class TraceSetupError(OperatorError):
    """Traces cannot be exported as configured."""
