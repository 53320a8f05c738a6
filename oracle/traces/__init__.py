"""Traces of runs, for OpenTelemetry; the packages of OpenTelemetry's are imported only where traces are on.

A tool that makes requests of its own adds `trace_headers()` to them.
"""

from oracle.traces.context import TraceContext, carrying, trace_headers
from oracle.traces.errors import TraceSetupError
from oracle.traces.facts import RunBegin, RunEnd, ToolBegin, ToolEnd, TurnBegin, TurnEnd
from oracle.traces.protocol import NO_SPAN, NO_TRACE, NO_TRACES, RunTrace, ToolSpan, Traces, TurnSpan

__all__ = [
    "NO_SPAN",
    "NO_TRACE",
    "NO_TRACES",
    "RunBegin",
    "RunEnd",
    "RunTrace",
    "ToolBegin",
    "ToolEnd",
    "ToolSpan",
    "TraceContext",
    "TraceSetupError",
    "Traces",
    "TurnBegin",
    "TurnEnd",
    "TurnSpan",
    "carrying",
    "trace_headers",
]
