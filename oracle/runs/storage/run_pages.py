"""Runs by their ids, lists of them a page at a time, and how many there are; the cost is bounded by the page.

Rules:

- Figures are decided by indexes alone; rows are read of a page only.
- A text is looked for in a limited number of runs at a time. A page that is short or empty may not be the last one.
- Of very many runs only the newest are counted.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Text, and_, bindparam, func, or_, select, true, type_coerce

from bt_runtime.text.data import dataclass
from oracle.core.encoding import to_json
from oracle.runs.storage import schema
from oracle.runs.storage.database import may_be_id
from oracle.runs.storage.records import Rating, RunRecord, RunStatus, record_of

NOT_CONTINUED: Final = "not_continued"
"""In a filter: runs that could not go on after their worker, for an operator to look at."""
UNDER_WAY: Final[tuple[RunStatus, ...]] = ("queued", "running", "parked")
"""How runs stand that have not ended."""

_run = schema.run
_BY_ID = select(_run).where(_run.c.id == bindparam("run_id"))  # made once: it is part of every request
_PAGE = 200  # rows that are read at a time
_SHORTEST_ID = 6  # characters of an id that are looked for; fewer are more likely a word


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What a run must be to be listed; `None` and empty mean any.

    Args:
        reasons: its termination reason is one of them; of those under way: how it stands. `NOT_CONTINUED`: its error.
        tree: the name under which its tree was asked for.
        version: the beginning of the digest of its tree.
        user_id: whose run it is.
        since: when it began at the earliest, in seconds since the epoch.
        until: when it began at the latest, in seconds since the epoch.
        slow_s: how long it took at least, in seconds; for a run that is under way, until now.
        with_errors: only runs in which a node has raised an exception.
        text: words that are all in the question, in any order, ignoring case; or the beginning of the run's id.
        context_id: the conversation that it belongs to.
        statuses: how it stands is one of them.
        rating: what its user thinks of it.
        shadows: only runs that shadow another one; `None`: those as well; else only what users have asked.
    """

    reasons: tuple[str, ...] = ()
    tree: str | None = None
    version: str | None = None
    user_id: str | None = None
    since: float | None = None
    until: float | None = None
    slow_s: float | None = None
    with_errors: bool = False
    text: str = ""
    context_id: str | None = None
    statuses: tuple[RunStatus, ...] = ()
    rating: Rating | None = None
    shadows: bool | None = False

    @property
    def words(self) -> list[str]:
        """Of the text, in lower case."""
        return self.text.lower().split()

    @property
    def beginning(self) -> str | None:
        """The text as the beginning of an id; `None` if it is too short to mean one."""
        return self.words[0] if len(self.words) == 1 and len(self.words[0]) >= _SHORTEST_ID else None

    def finds(self, run_id: str, question: str) -> bool:
        """Whether the words are all in a question, or the text is the beginning of the run's id."""
        question = question.lower()
        is_meant = self.beginning is not None and run_id.startswith(self.beginning)
        return is_meant or all(word in question for word in self.words)


def find_run(connection: Connection, run_id: str, *, user_id: str | None = None) -> RunRecord | None:
    """The run, if that user has asked it; `None` as the user means any user, and shadows of others' runs as well."""
    row = connection.execute(_BY_ID, {"run_id": run_id}).first()
    if row is None or (user_id is not None and (row.user_id != user_id or row.shadow_of is not None)):
        return None
    return record_of(row)


def matching_runs(connection: Connection, wanted: RunFilter, *, limit: int, now: float) -> list[RunRecord]:
    """The newest of those runs, newest first.

    Args:
        connection: an open transaction, which is read.
        wanted: what a run must be to be listed.
        limit: the greatest number of runs.
        now: seconds since the epoch.
    """
    found: list[RunRecord] = []
    for record in _candidates(connection, figures_match(wanted, now=now) & may_ask(wanted)):
        if wanted.finds(record.id, str(record.input.get("question", ""))):
            found.append(record)
            if len(found) == limit:
                break
    return found


def _candidates(connection: Connection, condition: ColumnElement[bool]) -> Iterator[RunRecord]:
    """The runs with that condition, newest first, read a page at a time."""
    before: ColumnElement[bool] = true()
    while True:
        query = select(_run).where(condition & before).order_by(_run.c.n.desc(), _run.c.id.desc()).limit(_PAGE)
        page = [record_of(row) for row in connection.execute(query)]
        yield from page
        if len(page) < _PAGE:
            return
        before = _run.c.n < page[-1].n


def figures_match(wanted: RunFilter, *, now: float) -> ColumnElement[bool]:
    """Everything but the text; the columns are all in the indexes `run_figures` and `run_of_user`, or `rated_runs`."""
    lasted_s = func.coalesce(_run.c.finished_at, now) - _run.c.created_at
    parts = (
        or_(*map(_ended_as, wanted.reasons)) if wanted.reasons else None,
        None if wanted.tree is None else _run.c.tree == wanted.tree,
        # The beginning of a digest in hexadecimal: a comparison costs a fraction of a pattern.
        None if wanted.version is None else _run.c.tree_sha.between(wanted.version, wanted.version + "g"),
        None if wanted.user_id is None else _run.c.user_id == wanted.user_id,
        None if wanted.since is None else _run.c.created_at >= wanted.since,
        None if wanted.until is None else _run.c.created_at <= wanted.until,
        None if wanted.slow_s is None else lasted_s >= wanted.slow_s,
        _run.c.node_errors > 0 if wanted.with_errors else None,
        None if wanted.context_id is None else _run.c.context_id == wanted.context_id,
        _run.c.status.in_(wanted.statuses) if wanted.statuses else None,
        None if wanted.rating is None else is_rated(wanted.rating),
        None if wanted.shadows is None else _is_shadow() if wanted.shadows else ~_is_shadow(),
    )
    return and_(true(), *(part for part in parts if part is not None))


def is_rated(rating: Rating) -> ColumnElement[bool]:
    """Few runs are, and have an index."""
    return _run.c.feedback.is_not(None) & type_coerce(_run.c.feedback, Text).startswith(f'{{"rating":"{rating}"')


def _is_shadow() -> ColumnElement[bool]:
    return _run.c.shadow_of.is_not(None)


def _ended_as(reason: str) -> ColumnElement[bool]:
    if reason == NOT_CONTINUED:
        return type_coerce(_run.c.error, Text).contains(f'"error_type":"{NOT_CONTINUED}"', autoescape=True)
    return _run.c.status == reason if reason in UNDER_WAY else _run.c.termination_reason == reason


def may_ask(wanted: RunFilter) -> ColumnElement[bool]:
    """Whether the words may be in the question: they are in the request that was accepted. Or the id is meant."""
    asked = and_(true(), *map(_may_hold, wanted.words))
    return asked if wanted.beginning is None else asked | _run.c.id.startswith(wanted.beginning, autoescape=True)


def _may_hold(word: str) -> ColumnElement[bool]:
    spelled = to_json(word)[1:-1].decode().lower()
    return func.lower(type_coerce(_run.c.input, Text)).contains(spelled, autoescape=True)


MOST_SEARCHED = 2_000
"""Runs whose questions are looked at for a page."""
MOST_COUNTED = 10_000

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
        by_reason: the same by termination reason; those under way by how they stand.
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
    return func.coalesce(_run.c.termination_reason, _run.c.status).label("reason")
