"""Logs of queries in memory: the real recorder writes them, while something else opens and plays the query."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from bt_runtime import Observer, Outcome
from oracle.agent.answering import ActiveQuery, Oracle
from oracle.agent.journal import NoJournal, QueryJournal, RequestRecord, RuleBreach
from oracle.core.chunks import Chunk
from oracle.core.metrics import Metrics
from oracle.runs.record.events import Opened
from oracle.runs.recorder import Backlog, RunRecorder, TickRoom
from oracle.runs.storage.records import EventKind, LogEntry, RunRecord
from oracle.runs.storage.trees import TreeVersion
from signals import SignalRecord
from tests.oracle.replay.histories.logs import Log

_open = Oracle.open


@dataclass(slots=True)
class MemoryLog:
    """The log of a run, as `RunLog` takes it."""

    now: Callable[[], float]
    events: list[LogEntry] = field(default_factory=list)
    pending_since_s: float | None = None

    def append(self, kind: EventKind, data: bytes, *, step_key: str | None = None) -> None:
        self.events.append(LogEntry("", len(self.events) + 1, kind, data, 1_000 + self.now(), step_key=step_key))

    def chunk(self, data: bytes) -> int:
        self.append("chunk", data)
        return 1

    async def flush(self) -> None:
        """It is there already."""


@dataclass(slots=True)
class Tape:
    """The log of one query, and what its rows would have."""

    log: MemoryLog
    recorder: RunRecorder
    query: ActiveQuery | None = None

    def opened(self, query: ActiveQuery) -> None:
        self.query = query
        self.recorder.opened(Opened.of(query.agent))

    def whole(self) -> Log:
        """What a store would have of the run, after its end."""
        assert self.query is not None
        assert self.query.tree is not None
        assert self.recorder.answer.done is not None
        query, tree, done = self.query.agent.query, self.query.tree, self.recorder.answer.done
        failed = self.recorder.answer.failed
        record = RunRecord(
            id=query.run_id,
            user_id=query.user_id,
            context_id=query.context_id,
            worker="w1",
            epoch=1,
            tree=tree.name,
            tree_sha=tree.sha,
            input={"question": query.question, "project_id": query.project_id, "model": query.model},
            limits=query.config.model_dump(),
            status="finished",
            created_at=1_767_323_045.0,
            deadline_at=2_000_000_000.0,
            termination_reason=done.termination_reason,
            error=failed and {"error": failed.error, "error_type": failed.error_type},
        )
        return Log(record, TreeVersion(tree.sha, tree.name, tree.paths, tree.sources), self.log.events)


@dataclass(slots=True)
class _Both:
    """Two journals."""

    recorder: RunRecorder
    other: QueryJournal

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        await self.recorder.keep(outcomes)
        await self.other.keep(outcomes)

    def begin_tick(self) -> None:
        self.recorder.begin_tick()

    def end_tick(self) -> None:
        self.recorder.end_tick()

    async def flush(self) -> None:
        await self.recorder.flush()

    def request(self, record: RequestRecord, *, prompt: str) -> None:
        self.recorder.request(record, prompt=prompt)
        self.other.request(record, prompt=prompt)

    def with_end(self, work) -> bool:
        return self.other.with_end(work)

    def signal(self, record: SignalRecord) -> None:
        self.recorder.signal(record)
        self.other.signal(record)

    def rule(self, breach: RuleBreach) -> None:
        self.recorder.rule(breach)
        self.other.rule(breach)


@contextmanager
def taped() -> Iterator[list[Tape]]:
    """Record every query that is opened meanwhile."""
    tapes: list[Tape] = []

    async def opened(
        oracle: Oracle,
        asked: Any,
        *,
        emit: Callable[[Chunk], None],
        observers: Iterable[Observer] = (),
        journal: QueryJournal | None = None,
        may_park: Callable[[], bool] | None = None,
    ) -> ActiveQuery:
        clock = oracle._equipment.clock
        log: Any = MemoryLog(clock.now)
        nothing = lambda: None  # noqa: E731
        backlog = Backlog(log, most_bytes=1 << 30, is_well=lambda: True)
        recorder = RunRecorder(
            log,
            backlog,
            clock,
            0.0,
            Metrics(),
            on_done=nothing,
            on_unwritable=nothing,
            room=TickRoom(1 << 30),
            on_no_room=nothing,
        )
        tape = Tape(log, recorder)

        def both(chunk: Chunk) -> None:
            recorder.emit(chunk)
            emit(chunk)

        query = await _open(
            oracle,
            asked,
            emit=both,
            observers=[recorder, *observers],
            journal=_Both(recorder, journal or NoJournal()),
            may_park=may_park,
        )
        tape.opened(query)
        tapes.append(tape)
        return query

    with patch.object(Oracle, "open", opened):
        yield tapes
