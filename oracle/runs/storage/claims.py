"""The owners of runs: the heartbeats of workers, and the claims of runs that wait for a worker or have lost theirs.

Rules:

- A claim is one UPDATE that raises the run's epoch; rows that another worker is claiming are skipped. It only gives the
  right to try: each commit checks the epoch.
- The claim counts itself, except for that with which a run begins. It is the first attempt again once a turn or a tool
  call has ended since the last claim.
- A worker that another one takes for dead cannot commit while its runs are taken (`close_fence`), and keeps them if it
  has sent a heartbeat meanwhile.
- Runs that wait are claimed in turns: of each user one, then of each the second.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Update,
    case,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)

from bt_runtime import Clock
from bt_runtime.text.data import dataclass
from oracle.runs.storage import schema
from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import Dialect
from oracle.runs.storage.records import Places, RunRecord, record_of
from oracle.runs.storage.writer import Writer

QUEUE_CHANNEL: Final = "oracle_queue"

GRACE_S: Final = 3.0
"""After a restart of the server all locks are free; for this long a free lock does not mean that its worker has died.
"""
_NO_BOUNDS: Final = Places()
_FORGET_S = 86_400.0  # when the row of a worker that is not heard of goes; the database's clock may be set by hours
_NO_WORKER = ""

_run, _event, _worker = schema.run, schema.event, schema.worker
_IS_ASKED = _run.c.shadow_of.is_(None)
# As literals: a statement that PostgreSQL has prepared could not use the partial indexes.
_QUEUED, _RUNNING, _PARKED = (
    _run.c.status == literal_column(f"'{status}'") for status in ("queued", "running", "parked")
)


def _ends() -> Select[Any]:
    """The numbers of turns and calls of a run that have ended since it was claimed."""
    ends = (_event.c.run_id == _run.c.id) & (_event.c.seq > _run.c.progress_seq)
    return select(_event.c.seq).where(ends & _event.c.kind.in_(("turn_end", "tool_end"))).correlate(_run)


_SUSPECT: Final = 2
"""After this many claims without a finished turn or call, the run may be what killed its workers."""
_IS_SUSPECT = (_run.c.attempts >= _SUSPECT) & ~_ends().exists()


class Sighting(NamedTuple):
    """The state of another worker.

    Args:
        beat_at: its last heartbeat, by the database's clock, which may be set; it tells whether there was another one.
        is_free: its lock is free: it has died, or lost the connection that held it.
    """

    beat_at: float
    is_free: bool = False


@dataclass(frozen=True, slots=True)
class Sightings:
    """The states of the other workers that have runs.

    Args:
        workers: when each was last seen, by worker name.
        has_queued: runs wait for a worker.
        up_s: for how long the server has been running.
    """

    workers: Mapping[str, Sighting]
    has_queued: bool
    up_s: float


class Presence:
    """Whether this worker holds its lock, which tells the others at once when it dies.

    Args:
        clock: monotonic time.
    """

    def __init__(self, clock: Clock) -> None:
        self.has_lock = False
        self._clock = clock
        self._settled_s: float | None = None

    def gained(self) -> None:
        """It holds the lock; the first time, it can judge others by theirs at once."""
        self.has_lock = True
        now_s = self._clock.now()
        self._settled_s = now_s if self._settled_s is None else now_s + GRACE_S

    def lost(self) -> None:
        """The connection that held it is gone; those of others may be as well."""
        self.has_lock = False

    @property
    def can_judge(self) -> bool:
        """Whether a free lock of another worker says that it has died."""
        return self.has_lock and self._settled_s is not None and self._clock.now() >= self._settled_s


class RunClaims:
    """The claims of one worker, and its heartbeat.

    Args:
        worker: the name of this worker.
        now: seconds since the epoch.
    """

    def __init__(
        self,
        database: Database,
        *,
        writer: Writer,
        worker: str,
        presence: Presence,
        now: Callable[[], float],
    ) -> None:
        self.presence = presence
        self._database = database
        self._writer = writer
        self._worker = worker
        self._now = now
        self._on_queued: Callable[[], None] | None = None

    def subscribe(self, on_queued: Callable[[], None]) -> None:
        """Have a function called when runs may wait for a worker, in the event loop."""
        self._on_queued = on_queued

    def look(self) -> None:
        """Runs may wait for a worker."""
        if self._on_queued is not None:
            self._on_queued()

    async def beat(self) -> None:
        """Write the heartbeat of this worker; the only one there is says nothing while it runs nothing.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        await self._writer.write(self._beat)

    def _beat(self, connection: Connection) -> None:
        dialect, mine = self._database.dialect, _worker.c.name == self._worker
        if not dialect.is_shared:
            running = select(_run.c.id).where((_run.c.worker == self._worker) & _RUNNING).limit(1)
            if connection.execute(running).first() is None:
                return
        fields = {"beat_at": dialect.clock(connection), "has_lock": self.presence.has_lock}
        if connection.execute(update(_worker).where(mine).values(fields)).rowcount == 0:
            connection.execute(delete(_worker).where(_worker.c.beat_at < fields["beat_at"] - _FORGET_S))
            connection.execute(insert(_worker), {"name": self._worker, **fields})

    async def sightings(self) -> Sightings:
        """The other workers that have running queries, and whether there are runs without a worker.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(self._sightings)

    def _sightings(self, connection: Connection) -> Sightings:
        dialect, queued = self._database.dialect, select(_run.c.id).where(_QUEUED).limit(1)
        beats = connection.execute(_beats(_running_elsewhere(self._worker))).all()
        free = dialect.free_locks(connection, [worker_lock(row.worker) for row in beats if row.has_lock])
        workers = {row.worker: Sighting(row.beat_at, is_free=worker_lock(row.worker) in free) for row in beats}
        return Sightings(workers, connection.execute(queued).first() is not None, dialect.up_s(connection))

    async def claim(self, most: int, places: Places = _NO_BOUNDS, *, only: str | None = None) -> list[RunRecord]:
        """Claim runs that wait for a worker.

        Args:
            most: the greatest number of runs.
            places: the bounds that hold for all.
            only: this run, whoever else waits and whatever the bounds; also if it is parked.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """

        def work(connection: Connection) -> list[RunRecord]:
            if only is not None:
                return self._take(connection, (_run.c.id == only) & (_QUEUED | _PARKED), most=1)
            if places.are_shared:  # counted by one worker at a time
                self._database.dialect.lock(connection, "claims")
            limit = most if places.here is None else min(most, places.here)
            if places.in_all is not None:
                limit = min(limit, places.in_all - _count(connection, _RUNNING & _IS_ASKED))
            if limit <= 0:
                return []
            within = _QUEUED if places.per_user is None else _QUEUED & _run.c.id.in_(_within_bound(places.per_user))
            return self._take(connection, within, most=limit)

        return await self._writer.write(work, is_alone=places.are_shared)

    async def take_over(
        self, silent: Mapping[str, float] | None, *, most: int | None = None, suspects: bool | None = None
    ) -> list[RunRecord]:
        """Take over the running queries of dead workers; each of them goes to one worker only.

        Args:
            silent: the workers, with the last heartbeat that was seen of each; one that has shown itself since is
                alive. `None` takes the running queries of all other workers, and of this one: at the start of the only
                server.
            most: the greatest number of runs; `None`: all.
            suspects: only those that were claimed twice and have come no further (they may be what kills workers), the
                least suspect first; `False`: only others; `None`: all.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """

        def work(connection: Connection) -> list[RunRecord]:
            wanted = _RUNNING
            if silent is not None:
                wanted = _running_elsewhere(self._worker)
                wanted &= _run.c.worker.in_(self._still_silent(connection, silent))
            if suspects is not None:
                wanted &= _IS_SUSPECT if suspects else ~_IS_SUSPECT
            return self._take(connection, wanted, most=most, order=_run.c.attempts)

        return await self._writer.write(work)

    def _still_silent(self, connection: Connection, silent: Mapping[str, float]) -> list[str]:
        """The workers that have not shown themselves; they cannot commit until this transaction has ended."""
        dialect, names = self._database.dialect, []
        for name in silent:
            if dialect.close_fence(connection, name):
                names.append(name)
            else:  # stopped in the middle of a commit; or it lives, and commits it again
                dialect.break_fence(connection, name)
        beats = connection.execute(_beats(_running_elsewhere(self._worker) & _run.c.worker.in_(names)))
        return [row.worker for row in beats if row.beat_at == silent[row.worker]]

    def _take(
        self,
        connection: Connection,
        wanted: ColumnElement[bool],
        *,
        most: int | None,
        order: ColumnElement[int] = _run.c.turn,
    ) -> list[RunRecord]:
        free = select(_run.c.id).where(wanted).order_by(order, _run.c.n).limit(most).with_for_update(skip_locked=True)
        change = _claim(worker=self._worker, at=self._now()).where(_run.c.id.in_(free.cte("free").select()))
        taken = connection.execute(change.returning(*_run.c)).all()
        return sorted((record_of(row) for row in taken), key=lambda run: run.n)

    async def give_back(self, run: RunRecord, *, is_cancelled: bool = False) -> None:
        """Let another worker have a run that was claimed and not continued.

        Args:
            run: the row that the claim returned.
            is_cancelled: that worker is to cancel it.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        mine = (_run.c.id == run.id) & (_run.c.epoch == run.epoch) & _RUNNING

        def work(connection: Connection) -> None:
            if connection.execute(update(_run).where(mine).values(left(is_parked=False))).rowcount and is_cancelled:
                command = {"run_id": run.id, "kind": "cancel", "data": {}, "at": self._now()}
                connection.execute(insert(schema.command), command)
            announce(connection, self._database.dialect)

        await self._writer.write(work)


