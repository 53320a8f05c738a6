"""The rows of runs: inserted, found, kept alive, taken over."""

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.agent.conversations.titles import title_of
from oracle.runs.storage import schema
from oracle.runs.storage.database import Database, may_be_id
from oracle.runs.storage.erasing import remove_run
from oracle.runs.storage.errors import AlreadyBegunError, ConversationBusyError, TooManyRunsError, UnclearRunError
from oracle.runs.storage.records import NewRun, RunRecord, record_of
from oracle.runs.storage.request_keys import claim
from oracle.runs.storage.run_pages import (
    RunCounts,
    RunFilter,
    RunOfVersion,
    RunPage,
    count_by_tree,
    count_runs,
    run_page,
    runs_of_versions,
)
from oracle.runs.storage.tails import Tails
from oracle.runs.storage.writer import Writer

_run, _conversation = schema.run, schema.conversation
# Made once: they are part of every request.
_BY_ID = select(_run).where(_run.c.id == bindparam("run_id"))
_INSERT = insert(_run).returning(*_run.c)
_INSERT_CONVERSATION = insert(_conversation)


class _BeingCountedError(Exception):
    """Another worker is starting a run of the same user."""


class RunTable:
    """The runs of all workers.

    Args:
        worker: the name of this worker.
        tails: whose followers are woken when a run is removed.
        on_taken: called after runs were taken over.
        now: seconds since the epoch.
    """

    def __init__(
        self,
        database: Database,
        *,
        writer: Writer,
        worker: str,
        tails: Tails,
        on_taken: Callable[[], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._writer = writer
        self._worker = worker
        self._tails = tails
        self._on_taken = on_taken
        self._now = now

    async def begin(self, new: NewRun, *, most_per_user: int | None = None) -> RunRecord:
        """Take the conversation (or create it) and insert the run's row, in one transaction.

        A run that shadows another one has no conversation.

        Raises:
            ConversationBusyError: it is answering another query.
            UnknownConversationError: the user has no such conversation.
            TooManyRunsError: the user has reached the number of concurrent runs.
            UnclearRunError: the run that it shadows is not there any more, or its texts are not.
            AlreadyBegunError: its key names a run.
            KeyReusedError: its key was used for another request.
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        work = partial(self._begin, new=new, most_per_user=most_per_user, at=self._now())
        try:  # alone with a key, as another worker may be claiming the same one
            return await self._writer.write(work, is_alone=new.key is not None)
        except _BeingCountedError:  # rare; waits for the lock, but not with the chunks of other runs in the transaction
            return await self._writer.write(partial(work, waits=True), is_alone=True)

    def _begin(
        self, connection: Connection, *, new: NewRun, most_per_user: int | None, at: float, waits: bool = False
    ) -> RunRecord:
        dialect = self._database.dialect
        if new.key is not None:
            found = claim(connection, new.key, dialect=dialect, run_id=new.id, at=at)
            if found is not None:
                raise AlreadyBegunError(found)
        if most_per_user is not None:
            self._check_share(connection, new.user_id, most_per_user, waits=waits)
        number = dialect.next_number(connection)
        if new.shadow_of is None:
            _find_conversation(connection, new)
        else:
            _find_primary(connection, new.shadow_of)
        # Checked first: SQLAlchemy's error for the constraint leaves its frames, and the commit, in a reference cycle.
        if not new.begins_conversation and _is_busy(connection, new.context_id):
            raise _busy(new.context_id)
        row = _row_of(new, worker=self._worker, at=at, heartbeat_at=dialect.clock(connection)) | {"n": number}
        try:
            with connection.begin_nested() if dialect.is_shared else nullcontext():
                record = record_of(connection.execute(_INSERT, row).one())
        except IntegrityError:  # another worker was faster
            if not _is_busy(connection, new.context_id):
                raise
            raise _busy(new.context_id) from None
        if new.shadow_of is None:
            _take_conversation(connection, new, at=at, number=number)
        return record

    def _check_share(self, connection: Connection, user_id: str, most: int, *, waits: bool) -> None:
        dialect, lock = self._database.dialect, f"runs {user_id}"  # two workers must not count at the same time
        if waits:
            dialect.lock(connection, lock)
        elif not dialect.try_lock(connection, lock):
            raise _BeingCountedError
        own = (_run.c.user_id == user_id) & (_run.c.status == "running") & _run.c.shadow_of.is_(None)
        query = select(func.count()).where(own)
        running = connection.execute(query).scalar_one()
        if running >= most:
            raise TooManyRunsError(f"{running} queries are under way; at most {most} may be, so wait for one to end")

    async def abandon(self, run_id: str, *, created_conversation: str | None = None) -> None:
        """Remove a run that was never answered.

        Args:
            run_id: names the run; one that does not exist has nothing.
            created_conversation: `NewRun.created_conversation`; it is removed too, unless it is in use.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """

        def work(connection: Connection) -> None:
            remove_run(connection, run_id)
            used = or_(
                select(_run.c.id).where(_run.c.context_id == created_conversation).exists(),
                select(schema.message.c.n).where(schema.message.c.conversation_id == created_conversation).exists(),
            )
            if created_conversation is not None:
                connection.execute(delete(_conversation).where(and_(_conversation.c.id == created_conversation, ~used)))

        await self._writer.write(work, on_commit=lambda _: self._tails.wake(run_id))

    async def find(self, run_id: str, *, user_id: str | None = None) -> RunRecord | None:
        """The run, if that user has asked it; `None` as the user means any user, and shadows of runs as well."""
        if not may_be_id(run_id):
            return None
        return await self._database.read(lambda connection: find_run(connection, run_id, user_id=user_id))

    async def latest(
        self, *, user_id: str | None, limit: int, before: str | None = None, context_id: str | None = None
    ) -> list[RunRecord]:
        """Runs, newest first.

        Args:
            user_id: of this user; `None`: of all users.
            limit: the greatest number of runs.
            before: only those that started before the run with this id; none if there is no such run.
            context_id: of this conversation; `None`: of all.
        """
        return (await self.page(RunFilter(user_id=user_id, context_id=context_id), limit=limit, before=before)).runs

    async def page(self, wanted: RunFilter, *, limit: int, before: str | None = None) -> RunPage:
        """The newest of some runs, newest first; so many at most.

        Args:
            wanted: what a run must be to be listed.
            limit: the greatest number of runs.
            before: only those that started before the run with this id; none if there is no such run.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        work = partial(run_page, wanted=wanted, limit=limit, before=before, now=self._now())
        return await self._database.read(work)

    async def count(self, wanted: RunFilter) -> RunCounts:
        """How many of some runs there are, by their ends.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(partial(count_runs, wanted=wanted, now=self._now()))

    async def of_versions(self, shas: Collection[str], *, limit: int) -> list[RunOfVersion]:
        """The newest finished runs of these versions of trees whose log is kept, newest first.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(partial(runs_of_versions, shas=shas, limit=limit))

    async def count_by_tree(self, *, since: float, user_id: str | None = None) -> dict[str, dict[str, int]]:
        """How many of the newest runs began at a time or later, by the trees that were asked for and by their ends.

        Args:
            since: the earliest beginning of a run, in seconds since the epoch.
            user_id: only this user's.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(partial(count_by_tree, since=since, user_id=user_id))

    async def running_of(self, context_id: str) -> RunRecord | None:
        """The running query of a conversation."""
        if not may_be_id(context_id):
            return None
        query = _running_of(context_id)
        return await self._database.read(lambda connection: _maybe(connection.execute(query).first()))

    async def beat(self) -> None:
        """Write a heartbeat to the running queries of this worker.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """

        def work(connection: Connection) -> None:
            mine = (_run.c.worker == self._worker) & (_run.c.status == "running")
            connection.execute(update(_run).where(mine).values(heartbeat_at=self._database.dialect.clock(connection)))

        await self._writer.write(work)

    async def extend_deadline(self, run_id: str, *, by_s: float) -> None:
        """Move the deadline of a running query: it stood still for so long.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        mine = (_run.c.id == run_id) & (_run.c.worker == self._worker) & (_run.c.status == "running")
        change = update(_run).where(mine).values(deadline_at=_run.c.deadline_at + by_s)
        await self._writer.write(lambda connection: connection.execute(change))

    async def heartbeats(self) -> dict[str, float]:
        """The other workers that have running queries, with the latest heartbeat of each.

        The figures are of the database's clock, which may be set. They tell whether a heartbeat has changed, not how
        old it is.
        """
        query = select(_run.c.worker, func.max(_run.c.heartbeat_at)).where(_running_elsewhere(self._worker))
        query = query.group_by(_run.c.worker)
        return await self._database.read(lambda connection: {row[0]: row[1] for row in connection.execute(query)})

    async def take_over(self, silent: Mapping[str, float] | None) -> list[RunRecord]:
        """Take over the running queries of silent workers; each of them goes to one worker only.

        Args:
            silent: the workers, with the heartbeat that has not changed for too long (`heartbeats`); a worker whose
                heartbeat has changed since is alive. `None` takes all running queries: at the start of the only server.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """

        def work(connection: Connection) -> list[RunRecord]:
            wanted = _run.c.status == "running"
            if silent is not None:
                wanted = _running_elsewhere(self._worker)
                wanted &= _run.c.worker.in_(self._still_silent(connection, silent))
            values = {
                "worker": self._worker,
                "epoch": _run.c.epoch + 1,
                "heartbeat_at": self._database.dialect.clock(connection),
            }
            taken = connection.execute(update(_run).where(wanted).values(values).returning(*_run.c)).all()
            return sorted((record_of(row) for row in taken), key=lambda run: (run.created_at, run.id))

        taken = await self._writer.write(work)
        if taken:
            self._on_taken()
        return taken

    def _still_silent(self, connection: Connection, silent: Mapping[str, float]) -> list[str]:
        """The workers whose heartbeat has not changed; they cannot commit until this transaction has ended."""
        names = [name for name in silent if self._database.dialect.close_fence(connection, name)]
        query = select(_run.c.worker, func.max(_run.c.heartbeat_at)).where(
            _running_elsewhere(self._worker) & _run.c.worker.in_(names)
        )
        beats = connection.execute(query.group_by(_run.c.worker))
        return [name for name, beat in beats if beat == silent[name]]


def find_run(connection: Connection, run_id: str, *, user_id: str | None = None) -> RunRecord | None:
    """The run, if that user has asked it; `None` as the user means any user, and shadows of others' runs as well."""
    row = connection.execute(_BY_ID, {"run_id": run_id}).first()
    if row is None or (user_id is not None and (row.user_id != user_id or row.shadow_of is not None)):
        return None
    return record_of(row)


def _is_busy(connection: Connection, context_id: str) -> bool:
    return connection.execute(_running_of(context_id)).first() is not None


def _busy(context_id: str) -> ConversationBusyError:
    return ConversationBusyError(
        f"the conversation {context_id!r} is answering another query; wait for its end or cancel it"
    )


def _running_elsewhere(worker: str) -> ColumnElement[bool]:
    return (_run.c.status == "running") & (_run.c.worker != worker)


def _running_of(context_id: str) -> Select[Any]:
    return select(_run).where((_run.c.context_id == context_id) & (_run.c.status == "running"))


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
        "input": new.input,
        "limits": new.limits,
        "status": "running",
        "created_at": at,
        "deadline_at": at + new.timeout_s,
        "shadow_of": new.shadow_of,
    }


def _find_conversation(connection: Connection, new: NewRun) -> None:
    """Check that the conversation exists and is the user's, before anything is said about whether it is busy."""
    if new.begins_conversation:
        return
    theirs = (_conversation.c.id == new.context_id) & (_conversation.c.user_id == new.user_id)
    if not may_be_id(new.context_id) or connection.scalar(select(_conversation.c.id).where(theirs)) is None:
        raise UnknownConversationError(new.context_id)


def _find_primary(connection: Connection, run_id: str) -> None:
    """Check that the run has its texts; it keeps them until the end of this transaction."""
    kept = (_run.c.id == run_id) & _run.c.forgotten_at.is_(None) & _run.c.texts_dropped_at.is_(None)
    if connection.scalar(select(_run.c.id).where(kept).with_for_update(read=True)) is None:
        raise UnclearRunError(run_id)


def _take_conversation(connection: Connection, new: NewRun, *, at: float, number: int) -> None:
    """Create the conversation, or mark it as used. A concurrent deletion has ended before that, or waits."""
    if new.begins_conversation:
        row: dict[str, Any] = {
            "id": new.context_id,
            "user_id": new.user_id,
            "project_id": new.project_id,
            "title": _title(new),
            "state": {},
            "created_at": at,
            "updated_at": at,
            "n": number,
        }
        connection.execute(_INSERT_CONVERSATION, row)
        return
    used = update(_conversation).where(_conversation.c.id == new.context_id).values(n=number, updated_at=at)
    used = used.values(title=func.coalesce(_conversation.c.title, literal(_title(new), schema.Json)))
    if connection.execute(used).rowcount == 0:
        raise UnknownConversationError(new.context_id)


def _title(new: NewRun) -> str:
    """The title of the conversation that the run begins."""
    return title_of(str(new.input.get("question", "")))


def _maybe(row: Row[Any] | None) -> RunRecord | None:
    return None if row is None else record_of(row)
