"""`/api/oracle/runs/…`: how a run stands, its stream, and its cancel."""

from fastapi import APIRouter
from starlette.responses import Response

from oracle.server.api.access import CallerNow, OwnRun, Parts, ReadableRun
from oracle.server.api.answers import json_answer
from oracle.server.api.described import DescribedRoute, event_stream, refusals
from oracle.server.api.queries import STREAM_EXAMPLE
from oracle.server.api.reading import AfterId, LastEventId, last_seen, resume_stream
from oracle.server.api.replies import CancelAnswer, RunBody
from oracle.server.api.run_bodies import body_of

router = APIRouter(tags=["runs"], route_class=DescribedRoute)


@router.get("/api/oracle/runs/{run_id}", summary="How a run stands", response_model=RunBody, responses=refusals(404))
async def read_run(run: ReadableRun, parts: Parts, caller: CallerNow) -> Response:
    """Status, times, tree, turns and tokens; operators see everybody's, and why one failed."""
    return json_answer(await body_of(run, parts.store.log, parts.progress, caller))


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
