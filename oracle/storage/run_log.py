"""The writing end of one run's log."""

import time
from collections import deque
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, insert, update

from oracle.encoding import to_json
from oracle.storage import schema
from oracle.storage.errors import RunLostError, StorageError
from oracle.storage.records import EventKind, RunEnd, RunRecord, StoredChunk
from oracle.storage.tails import Tail
from oracle.storage.writer import Row, Writer


class RunLog:
    """Where a run under way is written. Used in the event loop's thread only.

    Args:
        run: the run.
        writer: of the store.
        tail: of the run; released when the log is ended.
        on_released: told when the log needs its tail no more.
        seq: the last number that is taken.
        chunk_n: the last chunk's number that is taken.
        now: seconds since the epoch.
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
        now: Callable[[], float] = time.time,
    ) -> None:
        self.run_id = run.id
        self.epoch = run.epoch
        self.chunks = chunk_n
        self.is_lost = False
        self.on_lost: Callable[[], None] | None = None
        self._seq = seq
        self._writer = writer
        self._tail = tail
        tail.begin(chunk_n)
        self._on_released: Callable[[Tail], None] | None = on_released
        self._now = now
        self._queued: deque[float] = deque()
        self._error: StorageError | None = None
        self._is_finished = False

    @property
    def pending_since_s(self) -> float | None:
        """Since when the oldest entry waits for its commit, by `time.monotonic`; `None` if none waits."""
        return self._queued[0] if self._queued else None

    def chunk(self, data: bytes) -> int:
        """Append a chunk; returns its number."""
        self.chunks += 1
        self._append("chunk", data, chunk_n=self.chunks, step_key=None)
        return self.chunks

    def append(self, kind: EventKind, data: bytes, *, step_key: str | None = None) -> None:
        """Append anything else."""
        self._append(kind, data, chunk_n=None, step_key=step_key)

    async def flush(self) -> None:
        """Wait until everything appended so far is committed.

        Raises:
            RunLostError: another worker has the run.
            StoreUnavailableError: nothing could be written for longer than the patience.
            StorageError: something of this run can never be written.
        """
        self._check()
        if self._queued:
            await self._writer.write(None)
            self._check()

    async def finish(self, done: bytes, end: RunEnd) -> None:
        """Write the last chunk and the end of the run's row in one commit; nothing the second time.

        Raises:
            RunLostError: another worker has the run.
            StoreUnavailableError: nothing could be written for longer than the patience; to be tried again.
        """
        if self._is_finished:
            return
        if self.is_lost:
            raise RunLostError(f"another worker has taken the run {self.run_id!r} over")
        number, seq, at = self.chunks + 1, self._seq + 1, self._now()
        final = to_json({"termination_reason": end.termination_reason, "turns": end.turns, "tokens": end.tokens_used})

        def work(connection: Connection) -> None:
            _finish_row(connection, self.run_id, self.epoch, end, at=at)
            rows = [
                _row(self.run_id, seq, "chunk", done, at, chunk_n=number),
                _row(self.run_id, seq + 1, "final", final, at),
            ]
            connection.execute(
                insert(schema.event), [dict(zip(schema.event.c.keys(), row, strict=True)) for row in rows]
            )

        def committed(_: None) -> None:
            self.chunks, self._seq, self._is_finished = number, seq + 1, True
            self._tail.publish([StoredChunk(number, done)])
            self._tail.end()
            self._release()

        try:
            await self._writer.write(work, on_commit=committed, wakes=(self.run_id, number))
        except RunLostError as error:
            self.refused(error)
            raise

    def committed(self, rows: Sequence[Row]) -> None:
        """These rows are durable (called by the writer)."""
        for _ in rows:
            self._queued.popleft()
        chunks = [StoredChunk(row[3], row[5].encode()) for row in rows if row[3] is not None]
        if chunks:
            self._tail.publish(chunks)

    def refused(self, error: StorageError) -> None:
        """Rows were refused for good (called by the writer)."""
        self._error = self._error or error
        self._queued.clear()
        if isinstance(error, RunLostError) and not self.is_lost:
            self.is_lost = True
            self._tail.lose()
            self._release()
            if self.on_lost is not None:
                self.on_lost()

    def _append(self, kind: EventKind, data: bytes, *, chunk_n: int | None, step_key: str | None) -> None:
        if self._error is not None or self._is_finished:
            return
        self._seq += 1
        row = (self.run_id, self._seq, kind, chunk_n, step_key, data.decode(), self._now())
        self._queued.append(time.monotonic())
        self._writer.append(self, row)

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _release(self) -> None:
        release, self._on_released = self._on_released, None
        if release is not None:
            release(self._tail)


def _row(run_id: str, seq: int, kind: EventKind, data: bytes, at: float, *, chunk_n: int | None = None) -> Row:
    return run_id, seq, kind, chunk_n, None, data.decode(), at


def _finish_row(connection: Connection, run_id: str, epoch: int, end: RunEnd, *, at: float) -> None:
    values = {
        "status": "finished",
        "finished_at": at,
        "termination_reason": end.termination_reason,
        "answer": to_json(end.answer).decode(),
        "error": None if end.error is None else to_json(dict(end.error)).decode(),
        "turns": end.turns,
        "tokens_used": end.tokens_used,
        "tokens_estimated": end.tokens_estimated,
        "model_used": end.model_used,
    }
    run = schema.run
    ours = (run.c.id == run_id) & (run.c.epoch == epoch) & (run.c.status == "running")
    if connection.execute(update(run).where(ours).values(**values)).rowcount != 1:
        raise RunLostError(f"another worker has taken the run {run_id!r} over")
