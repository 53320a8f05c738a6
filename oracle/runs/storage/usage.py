"""Usage by day, user and model; the database adds up the runs from one index."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, get_args

import sqlalchemy as sa
from sqlalchemy import Connection, Select, and_, case, cast, func, literal_column, select, true, union_all, update

from bt_runtime.text.data import dataclass
from oracle.core.chunks import TokenUsage
from oracle.llm.protocol import CacheMiss
from oracle.runs.storage.parts import Keeping, no_texts
from oracle.runs.storage.schema import KINDS, metadata, run
from oracle.runs.storage.writer import Part

DAY_S: Final = 86_400

_SUMS: Final = ("runs", "turns", "tokens_used", *KINDS, "auxiliary_requests")
_MISSES: Final[tuple[str, ...]] = get_args(CacheMiss)

auxiliary_usage = sa.Table(
    "auxiliary_usage",
    metadata,
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),  # since the epoch, UTC
    sa.Column("user_id", sa.String(255), primary_key=True),
    sa.Column("model", sa.String(255), primary_key=True),
    *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("requests", *KINDS)),
)
KEEPING = Keeping(tables=(auxiliary_usage,), with_runs=no_texts)  # figures alone
_own = auxiliary_usage.c


@dataclass(frozen=True, slots=True)
class DayUsage:
    """What a user has used on one day of one model: by the runs that ended then, and by auxiliary requests.

    Args:
        day: days since the epoch, UTC.
        model: as the provider names it; empty if none has answered.
        runs: the number of runs that ended.
        turns: finished turns of the model.
        tokens_used: all tokens, as budgets count them.
        by_kind: the same by kind, and those read from the provider's cache.
        is_estimated: some are estimates.
        auxiliary_requests: what chat products have asked for themselves; no runs, and part of the tokens.
        cache_misses: the runs that have missed the provider's cache, by the commonest reason that it told in each.
    """

    day: int
    user_id: str
    model: str
    runs: int
    turns: int
    tokens_used: int
    by_kind: TokenUsage
    is_estimated: bool
    auxiliary_requests: int = 0
    cache_misses: Mapping[str, int] = field(default_factory=dict)


class UsageTable(Part):
    """Keeps and reads what was used. Shadows are no user's, and are not counted."""

    async def add_auxiliary(self, user_id: str, *, model: str, usage: TokenUsage) -> None:
        """Count a request of a chat product for itself, now.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        key = {"day": int(self._database.now() // DAY_S), "user_id": user_id, "model": model}
        figures = {"requests": 1} | {name: getattr(usage, name) for name in KINDS}
        change = update(auxiliary_usage).where(and_(*(_own[name] == value for name, value in key.items())))
        change = change.values({name: _own[name] + more for name, more in figures.items()})

        def work(connection: Connection) -> None:
            connection.execute(self._database.dialect.insert(auxiliary_usage), key | dict.fromkeys(figures, 0))
            connection.execute(change)

        await self._writer.write(work, is_alone=True)

    async def by_day(self, first: int, last: int, *, user_id: str | None, limit: int) -> list[DayUsage]:
        """What was used from the first to the last day, newest day first.

        Args:
            first: days since the epoch, UTC.
            last: the last day that is counted, in the same unit.
            user_id: whose figures are wanted; `None`: everybody's.
            limit: the greatest number of rows.
        """
        query = _query(first, last, user_id).limit(limit)
        return await self._database.read(
            lambda connection: [_read(row) for row in connection.execute(query).mappings()]
        )


def _query(first: int, last: int, user_id: str | None) -> Select[Any]:
    # In whole microseconds: a cast to an integer rounds in PostgreSQL, and not in SQLite.
    day = (cast(run.c.finished_at * 1_000_000, sa.BigInteger) // (DAY_S * 1_000_000)).label("day")
    zero = literal_column("0", sa.BigInteger)
    of_run = {
        "user_id": run.c.user_id,
        "model": func.coalesce(run.c.model_used, ""),
        "runs": literal_column("1"),
        **{name: run.c[name] for name in ("turns", "tokens_used", *KINDS)},
        "estimated": case((run.c.tokens_estimated, 1), else_=0),
        "auxiliary_requests": zero,
        **{reason: case((run.c.cache_miss == reason, 1), else_=0) for reason in _MISSES},
    }
    counted = _own.input_tokens + _own.cache_creation_tokens + _own.output_tokens
    own = dict.fromkeys(of_run, zero) | dict(_own) | {"tokens_used": counted, "auxiliary_requests": _own.requests}
    ended = (run.c.finished_at >= first * DAY_S) & (run.c.finished_at < (last + 1) * DAY_S)
    ended &= (run.c.status == "finished") & run.c.shadow_of.is_(None)
    of_user = [true() if user_id is None else table.c.user_id == user_id for table in (run, auxiliary_usage)]
    used = union_all(
        select(day, *(column.label(name) for name, column in of_run.items())).where(ended, of_user[0]),
        select(_own.day, *(own[name] for name in of_run)).where(_own.day.between(first, last), of_user[1]),
    ).subquery()
    key = (used.c.day, used.c.user_id, used.c.model)
    sums = [cast(func.coalesce(func.sum(used.c[name]), 0), sa.BigInteger).label(name) for name in _SUMS + _MISSES]
    query = select(*key, *sums, func.max(used.c.estimated).label("estimated"))
    return query.group_by(*key).order_by(used.c.day.desc(), used.c.user_id, used.c.model)


def _read(row: Mapping[Any, Any]) -> DayUsage:
    by_kind = TokenUsage(**{name: row[name] for name in KINDS})
    plain = {name: row[name] for name in ("day", "user_id", "model", *_SUMS) if name not in KINDS}
    misses = {reason: row[reason] for reason in _MISSES if row[reason]}
    return DayUsage(**plain, by_kind=by_kind, is_estimated=bool(row["estimated"]), cache_misses=misses)
