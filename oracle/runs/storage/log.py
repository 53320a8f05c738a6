"""The event log: everything that runs have sent and done, in order. `RunLog` writes it, `EventLog` reads it."""

import math
import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, Protocol

from sqlalchemy import Connection, bindparam, func, select, update

from bt_runtime import Clock
from bt_runtime.text.data import dataclass
from oracle.core.encoding import scrub, to_json
from oracle.core.retry import Retry
from oracle.runs.storage import schema
from oracle.runs.storage.archive import read_events
from oracle.runs.storage.claims import announce, left
from oracle.runs.storage.commit import EventEntry, TickEntry, Work
from oracle.runs.storage.database import Database, may_be_id
from oracle.runs.storage.dialect import PAGE, EventRow
from oracle.runs.storage.errors import RunBrokenError, RunLostError, StorageError, StoreUnavailableError
from oracle.runs.storage.prepared import Prepared
from oracle.runs.storage.records import ChunkPage, EventKind, LogEntry, RunEnd, RunRecord, StoredChunk
from oracle.runs.storage.schema import KINDS
from oracle.runs.storage.tails import Tail, Tails
from oracle.runs.storage.writer import PATIENCE_S, Writer

_run = schema.run
_STATE = Prepared(select(_run.c.status, _run.c.epoch).where(_run.c.id == bindparam("run_id")))
_CHANGE = update(_run).where(_run.c.id == bindparam("run_id"))
_END = Prepared(
    _CHANGE,
    sets=(
        *("status", "finished_at", "termination_reason", "answer", "error", "turns", "tokens_used", "tokens_estimated"),
        *("summary", "node_errors", *KINDS, "cache_miss", "model_used"),
    ),
)
_LONGEST_MODEL = 255  # characters; a provider may send any name, and a run must end with it


class EndObserver(Protocol):
    """Writes what follows from the end of a run, in the commit of the end."""

    def ended(self, connection: Connection, run: RunRecord, end: RunEnd, /) -> None:
        """Write it; called in the writer's thread."""
        ...

    def nudge(self) -> None:
        """Note that it is committed; called in the event loop."""
        ...


