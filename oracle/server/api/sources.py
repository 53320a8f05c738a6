"""`GET /api/oracle/runs/{run_id}/source`: the text of a source that a run has cited.

Rules:

- Nothing can be read but what a run of the caller has cited. An operator cannot read what others' runs have cited: it
  may come from their notes.
- It is read by the rules of the tool that reads such sources, and from the caller's own vault. What was ignored,
  moved or deleted since is gone.
- Why something cannot be read is not said: who has not cited a file does not learn whether it exists.
"""

from contextlib import aclosing
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from oracle.core.errors import NotFoundError
from oracle.runs.record.reading import read_sources
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import OwnRun, Parts
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import GREATEST_ID
from oracle.server.api.replies import SourceText
from oracle.tools import Around, ToolError

_GONE = "The run cited no such source, or it no longer exists."

router = APIRouter(tags=["runs"], route_class=DescribedRoute)

FileType = Literal["code", "vault", "thread"]
Lines = Annotated[int, Query(ge=0, le=500, description="The most lines to return.")]


@router.get(
    "/api/oracle/runs/{run_id}/source", summary="A cited source", response_model=SourceText, responses=refusals(404)
)
async def read_source(
    run: OwnRun,
    parts: Parts,
    path: Annotated[str, Query(min_length=1, max_length=1_024, description="As the run cited it.")],
    source_type: Annotated[FileType, Query(description="As the run cited it.")],
    line: Annotated[int | None, Query(ge=1, le=GREATEST_ID, description="By default the beginning.")] = None,
    before: Lines = 20,
    after: Lines = 60,
) -> Response:
    """Lines of a source that an own run has cited, as the file is now; of very long lines fewer."""
    if not await _is_cited(run, parts, path=path, source_type=source_type):
        raise NotFoundError(_GONE)
    around = Around(line, before, after)
    try:
        found = await parts.oracle.tools_for(run.user_id).excerpt(source_type, path, around)
    except ToolError as error:
        raise NotFoundError(_GONE) from error
    return json_answer(
        {
            "run_id": run.id,
            "path": path,
            "source_type": source_type,
            "line": line,
            "first_line": found.first_line,
            "lines": found.lines,
            "total_lines": found.total_lines,
            "is_exact": found.is_exact,
            "is_whole": found.is_whole,
        }
    )


async def _is_cited(run: RunRecord, parts: ServiceParts, *, path: str, source_type: FileType) -> bool:
    """Whether the run has cited a source, by its answer or, where it has none yet, by its chunks."""
    answered = await parts.store.conversations.sources(run.user_id, run.context_id, run.id)
    if answered is not None:
        return any((each.get("path"), each.get("source_type")) == (path, source_type) for each in answered)
    async with aclosing(read_sources(parts.store.log, run.id)) as sources:
        async for source in sources:
            if (source.path, source.source_type) == (path, source_type):
                return True
    return False
