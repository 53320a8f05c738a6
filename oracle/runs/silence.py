"""Finds silent workers: those whose heartbeat has not changed for a while, by the monotonic clock of the observer.

Heartbeats are times of the database's clock, and are not compared with another clock. Otherwise a clock that is set, by
hand or by a time server after a suspend, would make live workers look silent, and their runs would be ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bt_runtime import Clock


@dataclass(frozen=True, slots=True)
class _Seen:
    """A heartbeat, and when it was seen first."""

    beat: float
    since_s: float


class SilentWorkers:
    """The heartbeats that one observer has seen.

    Args:
        silent_s: how long a heartbeat may stay the same.
        clock: monotonic time.
    """

    def __init__(self, *, silent_s: float, clock: Clock) -> None:
        self._silent_s = silent_s
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    def note(self, beats: Mapping[str, float]) -> dict[str, float]:
        """Note the latest heartbeat of each worker; returns those of the silent workers."""
        now_s = self._clock.now()
        fresh = {worker: _Seen(beat, now_s) for worker, beat in beats.items()}
        self._seen = {
            worker: before if (before := self._seen.get(worker)) is not None and before.beat == seen.beat else seen
            for worker, seen in fresh.items()
        }
        return {worker: seen.beat for worker, seen in self._seen.items() if now_s - seen.since_s >= self._silent_s}

    def forget(self) -> None:
        """Start again: the observer was stopped itself, and does not know what it has missed."""
        self._seen = {}
