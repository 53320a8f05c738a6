"""`GET /api/runs/{run_id}/compare`: where two recorded runs part."""

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from oracle.histories import diff_histories, read_history
from oracle.histories.encoding import encode
from oracle.service.access import CallerNow, Parts, ReadableRun, find_run, with_figures
from oracle.service.answers import raw_json
from oracle.service.described import refusals
from oracle.service.errors import InvalidRequestError
from oracle.service.history_replies import RunComparison
from oracle.service.parts import ServiceParts
from oracle.service.reading import GREATEST_ID
from oracle.storage import Archive, RunRecord

router = APIRouter(prefix="/api/runs/{run_id}", tags=["runs"])

MOST_TICKS: Final = 2_000
"""Of a run that is compared here: both histories are in memory as a whole."""


@router.get("/compare", summary="Where two runs part", response_model=RunComparison, responses=refusals(404, 410))
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
        ticks = await parts.store.log.count(with_figures(each).id, kind="tick", up_to_seq=GREATEST_ID)
        if ticks > MOST_TICKS:
            message = (
                f"it has {ticks:,} ticks, and runs of up to {MOST_TICKS:,} are compared here; use `oracle runs diff`"
            )
            raise InvalidRequestError(message, loc=loc, value=each.id)
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
