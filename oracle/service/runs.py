"""`/api/oracle/runs/…` and `/api/runs`: runs as they stand, and their streams."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from bt_runtime.text import iso
from oracle.agent.outcome_json import decode_outcome
from oracle.agent.outcomes import TurnOutcome
from oracle.runs import trace_id_of
from oracle.service.access import CallerNow, OwnRun, Parts, ReadableRun, find_run, is_id
from oracle.service.answers import json_answer
from oracle.service.auth import Caller
from oracle.service.described import event_stream, refusals
from oracle.service.parts import ServiceParts
from oracle.service.queries import STREAM_EXAMPLE
from oracle.service.reading import AfterId, LastEventId, last_seen, resume_stream
from oracle.service.replies import CancelAnswer, RunBody, RunList
from oracle.storage import RunRecord

router = APIRouter(tags=["runs"])


@router.get("/api/oracle/runs/{run_id}", summary="How a run stands", response_model=RunBody, responses=refusals(404))
async def read_run(run: ReadableRun, parts: Parts, caller: CallerNow) -> Response:
    """Status, times, tree, turns and tokens; operators see everybody's, and why one failed."""
    return json_answer(await _body(run, parts, caller))


@router.get(
    "/api/oracle/runs/{run_id}/stream",
    summary="Take a stream up again",
    response_class=Response,  # otherwise FastAPI documents the event stream as a string
    responses={
        200: {
            "description": "The chunks after the last id, then live ones, until `done`.",
            "content": event_stream(STREAM_EXAMPLE),
        },
        204: {"description": "The last id was that of `done`: there is nothing more."},
        **refusals(404, 410),
    },
)
async def resume_run(
    run_id: str,
    parts: Parts,
    caller: CallerNow,
    last_event_id: LastEventId = None,
    after: AfterId = None,
) -> Response:
    """The run's chunks after the last one seen; also long after the run."""
    return await resume_stream(parts, run_id, caller=caller, after=last_seen(last_event_id, after))


@router.post(
    "/api/oracle/runs/{run_id}/cancel",
    summary="Stop a run",
    status_code=202,
    response_model=CancelAnswer,
    responses=refusals(404),
)
async def cancel_run(run: OwnRun, parts: Parts) -> Response:
    """Stop the run; its text is kept and `done` follows. A run that has ended is not changed."""
    await parts.runs.cancel(run)
    return json_answer({"run_id": run.id, "status": run.status}, status=202)


@router.get("/api/runs", summary="Runs, newest first", response_model=RunList, responses=refusals(404))
async def list_runs(
    parts: Parts,
    caller: CallerNow,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(description="A run's name; only older ones are listed.")] = None,
    context_id: Annotated[str | None, Query(description="Only those of this conversation.")] = None,
) -> Response:
    """The caller's own runs; for operators everybody's."""
    user_id = caller.reads_runs_of
    if before is not None:
        await find_run(before, parts, user_id=user_id)
    if context_id is not None and not is_id(context_id):
        return json_answer({"runs": [], "next": None})
    runs = await parts.store.runs.latest(user_id=user_id, limit=limit, before=before, context_id=context_id)
    bodies = [await _body(run, parts, caller) for run in runs]
    return json_answer({"runs": bodies, "next": runs[-1].id if len(runs) == limit else None})


async def _body(run: RunRecord, parts: ServiceParts, caller: Caller) -> dict[str, Any]:
    error = run.error or {}
    turns, tokens, estimated, model = run.turns, run.tokens_used, run.tokens_estimated, run.model_used
    if run.status == "running":
        turns, tokens, estimated, model = await _so_far(run, parts)
    return {
        "run_id": run.id,
        "user_id": run.user_id,
        "context_id": run.context_id,
        "status": run.status,
        "created_at": iso(run.created_at),
        "deadline_at": iso(run.deadline_at),
        "finished_at": None if run.finished_at is None else iso(run.finished_at),
        "tree": {"name": run.tree, "version": run.tree_sha},
        "turns": turns or 0,
        "tokens_used": tokens or 0,
        "tokens_estimated": bool(estimated),
        "model_used": model,
        "termination_reason": run.termination_reason,
        "error": error.get("error"),
        "error_type": error.get("error_type"),
        "cause": error.get("cause") if caller.is_operator else None,
        "cause_detail": error.get("detail") if caller.is_operator else None,
        "limits": dict(run.limits),
        "trace_id": trace_id_of(run),
        "forgotten": run.kept != "whole",
        "kept": run.kept,
    }


async def _so_far(run: RunRecord, parts: ServiceParts) -> tuple[int, int, bool, str | None]:
    """Turns, tokens, whether some are estimates, and the model, of a run under way: from the turns in its log."""
    turns, tokens, estimated, model = 0, 0, False, None
    for event in await parts.store.log.events(run.id, kinds={"turn_end"}):
        turn = decode_outcome(event.data).value
        if isinstance(turn, TurnOutcome):
            finished = turn.fault is None and not turn.interrupted
            turns, model = (turns + 1, turn.model) if finished else (turns, model)
            tokens, estimated = tokens + turn.tokens, estimated or turn.estimated
    return turns, tokens, estimated, model
