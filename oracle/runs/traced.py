"""The trace of a run as its row has it, so that the worker that ends the run can end its trace."""

from collections.abc import Mapping
from typing import Any

from opentelemetry.trace import format_trace_id

from oracle.core.chunks import Done
from oracle.core.traces import SpanContext
from oracle.core.traces.spans import RunTrace, TracedEnd, Traces, headers_of, place_of
from oracle.runs.recovery import RunEnding
from oracle.runs.storage.records import RunRecord

_FIELD = "trace"


def noted(trace: RunTrace | None) -> Mapping[str, Any]:
    """What a run's `input` says of its trace: its own place in it, and that of its client; empty if it has none."""
    if trace is None:
        return {}
    return {_FIELD: {"run": headers_of(trace.place), "parent": headers_of(trace.parent) if trace.parent else None}}


def trace_id_of(run: RunRecord) -> str | None:
    """The id of the run's trace; `None` if it has none, or its texts were deleted."""
    place = _place(run, "run")
    return None if place is None else format_trace_id(place.trace_id)


def log_fields(run: RunRecord) -> dict[str, str]:
    """What every log line of the run says."""
    trace_id = trace_id_of(run)
    return {"run_id": run.id, "user_id": run.user_id, **({"trace_id": trace_id} if trace_id else {})}


def remade(traces: Traces | None, run: RunRecord, *, model: str) -> RunTrace | None:
    """The trace of a run whose process died, under its own ids, so that what it does here hangs from the same span.

    Args:
        traces: of this process; `None`: they are off.
        run: its row.
        model: the configured one.
    """
    place = _place(run, "run")
    if place is None or traces is None:
        return None
    return traces.remake(
        place,
        tree=run.tree,
        version=run.tree_sha,
        model=str(run.input.get("model") or model),
        parent=_place(run, "parent"),
        began_at=run.created_at,
    )


def note_recovered(traces: Traces | None, run: RunRecord, ending: RunEnding, done: Done, *, model: str) -> None:
    """End the trace of a run whose process died.

    Args:
        traces: of this process; `None`: they are off.
        run: its row.
        ending: the chunks and the reason that recovery has added.
        done: its last chunk.
        model: the configured one.
    """
    trace = remade(traces, run, model=model)
    if trace is None:
        return
    trace.opened(run_id=run.id, context_id=run.context_id)
    failed, fault = ending.failed, ending.fault
    has_failed = failed is not None and ending.reason == "error"
    trace.ended(
        TracedEnd(
            reason=done.termination_reason,
            turns=done.turns,
            tokens=done.tokens_used,
            model=done.model_used,
            error_type=failed.error_type if failed is not None and has_failed else "",
            error=fault.cause if fault is not None and has_failed else "",
            question=str(run.input.get("question", "")),
            answer=lambda: ending.answer,
        )
    )


def _place(run: RunRecord, whose: str) -> SpanContext | None:
    headers = (run.input.get(_FIELD) or {}).get(whose) or {}
    return place_of(*([headers[name]] if name in headers else [] for name in ("traceparent", "tracestate")))
