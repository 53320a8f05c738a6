"""`GET /api/runs`: runs with their figures, filtered, page by page."""

from dataclasses import asdict, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from oracle.core.chunks import TerminationReason
from oracle.runs.storage.records import Rating, RunStatus
from oracle.runs.storage.run_pages import RunCounts, RunFilter
from oracle.server.api.access import TEXT, CallerNow, Parts, When, find_run, is_id, seconds_of
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.replies import RunList
from oracle.server.api.run_bodies import body_of

router = APIRouter(tags=["runs"], route_class=DescribedRoute)


async def by_end(
    reason: Annotated[
        list[TerminationReason | Literal["not_continued"]] | None,
        Query(max_length=20, description="Only runs with this end; if repeated, with any of these."),
    ] = None,
    status: Annotated[
        list[RunStatus] | None,
        Query(max_length=4, description="Only runs in this state; if repeated, in any of these."),
    ] = None,
    slow: Annotated[
        float | None,
        Query(ge=0, le=1e9, description="Only runs that took at least this many seconds, so far or in all."),
    ] = None,
    errors: Annotated[bool, Query(description="Only runs in which a node raised an exception.")] = False,  # noqa: FBT002
    feedback: Annotated[Rating | None, Query(description="Only runs with this rating by their users.")] = None,
) -> RunFilter:
    """The filters by what became of a run."""
    ends, stand = tuple(reason or ()), tuple(status or ())
    return RunFilter(reasons=ends, statuses=stand, slow_s=slow, with_errors=errors, rating=feedback)


async def by_owner(
    ends: Annotated[RunFilter, Depends(by_end)],
    user: Annotated[
        str | None, Query(max_length=255, pattern=TEXT, description="For operators: only this user's.")
    ] = None,
    shadows: Annotated[  # noqa: FBT002
        bool, Query(description="For operators: shadow runs instead of users' own runs.")
    ] = False,
) -> RunFilter:
    """Those, and the filters by whose run it is."""
    return replace(ends, user_id=user, shadows=shadows)


async def by_all(
    owned: Annotated[RunFilter, Depends(by_owner)],
    context_id: Annotated[str | None, Query(description="Only those of this conversation.")] = None,
    tree: Annotated[str | None, Query(max_length=255, pattern=TEXT, description="Only those of this tree.")] = None,
    version: Annotated[
        str | None,
        Query(max_length=64, pattern="^[0-9a-f]*$", description="Only those whose tree's version begins with this."),
    ] = None,
    since: When = None,
    until: When = None,
    search: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Only those whose question contains all these words, in any order, or whose id begins with "
            "this.",
        ),
    ] = None,
) -> RunFilter:
    """All filters."""
    return replace(
        owned,
        context_id=context_id,
        tree=tree,
        version=version or None,
        since=seconds_of(since),
        until=seconds_of(until),
        text=search or "",
    )


@router.get("/api/runs", summary="Runs, newest first", response_model=RunList, responses=refusals(404))
async def list_runs(
    parts: Parts,
    caller: CallerNow,
    wanted: Annotated[RunFilter, Depends(by_all)],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(description="The id of a run; only older runs are listed.")] = None,
    counts: Annotated[bool | None, Query(description="Include `counts`; by default only on the first page.")] = None,
) -> Response:
    """The caller's own runs; for operators everybody's.

    A search looks through some thousand runs for a page: a page may be short, or empty, and `next` says whether there
    is more to look through.
    """
    own = caller.reads_runs_of
    if before is not None:
        await find_run(before, parts, user_id=own)
    with_counts = before is None if counts is None else counts
    is_of_another = own is not None and wanted.user_id not in (None, own)
    if is_of_another or (wanted.context_id is not None and not is_id(wanted.context_id)):
        none = asdict(RunCounts(0, {}, is_complete=True))
        return json_answer({"runs": [], "next": None, "counts": none if with_counts else None})
    wanted = wanted if own is None else replace(wanted, user_id=own, shadows=False)
    store = parts.store
    page = await store.runs.page(wanted, limit=limit, before=before)
    counted = asdict(await store.runs.count(wanted)) if with_counts else None
    bodies = [await body_of(run, store.log, parts.progress, caller) for run in page.runs]
    return json_answer({"runs": bodies, "next": page.next, "counts": counted})
