"""What ended runs have used, by day, user and model: added up by the database, from one index."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, Select, case, cast, func, select, true

from oracle.core.chunks import TokenUsage
from oracle.runs.storage.database import Database
from oracle.runs.storage.schema import KINDS, run

DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class DayUsage:
    """What the runs of a user have used that ended on one day, and were answered by one model.

    Args:
        day: days since the epoch, UTC.
        model: as the provider names it; empty if none has answered.
        runs: the number of runs that ended.
        turns: finished turns of the model.
        tokens_used: all tokens, as budgets count them.
        by_kind: the tokens whose kind is known.
        unsplit: those of `tokens_used` whose kind is not known: of runs that older versions have ended.
        is_estimated: some are estimates.
    """

    day: int
    user_id: str
    model: str
    runs: int
    turns: int
    tokens_used: int
    by_kind: TokenUsage
    unsplit: int
    is_estimated: bool


class UsageTable:
    """Reads what was used. Shadows are no user's, and are not counted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_day(self, first: int, last: int, *, user_id: str | None, limit: int) -> list[DayUsage]:
        """What was used from the first to the last day, newest day first.

        Args:
            first: days since the epoch, UTC.
            last: the last day that is counted, in the same unit.
            user_id: whose runs are counted; `None`: everybody's.
            limit: the greatest number of rows.
        """
        query = _query(first, last, user_id).limit(limit)
        return await self._database.read(
            lambda connection: [_read(row) for row in connection.execute(query).mappings()]
        )


def _query(first: int, last: int, user_id: str | None) -> Select[Any]:
    # In whole microseconds: a cast to an integer rounds in PostgreSQL, and not in SQLite.
    day = (cast(run.c.finished_at * 1_000_000, BigInteger) // (DAY_S * 1_000_000)).label("day")
    model = func.coalesce(run.c.model_used, "").label("model")
    unsplit = case((run.c.input_tokens.is_(None), run.c.tokens_used), else_=0)
    sums = {name: run.c[name] for name in ("turns", "tokens_used", *KINDS)} | {"unsplit": unsplit}
    added = [cast(func.coalesce(func.sum(column), 0), BigInteger).label(name) for name, column in sums.items()]
    estimated = func.max(case((run.c.tokens_estimated, 1), else_=0)).label("estimated")
    ended = (run.c.finished_at >= first * DAY_S) & (run.c.finished_at < (last + 1) * DAY_S)
    ended &= (run.c.status == "finished") & run.c.shadow_of.is_(None)
    ended &= true() if user_id is None else run.c.user_id == user_id
    columns = (day, run.c.user_id, model)
    query = select(*columns, func.count().label("runs"), *added, estimated).where(ended)
    return query.group_by(*columns).order_by(day.desc(), run.c.user_id, model)


def _read(row: Mapping[Any, Any]) -> DayUsage:
    by_kind = TokenUsage(**{name: row[name] for name in KINDS})
    plain = {name: row[name] for name in ("day", "user_id", "model", "runs", "turns", "tokens_used", "unsplit")}
    return DayUsage(**plain, by_kind=by_kind, is_estimated=bool(row["estimated"]))
