"""Which runs a list has: by how they ended, what drove them, whose they are, when they began, and what was asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, and_, func, or_, select, true, type_coerce

from oracle.encoding import to_json
from oracle.storage import schema
from oracle.storage.records import RunRecord, RunStatus
from oracle.storage.run_rows import record_of

_run = schema.run
_PAGE = 200  # rows that are read at a time
_SHORTEST_ID = 6  # characters of an id that are looked for; fewer are more likely a word


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What a run must be to be listed; `None` and empty mean any.

    Args:
        reasons: its termination reason is one of them; `running`: it has none yet.
        tree: the name under which its tree was asked for.
        version: the beginning of the digest of its tree.
        user_id: whose run it is.
        since: when it began at the earliest, in seconds since the epoch.
        until: when it began at the latest, likewise.
        slow_s: how long it took at least, in seconds; for a run that is under way, until now.
        with_errors: only runs in which a node has raised an exception.
        text: words that are all in the question, in any order, ignoring case; or the beginning of the run's id.
        context_id: the conversation that it belongs to.
        status: whether it is under way.
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
    status: RunStatus | None = None
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
    """Everything but the text; the columns are all in the indexes `run_figures` and `run_of_user`."""
    lasted_s = func.coalesce(_run.c.finished_at, now) - _run.c.created_at
    parts = (
        or_(*map(_ended_as, wanted.reasons)) if wanted.reasons else None,
        None if wanted.tree is None else _run.c.tree == wanted.tree,
        None if wanted.version is None else _begins(_run.c.tree_sha, wanted.version),
        None if wanted.user_id is None else _run.c.user_id == wanted.user_id,
        None if wanted.since is None else _run.c.created_at >= wanted.since,
        None if wanted.until is None else _run.c.created_at <= wanted.until,
        None if wanted.slow_s is None else lasted_s >= wanted.slow_s,
        _run.c.node_errors > 0 if wanted.with_errors else None,
        None if wanted.context_id is None else _run.c.context_id == wanted.context_id,
        None if wanted.status is None else _run.c.status == wanted.status,
        None if wanted.shadows is None else _is_shadow() if wanted.shadows else ~_is_shadow(),
    )
    return and_(true(), *(part for part in parts if part is not None))


def _is_shadow() -> ColumnElement[bool]:
    return _run.c.shadow_of.is_not(None)


def _begins(digest: ColumnElement[Any], beginning: str) -> ColumnElement[bool]:
    """Whether a digest in hexadecimal begins so: a comparison costs a fraction of a pattern."""
    return digest.between(beginning, beginning + "g")


def _ended_as(reason: str) -> ColumnElement[bool]:
    return _run.c.status == "running" if reason == "running" else _run.c.termination_reason == reason


def may_ask(wanted: RunFilter) -> ColumnElement[bool]:
    """Whether the words may be in the question: they are in the request that was accepted. Or the id is meant."""
    asked = and_(true(), *map(_may_hold, wanted.words))
    return asked if wanted.beginning is None else asked | _run.c.id.startswith(wanted.beginning, autoescape=True)


def _may_hold(word: str) -> ColumnElement[bool]:
    spelled = to_json(word)[1:-1].decode().lower()
    return func.lower(type_coerce(_run.c.input, Text)).contains(spelled, autoescape=True)
