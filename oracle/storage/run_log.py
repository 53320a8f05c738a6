"""The writing end of one run's log."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from oracle.encoding import scrub, to_json
from oracle.storage import schema
from oracle.storage.errors import RunBrokenError, RunLostError, StorageError
from oracle.storage.records import EventKind, RunEnd, RunRecord, StoredChunk
from oracle.storage.tails import Tail
from oracle.storage.writer import Writer

_run = schema.run
_LONGEST_MODEL = 255  # characters; a provider may send any name, and a run must end with it


class RunLog:
    """The log of a running query, to append to. Used in the event loop's thread only.

    Args:
        run: the run.
        tail: of the run; released when the log is ended.
        on_released: called with the tail when the log does not need it any more.
        seq: the last number in use.
        chunk_n: the last chunk number in use.
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

    async def flush(self) -> None:
        """Wait until everything appended so far is committed.

        Raises:
            RunLostError: another worker has the run.
            RunBrokenError: a part of this run can never be written.
            StoreUnavailableError: nothing could be written for longer than the patience; everything still waits.
        """
        self._check()
        if self._pending:
            await self._writer.write(None)
            self._check()

    async def finish(self, done: bytes, end: RunEnd) -> None:
        """Write the last chunk and the end of the run's row in one commit. A second call does nothing.

        Later events are ignored.

        Raises:
            RunLostError: another worker has the run.
            RunBrokenError: a part of this run can never be written.
            StoreUnavailableError: nothing could be written for longer than the patience; try again.
        """
        if self._is_finished:
            return
        self._check()
        if self._final is None:
            self._final = _Final(self.chunks + 1, self._seq + 1, self._now(), done, end)
            self.chunks += 1
        wakes = (self.run_id, self._final.chunk_n)
        try:
            await self._writer.write(self._write_end, on_commit=self._finished, wakes=wakes)
        except RunLostError as error:
            self.refused(error)
            raise

    def close(self) -> None:
        """Append nothing more; the run is ended elsewhere, or was abandoned. A second call does nothing."""
        self._release()

    def committed(self, events: int, chunks: list[StoredChunk], *, taken_s: float) -> None:
        """Note that so many more events are durable, these chunks among them (called by the writer)."""
        self._pending -= events
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
        self.is_lost = isinstance(error, RunLostError)
        self._tail.lose()
        self._release()
        if self.is_lost and self.on_lost is not None:
            self.on_lost()

    def _append(self, kind: EventKind, data: bytes, chunk: StoredChunk | None, step_key: str | None) -> None:
        if self._error is not None or self._final is not None:
            return
        number = None if chunk is None else chunk.n
        row = (self.run_id, self._seq + 1, kind, number, step_key, data.decode(), self._now())
        self._seq += 1
        if not self._pending:
            self._pending_since_s = time.monotonic()
        self._pending += 1
        self._writer.append(self, row, chunk)

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _write_end(self, connection: Connection) -> None:
        """Runs in the writer's thread."""
        final = self._final
        assert final is not None, "made before it is written"  # noqa: S101
        query = select(_run.c.status, _run.c.epoch).where(_run.c.id == self.run_id)
        found = connection.execute(query).one_or_none()
        if found is None or found.epoch != self.epoch:
            raise RunLostError(f"another worker has taken the run {self.run_id!r} over")
        if found.status == "finished":
            return  # by an earlier attempt of this log: no other has this epoch
        if self.is_refused:
            raise RunBrokenError(f"a part of the run {self.run_id!r} could not be written, so it has no end yet")
        connection.execute(update(_run).where(_run.c.id == self.run_id), final.to_row())
        connection.execute(insert(schema.event), final.events(self.run_id))

    def _finished(self, _: None) -> None:
        if self._final is None or self._is_finished:
            return
        self._is_finished = True
        self._tail.publish([StoredChunk(self._final.chunk_n, self._final.done)])
        self._tail.end()
        self._release()

    def _release(self) -> None:
        release, self._on_released = self._on_released, None
        if release is not None:
            release(self._tail)


@dataclass(frozen=True, slots=True)
class _Final:
    """The last commit of a run: its last two events and its row."""

    chunk_n: int
    seq: int
    at: float
    done: bytes
    end: RunEnd

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
            "summary": end.summary and end.summary.to_json(),
            "node_errors": end.summary and end.summary.node_errors,
            "model_used": scrub(end.model_used).replace("\0", "\ufffd")[:_LONGEST_MODEL],
        }

    def events(self, run_id: str) -> list[dict[str, Any]]:
        end = self.end
        figures = {"termination_reason": end.termination_reason, "turns": end.turns, "tokens_used": end.tokens_used}
        common = {"run_id": run_id, "step_key": None, "at": self.at}
        return [
            common | {"seq": self.seq, "kind": "chunk", "chunk_n": self.chunk_n, "data": self.done},
            common | {"seq": self.seq + 1, "kind": "final", "chunk_n": None, "data": to_json(figures)},
        ]
