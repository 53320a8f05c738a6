"""Breakpoints: where runs are to be paused. They are kept over restarts, and for runs that have not begun."""

from functools import partial
from typing import Literal

from sqlalchemy import Boolean, Column, Connection, Double, String, Table, delete, func, insert, or_, select, update

from bt_runtime.text.data import dataclass
from oracle.core.errors import UserError
from oracle.runs.storage.database import may_be_id
from oracle.runs.storage.parts import Keeping, rows_of_runs
from oracle.runs.storage.schema import Json, metadata
from oracle.runs.storage.writer import Part

BreakpointKind = Literal["start", "node", "condition", "error"]
"""What pauses a run: that it begins; that a node is about to; that an expression becomes true; that a node raises."""

MOST_BREAKPOINTS = 200

breakpoint_ = Table(
    "breakpoint",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),  # see BreakpointKind
    Column("tree", String(255)),  # of the runs of this tree; none: of all trees
    Column("run_id", String(64)),  # of this run; none: of all runs
    Column("user_id", String(255)),  # of the runs of this user; none: of all users
    Column("path", Json),  # a string: of a node
    Column("expression", Json),  # a string
    Column("enabled", Boolean, nullable=False),
    Column("created_by", String(255), nullable=False),
    Column("at", Double, nullable=False),
)
KEEPING = Keeping(tables=(breakpoint_,), with_runs=rows_of_runs(breakpoint_, but="reduced"))


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Where runs are to be paused.

    Args:
        kind: what pauses a run: its start, a node, a condition or an error.
        created_by: the operator.
        tree: only runs of this tree; `None`: of any.
        run_id: only this run.
        user_id: only runs of this user.
        path: the node of `node`; of `error` the only node that is meant.
        expression: the condition of a breakpoint of that kind; of `node` what must be true for it to pause.
        at: seconds since the epoch.
    """

    id: str
    kind: BreakpointKind
    created_by: str
    tree: str | None = None
    run_id: str | None = None
    user_id: str | None = None
    path: str | None = None
    expression: str | None = None
    enabled: bool = True
    at: float = 0.0


class Breakpoints(Part):
    """Keeps the breakpoints."""

    async def all(self) -> list[Breakpoint]:
        """All breakpoints, oldest first."""
        query = select(breakpoint_).order_by(breakpoint_.c.at, breakpoint_.c.id)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [Breakpoint(**row._asdict()) for row in rows]

    async def of(self, run_id: str, *, tree: str, user_id: str) -> list[Breakpoint]:
        """The enabled breakpoints that hold for a run, oldest first."""
        table = breakpoint_.c
        meant = [
            or_(column.is_(None), column == value)
            for column, value in ((table.tree, tree), (table.run_id, run_id), (table.user_id, user_id))
        ]
        query = select(breakpoint_).where(table.enabled, *meant).order_by(table.at, table.id)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [Breakpoint(**row._asdict()) for row in rows]

    async def add(self, new: Breakpoint) -> None:
        """Keep a breakpoint.

        Raises:
            UserError: there are too many.
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        await self._writer.write(partial(_add, new=new))

    async def set_enabled(self, breakpoint_id: str, *, enabled: bool) -> Breakpoint | None:
        """Turn a breakpoint on or off; returns it, or `None` if there is none of this id.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        if not may_be_id(breakpoint_id):
            return None
        change = update(breakpoint_).where(breakpoint_.c.id == breakpoint_id).values(enabled=enabled)
        row = await self._writer.write(lambda connection: connection.execute(change.returning(*breakpoint_.c)).first())
        return None if row is None else Breakpoint(**row._asdict())

    async def remove(self, breakpoint_id: str) -> Breakpoint | None:
        """Remove a breakpoint; returns it, or `None` if there is none of this id.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        if not may_be_id(breakpoint_id):
            return None
        removal = delete(breakpoint_).where(breakpoint_.c.id == breakpoint_id).returning(*breakpoint_.c)
        row = await self._writer.write(lambda connection: connection.execute(removal).first())
        return None if row is None else Breakpoint(**row._asdict())


def _add(connection: Connection, *, new: Breakpoint) -> None:
    if connection.execute(select(func.count()).select_from(breakpoint_)).scalar_one() >= MOST_BREAKPOINTS:
        raise UserError(f"there are {MOST_BREAKPOINTS} breakpoints, the most that are kept; remove some", status=409)
    row = {name: getattr(new, name) for name in breakpoint_.c.keys()}  # noqa: SIM118  not a mapping
    connection.execute(insert(breakpoint_), row)
