"""`GET /api/runs/{run_id}/export`: a recorded run as a file, as `oracle runs export` writes it."""

import asyncio
from dataclasses import replace
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from oracle.exports import ExportFormat, UnknownTickError, render_run, without_texts
from oracle.histories import History, read_history
from oracle.service.access import CallerNow, Parts, ReadableRun, with_figures
from oracle.service.described import refusals
from oracle.service.errors import InvalidRequestError
from oracle.service.reading import GREATEST_ID
from oracle.storage import Archive

router = APIRouter(prefix="/api/runs/{run_id}", tags=["runs"])

MOST_TICKS: Final = 2_000
"""Of a run that is exported here: its history is in memory as a whole."""

MEDIA_TYPES: Final[dict[ExportFormat, str]] = {
    "json": "application/json",
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
    "dot": "text/vnd.graphviz; charset=utf-8",
    "mermaid": "text/plain; charset=utf-8",
}
_ENDINGS: Final[dict[ExportFormat, str]] = {
    "json": "json",
    "html": "html",
    "svg": "svg",
    "dot": "dot",
    "mermaid": "mmd",
}

_FILE = {"description": "The file, as an attachment.", "content": {kind: {} for kind in MEDIA_TYPES.values()}}


@router.get(
    "/export",
    summary="A run as a file",
    response_class=Response,
    responses={200: _FILE, **refusals(404, 410)},
)
async def export_run(
    run: ReadableRun,
    parts: Parts,
    caller: CallerNow,
    format: Annotated[  # noqa: A002  the name of the parameter
        ExportFormat, Query(description="`json`: all of it; `html`: a page that shows it; the others: its tree.")
    ] = "json",
    tick: Annotated[
        int | None,
        Query(ge=1, le=GREATEST_ID, description="That a picture shows, and a page first; else the one of the end."),
    ] = None,
    texts: Annotated[bool, Query(description="With what people, the model and tools wrote.")] = True,  # noqa: FBT002
) -> Response:
    """The run with its reasons as one file, or its tree with the statuses at one tick.

    One file is made at a time. Runs of very many ticks are exported by `oracle runs export` alone.
    """
    ticks = await parts.store.log.count(with_figures(run).id, kind="tick", up_to_seq=GREATEST_ID)
    if ticks > MOST_TICKS:
        most = f"{MOST_TICKS:,}"
        message = f"it has {ticks:,} ticks, and runs of up to {most} are exported here; use `oracle runs export`"
        raise InvalidRequestError(message, loc=("path", "run_id"), value=run.id)
    registry = parts.trees.trees.library.registry

    def render(history: History) -> bytes:
        shown = history if texts else without_texts(history)
        return render_run(shown, format, tick=tick, registry=registry)

    async with parts.comparing:
        history = await read_history(Archive(parts.store.database), run, registry=registry)
        if history.end is not None and not caller.is_operator:
            history.end = replace(history.end, cause="")
        try:
            data = await asyncio.to_thread(render, history)
        except UnknownTickError as error:
            raise InvalidRequestError(str(error), loc=("query", "tick"), value=tick) from None
    return Response(
        data,
        media_type=MEDIA_TYPES[format],
        headers={
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="run-{run.id[:8]}.{_ENDINGS[format]}"',
        },
    )
