"""Which runs a list has: by how they ended, what drove them, whose they are, when they began, and what was asked."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Text, and_, func, select, true, type_coerce

from oracle.encoding import to_json
from oracle.storage import schema
from oracle.storage.records import RunRecord
from oracle.storage.runs import record_of

_run = schema.run
_PAGE = 200  # rows that are read at a time


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What a run must be to be listed; `None` and empty mean any.

    Args:
        reason: its termination reason; `running`: it has none yet.
        tree: the name under which its tree was asked for.
        version: the beginning of the digest of its tree.
        user_id: whose run it is.
        since: when it began at the earliest, in seconds since the epoch.
        slow_s: how long it took at least, in seconds; for a run that is under way, until now.
        with_errors: only runs in which a node has raised an exception.
        text: words that are all in the question, in any order, ignoring case.
    """

    reason: str | None = None
    tree: str | None = None
    version: str | None = None
    user_id: str | None = None
    since: float | None = None
    slow_s: float | None = None
    with_errors: bool = False
    text: str = ""


def matching_runs(connection: Connection, wanted: RunFilter, *, limit: int, now: float) -> list[RunRecord]:
    """The newest of those runs, newest first.

    Args:
        connection: to the database.
        wanted: which runs.
        limit: the greatest number of runs.
        now: seconds since the epoch.
    """
    found: list[RunRecord] = []
    words = wanted.text.lower().split()
    for record in _candidates(connection, _condition(wanted, now=now)):
        question = str(record.input.get("question", "")).lower()
        if all(word in question for word in words):
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


def _condition(wanted: RunFilter, *, now: float) -> ColumnElement[bool]:
    """All that the database can decide; of the text, what may match."""
    lasted_s = func.coalesce(_run.c.finished_at, now) - _run.c.created_at
    # The field is always in the JSON text, so that no database's own JSON functions are needed.
    has_errors = type_coerce(_run.c.summary, Text).not_like('%"node_errors":0,%')
    parts = (
        None if wanted.reason is None else _ended_as(wanted.reason),
        None if wanted.tree is None else _run.c.tree == wanted.tree,
        None if wanted.version is None else _run.c.tree_sha.startswith(wanted.version, autoescape=True),
        None if wanted.user_id is None else _run.c.user_id == wanted.user_id,
        None if wanted.since is None else _run.c.created_at >= wanted.since,
        None if wanted.slow_s is None else lasted_s >= wanted.slow_s,
        has_errors if wanted.with_errors else None,
        *map(_may_ask, wanted.text.split()),
    )
    return and_(true(), *(part for part in parts if part is not None))


def _ended_as(reason: str) -> ColumnElement[bool]:
    return _run.c.status == "running" if reason == "running" else _run.c.termination_reason == reason


def _may_ask(word: str) -> ColumnElement[bool]:
    """Whether the word may be in the question: it is in the request that was accepted."""
    spelled = to_json(word)[1:-1].decode().lower()
    return func.lower(type_coerce(_run.c.input, Text)).contains(spelled, autoescape=True)
