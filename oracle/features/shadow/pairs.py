"""Pairs of runs that answered the same question under two controls: figures of both, and no texts.

The texts of a pair are those of its two runs, and go with them; its figures stay, as the row of a run does.
"""

from dataclasses import asdict
from functools import cache, partial
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, Row, Select, and_, insert, or_, select, true, update

from bt_runtime.text.data import dataclass
from oracle.runs.storage.database import may_be_id
from oracle.runs.storage.parts import Keeping, no_texts
from oracle.runs.storage.records import Rating
from oracle.runs.storage.schema import Json, metadata, run
from oracle.runs.storage.writer import Part

PairState = Literal["running", "finished", "failed", "dropped"]
DecisionKind = Literal["calls", "text", "end"]

shadow_pair = sa.Table(
    "shadow_pair",
    metadata,
    sa.Column("primary_id", sa.String(64), primary_key=True),  # the run that the user saw
    sa.Column("shadow_id", sa.String(64)),  # the same question under the other control; none if it was dropped
    sa.Column("tree", sa.String(255), nullable=False),  # the name that the question gave
    sa.Column("primary_control", sa.String(255), nullable=False),  # `loop`, or a tree with its version
    sa.Column("shadow_control", sa.String(255), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),  # running | finished | failed | dropped
    sa.Column("why", sa.String(32)),  # of one that failed or was dropped
    sa.Column("disagreement", sa.Double),  # how far the two are apart; only of finished ones
    sa.Column("data", Json),  # figures of both, no texts
    sa.Column("at", sa.Double, nullable=False),
    sa.Index("shadow_pairs_by_time", "at", "primary_id"),
    sa.Index("shadow_pairs_by_disagreement", "disagreement", "primary_id"),
)
KEEPING = Keeping(tables=(shadow_pair,), with_runs=no_texts)  # figures alone


@dataclass(frozen=True, slots=True)
class Decision:
    """What a run did next.

    Args:
        turn: the turn of the model that it followed: 1, 2, 3, …
        kind: the model called tools; it wrote without calling any, and another turn followed; or the run ended.
        tools: names of the tools that were called, in the model's order.
        reason: why the run ended; empty if it went on.
    """

    turn: int
    kind: DecisionKind
    tools: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PairParting:
    """The first decision in which two runs differ; `None`: the run had ended before.

    Args:
        primary: what the run did that the user saw.
        same_tools: both called the same tools, with other arguments.
    """

    primary: Decision | None
    shadow: Decision | None
    same_tools: bool = False


@dataclass(frozen=True, slots=True)
class SideFigures:
    """The figures of one run of a pair.

    Args:
        reason: why it ended.
        turns: finished turns of the model.
        tools: tool calls of the model.
        model_ms: the time of its turns; tool calls are not part of it, because a shadow's are answered from a record.
        ms: from its begin to its end.
        signals: types of the model's signals, in order; at most the first fifty.
    """

    reason: str
    turns: int
    tools: int
    tokens: int
    model_ms: int
    ms: int
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairFigures:
    """What the two runs of a pair have in common, and what not.

    Args:
        primary: of the run that the user saw.
        similarity: of the answers, 0 to 1.
        parting: where the two part; `None`: they made the same decisions.
        answered: calls of the shadow that were answered from the primary's results.
        ran: read-only calls of the shadow that were run.
        would_call: the writing tools that the shadow would have called, a name for each call; at most fifty.
    """

    primary: SideFigures
    shadow: SideFigures
    similarity: float
    parting: PairParting | None = None
    answered: int = 0
    ran: int = 0
    would_call: tuple[str, ...] = ()

    @property
    def same_end(self) -> bool:
        """Whether both ended for the same reason."""
        return self.primary.reason == self.shadow.reason

    @property
    def has_failed(self) -> bool:
        """Whether one of the two ended in an error, so that their figures do not compare controls."""
        return "error" in (self.primary.reason, self.shadow.reason)

    @property
    def disagreement(self) -> float:
        """From 0 to 2: how unlike the answers are, and one more if the runs ended for different reasons."""
        return round(1.0 - self.similarity + (not self.same_end), 4)


@cache
def read_figures() -> TypeAdapter[PairFigures]:
    """Reads the figures of a pair as they are kept."""
    return TypeAdapter(PairFigures)


@dataclass(frozen=True, slots=True)
class ShadowPair:
    """A run that a user saw, and the same question under another control.

    Args:
        primary_id: the run that the user saw.
        tree: the name that the question gave.
        primary_control: `loop`, another decision tree, or `tree@version`.
        at: when it was queued or dropped, in seconds since the epoch.
        shadow_id: the other run; `None` if there is none.
        why: it failed or was dropped; empty otherwise.
        question: empty if it is not known any more.
        rating: the user's, of the primary's answer; the shadow's is seen by nobody.
    """

    primary_id: str
    tree: str
    primary_control: str
    shadow_control: str
    state: PairState
    at: float
    shadow_id: str | None = None
    why: str = ""
    figures: PairFigures | None = None
    question: str = ""
    rating: Rating | None = None


