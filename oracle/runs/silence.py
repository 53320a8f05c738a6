"""Which workers are silent: those whose heartbeat has not changed for a while, measured by this observer's own clock.

Heartbeats are times of the database's clock, and no clock is compared with another here. A clock that is set, by hand
or by a time server after a suspend, would make live workers look silent, and their runs would be ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bt_runtime import Clock


@dataclass(frozen=True, slots=True)
class _Seen:
    """A heartbeat, and since when it has been the latest."""

    beat: float
    since_s: float


class Silence:
    """What one observer has seen of the other workers.

    Args:
        silent_s: how long a heartbeat may stay the same.
        clock: monotonic time.
    """

    def __init__(self, *, silent_s: float, clock: Clock) -> None:
        self._silent_s = silent_s
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    def note(self, beats: Mapping[str, float]) -> dict[str, float]:
        """Look at the latest heartbeat of each worker; returns those of the silent ones."""
        now_s = self._clock.now()
        fresh = {worker: _Seen(beat, now_s) for worker, beat in beats.items()}
        self._seen = {
            worker: before if (before := self._seen.get(worker)) is not None and before.beat == seen.beat else seen
            for worker, seen in fresh.items()
        }
        return {worker: seen.beat for worker, seen in self._seen.items() if now_s - seen.since_s >= self._silent_s}

    def forget(self) -> None:
        """Begin anew: the observer itself was away, and cannot tell what it has missed."""
        self._seen = {}