def worker_lock(worker: str) -> str:
    """The name of the lock that a worker's listening connection holds."""
    return f"worker {worker}"


def announce(connection: Connection, dialect: Dialect) -> None:
    """Tell the workers, with this commit, that a run waits for one of them."""
    dialect.notify(connection, QUEUE_CHANNEL, [""])


def left(*, is_parked: bool, wake_at: float | None = None) -> dict[str, Any]:
    """The fields of a run's row when its worker has left it: to another worker, or until a person answers.

    This is not a failure: a hand-over does not count as an attempt, and the counting restarts for a run that has
    waited.
    """
    attempts = 0 if is_parked else case((_run.c.attempts > 0, _run.c.attempts - 1), else_=0)
    status = "parked" if is_parked else "queued"
    return {"status": status, "worker": _NO_WORKER, "attempts": attempts, "wake_at": wake_at}


def next_turn(connection: Connection, user_id: str) -> int:
    """The turn of a run that begins to wait: after all others of its user, and as early as the first of anybody."""
    of_user = select(func.max(_run.c.turn)).where(_QUEUED & (_run.c.user_id == user_id))
    last = connection.execute(of_user).scalar()
    if last is not None:
        return int(last) + 1
    return connection.execute(select(func.min(_run.c.turn)).where(_QUEUED)).scalar() or 0


