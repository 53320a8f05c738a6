"""Every store of runs passes the public suite: SQLite, PostgreSQL, and one that another package could have."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from oracle.core.encoding import to_json
from oracle.runs.storage.errors import ConversationBusyError, RunLostError
from oracle.runs.storage.records import (
    ChunkPage,
    EventKind,
    LogEntry,
    NewRun,
    Places,
    RunEnd,
    RunRecord,
    RunStatus,
    StoredChunk,
)
from oracle.testing.store_conformance import StoreConformance


class TestOurs(StoreConformance):
    """SQLite and PostgreSQL; the fixture is that of all tests of stores."""


class TestSomebodyElses(StoreConformance):
    """In memory."""

    @pytest.fixture
    def store(self) -> "MemoryStore":
        return MemoryStore()


@dataclass
class MemoryStore:
    """Durable is what was appended and flushed; a flush is a turn of the event loop later."""

    rows: dict[str, RunRecord] = field(default_factory=dict)
    entries: dict[str, list[LogEntry]] = field(default_factory=lambda: defaultdict(list))
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    turns: dict[str, int] = field(default_factory=dict)
    numbers: count = field(default_factory=lambda: count(1))

    @property
    def runs(self) -> "MemoryStore":
        return self

    @property
    def claims(self) -> "MemoryStore":
        return self

    @property
    def log(self) -> "MemoryStore":
        return self

    # Rows

    async def begin(self, new: NewRun, *, places: Places = Places()) -> RunRecord:  # noqa: B008  frozen
        if any(row.status != "finished" and row.context_id == new.context_id for row in self.rows.values()):
            raise ConversationBusyError(f"the conversation {new.context_id!r} is answering another question")
        at = time.time()
        row = RunRecord(
            id=new.id,
            user_id=new.user_id,
            context_id=new.context_id,
            worker="w1",
            epoch=1,
            tree=new.tree,
            tree_sha=new.tree_sha,
            input=new.input,
            limits=new.limits,
            status="running" if self.has_place(places, new.user_id) else "queued",
            created_at=at,
            deadline_at=at + new.timeout_s,
            n=next(self.numbers),
        )
        queued = [(each.user_id, self.turns[each.id]) for each in self.rows.values() if each.status == "queued"]
        own = [turn for user_id, turn in queued if user_id == new.user_id]
        self.turns[new.id] = max(own) + 1 if own else min((turn for _, turn in queued), default=0)
        self.rows[new.id] = row
        return row

    async def find(self, run_id: str, *, user_id: str | None = None) -> RunRecord | None:
        row = self.rows.get(run_id)
        return row if row is not None and user_id in (None, row.user_id) else None

    # Owners

    async def take_over(self, silent: Mapping[str, float] | None) -> Sequence[RunRecord]:
        assert silent is None
        return [self.take(row) for row in list(self.rows.values()) if row.status == "running"]

    async def claim(self, most: int, places: Places = Places()) -> Sequence[RunRecord]:  # noqa: B008  frozen
        taken: list[RunRecord] = []
        while len(taken) < most:
            waiting = [row for row in self.rows.values() if row.status == "queued"]
            places_left = replace(places, here=None if places.here is None else places.here - len(taken))
            fits = [row for row in waiting if self.has_place(places_left, row.user_id, is_waiting=True)]
            if not fits:
                break
            taken.append(self.take(min(fits, key=lambda row: (self.turns[row.id], row.n))))
        return taken

    def has_place(self, places: Places, user_id: str, *, is_waiting: bool = False) -> bool:
        states = ("running",) if is_waiting else ("running", "queued")
        bounds = ((places.here, 0), (places.in_all, self.running(None, states)))
        bounds += ((places.per_user, self.running(user_id, states)),)
        return all(most is None or most > count for most, count in bounds)

    def running(self, user_id: str | None, states: tuple[str, ...] = ("running",)) -> int:
        return sum(row.status in states and user_id in (None, row.user_id) for row in self.rows.values())

    def take(self, row: RunRecord) -> RunRecord:
        ends = [entry.seq for entry in self.entries[row.id] if entry.kind in ("turn_end", "tool_end")]
        last_end = max(ends, default=0)
        taken = replace(
            row,
            status="running",
            epoch=row.epoch + 1,
            attempts=1 if last_end > row.progress_seq else row.attempts + (row.status == "running"),
            progress_seq=last_end,
        )
        self.rows[row.id] = taken
        return taken

    # Events

    def writer(self, run: RunRecord, *, seq: int = 0, chunk_n: int = 0) -> "MemoryLog":
        return MemoryLog(self, run, seq, chunk_n)

    async def events(
        self,
        run_id: str,
        *,
        kinds: Collection[EventKind] | None = None,
        after_seq: int = 0,
        limit: int = 1000,
        max_bytes: int | None = None,
    ) -> list[LogEntry]:
        found: list[LogEntry] = []
        size = 0
        for entry in self.entries.get(run_id, ()):
            if entry.seq > after_seq and (kinds is None or entry.kind in kinds) and len(found) < limit:
                size += len(entry.data)
                if found and max_bytes is not None and size > max_bytes:
                    break
                found.append(entry)
        return found

    async def page(self, run_id: str, *, user_id: str | None = None, after: int = 0) -> ChunkPage | None:
        row = await self.find(run_id, user_id=user_id)
        if row is None:
            return None
        chunks = [
            StoredChunk(entry.chunk_n, entry.data)
            for entry in self.entries.get(run_id, ())
            if entry.chunk_n is not None and entry.chunk_n > after
        ]
        return ChunkPage(chunks, row.status == "finished")

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[Sequence[StoredChunk], None]:
        while page := await self.page(run_id, after=after):
            if page.chunks:
                after = page.chunks[-1].n
                yield page.chunks
            if page.is_last:
                return
            async with self.changed:
                again = await self.page(run_id, after=after)
                if again is not None and not again.chunks and not again.is_last:
                    await self.changed.wait()

    async def last_chunk(self, run_id: str) -> int:
        return max((entry.chunk_n or 0 for entry in self.entries.get(run_id, ())), default=0)


@dataclass
class MemoryLog:
    """The writing end of a log."""

    store: MemoryStore
    run: RunRecord
    seq: int
    chunk_n: int
    waiting: list[LogEntry] = field(default_factory=list)
    is_over: bool = False
    is_left: bool = False

    def append(self, kind: EventKind, data: bytes, *, step_key: str | None = None) -> None:
        self._append(kind, data, None, step_key)

    def chunk(self, data: bytes) -> int:
        self.chunk_n += 0 if self.is_over else 1
        self._append("chunk", data, self.chunk_n, None)
        return self.chunk_n

    async def flush(self) -> None:
        if self.store.rows[self.run.id].epoch != self.run.epoch:
            raise RunLostError(f"another worker has taken the run {self.run.id!r} over")
        self.store.entries[self.run.id] += self.waiting
        self.waiting = []
        async with self.store.changed:
            self.store.changed.notify_all()

    async def finish(self, done: bytes, end: RunEnd) -> None:
        if self.is_over:
            return
        self.chunk(done)
        figures = {"termination_reason": end.termination_reason, "turns": end.turns, "tokens_used": end.tokens_used}
        self.append("final", to_json(figures))
        self.is_over = True
        row = self.store.rows[self.run.id]
        if row.epoch == self.run.epoch:
            ended = replace(
                row,
                status="finished",
                termination_reason=end.termination_reason,
                answer=end.answer,
                turns=end.turns,
            )
            self.store.rows[self.run.id] = ended
        await self.flush()

    async def leave(self, *, is_parked: bool, wake_at: float | None = None) -> None:
        await self.flush()
        self.is_left = True
        row = self.store.rows[self.run.id]
        attempts = 0 if is_parked else max(row.attempts - 1, 0)
        status: RunStatus = "parked" if is_parked else "queued"
        self.store.rows[row.id] = replace(row, status=status, worker="", attempts=attempts, wake_at=wake_at)

    def _append(self, kind: EventKind, data: bytes, number: int | None, step_key: str | None) -> None:
        if not self.is_over and not self.is_left:
            self.seq += 1
            self.waiting.append(LogEntry(self.run.id, self.seq, kind, data, time.time(), number, step_key))
