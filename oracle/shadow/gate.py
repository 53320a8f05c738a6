"""When shadows may work: not while too many queries of users are under way, nor for a while after a refusal.

Rules:

- A shadow is held before it begins, before each turn of its model and before each tool call that is run; what has
  begun goes on.
- While a shadow is held its clock stands still: no deadline comes nearer, and the wait is in none of its figures.
- One that has been held for too long, all its waits together, is ended, and says why.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from bt_runtime import Clock, PausableClock
from oracle.models.protocol import Model, ModelEvent, ModelRequest

SERVICE_BUSY = "service_busy"
PROVIDER_BUSY = "provider_busy"

Hold = Callable[[], Awaitable[None]]
"""Returns when the next step may begin."""


class Gate:
    """The gate of all shadows of a process.

    Args:
        most_beside: beside how many queries shadows may work.
        clock: monotonic time.
    """

    def __init__(self, *, most_beside: int, clock: Clock) -> None:
        self._most_beside = most_beside
        self._clock = clock
        self._busy_since_s: float | None = None
        self._busy_s = 0.0
        self._paused_until_s = clock.now()
        self._waiting: set[asyncio.Event] = set()

    @property
    def is_busy(self) -> bool:
        """Whether too many queries are under way."""
        return self._busy_since_s is not None

    @property
    def is_paused(self) -> bool:
        """Whether the provider is left to the users."""
        return self._clock.now() < self._paused_until_s

    @property
    def is_open(self) -> bool:
        """Whether shadows may work."""
        return not (self.is_busy or self.is_paused)

    @property
    def busy_s(self) -> float:
        """For how many seconds, all together, there were too many queries."""
        return self._busy_s + (0.0 if self._busy_since_s is None else self._clock.now() - self._busy_since_s)

    def note_active(self, queries: int) -> None:
        """So many queries are under way now."""
        is_busy = queries > self._most_beside
        if is_busy and self._busy_since_s is None:
            self._busy_since_s = self._clock.now()
        elif not is_busy:
            self._busy_s, self._busy_since_s = self.busy_s, None
            for opened in self._waiting:
                opened.set()

    def pause(self, seconds: float) -> None:
        """Leave the provider to the users for this long from now on, or longer if it is paused for longer."""
        self._paused_until_s = max(self._paused_until_s, self._clock.now() + seconds)

    async def opened(self, *, until_s: float) -> None:
        """Return when it is open, or at this time of the clock."""
        while not self.is_open and self._clock.now() < until_s:
            opened = asyncio.Event()
            self._waiting.add(opened)
            try:
                await self._clock.wait(opened, until_s=until_s if self.is_busy else min(until_s, self._paused_until_s))
            finally:
                self._waiting.discard(opened)


class Held:
    """Holds one shadow at the gate.

    Args:
        gate: of all.
        clock: of the process.
        most_s: for how long it may be held, all its waits together.
        give_up: ends the shadow, given the reason.

    Attributes:
        clock: of the shadow.
    """

    def __init__(self, gate: Gate, *, clock: Clock, most_s: float, give_up: Callable[[str], None]) -> None:
        self.clock = PausableClock(clock)
        self._gate = gate
        self._base = clock
        self._left_s = most_s
        self._until_s = 0.0
        self._steps = 0
        self._give_up = give_up
        self._is_over = False

    async def __call__(self) -> None:
        """Return when the next step of the shadow may begin."""
        if self._gate.is_open or self._is_over:
            return
        if not self._steps:
            self.clock.stop()
            self._until_s = self._base.now() + self._left_s
        self._steps += 1
        try:
            await self._gate.opened(until_s=self._until_s)
            if not self._gate.is_open:
                await self._end()
        finally:
            self._steps -= 1
            if not self._steps:
                self._left_s -= self.clock.go()

    async def _end(self) -> None:
        """End the shadow, and wait to be cancelled, so that the step does not begin after all."""
        if not self._is_over:
            self._is_over = True
            self._give_up(SERVICE_BUSY if self._gate.is_busy else PROVIDER_BUSY)
        await asyncio.get_running_loop().create_future()


class HeldModel:
    """A model whose turns begin when they may.

    Args:
        model: answers.
        hold: before each turn.
    """

    def __init__(self, model: Model, hold: Hold) -> None:
        self._model = model
        self._hold = hold

    @property
    def name(self) -> str:
        """That of the model behind it."""
        return self._model.name

    @property
    def has_web_search(self) -> bool:
        """Whether the model behind it has one."""
        return self._model.has_web_search

    async def aclose(self) -> None:
        """Do nothing: the model behind it is that of all shadows."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn, once it may begin.

        Raises:
            ModelError: the provider failed or refused the request.
        """
        await self._hold()
        async with aclosing(self._model.stream(request)) as events:
            async for event in events:
                yield event
