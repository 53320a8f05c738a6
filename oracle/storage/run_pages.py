"""Lists of runs a page at a time, and how many there are; what it costs is bounded, however many runs there are.

Rules:

- Figures are decided by indexes alone; rows are read of a page only.
- A text is looked for in so many runs at a time. A page may therefore be short, or empty, and not be the last one.
- Of very many runs only the newest are counted.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select

from oracle.storage import schema
from oracle.storage.database import may_be_id
from oracle.storage.records import RunRecord
from oracle.storage.run_filters import RunFilter, figures_match, may_ask
from oracle.storage.run_rows import record_of

MOST_SEARCHED = 2_000
"""Runs whose questions are looked at for a page."""
MOST_COUNTED = 10_000

_run = schema.run
_newest_first = (_run.c.n.desc(), _run.c.id.desc())


@dataclass(frozen=True, slots=True)
class RunPage:
    """Some runs, newest first.

    Args:
        next: the id of a run; the next page has those that started before it. `None` if this is the last page.
    """

    runs: list[RunRecord]
    next: str | None


@dataclass(frozen=True, slots=True)
class RunCounts:
    """How many runs there are.

    Args:
        total: those that were wanted.
        by_reason: the same by termination reason; `running`: those that have none yet.
        is_complete: all were counted, not the newest alone.
    """

    total: int
    by_reason: Mapping[str, int]
    is_complete: bool


class RunOfVersion(NamedTuple):
    """A finished run, as far as a count over many needs it; times are seconds since the epoch."""

    id: str
    tree_sha: str
    created_at: float


def runs_of_versions(connection: Connection, *, shas: Collection[str], limit: int) -> list[RunOfVersion]:
    """The newest finished runs of these versions of trees whose log is kept, newest first."""
    wanted = _run.c.tree_sha.in_(sorted(shas)) & (_run.c.status == "finished") & _run.c.forgotten_at.is_(None)
    wanted &= _run.c.shadow_of.is_(None)
    query = select(_run.c.id, _run.c.tree_sha, _run.c.created_at).where(wanted)
    return [RunOfVersion(*row) for row in connection.execute(query.order_by(*_newest_first).limit(limit))]


def run_page(connection: Connection, *, wanted: RunFilter, limit: int, before: str | None, now: float) -> RunPage:
    """The newest of those runs that started before another one."""
    condition = figures_match(wanted, now=now)
    if before is not None:
        known = _run.c.id == before
        if wanted.user_id is not None:
            known &= _run.c.user_id == wanted.user_id
        mark = connection.scalar(select(_run.c.n).where(known)) if may_be_id(before) else None
        if mark is None:
            return RunPage([], None)
        condition &= _run.c.n < mark
    if wanted.words:
        searched, found = _search(connection, wanted, condition)
        chosen = [row.id for row in found[:limit]]
        is_full = len(found) > limit
        following = (chosen[-1] if is_full else searched[-1]) if is_full or len(searched) == MOST_SEARCHED else None
    else:
        query = select(_run.c.id).where(condition).order_by(*_newest_first).limit(limit)
        chosen = list(connection.scalars(query))
        following = chosen[-1] if len(chosen) == limit else None
    rows = connection.execute(select(_run).where(_run.c.id.in_(chosen)).order_by(*_newest_first))
    return RunPage([record_of(row) for row in rows], following)


def count_runs(connection: Connection, *, wanted: RunFilter, now: float) -> RunCounts:
    """How many of those runs there are, among the newest."""
    condition = figures_match(wanted, now=now)
    if wanted.words:
        searched, found = _search(connection, wanted, condition)
        by_reason = dict(Counter(row.reason for row in found))
        return RunCounts(len(found), by_reason, is_complete=len(searched) < MOST_SEARCHED)
    newest = select(_reason()).where(condition).order_by(*_newest_first).limit(MOST_COUNTED + 1).subquery()
    counted = connection.execute(select(newest.c.reason, func.count()).group_by(newest.c.reason))
    by_reason = {reason: count for reason, count in counted}  # noqa: C416  rows are no pairs to mypy
    total = sum(by_reason.values())
    return RunCounts(total, by_reason, is_complete=total <= MOST_COUNTED)


def count_by_tree(connection: Connection, *, since: float, user_id: str | None) -> dict[str, dict[str, int]]:
    """The runs that began at a time or later, among the newest: by the trees' names, then by their ends."""
    newest = select(_run.c.tree, _run.c.created_at, _reason()).where(_run.c.shadow_of.is_(None))
    if user_id is not None:
        newest = newest.where(_run.c.user_id == user_id)
    bounded = newest.order_by(*_newest_first).limit(MOST_COUNTED).subquery()  # older ones are not even looked at
    grouped = select(bounded.c.tree, bounded.c.reason, func.count()).where(bounded.c.created_at >= since)
    found: dict[str, dict[str, int]] = {}
    for tree, reason, count in connection.execute(grouped.group_by(bounded.c.tree, bounded.c.reason)):
        found.setdefault(tree, {})[reason] = count
    return found


def _search(
    connection: Connection, wanted: RunFilter, condition: ColumnElement[bool]
) -> tuple[Sequence[str], Sequence[Any]]:
    """The ids of the runs that were looked at, and those of them that are meant; newest first."""
    query = select(_run.c.id).where(condition).order_by(*_newest_first).limit(MOST_SEARCHED)
    searched = list(connection.scalars(query))
    newest = query.subquery()
    rows = select(_run.c.id, _reason(), _run.c.input).where(_run.c.id.in_(select(newest.c.id)), may_ask(wanted))
    found = connection.execute(rows.order_by(*_newest_first)).all()
    return searched, [row for row in found if wanted.finds(row.id, str(row.input.get("question", "")))]


def _reason() -> ColumnElement[Any]:
    return func.coalesce(_run.c.termination_reason, "running").label("reason")
