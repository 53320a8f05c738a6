"""`/healthz`, `/readyz`, `/metrics` and `/`: for who operates the service, and for who comes across it."""

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from oracle.metrics import CONTENT_TYPE
from oracle.service.access import Parts
from oracle.service.answers import json_answer
from oracle.service.bodies import ErrorAnswer, Health
from oracle.service.errors import later
from oracle.service.page import PAGE, PAGE_POLICY

router = APIRouter(tags=["operations"])


@router.get("/healthz", summary="Liveness", response_model=Health)
async def alive() -> Response:
    """The process answers; restart it if this does not come."""
    return json_answer({"status": "ok"})


@router.get(
    "/readyz",
    summary="Readiness",
    response_model=Health,
    responses={503: {"model": ErrorAnswer, "description": "It takes no queries for now."}},
)
async def ready(parts: Parts) -> Response:
    """The service takes queries: its store can be read and written, and it is not stopping."""
    if parts.runs.is_draining:
        return later(503, "The service is stopping.")
    if parts.store.health.problem is not None:
        return later(503, "The store cannot be written for now.")
    await parts.store.ping()
    return json_answer({"status": "ready"})


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={
        200: {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    },
)
async def metrics(parts: Parts) -> Response:
    """Counts and times of this process; nothing in them tells of a user."""
    return Response(parts.metrics.exposition(), headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})


@router.get("/", include_in_schema=False)
async def page() -> Response:
    """What this is, for somebody with a browser."""
    return HTMLResponse(PAGE, headers={"Content-Security-Policy": PAGE_POLICY})
