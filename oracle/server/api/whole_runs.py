"""Recorded runs as wholes: `GET /api/runs/{run_id}/export` and `GET /api/runs/{run_id}/compare`.

Whole histories are in memory for them, so they are made one at a time, and of runs of a bounded number of ticks.
"""

import asyncio
from dataclasses import replace
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from oracle.core.errors import UserError
from oracle.replay.exports.formats import ExportFormat, render_run
from oracle.replay.exports.redaction import without_texts
from oracle.replay.histories.diffs import diff_histories
from oracle.replay.histories.encoding import encode
from oracle.replay.histories.model import History
from oracle.replay.histories.reading import read_history
from oracle.runs.record.events import Ticked
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import CallerNow, Parts, ReadableRun, find_run, with_figures
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import raw_json
from oracle.server.api.history_replies import RunComparison
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import GREATEST_ID

router = APIRouter(prefix="/api/runs/{run_id}", tags=["runs"], route_class=DescribedRoute)

MOST_TICKS: Final = 2_000
"""The most ticks of a run exported or compared here; for longer runs use the command line."""

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

_FILE = {"description": "The run as a file.", "content": {kind: {} for kind in MEDIA_TYPES.values()}}


@router.get(
    "/compare", summary="Show where two runs differ", response_model=RunComparison, responses=refusals(404, 410)
)
async def compare_runs(
    run: ReadableRun,
    parts: Parts,
    caller: CallerNow,
    other_id: Annotated[str, Query(alias="with", description="The other run.")],
) -> Response:
    """The first input that differs, the first tick in which the control does something else, and what follows.

    One comparison is made at a time. Runs of very many ticks are compared by `oracle runs diff` alone.
    """
    other = await find_run(other_id, parts, user_id=caller.reads_runs_of)
    for each, loc in ((run, ("path", "run_id")), (other, ("query", "with"))):
        await _require_short(each, parts, loc=loc, done="compared", command="oracle runs diff")
    async with parts.comparing:
        return raw_json(await _compared(run, other, parts))


async def _compared(run: RunRecord, other: RunRecord, parts: ServiceParts) -> bytes:
    archive, registry = Archive(parts.store.database), parts.trees.trees.library.registry
    old = await read_history(archive, run, registry=registry)
    new = await read_history(archive, other, registry=registry)

    def compare() -> bytes:
        found = diff_histories(old, new, registry=registry)
        fields = tuple(map(encode, (run.id, other.id, found.is_same, found)))
        return b'{"run_id":%b,"with":%b,"is_same":%b,"difference":%b}' % fields

    return await asyncio.to_thread(compare)


@router.get(
    "/export",
    summary="Export a run as a file",
    response_class=Response,
    responses={200: _FILE, **refusals(404, 410)},
)
async def export_run(
    run: ReadableRun,
    parts: Parts,
    caller: CallerNow,
    format: Annotated[  # noqa: A002  the name of the parameter
        ExportFormat,
        Query(description="`json`: the whole run; `html`: a page that shows it; the other formats: its tree."),
    ] = "json",
    tick: Annotated[
        int | None,
        Query(
            ge=1,
            le=GREATEST_ID,
            description="The tick that a picture shows, and a page shows first; by default "
            "the tick that decided the end.",
        ),
    ] = None,
    texts: Annotated[bool, Query(description="Include what people, the model and tools wrote.")] = True,  # noqa: FBT002
) -> Response:
    """The run with its reasons as one file, or its tree with the statuses at one tick.

    One file is made at a time. Runs of very many ticks are exported by `oracle runs export` alone.
    """
    await _require_short(run, parts, loc=("path", "run_id"), done="exported", command="oracle runs export")
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
        except UserError as error:
            error.loc, error.value = ("query", "tick"), tick
            raise
    return Response(
        data,
        media_type=MEDIA_TYPES[format],
        headers={
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="run-{run.id[:8]}.{_ENDINGS[format]}"',
        },
    )


async def _require_short(run: RunRecord, parts: ServiceParts, *, loc: tuple[str, str], done: str, command: str) -> None:
    """Check that a run can be handled as a whole.

    Raises:
        UserError: it has too many ticks; the message names the command that takes it.
        ForgottenRunError: its texts were deleted.
    """
    ticks = await parts.store.log.count(with_figures(run).id, kind=Ticked.kind, up_to_seq=GREATEST_ID)
    if ticks > MOST_TICKS:
        message = f"it has {ticks:,} ticks, and runs of up to {MOST_TICKS:,} are {done} here; use `{command}`"
        raise UserError(message, loc=loc, value=run.id)
