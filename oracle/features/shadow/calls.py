"""`/api/shadow/…`: what shadow runs say about two controls; for operators."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.responses import Response

from oracle.features.shadow.pairs import PairFilter
from oracle.features.shadow.report import MOST_PAIRS, PairFacts, ShadowReport, facts_of, pairs_of, report_of
from oracle.server.api.access import TEXT, OperatorNow, Parts, When, seconds_of
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.replies import ReplyBody

router = APIRouter(prefix="/api/shadow", tags=["shadows"], route_class=DescribedRoute)

Label = Annotated[str | None, Query(max_length=255, pattern=TEXT)]


class PairList(ReplyBody):
    """Finished pairs, those that are farthest apart first."""

    pairs: list[PairFacts]
    next: str | None = Field(description="The `after` of the next page; null on the last one.")


async def pairs_meant(
    since: When = None,
    tree: Annotated[
        str | None,
        Query(
            max_length=255,
            pattern=TEXT,
            description="Only those whose question named this tree, or where one of the two controls is a version of "
            "it.",
        ),
    ] = None,
) -> PairFilter:
    """The filters that the report and the list share."""
    return PairFilter(since=seconds_of(since), tree=tree)


Meant = Annotated[PairFilter, Depends(pairs_meant)]


@router.get("/report", summary="Compare two controls", response_model=ShadowReport, responses=refusals())
async def read_shadow_report(parts: Parts, _: OperatorNow, wanted: Meant) -> Response:
    """Agreement, differences with confidence intervals, ends and the worst pairs, by the two controls; for operators.

    The newest 10,000 pairs are looked at.
    """
    pairs = await pairs_of(parts.store).newest(wanted, limit=MOST_PAIRS + 1)
    return json_answer(asdict(report_of(pairs)))


@router.get("/pairs", summary="List pairs of runs, worst first", response_model=PairList, responses=refusals())
async def list_shadow_pairs(
    parts: Parts,
    _: OperatorNow,
    wanted: Meant,
    primary: Label = None,
    shadow: Label = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the previous page.")] = None,
) -> Response:
    """Finished pairs, those that are farthest apart first; `primary` and `shadow` are controls as in the report.

    `GET /api/runs/{primary_run_id}/compare?with={shadow_run_id}` says where the two part.
    """
    meant = PairFilter(wanted.since, wanted.tree, primary_control=primary, shadow_control=shadow)
    found = await pairs_of(parts.store).worst(meant, limit=limit, after=after)
    following = found[-1].primary_id if len(found) == limit else None
    return json_answer({"pairs": [asdict(facts_of(pair)) for pair in found], "next": following})