@dataclass(frozen=True, slots=True)
class PairFilter:
    """Which pairs are meant; `None` means any.

    Args:
        since: queued at this time or later, in seconds since the epoch.
        tree: the question gave this name, or one of the two controls is this tree, in whatever version.
        primary_control: exactly this one.
    """

    since: float | None = None
    tree: str | None = None
    primary_control: str | None = None
    shadow_control: str | None = None

    def condition(self) -> ColumnElement[bool]:
        """The filter for the database."""
        table = shadow_pair.c
        parts = (
            None if self.since is None else table.at >= self.since,
            None if self.tree is None else _is_of(self.tree),
            None if self.primary_control is None else table.primary_control == self.primary_control,
            None if self.shadow_control is None else table.shadow_control == self.shadow_control,
        )
        return and_(true(), *(part for part in parts if part is not None))


class ShadowPairs(Part):
    """The pairs of all workers."""

    async def add(self, pair: ShadowPair) -> None:
        """Keep a new pair.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        row = asdict(pair)
        del row["question"], row["figures"], row["rating"]
        await self._writer.write(lambda connection: connection.execute(insert(shadow_pair), row))

    async def settle(
        self, primary_id: str, *, state: PairState, why: str = "", figures: PairFigures | None = None
    ) -> None:
        """Note how a pair has ended.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        values: dict[str, Any] = {"state": state, "why": why}
        if figures is not None:
            values |= {"data": asdict(figures), "disagreement": figures.disagreement}
        change = update(shadow_pair).where(shadow_pair.c.primary_id == primary_id).values(values)
        await self._writer.write(lambda connection: connection.execute(change))

    async def newest(self, wanted: PairFilter, *, limit: int) -> list[ShadowPair]:
        """The newest of some pairs, newest first.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(partial(newest_pairs, wanted=wanted, limit=limit))

    async def worst(self, wanted: PairFilter, *, limit: int, after: str | None = None) -> list[ShadowPair]:
        """The finished pairs that are farthest apart, the worst first.

        Args:
            wanted: what a run must be to be listed.
            limit: the greatest number of pairs.
            after: only those that follow the pair of this primary run; none if there is no such pair.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(partial(worst_pairs, wanted=wanted, limit=limit, after=after))


def newest_pairs(connection: Connection, *, wanted: PairFilter, limit: int) -> list[ShadowPair]:
    """The newest of some pairs, newest first."""
    order = (shadow_pair.c.at.desc(), shadow_pair.c.primary_id.desc())
    rows = connection.execute(_pairs().where(wanted.condition()).order_by(*order).limit(limit))
    return [_pair(row) for row in rows]


def worst_pairs(
    connection: Connection, *, wanted: PairFilter, limit: int, after: str | None = None
) -> list[ShadowPair]:
    """The finished pairs that are farthest apart, the worst first."""
    table, condition = shadow_pair.c, wanted.condition() & (shadow_pair.c.state == "finished")
    if after is not None:
        known = select(table.disagreement).where(table.primary_id == after)
        mark = connection.scalar(known) if may_be_id(after) else None
        if mark is None:
            return []
        is_next = (table.disagreement == mark) & (table.primary_id < after)
        condition &= (table.disagreement < mark) | is_next
    order = (table.disagreement.desc(), table.primary_id.desc())
    return [_pair(row) for row in connection.execute(_pairs().where(condition).order_by(*order).limit(limit))]


def _pairs() -> Select[Any]:
    """The pairs with question and feedback, and with the state of a shadow whose process may have died."""
    other = run.alias("shadow")
    joined = shadow_pair.outerjoin(run, run.c.id == shadow_pair.c.primary_id)
    joined = joined.outerjoin(other, other.c.id == shadow_pair.c.shadow_id)
    return select(shadow_pair, run.c.input, run.c.feedback, other.c.status).select_from(joined)


def _pair(row: Row[Any]) -> ShadowPair:
    is_orphan = row.state == "running" and row.status != "running"
    return ShadowPair(
        primary_id=row.primary_id,
        tree=row.tree,
        primary_control=row.primary_control,
        shadow_control=row.shadow_control,
        state="failed" if is_orphan else row.state,
        at=row.at,
        shadow_id=row.shadow_id,
        why="interrupted" if is_orphan else row.why or "",
        figures=None if row.data is None else read_figures().validate_python(row.data),
        question=str((row.input or {}).get("question", "")),
        rating=(row.feedback or {}).get("rating"),
    )


def _is_of(tree: str) -> ColumnElement[bool]:
    table = shadow_pair.c
    controls = table.primary_control, table.shadow_control
    named = [or_(side == tree, side.startswith(f"{tree}@", autoescape=True)) for side in controls]
    return or_(table.tree == tree, *named)
