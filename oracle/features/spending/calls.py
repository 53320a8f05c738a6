"""`GET /api/me/spending`, and for operators `/api/spending`: how users stand, and limits of single users."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from bt_runtime.text import iso
from oracle.core.errors import NotFoundError
from oracle.features.spending.limits import NANO, PlanFields
from oracle.features.spending.meter import Spending, Standing
from oracle.features.spending.table import set_for, setting_of
from oracle.server.api.access import TEXT, CallerNow, OperatorNow, Parts
from oracle.server.api.bodies import RequestBody
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.api.replies import ReplyBody

router = APIRouter(tags=["usage"], route_class=DescribedRoute)

User = Annotated[str, Query(min_length=1, max_length=255, pattern=TEXT, description="Whose limits.")]


class SpendingLimit(ReplyBody):
    """What a user has spent today by one limit; money is in `currency`."""

    unit: str = Field(description="`tokens` or `money`.")
    used: float
    soft: float
    hard: float
    state: str = Field(description="`ok`, `near` (soft limit reached), or `over` (hard limit reached).")


class SpendingReport(ReplyBody):
    """How a user stands."""

    user_id: str
    plan: str = Field(description="Empty: none.")
    currency: str | None
    resets_at: str = Field(description="When the next day begins, ISO 8601 in UTC.")
    limits: list[SpendingLimit] = Field(description="Of the day.")
    bounds: dict[str, int] = Field(description="The highest limits of a run.")
    is_set: bool = Field(description="Whether an operator has set limits for this user.")


class PlanChange(PlanFields, RequestBody):
    """What holds for one user in place of the file: a plan as `extends`, or limits as in a plan of the file."""


@router.get(
    "/api/me/spending", summary="Show what is left of the day", response_model=SpendingReport, responses=refusals()
)
async def read_own_spending(parts: Parts, caller: CallerNow) -> Response:
    """How the caller stands by the limits of the day; without limits `limits` is empty."""
    return json_answer(await _report(parts, caller.user_id))


@router.get("/api/spending", summary="Show a user's spending", response_model=SpendingReport, responses=refusals())
async def read_spending(parts: Parts, _operator: OperatorNow, user: User) -> Response:
    """How a user stands by the limits of the day."""
    return json_answer(await _report(parts, user))


@router.put("/api/spending", summary="Set a user's limits", response_model=SpendingReport, responses=refusals(404))
async def set_spending(body: PlanChange, parts: Parts, _operator: OperatorNow, user: User) -> Response:
    """Set what holds for one user, from the next question on; what was set before is replaced."""
    spending, data = _limited(parts), body.model_dump(exclude_unset=True, mode="json")
    spending.changed(spending.file.plan_of(user), body)  # refuses what cannot be
    await parts.store.write(partial(set_for, database=spending.database, user_id=user, data=data))
    return json_answer(await _report(parts, user))


@router.delete("/api/spending", summary="Clear a user's limits", response_model=SpendingReport, responses=refusals(404))
async def clear_spending(parts: Parts, _operator: OperatorNow, user: User) -> Response:
    """Let the file alone say what holds for a user."""
    spending = _limited(parts)
    await parts.store.write(partial(set_for, database=spending.database, user_id=user, data=None))
    return json_answer(await _report(parts, user))


def _limited(parts: ServiceParts) -> Spending:
    spending = parts.of(Spending)
    if spending.limits is None:
        raise NotFoundError("This service limits no spending; ORACLE_LIMITS names a file of limits.")
    return spending


async def _report(parts: ServiceParts, user_id: str) -> dict[str, Any]:
    spending = parts.of(Spending)
    plan = await spending.plan_of(user_id)
    standings, _ = await spending.standings(user_id, plan)
    return {
        "user_id": user_id,
        "plan": plan.name,
        "currency": spending.currency or None,
        "resets_at": iso(spending.day()[1], precision="seconds"),
        "limits": [_told(each) for each in standings],
        "bounds": plan.bounds,
        "is_set": await setting_of(spending.database, user_id) is not None,
    }


def _told(standing: Standing) -> dict[str, Any]:
    unit, limit = standing.unit, standing.limit
    amounts = {"used": standing.used, "soft": limit.soft, "hard": limit.hard}
    shown = {name: value if unit == "tokens" else round(value / NANO, 9) for name, value in amounts.items()}
    return {"unit": unit, **shown, "state": standing.state}
