"""The questions of runs to people, and the answers.

Rules:

- The row of an interrupt is written with the chunk that asks. The log has what the run knows. The row has what a person
  can still do, and keeps the answer until the log has it.
- Whoever answers, expires or parks locks the row of the run first. So one answer wins, and it is either seen
  by the worker that is about to park the run, or it wakes the parked run.
- Several answers are written together or not at all.
- Times are of the clock that all workers share. An interrupt that names no time expires after `LONGEST_S`.
- An interrupt of a run that has ended is no longer open, whatever its row says.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy import Connection, Row, delete, func, insert, select, tuple_, update

from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import clipped
from oracle.core.chunks import STATUSES
from oracle.core.errors import UserError
from oracle.core.json_schemas import Misfit, misfits
from oracle.runs.storage import schema
from oracle.runs.storage.claims import announce, left
from oracle.runs.storage.commands import COMMANDS_CHANNEL, Commands
from oracle.runs.storage.commit import Work
from oracle.runs.storage.database import Database, may_be_id
from oracle.runs.storage.dialect import Dialect
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.parts import Keeping, rows_of_runs
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.schema import Json, index_where, metadata
from oracle.runs.storage.titles import one_line
from oracle.runs.storage.webhooks import Webhooks
from oracle.runs.storage.writer import Writer

LONGEST_S: Final = 366 * 86_400.0
"""How long a run waits for a person at most."""
_LONGEST_LISTED: Final = 300

_EXPIRED_AT_ONCE = 200  # in one transaction
_LONGEST_ID = 255
_MOST_SKEW_S = 1.0

_run = schema.run

interrupt = sa.Table(
    "interrupt",
    metadata,
    sa.Column("run_id", sa.String(64), primary_key=True),
    sa.Column("id", sa.String(255), primary_key=True),
    sa.Column("user_id", sa.String(255), nullable=False),  # of the run
    sa.Column("context_id", sa.String(64), nullable=False),
    sa.Column("reason", sa.String(32), nullable=False),  # tool_call | input_required | confirmation
    sa.Column("status", sa.String(16), nullable=False),  # `data` keeps `pending`
    sa.Column("data", Json, nullable=False),  # the interrupt as its chunk has it
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("expires_at", sa.Double, nullable=False),  # also of one that names no time: nothing waits without an end
    sa.Column("answer", Json),  # what is delivered to the run; none while it is pending
    sa.Column("answered_by", sa.String(255)),
    sa.Column("answered_at", sa.Double),
    # In the order in which they expire, which is that of lists.
    index_where("pending_of_user", "status = 'pending'", "user_id", "expires_at"),
    index_where("pending_by_expiry", "status = 'pending'", "expires_at"),
)

grant_ = sa.Table(
    "grant_",  # `grant` is a word of SQL
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("user_id", sa.String(255), nullable=False),  # of the conversation
    sa.Column("context_id", sa.String(64), nullable=False),
    sa.Column("action", sa.String(255), nullable=False),  # the tool that needs no approval
    sa.Column("by", sa.String(255), nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Index("grants_of_user", "user_id", "at"),
    sa.Index("one_grant_of_an_action", "context_id", "action", unique=True),
)


def _forget_grants(connection: Connection, context_id: str) -> None:
    connection.execute(delete(grant_).where(grant_.c.context_id == context_id))


KEEPING = Keeping(tables=(interrupt, grant_), with_runs=rows_of_runs(interrupt), with_conversation=_forget_grants)

_IS_OPEN = (
    (interrupt.c.status == "pending")
    & (_run.c.status != "finished")
    & _run.c.forgotten_at.is_(None)
    & _run.c.shadow_of.is_(None)  # it changes nothing, so nobody is asked
)


class AnswerError(UserError, StorageError):
    """An answer is refused.

    Args:
        mistakes: what is wrong, by the place in the list of decisions: `(0, "arguments", "path")`.
        status: that of the answer; 403: another person must answer.
    """

    def __init__(self, *mistakes: Misfit, status: int = 422) -> None:
        super().__init__(mistakes[0].problem, status=status)
        self.parts = [(("body", *each.place), each.problem) for each in mistakes]


class NotOpenError(AnswerError):
    """It has expired, another person has answered otherwise (409), or the run does not wait for it any more."""

    def __init__(self, *mistakes: Misfit, status: int = 410) -> None:
        super().__init__(*mistakes, status=status)


class _RowLockedError(Exception):
    """Another worker has the row of the run at this moment."""


def what_is_open(run_id: str, asked: Iterable[Mapping[str, Any]]) -> str:
    """The objects that a run waits for, each by its message, tool and id, and how they are answered."""
    listed = []
    for each in asked:
        names = filter(None, (each.get("tool_name"), each["id"]))
        listed.append(f"{one_line(each['message'])!r} ({', '.join(names)})")
    ways = f"Answer in the console or by POST /api/oracle/runs/{run_id}/deliveries, or cancel the run."
    return f"{'; '.join(listed)}. {ways}"


@dataclass(frozen=True, slots=True)
class Answerer:
    """The person who answers."""

    user_id: str
    is_operator: bool = False


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a person has decided.

    Args:
        id: the id of the interrupt that it decides.
        arguments: those of the call in the place of the model's; `None` unless the decision is `edit`.
        answer: JSON data; `None` unless the decision is `answer`.
        scope: `conversation`: calls of the same tool need no approval from now on.
    """

    id: str
    decision: Literal["approve", "refuse", "edit", "answer"]
    arguments: Mapping[str, Any] | None = None
    answer: Any = None
    comment: str | None = None
    scope: Literal["once", "conversation"] = "once"

    def to_json(self) -> dict[str, Any]:
        """The JSON object; fields without a value are left out."""
        given = {"arguments": self.arguments, "answer": self.answer, "comment": self.comment}
        return {"decision": self.decision, "for": self.scope} | {k: v for k, v in given.items() if v is not None}