def count_waiting(connection: Connection) -> int:
    """How many runs wait for a worker."""
    return _count(connection, _QUEUED)


def has_place(connection: Connection, places: Places, user_id: str) -> bool:
    """Whether a run of the user may begin now. Those that wait for the same place come first."""
    if places == _NO_BOUNDS:
        return True
    if places.here is not None and places.here <= 0:
        return False
    active = (_RUNNING | _QUEUED) & _IS_ASKED
    if places.per_user is not None:
        of_user = active & (_run.c.user_id == user_id)
        if _count(connection, of_user) >= places.per_user:
            return False
        active = _RUNNING & _IS_ASKED  # those that wait may wait for others of their own user
    elif count_waiting(connection):
        return False
    return places.in_all is None or _count(connection, active) < places.in_all


def _claim(*, worker: str, at: float) -> Update:
    last_end = _ends().order_by(_event.c.seq.desc()).limit(1).scalar_subquery()
    is_fresh = _QUEUED & (_run.c.epoch == 1) & _run.c.parked_at.is_(None)
    return update(_run).values(
        status="running",
        worker=worker,
        epoch=_run.c.epoch + 1,
        attempts=case((last_end.is_not(None), 1), (is_fresh, 0), else_=_run.c.attempts + 1),
        progress_seq=func.coalesce(last_end, _run.c.progress_seq),
        wake_at=None,
        # The time in which it has waited for its first place does not count.
        deadline_at=case((is_fresh, at + _run.c.deadline_at - _run.c.created_at), else_=_run.c.deadline_at),
    )


def _within_bound(per_user: int) -> Select[Any]:
    """The runs that wait, without those of users whose running and earlier waiting runs fill the bound."""
    order = (case((_RUNNING, 0), else_=1), _run.c.turn, _run.c.n)
    place = func.row_number().over(partition_by=_run.c.user_id, order_by=order).label("place")
    active = select(_run.c.id, place).where((_RUNNING | _QUEUED) & _IS_ASKED).subquery()
    return select(active.c.id).where(active.c.place <= per_user)


def _beats(wanted: ColumnElement[bool]) -> Select[Any]:
    """The workers of some runs, with their heartbeats; 0 of those that have written none."""
    workers = select(_run.c.worker).where(wanted).distinct().subquery()
    query = select(
        workers.c.worker,
        func.coalesce(_worker.c.beat_at, 0.0).label("beat_at"),
        func.coalesce(_worker.c.has_lock, False).label("has_lock"),
    )
    return query.outerjoin(_worker, _worker.c.name == workers.c.worker)


def _running_elsewhere(worker: str) -> ColumnElement[bool]:
    return _RUNNING & (_run.c.worker != worker)


def _count(connection: Connection, wanted: ColumnElement[bool]) -> int:
    return connection.execute(select(func.count()).select_from(_run).where(wanted)).scalar_one()
