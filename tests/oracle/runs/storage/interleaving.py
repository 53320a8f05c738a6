"""Workers on one database whose transactions are interleaved at random: the real claims, logs and commits, no threads.

Each worker has a queue of entries as the writer has it, and commits the beginning of it whenever it is its turn: so
what it has decided from what it saw is written any number of other transactions later. Workers die with what they have
not committed, are stopped and go on much later, lose their locks, and look at each other through a clock that is set.

After every commit these hold: what was written was written by the owner, each epoch of a run was given to one worker,
no run has gaps in its log, and what has ended stays as it was.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

from sqlalchemy import select, update

from bt_runtime.testing import FakeClock
from oracle.runs.storage import schema
from oracle.runs.storage.claims import Presence, RunClaims, worker_lock
from oracle.runs.storage.commit import Committer, Entry, TickEntry, WorkEntry
from oracle.runs.storage.database import Database, read_url
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.records import Places, RunRecord
from oracle.runs.storage.run_log import RunLog
from oracle.runs.storage.runs import RunTable
from oracle.runs.storage.setup import prepare
from oracle.runs.storage.tails import Tail, Tails
from oracle.runs.storage.writer import _first_group
from oracle.runs.upkeep import SilentWorkers
from tests.oracle.runs.storage.making import DONE, END, content, new_run

WORKERS = 4
USERS = ("ann", "bob", "cid")
PLACES = (Places(), Places(here=0), Places(here=3, in_all=6, per_user=3))
_RUNS = 12  # under way at a time


class _Result:
    """The future of a work: it is set when the simulation resumes who waits for it."""

    def done(self) -> bool:
        return False

    def set_result(self, value: object) -> None:
        self.value = value

    def set_exception(self, error: Exception) -> None:
        self.error = error


class _Waits:
    """Suspends a coroutine until its entry is committed."""

    def __init__(self, entry: WorkEntry) -> None:
        self.entry = entry

    def __await__(self) -> Any:
        yield self
        if self.entry.error is not None:
            raise self.entry.error
        return self.entry.result


@dataclass
class Worker:
    """One worker: it is its own writer."""

    world: "World"
    name: str
    queue: list[Entry] = field(default_factory=list)
    logs: dict[str, RunLog] = field(default_factory=dict)
    dead: dict[str, float] = field(default_factory=dict)
    waiting: dict[int, tuple[Coroutine[Any, Any, Any], Callable[[Any], None]]] = field(default_factory=dict)
    stopped_until: int = 0

    def __post_init__(self) -> None:
        world, shared = self.world, {"writer": self, "worker": self.name}
        self.presence = Presence(world.clock)
        self.presence.gained()
        world.locks.add(worker_lock(self.name))
        self.committer = Committer(world.database, worker=self.name)
        self.claims = RunClaims(world.database, **shared, presence=self.presence, now=world.now)
        self.runs = RunTable(world.database, **shared, tails=Tails(), on_queued=lambda: None, now=world.now)
        self.silence = SilentWorkers(silent_s=5, heartbeat_s=1, clock=world.clock)

    # What claims and logs see of a writer

    @property
    def dialect(self) -> Any:
        return self.world.database.dialect

    def append(self, source: Any, row: Any, chunk: Any) -> None:
        self.queue.append((source, row, chunk))

    def append_tick(self, tick: TickEntry) -> None:
        self.queue.append(tick)

    async def write(
        self, work: Any, *, on_commit: Any = None, wakes: Any = None, is_alone: bool = False, patience_s: float = 0
    ) -> Any:
        entry = WorkEntry(work, _Result(), on_commit, wakes, is_alone)  # type: ignore[arg-type]
        self.queue.append(entry)
        return await _Waits(entry)

    # Steps

    def start(self, coroutine: Coroutine[Any, Any, Any], then: Callable[[Any], None] = lambda _: None) -> None:
        """Run a coroutine until it waits for a commit, and go on with it after that."""
        try:
            token = coroutine.send(None)
        except StopIteration as result:
            then(result.value)
        except StorageError:
            return
        else:
            self.waiting[id(token.entry)] = (coroutine, then)

    def commit(self) -> None:
        """Commit a part of the queue, as the writer would, or fail to."""
        random = self.world.random
        end = min(random.randint(1, 4), _first_group(self.queue)) if self.queue else 0
        entries, rest = self.queue[:end], self.queue[end:]
        self.world.fails = random.random() < 0.03  # the database cannot be reached
        try:
            group = self.committer.commit(entries)
        except ConnectionError:
            return
        finally:
            self.world.fails = False
        self.queue = rest
        self.world.check(self, group)
        for source, written in group.written.items():
            source.committed(written.events + written.works, written.chunks, taken_s=0.0)
        for source, error in group.refused.items():
            source.refused(error)
        for work in group.works:
            work.settle()
            if id(work) in self.waiting:
                self.start(*self.waiting.pop(id(work)))

    def own(self, run: RunRecord) -> None:
        """Write the run from now on, after what its log has."""
        if run.worker == self.name and run.status == "running":
            self.world.given(self, run)
            seq, chunk_n = self.world.ends(run.id)
            self.logs[run.id] = RunLog(
                run,
                writer=self,  # type: ignore[arg-type]
                observer=SimpleNamespace(ended=lambda *_: None, nudge=lambda: None),  # type: ignore[arg-type]
                tail=Tail(run.id),
                on_released=lambda _: None,
                seq=seq,
                chunk_n=chunk_n,
            )

    def take(self, runs: list[RunRecord]) -> None:
        for run in runs:
            self.own(run)

    def look(self) -> None:
        def note(seen: Any) -> None:
            self.dead = self.silence.note(seen.workers, by_locks=self.presence.can_judge and seen.up_s > 3)

        self.start(self.claims.sightings(), note)

    def beat(self) -> None:
        self.start(self.claims.beat(), lambda _: self.silence.beaten())

    def act(self) -> None:
        """Do something with one of the runs that this worker believes to have."""
        random = self.world.random
        live = [log for log in self.logs.values() if not log.is_lost]
        if not live:
            return
        log = random.choice(live)
        match random.randrange(12):
            case 0:
                self.start(log.finish(DONE, END))
            case 1:
                self.start(log.leave(is_parked=True))
                del self.logs[log.run_id]
            case 2:
                self.start(log.leave(is_parked=False))
                del self.logs[log.run_id]
            case 3:
                log.append("turn_end", b"{}", step_key="turn")
            case 4:
                log.hold()
                log.chunk(content("a"))
                log.append("tick", b"{}")
                log.release()
            case _:
                log.chunk(content("a"))

    def step(self) -> None:
        """One of the things that a worker does."""
        random, places = self.world.random, self.world.random.choice(PLACES)
        match random.randrange(16):
            case 0:
                self.beat()
            case 1:
                self.look()
            case 2 if self.dead:
                self.start(self.claims.take_over(self.dead, most=random.randint(1, 8)), self.take)
            case 3 | 4:
                self.start(self.claims.claim(random.randint(1, 8), places), self.take)
            case 5 if self.world.open < _RUNS:
                self.world.count += 1
                new = new_run(f"run-{self.world.count}", user_id=random.choice(USERS))
                self.start(self.runs.begin(new, places=places, notice=lambda _: content("queued")), self.own)
            case 6 if self.world.parked:
                self.start(self.write(woken(random.choice(self.world.parked))))
            case 7 | 8 | 9 | 10 | 11:
                self.act()
            case _:
                self.commit()


def woken(run_id: str) -> Callable[[Any], None]:
    """What an answer does to a run that waits for it."""
    run = schema.run
    change = update(run).where((run.c.id == run_id) & (run.c.status == "parked")).values(status="queued")
    return lambda connection: connection.execute(change).close()


class World:
    """The database, the clocks, and what is known to be true.

    Args:
        folder: where the database is.
        seed: of the order of all steps.
    """

    def __init__(self, folder: Path, *, seed: int) -> None:
        self.random = Random(seed)
        self.clock = FakeClock(jump=False)
        self.skew_s = 0.0
        self.locks: set[str] = set()
        self.up_since_s = 0.0
        self.fails = False
        self.count = self.names = 0
        self.owners: dict[tuple[str, int], str] = {}
        self.finished: dict[str, int] = {}
        self.database = Database(read_url(f"sqlite:///{folder}/simulated.db"), now=self.now)
        prepare(self.database)
        self._as_shared()
        self.workers = [self.new_worker() for _ in range(WORKERS)]

    def _as_shared(self) -> None:
        """SQLite, with the locks of a server."""
        database, dialect = self.database, self.database.dialect
        check = dialect.check

        async def read(work: Callable[[Any], Any]) -> Any:
            with database.read_engine.connect() as connection:
                return work(connection)

        def check_or_fail() -> None:
            if self.fails:
                raise ConnectionError
            check()

        changes: dict[str, Any] = {
            "is_shared": True,
            "free_locks": lambda _, names: {*names} - self.locks,
            "up_s": lambda _: self.clock.now() - self.up_since_s,
            "check": check_or_fail,
        }
        for name, value in changes.items():
            setattr(dialect, name, value)
        database.read = read  # type: ignore[method-assign]

    def now(self) -> float:
        """The database's clock, which is set now and then."""
        return 1e9 + self.clock.now() + self.skew_s

    def new_worker(self) -> Worker:
        self.names += 1
        return Worker(self, f"worker-{self.names}")

    def step(self, number: int) -> None:
        """Something happens somewhere."""
        random = self.random
        self.clock.advance(random.choice((0.0, 0.01, 0.1)))
        worker = random.choice(self.workers)
        match random.randrange(3_000):
            case 0:  # killed, and another one started
                self.locks.discard(worker_lock(worker.name))
                for coroutine, _ in worker.waiting.values():
                    coroutine.close()
                self.workers[self.workers.index(worker)] = self.new_worker()
            case 1 | 2:  # stopped, as by a signal
                worker.stopped_until = number + random.randint(10, 3_000)
            case 3:
                self.skew_s = random.uniform(-3_600, 3_600)
            case 4:  # restarted: all locks are free
                self.locks.clear()
                self.up_since_s = self.clock.now()
                for each in self.workers:
                    each.presence.lost()
            case 5 | 6 | 7 | 8 if worker.stopped_until <= number:
                self.locks.add(worker_lock(worker.name))
                worker.presence.gained()
            case _ if worker.stopped_until <= number:
                worker.step()

    def settle(self) -> None:
        """Let everything that is under way end, with nothing in the way: it can."""
        for worker in self.workers:
            worker.stopped_until = 0
        for _ in range(200):
            self.clock.advance(0.5)
            for worker in self.workers:
                worker.beat()
                worker.look()
                worker.start(worker.claims.take_over(worker.dead), worker.take)
                worker.start(worker.claims.claim(8), worker.take)
                for run_id in self.parked:
                    worker.start(worker.write(woken(run_id)))
                for log in [log for log in worker.logs.values() if not log.is_lost]:
                    worker.start(log.finish(DONE, END))
                while worker.queue:
                    worker.commit()
            if not self.open:
                return

    # What is true

    def rows(self) -> dict[str, Any]:
        with self.database.read_engine.connect() as connection:
            columns = (schema.run.c.id, schema.run.c.worker, schema.run.c.epoch, schema.run.c.status)
            return {
                row.id: row for row in connection.execute(select(*columns).where(schema.run.c.status != "finished"))
            }

    @property
    def open(self) -> int:
        """How many runs have not ended."""
        return len(self.rows())

    @property
    def parked(self) -> list[str]:
        """The runs that wait to be woken."""
        return [row.id for row in self.rows().values() if row.status == "parked"]

    def ends(self, run_id: str) -> tuple[int, int]:
        """The last numbers of a log, which has no gaps."""
        with self.database.read_engine.connect() as connection:
            query = select(schema.event.c.seq, schema.event.c.chunk_n).where(schema.event.c.run_id == run_id)
            rows = connection.execute(query.order_by(schema.event.c.seq)).all()
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1)), run_id
        chunks = [row.chunk_n for row in rows if row.chunk_n is not None]
        assert chunks == list(range(1, len(chunks) + 1)), run_id
        return len(rows), len(chunks)

    def given(self, worker: Worker, run: RunRecord) -> None:
        """A worker was given a run; no other one has the same epoch."""
        assert self.owners.setdefault((run.id, run.epoch), worker.name) == worker.name

    def check(self, worker: Worker, group: Any) -> None:
        """What a commit has written is the owner's."""
        if not group.written and not group.works:
            return
        rows = self.rows()
        for log in group.written:
            row = rows.get(log.run_id)
            is_over = log._is_left or log._final is not None  # the same commit may have left or ended it
            is_owner = row is not None and (row.worker, row.epoch, row.status) == (worker.name, log.epoch, "running")
            assert is_owner or is_over, f"{worker.name} wrote {log.run_id}, which is {row}"
            assert self.owners[log.run_id, log.epoch] == worker.name
        logs = [(log.run_id, log) for each in self.workers for log in each.logs.values()]
        believing = [
            run_id
            for run_id, log in logs
            if not log.is_lost
            and (row := rows.get(run_id)) is not None
            and row.status == "running"
            and row.epoch == log.epoch
        ]
        assert len(believing) == len(set(believing)), "two workers have the same epoch of a run"

    def close(self) -> None:
        """Give the database back."""
        for worker in self.workers:
            for coroutine, _ in worker.waiting.values():
                coroutine.close()
        self.database.close()
