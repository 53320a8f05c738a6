"""When shadows may work: not while a query of a user is under way, nor for a while after a refusal of the provider.

Rules:

- A shadow is held before it begins, before each turn of its model and before each tool call that is run; what has
  begun goes on.
- While a shadow is held its clock stands still: no deadline comes nearer, and the wait is in none of its figures.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from bt_runtime import Clock, PausableClock
from oracle.llm.protocol import Model, ModelEvent, ModelRequest

Hold = Callable[[], Awaitable[None]]
"""Returns when the next step may begin."""


class Gate:
    """The gate of all shadows of a process.

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


class Held:
    """Holds one shadow at the gate: call it before each step.

    Args:
        gate: the one that all shadows share.
        clock: the clock behind that of the shadow.

    Attributes:
        clock: the time of the shadow, which stands still while it is held.
    """

    def __init__(self, gate: Gate, *, clock: Clock) -> None:
        self.clock = PausableClock(clock)
        self._gate = gate
        self._steps = 0

    async def __call__(self) -> None:
        """Return when the next step of the shadow may begin."""
        if self._gate.is_open:
            return
        self.clock.stop()
        self._steps += 1
        try:
            await self._gate.opened()
        finally:
            self._steps -= 1
            if not self._steps:
                self.clock.go()


class HeldModel:
    """A model whose turns begin when they may.

    Args:
        model: answers.
        hold: before each turn.
    """

    def __init__(self, model: Model, hold: Hold) -> None:
        self._model = model
        self._hold = hold
        self.name = model.name
        self.has_web_search = model.has_web_search

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
