"""What was spent, a row a turn, and what operators have set for single users.

Rules:

- The row of a turn is written in the commit of its outcome: neither a kill nor another worker loses or doubles it.
- Rows are only added, so that commits of several workers never wait for each other. A sum is read after the commit: of
  two turns that end at a time, the one whose commit is later sees both.
- They have no text and no id of a run. They stay when runs are forgotten: nobody gets the day back by deleting them.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection, bindparam, delete, func, select, update

from oracle.runs.storage.database import Database
from oracle.runs.storage.parts import Keeping, no_texts
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.schema import Json, metadata

_SKEW_S: Final = 600.0  # between the clocks of workers
_KEPT_S: Final = 7 * 86_400.0
"""Only the present day counts; the others help who looks into a complaint."""

spent_turn = sa.Table(
    "spent_turn",
    metadata,
    sa.Column("of_run", sa.String(32), primary_key=True),  # `digest` of its id
    sa.Column("step", sa.String(255), primary_key=True),  # the key of the turn's outcome
    sa.Column("user_id", sa.String(255), nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),  # as budgets count them
    sa.Column("cost", sa.BigInteger, nullable=False),  # in billionths; 0 where no prices are known
)
sa.Index("ix_spent_turn_user", spent_turn.c.user_id, spent_turn.c.at)
spend_setting = sa.Table(
    "spend_setting",
    metadata,
    sa.Column("user_id", sa.String(255), primary_key=True),
    sa.Column("data", Json, nullable=False),
)


def _tidy(connection: Connection, now: float) -> None:
    connection.execute(delete(spent_turn).where(spent_turn.c.at < now - _KEPT_S))


KEEPING = Keeping(tables=(spent_turn, spend_setting), with_runs=no_texts, tidy=_tidy)

_turn = spent_turn.c
_SUMS = tuple(
    sa.cast(func.coalesce(func.sum(sa.case((counts, amount), else_=0)), 0), sa.BigInteger)
    for counts in (_turn.at >= bindparam("since"), _turn.of_run == bindparam("run"))
    for amount in (_turn.tokens, _turn.cost)
)
_SPENT = select(*_SUMS).where(_turn.user_id == bindparam("user"), _turn.at >= bindparam("first"))
_SETTING = select(spend_setting.c.data).where(spend_setting.c.user_id == bindparam("user"))


class Spent(NamedTuple):
    """Tokens, and billionths of the currency."""

    tokens: int = 0
    money: int = 0


def digest(run_id: str) -> str:
    """What stands for a run in its turns."""
    return sha256(run_id.encode()).hexdigest()[:32]


def adding(database: Database, row: dict[str, Any]) -> Callable[[Connection], object]:
    """What counts a turn, once however often it is run."""
    return lambda connection: connection.execute(database.dialect.insert(spent_turn), row)


async def spent(database: Database, user_id: str, *, since: float, run: RunRecord | None) -> tuple[Spent, Spent]:
    """What a user has spent since a time, and what a run of the user has; `None`: nothing."""
    first, of_run = (since, "") if run is None else (min(since, run.created_at - _SKEW_S), digest(run.id))
    given = {"user": user_id, "since": since, "first": first, "run": of_run}
    row = await database.read(lambda connection: connection.execute(_SPENT, given).one())
    return Spent(row[0], row[1]), Spent(row[2], row[3])


async def setting_of(database: Database, user_id: str) -> dict[str, Any] | None:
    """What an operator has set for a user; `None`: nothing."""
    return await database.read(lambda connection: connection.scalar(_SETTING, {"user": user_id}))


def set_for(connection: Connection, database: Database, user_id: str, data: dict[str, Any] | None) -> None:
    """Set it in the place of what was set before; `None`: nothing is set any more."""
    own = spend_setting.c.user_id == user_id
    if data is None:
        connection.execute(delete(spend_setting).where(own))
        return
    connection.execute(database.dialect.insert(spend_setting), {"user_id": user_id, "data": data})
    connection.execute(update(spend_setting).where(own).values(data=data))
