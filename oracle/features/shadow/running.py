"""Runs shadows: the question of an ended run once more, under the other control, out of the user's sight.

Rules:

- A shadow begins when its primary has ended: then the primary's results are there to answer from, and nothing of the
  shadow can hold up or change what the user reads.
- One shadow runs at a time. What ends meanwhile waits in a bounded queue; what does not fit, or would exceed the budget
  of the hour, is dropped, and counted.
- A failure of a shadow is noted with its pair, in the log and in the metrics, and nowhere else.
- A shadow ends when its conversation is deleted, when it is cancelled, and when the service stops.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import blake2b
from typing import Any, Final

import structlog

from bt_runtime import Clock, SystemClock
from oracle.agent.control.choosing import Controls
from oracle.core.metrics import Metrics
from oracle.features.shadow.pairs import ShadowPair
from oracle.features.shadow.rehearsing import Rehearsal, Stage, shadow_control
from oracle.features.shadow.report import pairs_of
from oracle.runs.live import LiveRun
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store
from oracle.server.api.parts import ServiceParts
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import build_model, new_id

log = structlog.get_logger(__name__)


MOST_WAITING: Final = 100
"""Ended runs that wait for their shadow; further ones have none."""
PAUSE_S: Final = 60.0
"""How long shadows rest after the provider has refused a request because of load, if it does not ask for longer."""
HOUR_S: Final = 3_600.0

_STOP_S: Final = 1.0
_OVERLOADED: Final = "provider_overloaded"


def is_sampled(run_id: str, rate: float) -> bool:
    """Whether a run is shadowed: the same at any time and in any process, and still so at a higher rate."""
    drawn = int.from_bytes(blake2b(run_id.encode(), digest_size=8).digest())
    return drawn < rate * 2**64


class Gate:
    """When shadows of a process begin: not while a query is under way, nor for a while after a refusal of the provider.

    Args:
        clock: monotonic time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_busy = False
        self._paused_until_s = clock.now()
        self._waiting: set[asyncio.Event] = set()

    @property
    def is_paused(self) -> bool:
        """Whether the provider is left to the users."""
        return self._clock.now() < self._paused_until_s

    @property
    def is_open(self) -> bool:
        """Whether shadows may work."""
        return not (self._is_busy or self.is_paused)

    def note_active(self, queries: int) -> None:
        """So many queries are under way now."""
        self._is_busy = queries > 0
        if not self._is_busy:
            for opened in self._waiting:
                opened.set()

    def pause(self, seconds: float) -> None:
        """Leave the provider to the users for this long from now on, or longer if it is paused for longer."""
        self._paused_until_s = max(self._paused_until_s, self._clock.now() + seconds)

    def release(self) -> None:
        """Open it: nothing is left that could hold anybody up."""
        self._paused_until_s = self._clock.now()
        self.note_active(0)

    async def opened(self) -> None:
        """Return when it is open."""
        while not self.is_open:
            opened = asyncio.Event()
            self._waiting.add(opened)
            try:
                await self._clock.wait(opened, until_s=None if self._is_busy else self._paused_until_s)
            finally:
                self._waiting.discard(opened)


