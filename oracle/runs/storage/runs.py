"""The rows of runs: inserted, found, listed."""

import time
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import KW_ONLY
from functools import partial
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    and_,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.core.encoding import from_json, to_json
from oracle.runs.storage import schema
from oracle.runs.storage.claims import announce, count_waiting, has_place, next_turn
from oracle.runs.storage.database import Database, may_be_id
from oracle.runs.storage.erasing import remove_run
from oracle.runs.storage.errors import (
    ConversationBusyError,
    TooManyRunsError,
    UnclearRunError,
)
from oracle.runs.storage.interrupts import pending_of, what_is_open
from oracle.runs.storage.prepared import Prepared
from oracle.runs.storage.records import NewRun, Places, RunRecord, record_of
from oracle.runs.storage.run_pages import (
    RunCounts,
    RunFilter,
    RunOfVersion,
    RunPage,
    count_by_tree,
    count_runs,
    find_run,
    run_page,
    runs_of_versions,
)
from oracle.runs.storage.tails import Tails
from oracle.runs.storage.titles import title_of
from oracle.runs.storage.writer import ASKER_PATIENCE_S, Writer

_run, _conversation = schema.run, schema.conversation
_MOST_NAMED = 3  # of the question in a message about a waiting conversation
_INSERT = Prepared(
    insert(_run),
    sets=(
        *("id", "user_id", "context_id", "worker", "epoch", "tree", "tree_sha", "input", "limits", "status"),
        *("created_at", "deadline_at", "shadow_of", "n", "turn"),
    ),
)
_INSERT_CONVERSATION = Prepared(
    insert(_conversation),
    sets=("id", "user_id", "project_id", "title", "state", "created_at", "updated_at", "n"),
)


class _BeingCountedError(Exception):
    """Another worker is starting a run of the same user."""


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """The runs of all workers.

    Args:
        worker: the name of this worker.
        tails: whose followers are woken when a run is removed.
        on_queued: called after a run was begun that waits for a worker.
        now: seconds since the epoch.
    """

    database: Database
    _: KW_ONLY
    writer: Writer
    worker: str
    tails: Tails
    on_queued: Callable[[], None]
    now: Callable[[], float] = time.time

    async def begin(
        self,
        new: NewRun,
        *,
        most_per_user: int | None = None,
        places: Places = Places(),  # noqa: B008  frozen
        notice: Callable[[int], bytes] | None = None,
    ) -> RunRecord:
        """Take the conversation (or create it) and insert the run's row, in one transaction.

        A run that shadows another one has no conversation.

        Args:
            new: the run.
            most_per_user: of its user's runs that wait for a worker or have one; `None`: any number.
            places: where there is none for it, it waits for a worker.
            notice: makes its first chunk then, from its place among those that wait; `None`: it has none.

        Raises:
            ConversationBusyError: it is answering another query.
            UnknownConversationError: the user has no such conversation.
            TooManyRunsError: the user has reached the number of concurrent runs.
            UnclearRunError: the run that it shadows is not there any more, or its texts are not.
            StorageError: one of its claims is refused.
            StoreUnavailableError: nothing could be written for longer than `ASKER_PATIENCE_S`.
        """
        work = partial(self._begin, new=new, most_per_user=most_per_user, places=places, notice=notice, at=self.now())
        try:  # alone with what other workers may be claiming as well
            record = await self.writer.write(work, is_alone=bool(new.claims), patience_s=ASKER_PATIENCE_S)
        except _BeingCountedError:  # rare; waits for the lock, but not with the chunks of other runs in the transaction
            record = await self.writer.write(partial(work, waits=True), is_alone=True, patience_s=ASKER_PATIENCE_S)
        if record.status == "queued":
            self.on_queued()
        return record

    def _begin(
        self,
        connection: Connection,
        *,
        new: NewRun,
        most_per_user: int | None,
        places: Places,
        notice: Callable[[int], bytes] | None,
        at: float,
        waits: bool = False,
    ) -> RunRecord:
        dialect = self.database.dialect
        for claim in new.claims:
            claim.take(connection, dialect.insert, run_id=new.id, at=at)
        if most_per_user is not None:
            self._lock(connection, f"runs {new.user_id}", waits=waits)
            _check_share(connection, new.user_id, most_per_user)
        if places.are_shared:
            self._lock(connection, "claims", waits=waits)
        is_waiting = not has_place(connection, places, new.user_id)
        record = self._insert(connection, new, at=at, is_waiting=is_waiting)
        if is_waiting:
            if notice is not None:
                first = notice(count_waiting(connection)).decode()
                dialect.insert_events(connection, [(new.id, 1, "chunk", 1, None, first, at)])
            announce(connection, dialect)
        return record

    def _insert(self, connection: Connection, new: NewRun, *, at: float, is_waiting: bool) -> RunRecord:
        dialect = self.database.dialect
        number = dialect.next_number(connection)
        if new.shadow_of is None:
            _find_conversation(connection, new)
        else:
            # The shadowed run keeps its texts until the end of this transaction.
            kept = (_run.c.id == new.shadow_of) & _run.c.forgotten_at.is_(None) & _run.c.texts_dropped_at.is_(None)
            if connection.scalar(select(_run.c.id).where(kept).with_for_update(read=True)) is None:
                raise UnclearRunError(new.shadow_of)
        # Checked first: SQLAlchemy's error for the constraint leaves its frames, and the commit, in a reference cycle.
        if not new.begins_conversation and _is_busy(connection, new.context_id):
            raise _busy(connection, new.context_id)
        fields = _fields_of(new, worker="" if is_waiting else self.worker, at=at, number=number)
        turn = next_turn(connection, new.user_id) if is_waiting else 0
        try:
            with connection.begin_nested() if dialect.is_shared else nullcontext():
                _INSERT.run(connection, fields | {"turn": turn})
        except Exception as error:
            if not self.database.is_data_error(error) or not _is_busy(connection, new.context_id):
                raise
            # Another worker was faster.
            raise _busy(connection, new.context_id) from None
        if new.shadow_of is None:
            _take_conversation(connection, new, at=at, number=number)
        return RunRecord(**fields)

    def _lock(self, connection: Connection, name: str, *, waits: bool) -> None:
        """Let no two workers count at the same time."""
        if waits:
            self.database.dialect.lock(connection, name)
        elif not self.database.dialect.try_lock(connection, name):
            raise _BeingCountedError

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

        await self.writer.write(work, on_commit=lambda _: self.tails.wake(run_id))

    async def find(self, run_id: str, *, user_id: str | None = None) -> RunRecord | None:
        """The run, if that user has asked it; `None` as the user means any user, and shadows of runs as well."""
        if not may_be_id(run_id):
            return None
        return await self.database.read(lambda connection: find_run(connection, run_id, user_id=user_id))

    async def page(self, wanted: RunFilter, *, limit: int, before: str | None = None) -> RunPage:
        """The newest of some runs, newest first.

        Args:
            wanted: what a run must be to be listed.
            limit: the greatest number of runs.
            before: only those that started before the run with this id; none if there is no such run.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        work = partial(run_page, wanted=wanted, limit=limit, before=before, now=self.now())
        return await self.database.read(work)

    async def count(self, wanted: RunFilter) -> RunCounts:
        """How many of some runs there are, by their ends.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self.database.read(partial(count_runs, wanted=wanted, now=self.now()))

    async def of_versions(self, shas: Collection[str], *, limit: int) -> list[RunOfVersion]:
        """The newest finished runs of these versions of trees whose log is kept, newest first.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self.database.read(partial(runs_of_versions, shas=shas, limit=limit))

    async def count_by_tree(self, *, since: float, user_id: str | None = None) -> dict[str, dict[str, int]]:
        """How many of the newest runs began at a time or later, by the trees that were asked for and by their ends.

        Args:
            since: the earliest beginning of a run, in seconds since the epoch.
            user_id: only this user's.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self.database.read(partial(count_by_tree, since=since, user_id=user_id))

    async def open_of(self, context_id: str) -> RunRecord | None:
        """The query of a conversation that has not ended: it is running, or it waits."""
        if not may_be_id(context_id):
            return None
        query = _open_of(context_id)
        return await self.database.read(lambda connection: _maybe(connection.execute(query).first()))

    async def note_tree(self, run: RunRecord, sha: str) -> None:
        """Keep that a run of this worker is driven by another version of its tree than the one it was begun with.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        mine = (_run.c.id == run.id) & (_run.c.epoch == run.epoch)
        change = update(_run).where(mine).values(tree_sha=sha)
        await self.writer.write(lambda connection: connection.execute(change).close())

    async def extend_deadline(self, run_id: str, *, by_s: float) -> None:
        """Move the deadline of a running query by the time for which it stood still.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        mine = (_run.c.id == run_id) & (_run.c.worker == self.worker) & (_run.c.status == "running")
        change = update(_run).where(mine).values(deadline_at=_run.c.deadline_at + by_s)
        await self.writer.write(lambda connection: connection.execute(change))


