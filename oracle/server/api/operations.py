"""`/healthz`, `/readyz` and `/metrics`: for operators."""

from fastapi import APIRouter
from starlette.responses import Response

from oracle.core.metrics import CONTENT_TYPE
from oracle.server.api.access import Parts
from oracle.server.api.described import MISTAKES, DescribedRoute
from oracle.server.api.errors import json_answer, later
from oracle.server.api.replies import ErrorAnswer, Health

router = APIRouter(tags=["operations"], route_class=DescribedRoute)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", summary="Liveness", response_model=Health, responses=MISTAKES)
async def check_liveness() -> Response:
    """The process answers; restart it if it does not."""
    return json_answer({"status": "ok"})


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    summary="Readiness",
    response_model=Health,
    responses={
        **MISTAKES,
        503: {"model": ErrorAnswer, "description": "The service accepts no questions at the moment."},
    },
)
async def check_readiness(parts: Parts) -> Response:
    """The service takes queries: it is loaded and keeps up, its store works, and interrupted runs have been ended."""
    if parts.runs.is_draining:
        return later(503, "The service is stopping.")
    if not parts.is_prepared():
        return later(503, "starting: still loading what every run needs.", after_s=1)
    if parts.runs.recovering:
        return later(503, f"recovering: {parts.runs.recovering:,} interrupted runs must still be ended.", after_s=1)
    if parts.load.is_overloaded:
        return later(503, f"overloaded: the event loop is {parts.load.lag_s:.1f} s late; new questions are refused.")
    if parts.store.health.problem is not None:
        return later(503, "The store cannot be written at the moment.")
    await parts.store.ping()
    broken = sum(state.error is not None for state in parts.trees.trees.states())
    encoder, changing = parts.oracle.encoder.state, parts.oracle.changing
    missing = () if changing is None else changing.missing()
    return json_answer(
        {"status": "ready"}
        | ({"broken_trees": broken} if broken else {})
        | ({"encoder": encoder} if encoder != "off" else {})
        | ({"missing_tools": missing} if missing else {})
    )


@router.head("/metrics", include_in_schema=False)
@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={
        **MISTAKES,
        200: {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    },
)
async def read_metrics(parts: Parts) -> Response:
    """Counts and times of the process, or of each worker; none identifies a user."""
    figures = parts.metrics.exposition() if parts.figures is None else await parts.figures()
    return Response(figures, headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})
