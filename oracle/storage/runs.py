"""The rows of runs: begun, found, kept alive, taken over."""

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError

from oracle.encoding import from_json, to_json
from oracle.storage import schema
from oracle.storage.database import Database
from oracle.storage.errors import ConversationBusyError, TooManyRunsError, UnknownConversationError
from oracle.storage.records import NewRun, RunRecord
from oracle.storage.writer import Writer

_run, _conversation = schema.run, schema.conversation
_JSON_COLUMNS = ("input", "limits", "answer", "error")


class RunTable:
    """The runs of all workers.

    Args:
        database: where they are read.
        writer: of the store.
        worker: the name of this one.
        now: seconds since the epoch.
    """

    def __init__(
        self, database: Database, *, writer: Writer, worker: str, now: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._writer = writer
        self._worker = worker
        self._now = now

    async def begin(self, new: NewRun, *, most_per_user: int | None = None) -> RunRecord:
        """Take the conversation (or begin it) and write the run's row, in one transaction.

        Raises:
            ConversationBusyError: it is answering another query.
            UnknownConversationError: the user has no such conversation.
            TooManyRunsError: the user has as many runs as one may have.
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        at = self._now()

        def work(connection: Connection) -> RunRecord:
            row = _row_of(new, worker=self._worker, at=at, heartbeat_at=self._database.clock(connection))
            if connection.execute(select(_run.c.id).where(_run.c.id == new.id)).first() is None:
                self._check_share(connection, new, most_per_user)
                _take_conversation(connection, new, at=at)
                try:
                    with connection.begin_nested():
                        connection.execute(insert(_run), row)
                except IntegrityError:
                    raise ConversationBusyError(
                        f"the conversation {new.context_id!r} is answering another query; wait for its end or cancel it"
                    ) from None
            found = connection.execute(select(_run).where(_run.c.id == new.id)).one()
            return _record(found)

        return await self._writer.write(work)

    def _check_share(self, connection: Connection, new: NewRun, most: int | None) -> None:
        if most is None:
            return
        if not self._database.is_sqlite:  # so that two workers do not count at the same time
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:user))"), {"user": new.user_id})
        query = select(func.count()).where((_run.c.user_id == new.user_id) & (_run.c.status == "running"))
        running = connection.execute(query).scalar_one()
        if running >= most:
            raise TooManyRunsError(f"{running} queries are under way; at most {most} may be, so wait for one to end")

    async def abandon(self, run_id: str) -> None:
        """Leave no trace of a run that was begun and never answered, nor of the conversation that it began.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """

        def work(connection: Connection) -> None:
            context_id = connection.execute(select(_run.c.context_id).where(_run.c.id == run_id)).scalar()
            connection.execute(delete(schema.event).where(schema.event.c.run_id == run_id))
            connection.execute(delete(_run).where(_run.c.id == run_id))
            used = or_(
                select(_run.c.id).where(_run.c.context_id == context_id).exists(),
                select(schema.message.c.n).where(schema.message.c.conversation_id == context_id).exists(),
            )
            connection.execute(delete(_conversation).where(and_(_conversation.c.id == context_id, ~used)))

        await self._writer.write(work)

    async def find(self, run_id: str, *, user_id: str | None = None) -> RunRecord | None:
        """The run, if it is that user's; `None` as the user means anybody's."""
        query = select(_run).where(_run.c.id == run_id)
        if user_id is not None:
            query = query.where(_run.c.user_id == user_id)
        return await self._database.read(lambda connection: _maybe(connection.execute(query).first()))

    async def latest(self, *, user_id: str | None, limit: int, before: str | None = None) -> list[RunRecord]:
        """Runs, newest first; those that are older than the run `before`."""
        query = select(_run).order_by(_run.c.created_at.desc(), _run.c.id.desc()).limit(limit)
        if user_id is not None:
            query = query.where(_run.c.user_id == user_id)
        if before is not None:
            mark = select(_run.c.created_at).where(_run.c.id == before)
            if user_id is not None:
                mark = mark.where(_run.c.user_id == user_id)
            at = mark.scalar_subquery()
            query = query.where(or_(_run.c.created_at < at, and_(_run.c.created_at == at, _run.c.id < before)))
        return await self._database.read(lambda connection: [_record(row) for row in connection.execute(query)])

    async def running_of(self, context_id: str) -> RunRecord | None:
        """The run that has the conversation now."""
        query = select(_run).where((_run.c.context_id == context_id) & (_run.c.status == "running"))
        return await self._database.read(lambda connection: _maybe(connection.execute(query).first()))

    async def beat(self) -> None:
        """Show that the runs of this worker are alive.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """

        def work(connection: Connection) -> None:
            mine = (_run.c.worker == self._worker) & (_run.c.status == "running")
            connection.execute(update(_run).where(mine).values(heartbeat_at=self._database.clock(connection)))

        await self._writer.write(work)

    async def take_over(self, *, silent_s: float | None) -> list[RunRecord]:
        """Take the running runs whose worker has been silent for longer; each is got by one worker only.

        Args:
            silent_s: seconds without a heartbeat; `None` takes every running run: at the start of the only server.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """

        def work(connection: Connection) -> list[RunRecord]:
            now = self._database.clock(connection)
            query = select(_run.c.id).where(_run.c.status == "running").order_by(_run.c.created_at)
            if silent_s is not None:
                query = query.where((_run.c.heartbeat_at < now - silent_s) & (_run.c.worker != self._worker))
            if not self._database.is_sqlite:
                query = query.with_for_update(skip_locked=True)
            ids = list(connection.execute(query).scalars())
            taken = update(_run).where(_run.c.id.in_(ids))
            connection.execute(taken.values(worker=self._worker, epoch=_run.c.epoch + 1, heartbeat_at=now))
            rows = connection.execute(select(_run).where(_run.c.id.in_(ids)).order_by(_run.c.created_at))
            return [_record(row) for row in rows]

        return await self._writer.write(work)


def _row_of(new: NewRun, *, worker: str, at: float, heartbeat_at: float) -> dict[str, Any]:
    return {
        "id": new.id,
        "user_id": new.user_id,
        "context_id": new.context_id,
        "worker": worker,
        "heartbeat_at": heartbeat_at,
        "epoch": 1,
        "tree": new.tree,
        "tree_sha": new.tree_sha,
        "input": to_json(dict(new.input)).decode(),
        "limits": to_json(dict(new.limits)).decode(),
        "status": "running",
        "created_at": at,
        "deadline_at": at + new.timeout_s,
    }


def _take_conversation(connection: Connection, new: NewRun, *, at: float) -> None:
    if new.begins_conversation:
        row = {
            "id": new.context_id,
            "user_id": new.user_id,
            "project_id": None if new.project_id is None else to_json(new.project_id).decode(),
            "state": "{}",
            "created_at": at,
            "updated_at": at,
        }
        connection.execute(insert(_conversation), row)
        return
    theirs = (_conversation.c.id == new.context_id) & (_conversation.c.user_id == new.user_id)
    if connection.execute(select(_conversation.c.id).where(theirs)).first() is None:
        raise UnknownConversationError(f"there is no conversation {new.context_id!r}; leave it out to begin one")


def _maybe(row: Row[Any] | None) -> RunRecord | None:
    return None if row is None else _record(row)


def _record(row: Row[Any]) -> RunRecord:
    fields = row._asdict()
    for name in _JSON_COLUMNS:
        if fields[name] is not None:
            fields[name] = from_json(fields[name])
    return RunRecord(**fields)