def _is_busy(connection: Connection, context_id: str) -> bool:
    return connection.execute(_open_of(context_id)).first() is not None


def _busy(connection: Connection, context_id: str) -> ConversationBusyError:
    run = connection.execute(_open_of(context_id)).first()
    waits_for = [] if run is None else pending_of(connection, user_id=run.user_id, run_id=run.id, limit=_MOST_NAMED)
    if waits_for:
        named = what_is_open(waits_for[0].run_id, [each.data for each in waits_for])
        return ConversationBusyError(f"The conversation waits for a person: {named}", detail=None)
    return ConversationBusyError(
        f"the conversation {context_id!r} is answering another question; wait for its end or cancel it"
    )


def _open_of(context_id: str) -> Select[Any]:
    return select(_run).where((_run.c.context_id == context_id) & (_run.c.status != "finished"))


def _check_share(connection: Connection, user_id: str, most: int) -> None:
    own = (_run.c.user_id == user_id) & _run.c.status.in_(("queued", "running")) & _run.c.shadow_of.is_(None)
    active = connection.execute(select(func.count()).where(own)).scalar_one()
    if active >= most:
        raise TooManyRunsError(f"{active} runs are under way; at most {most} may be, so wait for one to end")


def _fields_of(new: NewRun, *, worker: str, at: float, number: int) -> dict[str, Any]:
    """The values of a new run's row, and its record; without a worker it waits for one."""
    return {
        "id": new.id,
        "user_id": new.user_id,
        "context_id": new.context_id,
        "worker": worker,
        "epoch": 1,
        "tree": new.tree,
        "tree_sha": new.tree_sha,
        "input": from_json(to_json(new.input)),  # as it is read later
        "limits": from_json(to_json(new.limits)),
        "status": "running" if worker else "queued",
        "created_at": at,
        "deadline_at": at + new.timeout_s,
        "shadow_of": new.shadow_of,
        "n": number,
    }


def _find_conversation(connection: Connection, new: NewRun) -> None:
    """Check that the conversation exists and is the user's, before anything is said about whether it is busy."""
    if new.begins_conversation:
        return
    theirs = (_conversation.c.id == new.context_id) & (_conversation.c.user_id == new.user_id)
    if not may_be_id(new.context_id) or connection.scalar(select(_conversation.c.id).where(theirs)) is None:
        raise UnknownConversationError(new.context_id)


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
        _INSERT_CONVERSATION.run(connection, row)
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
