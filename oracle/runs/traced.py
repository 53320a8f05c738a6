"""The trace of a run as its row has it, so that the worker that ends the run can end its trace."""

from collections.abc import Mapping
from typing import Any

from oracle.chunks import Done
from oracle.runs.recovery import Ending
from oracle.storage import RunRecord
from oracle.traces import RunBegin, RunEnd, RunTrace, TraceContext, Traces

_FIELD = "trace"


def noted(trace: RunTrace) -> Mapping[str, Any]:
    """What a run's `input` says of its trace: its own place in it, and that of its client; empty if it has none."""
    if trace.context is None:
        return {}
    return {
        _FIELD: {"run": dict(trace.context.headers), "parent": dict(trace.parent.headers) if trace.parent else None}
    }


def trace_id_of(run: RunRecord) -> str | None:
    """The id of the run's trace; `None` if it has none, or its texts were deleted."""
    context = _context(run, "run")
    return None if context is None else context.trace_id


def log_fields(run: RunRecord) -> dict[str, str]:
    """What every log line of the run says."""
    trace_id = trace_id_of(run)
    return {"run_id": run.id, "user_id": run.user_id, **({"trace_id": trace_id} if trace_id else {})}


def note_recovered(traces: Traces, run: RunRecord, ending: Ending, done: Done, *, model: str) -> None:
    """End the trace of a run whose process died.

    Args:
        traces: of this process.
        run: its row.
        ending: what was added to it.
        done: its last chunk.
        model: the configured one.
    """
    context = _context(run, "run")
    if context is None or not traces.is_on:
        return
    failed, fault = ending.failed, ending.fault
    has_failed = failed is not None and ending.reason == "error"
    traces.recovered(
        RunBegin(run.tree, run.tree_sha, str(run.input.get("model") or model)),
        RunEnd(
            reason=done.termination_reason,
            turns=done.turns,
            tokens=done.tokens_used,
            model=done.model_used,
            error_type=failed.error_type if failed is not None and has_failed else "",
            error=fault.cause if fault is not None and has_failed else "",
            question=str(run.input.get("question", "")),
            answer=lambda: ending.answer,
        ),
        context=context,
        parent=_context(run, "parent"),
        run_id=run.id,
        context_id=run.context_id,
        began_at=run.created_at,
    )


def _context(run: RunRecord, whose: str) -> TraceContext | None:
    headers = (run.input.get(_FIELD) or {}).get(whose) or {}
    return TraceContext.parse(*([headers[name]] if name in headers else [] for name in ("traceparent", "tracestate")))
