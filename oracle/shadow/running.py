"""Runs shadows: the question of an ended run once more, under the other control, out of the user's sight.

Rules:

- A shadow begins when its primary has ended: then the primary's results are there to answer from, and nothing of the
  shadow can hold up or change what the user reads.
- What ends waits in a bounded queue, and for a bounded time while queries are under way (`oracle.shadow.gate`). What
  does not fit, has waited for too long, or would exceed a quota, is dropped, and counted.
- A failure of a shadow is noted with its pair, in the log and in the metrics, and nowhere else.
- A shadow ends when its conversation is deleted, when it is cancelled, and when the service stops.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final, NamedTuple

import structlog

from bt_runtime import Clock, SystemClock
from oracle.metrics import Metrics
from oracle.runs.live import LiveRun
from oracle.shadow.gate import PROVIDER_BUSY, SERVICE_BUSY, Gate
from oracle.shadow.options import HOUR_S, ShadowOptions
from oracle.shadow.rehearsing import Rehearsal, Stage
from oracle.shadow.sampling import Quota, is_sampled
from oracle.storage import RunRecord, ShadowPair, StorageError, Store

log = structlog.get_logger(__name__)

_OVERLOADED: Final = "provider_overloaded"


class _Waiting(NamedTuple):
    """An ended run that waits for its shadow, and how long the service had been busy when it came."""

    run: RunRecord
    busy_s: float


class Shadows:
    """The shadows of the runs of one process (`oracle.runs.Follower`).

    Args:
        stage: where a shadow runs.
        store: has the runs, and keeps the pairs.
        options: bounds.
        metrics: of the process.
        clock: monotonic time.
    """

    def __init__(
        self, stage: Stage, *, store: Store, options: ShadowOptions, metrics: Metrics, clock: Clock | None = None
    ) -> None:
        self._stage = stage
        self._store = store
        self._options = options
        self._metrics = metrics
        self._clock = clock or SystemClock()
        self._quota = Quota(options.tokens_per_hour, now_s=self._clock.now)
        self._gate = Gate(most_beside=options.beside, clock=self._clock)
        self._waiting: deque[_Waiting] = deque()
        self._live: dict[str, tuple[RunRecord, LiveRun]] = {}  # by the shadow's id, with the primary
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = 0
        self._is_stopping = False

    @property
    def active(self) -> int:
        """How many shadows are under way or waiting here."""
        return self._running + len(self._waiting)

    def offer(self, run: RunRecord, reason: str) -> None:
        """Take note of a run that has ended; it is shadowed if it is drawn, and if there is room."""
        is_meant = run.shadow_of is None and run.tree == self._stage.control.shadows
        if self._is_stopping or not is_meant or reason in ("user_cancelled", "lost"):
            return
        if not is_sampled(run.id, self._options.rate):
            return
        self._drop_overdue()
        has_to_wait = self._running >= self._options.at_once or self._gate.is_busy
        if has_to_wait and len(self._waiting) >= self._options.most_waiting:
            self._drop(run, "queue_full")
            return
        self._waiting.append(_Waiting(run, self._gate.busy_s))
        self._go_on()

    def note_active(self, queries: int) -> None:
        """So many queries of users are under way here; while there are too many, shadows wait.

        A query that begins is held up by nothing that is done here: what waits is looked at when one has ended.
        """
        was_busy = self._gate.is_busy
        self._gate.note_active(queries)
        if was_busy and not self._gate.is_busy:
            self._drop_overdue()
            self._go_on()

    def note_load(self, retry_after_s: float | None) -> None:
        """The provider has refused a request because of load or a rate limit: leave it to users for a while.

        Args:
            retry_after_s: the wait that it asks for; `None` if it asks for none.
        """
        self._gate.pause(min(max(self._options.pause_s, retry_after_s or 0.0), HOUR_S))

    def cancel(self, run_id: str) -> bool:
        """End a shadow; returns whether it is under way here."""
        found = self._live.get(run_id)
        if found is not None:
            found[1].cancel()
        return found is not None

    def forget(self, user_id: str, context_id: str) -> None:
        """End the shadows of a conversation's runs, and drop those that wait."""

        def is_of(run: RunRecord) -> bool:
            return (run.user_id, run.context_id) == (user_id, context_id)

        self._waiting = deque(each for each in self._waiting if not is_of(each.run))
        for primary, live in tuple(self._live.values()):
            if is_of(primary):
                live.lose()

    async def stop(self) -> None:
        """End all shadows: those under way are cancelled, and keep what they have; those that wait are dropped."""
        self._is_stopping = True
        for each in self._waiting:
            self._drop(each.run, "stopping")
        self._waiting.clear()
        for _, live in tuple(self._live.values()):
            live.cancel()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=self._options.stop_s)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=self._options.stop_s)

    async def idle(self) -> None:
        """Wait until no shadow is under way, or can be without the end of a query."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _go_on(self) -> None:
        """Begin as many shadows as may run at a time."""
        gate = self._gate
        while self._waiting and self._running < self._options.at_once and not (gate.is_busy or self._is_stopping):
            run, busy_s = self._waiting.popleft()
            budget = self._stage.token_budget(run)
            if gate.is_paused:
                self._drop(run, PROVIDER_BUSY)
            elif not self._quota.has_room(budget):
                self._drop(run, "quota")
            else:
                self._running += 1
                wait_s = self._options.wait_s - (gate.busy_s - busy_s)
                rehearsal = Rehearsal(self._stage, run, gate=gate, wait_s=wait_s)
                self._spawn(self._see_through(rehearsal, run, budget), name=f"shadow:{run.id}")

    def _drop_overdue(self) -> None:
        """Drop what has waited for too long; the first have waited longest."""
        while self._waiting and self._gate.busy_s - self._waiting[0].busy_s > self._options.wait_s:
            self._drop(self._waiting.popleft().run, SERVICE_BUSY)

    async def _see_through(self, rehearsal: Rehearsal, run: RunRecord, budget: int) -> None:
        """The task of one shadow."""
        try:
            with self._quota.spending(budget) as spending:
                spending.tokens = await self._rehearse(rehearsal, run)
        finally:
            self._running -= 1
            self._go_on()

    async def _rehearse(self, rehearsal: Rehearsal, run: RunRecord) -> int:
        """Run a shadow, and note what became of it; returns the tokens that it has used."""
        self._metrics.shadow_begun()
        outcome, tokens, similarity = "failed", 0, None
        try:
            why = await rehearsal.begin()
            if why:
                outcome = why
                return 0
            live = rehearsal.live
            self._live[live.record.id] = run, live
            if self._is_stopping:
                live.cancel()
            figures, outcome, tokens = await rehearsal.see_through()
            similarity = None if figures is None else figures.similarity
            if rehearsal.error_type == _OVERLOADED:
                self.note_load(None)
        except Exception as error:  # noqa: BLE001  whatever fails, the user does not notice
            log.warning("shadow.failed", run_id=run.id, problem=f"{type(error).__name__}: {error}")
            await rehearsal.give_up("failed")
        finally:
            self._live.pop(rehearsal.run_id, None)
            self._metrics.shadow_ended(outcome, tokens=tokens, similarity=similarity)
        return tokens

    def _drop(self, run: RunRecord, why: str) -> None:
        self._metrics.shadow_dropped(why)
        pair = self._stage.pair(run, state="dropped", why=why)
        self._spawn(self._note(pair), name=f"shadow-dropped:{run.id}")

    async def _note(self, pair: ShadowPair) -> None:
        try:
            await self._store.shadow_pairs.add(pair)
        except StorageError as error:
            log.warning("shadow.not_noted", run_id=pair.primary_id, problem=str(error))

    def _spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