@dataclass(frozen=True, slots=True)
class KeptInterrupt:
    """An interrupt as it is kept; times are seconds since the epoch.

    `tree` and `input` are those of its run, in a list of what waits.
    """

    run_id: str
    id: str
    user_id: str
    context_id: str
    reason: str
    status: str
    data: Mapping[str, Any]
    at: float
    expires_at: float
    answer: Mapping[str, Any] | None = None
    answered_by: str | None = None
    answered_at: float | None = None
    tree: str | None = None
    input: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """The interrupt's object as it stands now."""
        shown = {**self.data, "status": self.status, "expires_at": iso(self.expires_at)}
        if self.answered_at is not None:
            shown |= {"answered_by": self.answered_by, "answered_at": iso(self.answered_at)}
        return shown

    def to_listed(self, by: Answerer) -> dict[str, Any]:
        """The object in a list of what waits, for this person."""
        return {
            "run_id": self.run_id,
            "user_id": self.user_id,
            "context_id": self.context_id,
            "asked_at": iso(self.at),
            "tree": self.tree,
            "question": clipped((self.input or {}).get("question", ""), _LONGEST_LISTED),
            "may_answer": may_answer(self, by),
            "interrupt": self.to_json(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class InterruptTable:
    """The interrupts and grants of all runs.

    Args:
        commands: bring answers to runs that are under way.
        on_woken: called after a parked run was queued.
        webhooks: the outbox that gets a message about what is asked.
    """

    database: Database
    _: KW_ONLY
    writer: Writer
    commands: Commands
    webhooks: Webhooks
    on_woken: Callable[[], None] = lambda: None

    # Of runs

    def noting(self, run: RunRecord, data: Mapping[str, Any]) -> Work:
        """The work that keeps what a run says of an interrupt; it belongs into the commit of the chunk that says it."""
        return partial(self._note, run=run, data=data)

    def _note(self, connection: Connection, *, run: RunRecord, data: Mapping[str, Any]) -> None:
        dialect = self.database.dialect
        at, id_ = dialect.clock(connection), str(data["id"])[:_LONGEST_ID]
        status = data.get("status", "pending")
        if status == "withdrawn":
            _settle(connection, run.id, [id_], "withdraw", at=at)
        if status != "pending":  # other decisions come from the row
            return
        expires_at = at + LONGEST_S
        skew_s = at - self.database.now()  # the run has named the time by the clock of its worker
        with suppress(KeyError, TypeError, ValueError):
            named = datetime.fromisoformat(data["expires_at"]).timestamp()
            expires_at = min(expires_at, named + (skew_s if abs(skew_s) > _MOST_SKEW_S else 0.0))
        row = {
            "run_id": run.id,
            "id": id_,
            "user_id": run.user_id,
            "context_id": run.context_id,
            "reason": data["reason"],
            "status": "pending",
            "data": dict(data),
            "at": at,
            "expires_at": expires_at,
        }
        if connection.execute(dialect.insert(interrupt), row).rowcount:
            self.webhooks.pending(connection, run, {**data, "expires_at": iso(expires_at)})

    async def undelivered(self, run_id: str, *, delivered: Collection[str]) -> dict[str, Mapping[str, Any]]:
        """Answers that were not delivered to the run yet, by interrupt: the value of the key `answers`.

        Args:
            run_id: names the run.
            delivered: the interrupts whose answers its log has, or is about to have.
        """
        return await self.database.read(partial(_undelivered, run_id=run_id, delivered=delivered))

    def parking(self, run_id: str, *, delivered: Collection[str]) -> Callable[[Connection], dict[str, Any]]:
        """The fields of a run's row when its worker leaves it because it only waits for people (`RunLog.leave`).

        It is parked; or queued, if there is an answer or a cancel that it does not know.
        """
        return partial(_parking, run_id=run_id, delivered=delivered, dialect=self.database.dialect)

    # Of people

    async def pending(
        self, *, user_id: str | None, limit: int, after: tuple[str, str] | None = None
    ) -> list[KeptInterrupt]:
        """Open interrupts (`pending_of`)."""
        return await self.database.read(partial(pending_of, user_id=user_id, limit=limit, after=after))

    async def of_run(self, run_id: str) -> dict[str, KeptInterrupt]:
        """All interrupts of a run, by their ids."""
        if not may_be_id(run_id):
            return {}
        return await self.database.read(partial(_of_run, run_id=run_id))

    async def answer(self, run_id: str, decisions: Sequence[Delivery], *, by: Answerer) -> list[KeptInterrupt]:
        """Write the decisions of a person, all of them or none, and continue the run.

        The same answer again changes nothing.

        Args:
            run_id: names a run that the person may see.
            decisions: whose arguments and answers have been checked against their schemas.
            by: the person.

        Returns:
            The interrupts as they are now, in the order of the decisions.

        Raises:
            NotOpenError: one has another answer, has expired, or the run does not wait for it.
            AnswerError: one is unknown, or cannot be decided so.
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        work = partial(_answer, run_id=run_id, decisions=decisions, by=by, dialect=self.database.dialect)
        try:
            kept = await self.writer.write(partial(work, waits=False))
        except _RowLockedError:  # rare; waits for it, but not with the chunks of other runs in the transaction
            kept = await self.writer.write(work, is_alone=True)
        self._announce()
        return kept

    async def expire(self) -> int:
        """Continue runs whose interrupts nobody has answered in time; returns the number of interrupts."""
        found = 0
        while overdue := await self.database.read(partial(_overdue, dialect=self.database.dialect)):
            work = partial(_expire, run_ids=overdue, dialect=self.database.dialect)
            count = await self.writer.write(work, is_alone=True)
            self._announce()
            if not count:  # another worker was faster
                break
            found += count
        return found

    # Grants

    async def grants(self, user_id: str) -> list[dict[str, Any]]:
        """What a user's conversations need no approval for, oldest first."""
        query = select(grant_).where(grant_.c.user_id == user_id).order_by(grant_.c.at, grant_.c.id)
        return await self.database.read(lambda connection: [row._asdict() for row in connection.execute(query)])

    async def revoke(self, grant_id: str, *, user_id: str) -> bool:
        """Withdraw a grant of the user's; queries that begin later ask again. Returns whether there was one."""
        if not may_be_id(grant_id):
            return False
        gone = delete(grant_).where(grant_.c.id == grant_id, grant_.c.user_id == user_id)
        return await self.writer.write(lambda connection: connection.execute(gone).rowcount > 0)

    def _announce(self) -> None:
        self.commands.look()
        self.on_woken()


def pending_of(
    connection: Connection,
    *,
    user_id: str | None,
    limit: int,
    after: tuple[str, str] | None = None,
    run_id: str | None = None,
) -> list[KeptInterrupt]:
    """Open interrupts, in the order in which they expire.

    Args:
        connection: reads them.
        user_id: of this user's runs; `None`: of all.
        limit: the greatest number of them.
        after: run and id of the last one of the page before.
        run_id: of this run; `None`: of all.
    """
    query = select(interrupt, _run.c.tree, _run.c.input).join(_run, _run.c.id == interrupt.c.run_id).where(_IS_OPEN)
    if run_id is not None:
        query = query.where(interrupt.c.run_id == run_id)
    if user_id is not None:
        query = query.where(interrupt.c.user_id == user_id)
    order = (interrupt.c.expires_at, interrupt.c.run_id, interrupt.c.id)
    if after is not None:
        last = select(*order).where(interrupt.c.run_id == after[0], interrupt.c.id == after[1])
        query = query.where(tuple_(*order) > last.scalar_subquery())
    return [_kept(row) for row in connection.execute(query.order_by(*order).limit(limit))]


def granted_actions(connection: Connection, context_id: str) -> tuple[str, ...]:
    """What needs no approval in a conversation, sorted."""
    granted = select(grant_.c.action).where(grant_.c.context_id == context_id).order_by(grant_.c.action)
    return tuple(connection.scalars(granted))


# In a transaction


def _kept(row: Row[Any]) -> KeptInterrupt:
    return KeptInterrupt(**row._asdict())


def _of_run(connection: Connection, run_id: str) -> dict[str, KeptInterrupt]:
    query = select(interrupt).where(interrupt.c.run_id == run_id).order_by(interrupt.c.at, interrupt.c.id)
    return {row.id: _kept(row) for row in connection.execute(query)}


def _settle(
    connection: Connection, run_id: str, ids: Collection[str], decision: Literal["expire", "withdraw"], *, at: float
) -> int:
    """Close pending interrupts that nobody has answered; returns their number."""
    meant = (interrupt.c.run_id == run_id) & interrupt.c.id.in_(ids) & (interrupt.c.status == "pending")
    answer = {"decision": decision, "by": "", "at": iso(at), "for": "once"}
    change = update(interrupt).where(meant).values(status=STATUSES[decision], answer=answer, answered_at=at)
    return connection.execute(change).rowcount


def _undelivered(connection: Connection, *, run_id: str, delivered: Collection[str]) -> dict[str, Mapping[str, Any]]:
    kept = _of_run(connection, run_id).values()
    known = {*delivered, *(each.id for each in kept if each.status == "withdrawn")}  # the run has withdrawn it itself
    return {each.id: each.answer for each in kept if each.answer is not None and each.id not in known}


def _locked(connection: Connection, run_id: str, *, waits: bool = True) -> Row[Any] | None:
    wanted = select(_run).where(_run.c.id == run_id).with_for_update(skip_locked=not waits)
    row = connection.execute(wanted).one_or_none()
    if row is None and not waits:
        raise _RowLockedError
    return row


def _parking(connection: Connection, *, run_id: str, delivered: Collection[str], dialect: Dialect) -> dict[str, Any]:
    _locked(connection, run_id)
    is_cancelled = (schema.command.c.run_id == run_id) & (schema.command.c.kind == "cancel")
    if (
        _undelivered(connection, run_id=run_id, delivered=delivered)
        or connection.scalar(select(schema.command.c.id).where(is_cancelled).limit(1)) is not None
    ):
        return left(is_parked=False)
    pending = (interrupt.c.run_id == run_id) & (interrupt.c.status == "pending")
    wake_at = connection.scalar(select(func.min(interrupt.c.expires_at)).where(pending))
    return {**left(is_parked=True, wake_at=wake_at), "parked_at": dialect.clock(connection)}


def _wake(connection: Connection, row: Row[Any], *, dialect: Dialect) -> None:
    """Continue a run whose row is locked: queue a parked one, or send a command to the worker of one under way."""
    at = dialect.clock(connection)
    if row.status == "parked":
        paused_s = max(0.0, at - (row.parked_at or at))
        change = update(_run).where(_run.c.id == row.id)
        connection.execute(change.values(status="queued", deadline_at=_run.c.deadline_at + paused_s, wake_at=None))
        announce(connection, dialect)
    elif row.status == "running":
        connection.execute(insert(schema.command), {"run_id": row.id, "kind": "answers", "data": {}, "at": at})
        dialect.notify(connection, COMMANDS_CHANNEL, [row.worker])


def _answer(
    connection: Connection,
    *,
    run_id: str,
    decisions: Sequence[Delivery],
    by: Answerer,
    dialect: Dialect,
    waits: bool = True,
) -> list[KeptInterrupt]:
    row = _locked(connection, run_id, waits=waits)
    kept, at = _of_run(connection, run_id), dialect.clock(connection)
    is_over = row is None or row.status == "finished" or row.forgotten_at is not None
    new = [
        each for n, each in enumerate(decisions) if _is_new(kept.get(each.id), each, n, by=by, at=at, is_over=is_over)
    ]
    for each in new:
        answer = {**each.to_json(), "by": by.user_id, "at": iso(at)}
        change = update(interrupt).where(interrupt.c.run_id == run_id, interrupt.c.id == each.id)
        values = {"status": STATUSES[each.decision], "answer": answer, "answered_by": by.user_id, "answered_at": at}
        connection.execute(change.values(values))
        if each.scope == "conversation":
            of = kept[each.id]
            grant = {"id": uuid4().hex, "user_id": of.user_id, "context_id": of.context_id, "by": by.user_id, "at": at}
            connection.execute(dialect.insert(grant_), grant | {"action": of.data["tool_name"]})
    if new and row is not None:
        _wake(connection, row, dialect=dialect)
        kept = _of_run(connection, run_id)
    return [kept[each.id] for each in decisions]


def _overdue(connection: Connection, *, dialect: Dialect) -> list[str]:
    """The runs of the interrupts that have expired first, sorted."""
    overdue = (interrupt.c.status == "pending") & (interrupt.c.expires_at <= dialect.clock(connection))
    query = select(interrupt.c.run_id).where(overdue).order_by(interrupt.c.expires_at).limit(_EXPIRED_AT_ONCE)
    return sorted(set(connection.scalars(query)))


def _expire(connection: Connection, *, run_ids: Sequence[str], dialect: Dialect) -> int:
    at, count = dialect.clock(connection), 0
    for run_id in run_ids:  # in their order, so that two workers do not wait for each other
        row = _locked(connection, run_id)
        is_over = row is None or row.status == "finished"
        ids = [each.id for each in _of_run(connection, run_id).values() if each.expires_at <= at]
        settled = _settle(connection, run_id, ids, "withdraw" if is_over else "expire", at=at)
        if settled and row is not None and not is_over:
            _wake(connection, row, dialect=dialect)
        count += settled
    return count


def _is_new(kept: KeptInterrupt | None, given: Delivery, n: int, *, by: Answerer, at: float, is_over: bool) -> bool:
    """Whether a decision is to be written; `False`: it is the one that was written before.

    Raises:
        AnswerError: it is refused.
    """
    if kept is None:
        if is_over:
            raise NotOpenError(Misfit((n, "id"), "the run waits for no answer any more"))
        problem = "the run has asked nothing of this id; GET /api/oracle/pending lists what is open"
        raise AnswerError(Misfit((n, "id"), problem))
    if not may_answer(kept, by):
        whose = {"user": "the user who asked", "operator": "an operator"}
        who = whose.get(kept.data.get("answerers", "user"), "an operator other than the user who asked")
        raise AnswerError(Misfit((n, "id"), f"{kept.id!r} is to be answered by {who}"), status=403)
    if kept.answered_by is not None:
        before = {name: value for name, value in (kept.answer or {}).items() if name not in ("by", "at")}
        if json.dumps(before, sort_keys=True) == json.dumps(given.to_json(), sort_keys=True):
            return False
        when = iso(kept.answered_at or 0.0)
        problem = f"{kept.id!r} was {kept.status} by {kept.answered_by} at {when}"
        raise NotOpenError(Misfit((n, "decision"), problem), status=409)
    if is_over or kept.status != "pending" or kept.expires_at <= at:
        why = f"expired at {iso(kept.expires_at)}" if kept.status == "expired" or kept.expires_at <= at else "withdrawn"
        raise NotOpenError(Misfit((n, "id"), f"{kept.id!r} cannot be answered any more: {why}"))
    mistakes = _mistakes(kept, given)
    if mistakes:
        raise AnswerError(*[Misfit((n, *place), problem) for place, problem in mistakes])
    return True


def may_answer(kept: KeptInterrupt, by: Answerer) -> bool:
    """Whether this person is one who answers it."""
    match kept.data.get("answerers", "user"):
        case "user":
            return by.user_id == kept.user_id
        case "operator":
            return by.is_operator
        case _:
            return by.is_operator and by.user_id != kept.user_id


def _mistakes(kept: KeptInterrupt, given: Delivery) -> list[Misfit]:
    """The mistakes of a decision: it is not possible, is incomplete, or does not fit the interrupt's schema."""
    may = kept.data.get("may", ())
    if given.decision not in may:
        return [Misfit(("decision",), f"{kept.id!r} takes {', '.join(may)}, not {given.decision}")]
    if given.scope == "conversation":
        if given.decision != "approve" or not kept.data.get("tool_name"):
            return [Misfit(("for",), "only the approval of a tool call can hold for the conversation")]
        if kept.data.get("answerers", "user") != "user":
            return [Misfit(("for",), "only what the user may approve can be approved for the conversation")]
    for decision, field, value in (("edit", "arguments", given.arguments), ("answer", "answer", given.answer)):
        if (value is not None) != (given.decision == decision):
            need = "needs" if value is None else "is the only one that takes"
            return [Misfit((field,), f"the decision {decision!r} {need} {field!r}")]
        if value is not None:
            try:
                found = misfits(kept.data.get("response_schema") or {}, value)
            except ValueError as error:
                found = [Misfit((), str(error))]
            return [Misfit((field, *place), problem) for place, problem in found]
    return []