class Shadows:
    """The shadows of the runs of one process (`oracle.runs.options.Follower`).

    Args:
        stage: where a shadow runs.
        store: has the runs, and keeps the pairs.
        metrics: count shadows and their tokens.
        rate: the share of runs that are shadowed, 0 to 1.
        tokens_per_hour: the most tokens of all shadows in an hour; `None`: any number.
        clock: monotonic time.
    """

    def __init__(
        self,
        stage: Stage,
        *,
        store: Store,
        metrics: Metrics,
        rate: float = 1.0,
        tokens_per_hour: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._stage = stage
        self._store = store
        self._metrics = metrics
        self._rate = rate
        self._tokens_per_hour = tokens_per_hour
        self._clock = clock or SystemClock()
        self._gate = Gate(self._clock)
        self._waiting: deque[RunRecord] = deque()
        self._spent: deque[tuple[float, int]] = deque()
        """When shadows of the last hour ended, and their tokens."""
        self._live: tuple[RunRecord, LiveRun] | None = None
        """The primary and the shadow that is under way."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_working = False
        self._is_stopping = False

    @property
    def live_id(self) -> str | None:
        """The run id of the shadow that is under way; `None` if there is none."""
        return None if self._live is None else self._live[1].record.id

    @property
    def active(self) -> int:
        """How many shadows are under way or waiting here."""
        return len(self._waiting) + (self._live is not None)

    def offer(self, run: RunRecord, reason: str) -> None:
        """Take note of a run that has ended; it is shadowed if it is drawn, and if there is room."""
        is_meant = run.shadow_of is None and run.tree == self._stage.control.shadows
        if self._is_stopping or not is_meant or reason in ("user_cancelled", "lost"):
            return
        if not is_sampled(run.id, self._rate):
            return
        if self._gate.is_paused:
            self._drop(run, "provider_busy")
        elif len(self._waiting) >= MOST_WAITING:
            self._drop(run, "queue_full")
        else:
            self._waiting.append(run)
            if not self._is_working:
                self._is_working = True
                self._spawn(self._work(), name="shadows")

    def note_active(self, queries: int) -> None:
        """So many queries of users are under way here; shadows wait while there are any."""
        self._gate.note_active(queries)

    def note_load(self, retry_after_s: float | None) -> None:
        """The provider has refused a request because of load or a rate limit: leave it to users for a while.

        Args:
            retry_after_s: the wait that it asks for; `None` if it asks for none.
        """
        self._gate.pause(min(max(PAUSE_S, retry_after_s or 0.0), HOUR_S))

    def cancel(self, run_id: str) -> bool:
        """End a shadow; returns whether it is under way here."""
        if self._live is None or self.live_id != run_id:
            return False
        self._live[1].cancel()
        return True

    def forget(self, user_id: str, context_id: str) -> None:
        """End the shadows of a conversation's runs, and drop those that wait."""

        def is_of(run: RunRecord) -> bool:
            return (run.user_id, run.context_id) == (user_id, context_id)

        self._waiting = deque(run for run in self._waiting if not is_of(run))
        if self._live is not None and is_of(self._live[0]):
            self._live[1].lose()

    async def stop(self) -> None:
        """End all shadows: the one under way is cancelled, and keeps what it has; those that wait are dropped."""
        self._is_stopping = True
        while self._waiting:
            self._drop(self._waiting.popleft(), "stopping")
        if self._live is None:
            self._gate.release()
        else:
            self._live[1].cancel()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_STOP_S)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=_STOP_S)

    async def idle(self) -> None:
        """Wait until no shadow is under way or waits."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _work(self) -> None:
        """Run what waits, one after the other; each begins when no query is under way."""
        try:
            while self._waiting:
                await self._gate.opened()
                if not self._waiting:  # forgotten meanwhile
                    return
                run = self._waiting.popleft()
                if self._has_room(self._stage.token_budget(run)):
                    tokens = await self._rehearse(Rehearsal(self._stage, run), run)
                    self._spent.append((self._clock.now(), tokens))
                else:
                    self._drop(run, "quota")
        finally:
            self._is_working = False

    def _has_room(self, tokens: int) -> bool:
        """Whether a shadow that may need this many tokens fits into the hour."""
        while self._spent and self._spent[0][0] <= self._clock.now() - HOUR_S:
            self._spent.popleft()
        most = self._tokens_per_hour
        return most is None or sum(spent for _, spent in self._spent) + tokens <= most

    async def _rehearse(self, rehearsal: Rehearsal, run: RunRecord) -> int:
        """Run a shadow, and note what became of it; returns the tokens that it has used."""
        self._metrics.shadow_begun()
        outcome, tokens, similarity = "failed", 0, None
        try:
            why = await rehearsal.begin()
            if why:
                outcome = why
                return 0
            self._live = run, rehearsal.live
            if self._is_stopping:
                rehearsal.live.cancel()
            figures, outcome, tokens = await rehearsal.see_through()
            similarity = None if figures is None else figures.similarity
            if rehearsal.error_type == _OVERLOADED:
                self.note_load(None)
        except Exception as error:  # noqa: BLE001  whatever fails, the user does not notice
            log.warning("shadow.failed", run_id=run.id, problem=f"{type(error).__name__}: {error}")
            await rehearsal.give_up("failed")
        finally:
            self._live = None
            self._metrics.shadow_ended(outcome, tokens=tokens, similarity=similarity)
        return tokens

    def _drop(self, run: RunRecord, why: str) -> None:
        self._metrics.shadow_dropped(why)
        pair = self._stage.pair(run, state="dropped", why=why)
        self._spawn(self._note(pair), name=f"shadow-dropped:{run.id}")

    async def _note(self, pair: ShadowPair) -> None:
        try:
            await pairs_of(self._store).add(pair)
        except StorageError as error:
            log.warning("shadow.not_noted", run_id=pair.primary_id, problem=str(error))

    def _spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def other_control(settings: Settings) -> str:
    """What shadows are driven by, as `ORACLE_SHADOW_CONTROL` names it."""
    return settings["shadow_control"] or ("loop" if settings["shadow_primary"] == "tree" else "oracle")


@asynccontextmanager
async def open_shadows(parts: ServiceParts) -> AsyncIterator[None]:
    """Let shadows follow the runs of a service.

    They are answered by a model as the settings say, with a client of its own, so that its connections, its retries and
    what it learns of the provider's limits are its own. It repeats nothing that was refused because of load: what the
    provider allows is for the users. A model that was given to the service answers its shadows too.

    Raises:
        SettingsError: the provider's own settings cannot be used.
        OperatorError: there is no such version of a tree.
        UserError: there is no such tree.
        TreeFileError: the tree has mistakes.
        StoreUnavailableError: the database cannot be read at present.
    """
    settings, store, trees = parts.settings, parts.store, parts.trees.trees
    control = await shadow_control(
        other_control(settings), controls=Controls(trees), store=store, registry=trees.library.registry
    )
    async with AsyncExitStack() as stack:
        model = parts.given_model
        if model is None:
            model = build_model(settings, on_load=parts.provider_load.note, waits_for_load=False)
            stack.push_async_callback(model.aclose)
        shadows = Shadows(
            Stage(oracle=parts.oracle, model=model, control=control, store=store, new_id=new_id),
            store=store,
            metrics=parts.metrics,
            rate=settings["shadow_rate"],
            tokens_per_hour=settings["shadow_tokens_per_hour"],
        )
        parts.provider_load.listen(shadows.note_load)
        parts.runs.follow(shadows)
        parts.add(shadows)
        yield
