"""The writing end of the event log: what a run of this worker appends, and its end."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

from sqlalchemy import Connection, bindparam, select, update

from bt_runtime.text.data import dataclass
from oracle.core.encoding import scrub, to_json
from oracle.runs.storage import schema
from oracle.runs.storage.claims import announce, left
from oracle.runs.storage.commit import EventEntry, TickEntry, Work
from oracle.runs.storage.dialect import EventRow
from oracle.runs.storage.errors import RunBrokenError, RunLostError, StorageError
from oracle.runs.storage.prepared import Prepared
from oracle.runs.storage.records import EventKind, RunEnd, RunRecord, StoredChunk
from oracle.runs.storage.schema import KINDS
from oracle.runs.storage.tails import Tail
from oracle.runs.storage.writer import Writer

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
        """Note that more events and works are durable, these chunks among them (called by the writer)."""
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
