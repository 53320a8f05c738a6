"""`GET /api/runs`: runs with their figures, filtered, page by page."""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from oracle.chunks import TerminationReason
from oracle.service.access import CallerNow, Parts, find_run, is_id
from oracle.service.answers import json_answer
from oracle.service.described import refusals
from oracle.service.replies import RunList
from oracle.service.run_bodies import body_of
from oracle.storage import RunCounts, RunFilter, RunStatus

router = APIRouter(tags=["runs"])

_TEXT: Final = r"^[^\x00]*$"  # PostgreSQL takes no NUL

When = Annotated[datetime | None, Query(description="ISO 8601; without an offset it is UTC.")]


async def by_end(
    reason: Annotated[TerminationReason | None, Query(description="Only those that have ended so.")] = None,
    status: Annotated[RunStatus | None, Query(description="Only those that are under way, or that have ended.")] = None,
    slow: Annotated[
        float | None,
        Query(ge=0, le=1e9, description="Only those that took so many seconds, or have taken them so far."),
    ] = None,
    errors: Annotated[bool, Query(description="Only those in which a node has raised an exception.")] = False,  # noqa: FBT002
) -> RunFilter:
    """The filters by what became of a run."""
    return RunFilter(reason=reason, status=status, slow_s=slow, with_errors=errors)


async def by_all(
    ends: Annotated[RunFilter, Depends(by_end)],
    context_id: Annotated[str | None, Query(description="Only those of this conversation.")] = None,
    tree: Annotated[str | None, Query(max_length=255, pattern=_TEXT, description="Only those of this tree.")] = None,
    version: Annotated[
        str | None,
        Query(max_length=64, pattern="^[0-9a-f]*$", description="Only those whose tree has a version that begins so."),
    ] = None,
    user: Annotated[
        str | None, Query(max_length=255, pattern=_TEXT, description="For operators: only this user's.")
    ] = None,
    since: When = None,
    until: When = None,
    search: Annotated[
        str | None, Query(max_length=200, description="Only those whose question has all these words, in any order.")
    ] = None,
) -> RunFilter:
    """All filters."""
    return replace(
        ends,
        context_id=context_id,
        tree=tree,
        version=version or None,
        user_id=user,
        since=_seconds(since),
        until=_seconds(until),
        text=search or "",
    )


@router.get("/api/runs", summary="Runs, newest first", response_model=RunList, responses=refusals(404))
async def list_runs(
    parts: Parts,
    caller: CallerNow,
    wanted: Annotated[RunFilter, Depends(by_all)],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(description="A run's name; only older ones are listed.")] = None,
    counts: Annotated[
        bool | None, Query(description="With `counts`; if it is left out, on the first page alone.")
    ] = None,
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
    wanted = wanted if own is None else replace(wanted, user_id=own)
    store = parts.store
    page = await store.runs.page(wanted, limit=limit, before=before)
    counted = asdict(await store.runs.count(wanted)) if with_counts else None
    bodies = [await body_of(run, store.log, parts.progress, caller) for run in page.runs]
    return json_answer({"runs": bodies, "next": page.next, "counts": counted})


def _seconds(when: datetime | None) -> float | None:
    if when is None:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
