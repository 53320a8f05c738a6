"""Who reads which run, and what follows when the last reader has left.

A run that nobody ever read goes on to its end; so does one whose reader lost the connection and came back. One that
was read and has had no reader for the grace time is cancelled: nobody waits for it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from bt_runtime import Clock
from oracle.retry import pause


@dataclass(slots=True)
class _Audience:
    """The readers of one run, by name, and the timer that runs while there is none."""

    present: set[str] = field(default_factory=set)
    timer: "asyncio.Task[None] | None" = None

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Readers:
    """The readers of this process's runs, whichever worker they are connected to.

    Args:
        grace_s: how long a run goes on without a reader.
        clock: the time.
        on_deserted: told the run whose readers have not come back.
    """

    def __init__(self, *, grace_s: float, clock: Clock, on_deserted: Callable[[str], None]) -> None:
        self._grace_s = grace_s
        self._clock = clock
        self._on_deserted = on_deserted
        self._audiences: dict[str, _Audience] = {}

    def join(self, run_id: str, reader: str) -> None:
        """A reader is there; a timer stops."""
        audience = self._audiences.setdefault(run_id, _Audience())
        audience.present.add(reader)
        audience.stop_timer()

    def leave(self, run_id: str, reader: str) -> None:
        """A reader has left; with the last one the timer starts."""
        audience = self._audiences.setdefault(run_id, _Audience())
        audience.present.discard(reader)
        if not audience.present and audience.timer is None:
            audience.timer = asyncio.create_task(self._wait(run_id), name=f"grace:{run_id}")

    def forget(self, run_id: str) -> None:
        """The run has ended."""
        audience = self._audiences.pop(run_id, None)
        if audience is not None:
            audience.stop_timer()

    def of(self, run_id: str) -> frozenset[str]:
        """Who reads a run now."""
        audience = self._audiences.get(run_id)
        return frozenset(audience.present) if audience is not None else frozenset()

    def __len__(self) -> int:
        return len(self._audiences)

    async def _wait(self, run_id: str) -> None:
        await pause(self._grace_s, clock=self._clock)
        self._on_deserted(run_id)
