"""`GET /api/usage`: the tokens that runs and auxiliary requests have used by day, user and model, and their cost."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Header, Query
from pydantic import Field
from starlette.responses import Response

from oracle.core.errors import UserError
from oracle.features.usage.prices import Prices
from oracle.llm.protocol import CacheMiss
from oracle.runs.storage.usage import DayUsage
from oracle.server.api.access import TEXT, CallerNow, Parts
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.replies import ReplyBody

router = APIRouter(tags=["usage"], route_class=DescribedRoute)

MOST_DAYS: Final = 366
MOST_ROWS: Final = 20_000
_DEFAULT_DAYS: Final = 30
_EPOCH: Final = date(1970, 1, 1)
_CSV: Final = "text/csv; charset=utf-8"
_SIGNS: Final = r"[=+\-@＝＋－＠]"  # noqa: RUF001
_FORMULA: Final = re.compile(rf"^(?=[\t\r\n])|(?:^|(?<=[;,]))(?=\s*{_SIGNS})|(?<=[\t\r\n])(?=[^\S\t\r\n]*{_SIGNS})")
"""Where a formula could begin, also for spreadsheets that split cells at other signs, or read full-width ones."""


class UsageFigures(ReplyBody):
    """What some runs have used. Those that read from the provider's cache are not part of `tokens_used`."""

    runs: int = Field(description="That have ended.")
    turns: int
    tokens_used: int = Field(description="As budgets count them.")
    input_tokens: int
    cache_creation_tokens: int
    cache_read_tokens: int
    output_tokens: int
    is_estimated: bool = Field(
        description="Whether some are estimates, for interrupted turns or turns of unknown usage."
    )
    auxiliary_requests: int = Field(
        description="Requests of chat products without a run, such as titles; they use tokens."
    )
    cache_misses: dict[CacheMiss, int] = Field(
        description="Runs whose turns missed the provider's cache, by the most frequent reason in each run."
    )
    cost: float | None = Field(description="Null if a price is not known.")


class UsageOfDay(UsageFigures):
    """What the runs of a user have used that ended on one day, and were answered by one model."""

    day: str = Field(description="YYYY-MM-DD, UTC.")
    user_id: str
    model: str = Field(description="Empty if no model answered.")


class UsageTotals(UsageFigures):
    """The sums; `cost` is null if that of any row is not known."""

    known_cost: float = Field(description="The sum of the rows whose cost is known.")


class UsageReport(ReplyBody):
    """What was used, newest day first."""

    first: str = Field(description="The first day, YYYY-MM-DD, UTC.")
    last: str = Field(description="The last day.")
    currency: str | None = Field(description="The currency of all costs; null if the service has no prices.")
    rows: list[UsageOfDay]
    totals: UsageTotals


_TOLD = {"content": {"text/csv": {}}, "description": "The usage; as a table if you ask for CSV."}


@router.get(
    "/api/usage",
    summary="List tokens and costs by day",
    response_model=UsageReport,
    responses={200: _TOLD, **refusals()},
)
async def read_usage(
    parts: Parts,
    caller: CallerNow,
    since: Annotated[
        date | None, Query(alias="from", description="The first day, UTC; by default 30 days are counted.")
    ] = None,
    until: Annotated[date | None, Query(alias="to", description="The last day, UTC; by default today.")] = None,
    user: Annotated[
        str | None, Query(max_length=255, pattern=TEXT, description="For operators: only this user's.")
    ] = None,
    format: Annotated[  # noqa: A002  the name of the parameter
        Literal["json", "csv"] | None, Query(description="By default chosen by `Accept`.")
    ] = None,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """The caller's own; for operators everybody's. A run counts on the day on which it has ended."""
    last = until or datetime.fromtimestamp(parts.store.database.now(), UTC).date()
    first = since or max(_EPOCH, last - timedelta(days=_DEFAULT_DAYS - 1)) if last >= _EPOCH else last
    days = (last - first).days + 1
    if not 0 < days <= MOST_DAYS or first < _EPOCH:
        told = f"{first} to {last}"
        raise UserError(f"1 to {MOST_DAYS} days, not before 1970; given {told}", loc=("query", "from"), value=told)
    own = caller.reads_runs_of
    is_of_another = own is not None and user not in (None, own)
    found: list[DayUsage] = []
    if not is_of_another:
        bounds = (_number(first), _number(last))
        found = await parts.store.usage.by_day(*bounds, user_id=own or user, limit=MOST_ROWS + 1)
    if len(found) > MOST_ROWS:
        message = f"these days have more than {MOST_ROWS:,} rows; ask for fewer days, or for one user"
        raise UserError(message, loc=("query", "from"), value=str(first))
    prices = parts.of(Prices)
    rows = [_row(each, prices) for each in found]
    if (format or ("csv" if _wants_csv(accept) else "json")) == "csv":
        return _as_csv(rows, prices.currency, name=f"usage-{first}-{last}.csv")
    body = {"first": str(first), "last": str(last), "currency": prices.currency, "rows": rows}
    return json_answer(body | {"totals": _totals(rows)}, headers={"Vary": "Accept"})


def _number(day: date) -> int:
    return (day - _EPOCH).days


def _row(used: DayUsage, prices: Prices) -> dict[str, Any]:
    return {
        "day": str(_EPOCH + timedelta(days=used.day)),
        "user_id": used.user_id,
        "model": used.model,
        "runs": used.runs,
        "turns": used.turns,
        "tokens_used": used.tokens_used,
        **asdict(used.by_kind),
        "is_estimated": used.is_estimated,
        "auxiliary_requests": used.auxiliary_requests,
        "cache_misses": used.cache_misses,
        "cost": prices.cost(used.model, used.by_kind),
    }


def _totals(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    sums = [name for name, field in UsageFigures.model_fields.items() if field.annotation is int]
    known = round(sum(row["cost"] or 0 for row in rows), 10)
    return {
        **{name: sum(row[name] for row in rows) for name in sums},
        "is_estimated": any(row["is_estimated"] for row in rows),
        "cache_misses": sum((Counter(row["cache_misses"]) for row in rows), Counter()),
        "cost": None if any(row["cost"] is None for row in rows) else known,
        "known_cost": known,
    }


def _wants_csv(accept: str) -> bool:
    """Whether CSV is the first of the two types that are accepted."""
    types = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return next((each for each in types if each in {"text/csv", "application/json"}), "") == "text/csv"


def _as_csv(rows: Sequence[dict[str, Any]], currency: str | None, *, name: str) -> Response:
    """The rows by RFC 4180; no cell is a formula to a spreadsheet."""
    text = StringIO(newline="")
    writer = csv.writer(text)
    columns = ["day", "user_id", "model", *UsageFigures.model_fields]
    writer.writerow([*columns, "currency"])
    for row in rows:
        misses = "; ".join(f"{reason} {count}" for reason, count in row["cache_misses"].items())
        cost = "unknown" if row["cost"] is None else f"{row['cost']:.10f}".rstrip("0").rstrip(".")
        cells = row | {"cache_misses": misses, "cost": cost}
        writer.writerow([*(_cell(cells[column]) for column in columns), currency or ""])
    told = {"Content-Disposition": f'attachment; filename="{name}"', "Vary": "Accept", "Cache-Control": "no-store"}
    return Response(text.getvalue(), media_type=_CSV, headers=told)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _FORMULA.sub("'", value) if isinstance(value, str) else value