class RunLog:
    """The log of a running query, to append to. Used in the event loop's thread only.

    Args:
        run: the run.
        tail: the end of the run's log in memory; released when the log is ended.
        on_released: called with the tail when the log does not need it any more.
        seq: the last number in use.
        chunk_n: the last chunk number in use.
        now: seconds since the epoch.
        observer: writes what follows from the end.
    """

    def __init__(
        self,
        run: RunRecord,
        *,
        writer: Writer,
        tail: Tail,
        on_released: Callable[[Tail], None],
        seq: int = 0,
        chunk_n: int = 0,
        observer: EndObserver,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._run = run
        self._observer = observer
        self.run_id = run.id
        self.epoch = run.epoch
        self.chunks = chunk_n
        self.is_lost = False
        self.on_lost: Callable[[], None] | None = None
        self.is_refused = False
        self._seq = seq
        self._writer = writer
        self._tail = tail
        self._on_released: Callable[[Tail], None] | None = on_released
        self._now = now
        self._pending = 0
        self._pending_since_s = 0.0
        self._error: StorageError | None = None
        self._final: _Final | None = None
        self._is_finished = False
        self._held: list[EventEntry] | None = None
        self._works: list[Work] = []
        self._is_left = False
        tail.begin(chunk_n)

    @property
    def pending_since_s(self) -> float | None:
        """When the oldest uncommitted entry was appended, or earlier, by `time.monotonic`; `None`: there is none."""
        return self._pending_since_s if self._pending else None

    def chunk(self, data: bytes) -> int:
        """Append a chunk; returns its number.

        Raises:
            ValueError: it is not UTF-8.
        """
        number = self.chunks + 1
        self._append("chunk", data, StoredChunk(number, data), None)
        self.chunks = number
        return number

    def append(self, kind: EventKind, data: bytes, *, step_key: str | None = None) -> None:
        """Append an event of another kind.

        Raises:
            ValueError: it is not UTF-8.
        """
        self._append(kind, data, None, step_key)

    def hold(self) -> None:
        """Commit together what is appended until `release`; whoever waits for a commit releases it too."""
        self.release()
        self._held = []

    def release(self) -> None:
        """Commit the held entries together; does nothing if nothing is held."""
        held, self._held = self._held, None
        works = self._works
        if works:
            self._works = []
            self._writer.append_tick(TickEntry(self, held or (), works))
        elif held:
            if len(held) == 1:
                self._writer.append(*held[0])
            else:
                self._writer.append_tick(TickEntry(self, held))

    def with_commit(self, work: Work) -> None:
        """Write to other tables in the commit of what is held, or else in one after all that was appended.

        It is not done if another worker has the run. If it fails for good, nothing more is written of the run.

        Args:
            work: runs in the writer's thread, again after a transient failure.
        """
        if self._error is not None or self._final is not None or self._is_left:
            return
        self._count_pending()
        self._works.append(work)
        if self._held is None:
            self.release()

    async def flush(self) -> None:
        """Wait until everything appended so far is committed, and the database has said that the run is this worker's.

        This waits for as long as nothing can be written.

        Raises:
            RunLostError: another worker has the run.
            RunBrokenError: a part of this run can never be written.
            StoreUnavailableError: the store is closed.
        """
        self._check()
        self.release()
        try:
            await self._writer.write(None if self._pending else self._is_over, patience_s=math.inf)
        except RunLostError as error:
            self.refused(error)
        self._check()

    async def finish(self, done: bytes, end: RunEnd, *, work: Work | None = None) -> None:
        """Write the last chunk and the end of the run's row in one commit. A second call does nothing.

        `work` is written before them in that commit. What it raises is raised here, and the log goes on as if there had
        been no end.

        Later events are ignored. This waits for as long as nothing can be written.

        Raises:
            RunLostError: another worker has the run.
            RunBrokenError: a part of this run can never be written.
            StoreUnavailableError: the store is closed.
        """
        if self._is_finished:
            return
        self._check()
        self.release()
        if self._final is None:
            self._final = _Final(self.chunks + 1, self._seq + 1, self._now(), done, end, work)
            self.chunks += 1
        wakes = (self.run_id, self._final.chunk_n)
        try:
            await self._writer.write(self._write_end, on_commit=self._finished, wakes=wakes, patience_s=math.inf)
        except RunLostError as error:
            self.refused(error)
            raise
        except StorageError:
            raise
        except Exception:  # of `work`
            self._final = None
            self.chunks -= 1
            raise

    async def save(self, work: Work) -> None:
        """Write to other tables although a part of the run can never be written; not if another worker has it.

        Raises:
            StoreUnavailableError: the store is closed.
            Exception: what `work` raises.
        """

        def owned(connection: Connection) -> None:
            if _STATE.first(connection, {"run_id": self.run_id}) == ("running", self.epoch):
                work(connection)

        await self._writer.write(owned, patience_s=math.inf)

    async def leave(
        self,
        *,
        is_parked: bool,
        wake_at: float | None = None,
        decide: Callable[[Connection], Mapping[str, Any]] | None = None,
    ) -> None:
        """Give the run to whoever claims it, with what was appended so far; what comes later is ignored.

        Args:
            is_parked: nobody claims it before it is woken.
            wake_at: when it is to be woken at the latest; `None`: only by an answer.
            decide: what the run's row says, decided with it, in place of the other two.

        Raises:
            RunLostError: another worker has the run.
            RunBrokenError: a part of this run can never be written.
            StoreUnavailableError: the store is closed.
        """
        self._check()
        self.release()
        self._is_left = True

        def work(connection: Connection) -> None:
            if self._is_over(connection):
                return
            fields = left(is_parked=is_parked, wake_at=wake_at) if decide is None else decide(connection)
            connection.execute(_CHANGE.values(fields), {"run_id": self.run_id})
            if fields["status"] == "queued":
                announce(connection, self._writer.dialect)

        def settle(_: None) -> None:
            self._tail.lose()
            self._release_tail()

        wakes = (self.run_id, max(1, self.chunks))  # followers on other workers too: it may be parked now
        is_alone = decide is not None
        await self._writer.write(work, on_commit=settle, wakes=wakes, is_alone=is_alone, patience_s=math.inf)

    def close(self) -> None:
        """Append nothing more; the run is ended elsewhere, or was abandoned. A second call does nothing."""
        self.release()
        self._release_tail()

    def committed(self, entries: int, chunks: list[StoredChunk], *, taken_s: float) -> None:
        """Note that so many more events and works are durable, these chunks among them (called by the writer)."""
        self._pending -= entries
        self._pending_since_s = taken_s
        if chunks:
            self._tail.publish(chunks)
        else:
            self._tail.committed()

    def refused(self, error: StorageError) -> None:
        """Note that nothing more will be written (called by the writer)."""
        if self._error is not None:
            return
        self._error, self._pending = error, 0
        self._held, self._works = None, []
        self.is_lost = isinstance(error, RunLostError)
        self._tail.lose()
        self._release_tail()
        if self.is_lost and self.on_lost is not None:
            self.on_lost()

    def _append(self, kind: EventKind, data: bytes, chunk: StoredChunk | None, step_key: str | None) -> None:
        if self._error is not None or self._final is not None or self._is_left:
            return
        number = None if chunk is None else chunk.n
        row = (self.run_id, self._seq + 1, kind, number, step_key, data.decode(), self._now())
        self._seq += 1
        self._count_pending()
        if self._held is None:
            self._writer.append(self, row, chunk)
        else:
            self._held.append((self, row, chunk))

    def _count_pending(self) -> None:
        if not self._pending:
            self._pending_since_s = time.monotonic()
        self._pending += 1

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _write_end(self, connection: Connection) -> None:
        """Runs in the writer's thread."""
        final = self._final
        assert final is not None, "made before it is written"  # noqa: S101
        if not self._is_over(connection):
            if final.work is not None:
                final.work(connection)
            _END.run(connection, {"run_id": self.run_id, **final.to_row()})
            self._writer.dialect.insert_events(connection, final.events(self.run_id))
            self._observer.ended(connection, self._run, final.end)

    def _is_over(self, connection: Connection) -> bool:
        """Whether an earlier attempt of this log has ended or left the run: no other has this epoch.

        Raises:
            RunLostError: another worker has the run.
            RunBrokenError: a part of this run can never be written.
        """
        status, epoch = _STATE.first(connection, {"run_id": self.run_id}) or (None, None)
        if epoch != self.epoch:
            raise RunLostError(f"another worker has taken the run {self.run_id!r} over")
        if status != "running":
            return True
        if self.is_refused:
            raise RunBrokenError(f"a part of the run {self.run_id!r} could not be written, so it has no end yet")
        return False

    def _finished(self, _: None) -> None:
        if self._final is None or self._is_finished:
            return
        self._is_finished = True
        self._tail.publish([StoredChunk(self._final.chunk_n, self._final.done)])
        self._tail.end()
        self._release_tail()
        self._observer.nudge()

    def _release_tail(self) -> None:
        release, self._on_released = self._on_released, None
        if release is not None:
            release(self._tail)


@dataclass(frozen=True, slots=True)
class _Final:
    """The last commit of a run: its last two events and its row, and what is written with them."""

    chunk_n: int
    seq: int
    at: float
    done: bytes
    end: RunEnd
    work: Work | None = None

    def to_row(self) -> dict[str, Any]:
        end = self.end
        return {
            "status": "finished",
            "finished_at": self.at,
            "termination_reason": end.termination_reason,
            "answer": end.answer,
            "error": end.error,
            "turns": end.turns,
            "tokens_used": end.tokens_used,
            "tokens_estimated": end.tokens_estimated,
            "summary": end.summary.to_json(),
            "node_errors": end.summary.node_errors,
            **asdict(end.usage),
            "cache_miss": end.cache_miss,
            "model_used": scrub(end.model_used).replace("\0", "\ufffd")[:_LONGEST_MODEL],
        }

    def events(self, run_id: str) -> list[EventRow]:
        end = self.end
        figures = {"termination_reason": end.termination_reason, "turns": end.turns, "tokens_used": end.tokens_used}
        return [
            (run_id, self.seq, "chunk", self.chunk_n, None, self.done.decode(), self.at),
            (run_id, self.seq + 1, "final", None, None, to_json(figures).decode(), self.at),
        ]


_RETRY = Retry(first_s=0.1, longest_s=2.0)
_LARGEST = 2**31 - 1  # the greatest number in the log

_event = schema.event


class LogWatch:
    """Wakes the readers of all events of a run, after each commit of one."""

    def __init__(self, tail: Tail, tails: Tails) -> None:
        self._tail = tail
        self._tails = tails

    @property
    def commits(self) -> int:
        """How many wakes there have been; asked before the events are read, so that none is missed."""
        return self._tail.commits

    async def wait(self, commits: int) -> None:
        """Wait until there have been more than so many.

        Raises:
            StoreUnavailableError: the store is closed.
        """
        if not self._tails.is_closed:
            await self._tail.committed_since(commits)
        if self._tails.is_closed:
            raise StoreUnavailableError("the store is closed; the run may go on")


class EventLog:
    """The log of all runs.

    Args:
        clock: monotonic time.
        now: seconds since the epoch.
        patience_s: how long a follower retries while the database cannot be read.
        observer: writes what follows from the ends of runs.
    """

    def __init__(
        self,
        database: Database,
        *,
        writer: Writer,
        tails: Tails,
        clock: Clock,
        now: Callable[[], float] = time.time,
        observer: EndObserver,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._observer = observer
        self._database = database
        self._writer = writer
        self._tails = tails
        self._clock = clock
        self._now = now
        self._patience_s = patience_s

    def writer(self, run: RunRecord, *, seq: int = 0, chunk_n: int = 0) -> RunLog:
        """The log of a run of this worker, to append to after the given numbers."""
        return RunLog(
            run,
            writer=self._writer,
            tail=self._tails.take(run.id),
            on_released=self._tails.release,
            seq=seq,
            chunk_n=chunk_n,
            now=self._now,
            observer=self._observer,
        )

    async def page(self, run_id: str, *, user_id: str | None = None, after: int = 0) -> ChunkPage | None:
        """The first committed chunks after that number.

        Returns:
            `None` if the user (`None`: any user) has no such run, or its texts were deleted.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(run_id):
            return None
        page_after = self._database.dialect.page_after
        return await self._database.read(lambda connection: page_after(connection, run_id, after, user_id))

    async def follow(
        self, run_id: str, *, after: int = 0, first: ChunkPage | None = None, tells_rest: bool = False
    ) -> AsyncGenerator[Sequence[StoredChunk], None]:
        """The committed chunks after that number, in batches as large as what is available, until the last one.

        Ends at once for a run that does not exist, or whose texts were deleted.

        Args:
            run_id: names the run; one that does not exist has nothing.
            after: the number before the first chunk.
            first: the chunks after it as they were read before.
            tells_rest: an empty batch comes each time before it waits; the run may have been parked, of which no chunk
                tells.

        Raises:
            StoreUnavailableError: the database could not be read for longer than the patience, or the store is closed.
        """
        if not may_be_id(run_id):
            return
        after = min(max(after, 0), _LARGEST)
        if first is not None:
            if first.chunks:
                after = first.chunks[-1].n
                yield first.chunks
            if first.is_last:
                return
        with self._tails.using(run_id) as tail:
            while True:
                changes = tail.changes  # before the chunks are read, so that no change is missed
                batch, is_last = await self._next(tail, after)
                if batch:
                    after = batch[-1].n
                    yield batch
                if is_last:
                    return
                if not batch:
                    if tells_rest:
                        yield batch
                    await self._wait(tail, changes)

    async def _wait(self, tail: Tail, changes: int) -> None:
        if not self._tails.is_closed:
            await tail.changed(changes)
        if self._tails.is_closed:
            raise StoreUnavailableError("the store is closed; the run may go on")

    @contextmanager
    def watching(self, run_id: str) -> Iterator["LogWatch"]:
        """Watch all events of a run, while this is entered."""
        with self._tails.using(run_id) as tail:
            yield LogWatch(tail, self._tails)

    async def last_chunk(self, run_id: str) -> int:
        """The number of the last committed chunk; 0 if there is none.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(run_id):
            return 0

        def work(connection: Connection) -> int:
            of_run = (_event.c.run_id == run_id) & _event.c.chunk_n.is_not(None)
            query = select(_event.c.chunk_n).where(of_run).order_by(_event.c.seq.desc()).limit(1)
            return connection.execute(query).scalar() or 0

        return await self._database.read(work)

    async def events(
        self,
        run_id: str,
        *,
        kinds: Collection[EventKind] | None = None,
        after_seq: int = 0,
        limit: int = 1000,
        max_bytes: int | None = None,
    ) -> list[LogEntry]:
        """The committed events after number `after_seq`, in order.

        Args:
            run_id: names the run; one that does not exist has nothing.
            kinds: only of these kinds; `None`: all.
            after_seq: the number before the first event.
            limit: the greatest number of events.
            max_bytes: of their data together; the first event is there even if it is larger. `None`: no bound.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(run_id):
            return []
        size = None if max_bytes is None else (max_bytes, self._database.dialect.read_bytes(_event.c.data))
        return await self._database.read(read_events(run_id, kinds=kinds, after_seq=after_seq, limit=limit, size=size))

    async def has_more(self, event: LogEntry) -> bool:
        """Whether there is a later event of the same kind in the run.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        later = (_event.c.run_id == event.run_id) & (_event.c.seq > event.seq) & (_event.c.kind == event.kind)
        query = select(_event.c.seq).where(later).order_by(_event.c.seq).limit(1)
        return await self._database.read(lambda connection: connection.execute(query).first() is not None)

    async def count(self, run_id: str, *, kind: EventKind, up_to_seq: int) -> int:
        """How many events of a kind there are up to a number.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(run_id):
            return 0
        wanted = (_event.c.run_id == run_id) & (_event.c.seq <= up_to_seq) & (_event.c.kind == kind)
        query = select(func.count()).where(wanted)
        return await self._database.read(lambda connection: connection.execute(query).scalar_one())

    async def _next(self, tail: Tail, after: int) -> ChunkPage:
        """The next page: from memory, or else from the database."""
        here = tail.after(after, limit=PAGE)
        if here is None:
            return await self._read(tail.run_id, after)
        last_n = here[-1].n if here else after
        return ChunkPage(here, tail.is_ended and last_n >= tail.last_n)

    async def _read(self, run_id: str, after: int) -> ChunkPage:
        """The next page from the database; retries for a time."""
        page = await _RETRY.call(
            partial(self.page, run_id, after=after),
            clock=self._clock,
            when=StoreUnavailableError,
            unless=lambda: self._tails.is_closed,
            for_s=self._patience_s,
        )
        return page or ChunkPage((), is_last=True)
