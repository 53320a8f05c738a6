"""Options of a process's runs: bounds and intervals, and the hook for runs that have ended."""

from typing import Protocol

from bt_runtime.text.data import dataclass
from oracle.runs.storage.records import RunRecord

TEXTS_GRACE_S = 60.0
"""Seconds after the end of a run in which its texts can still be read: a client may have lost its connection."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Bounds and intervals of a process's runs.

    Args:
        most_per_user: concurrent runs of a user, those that wait included; more are refused. `None`: no limit.
        most_here: runs that this worker has at a time; more wait until one ends, or another worker takes them.
        most_in_all: runs that all workers together have at a time.
        most_at_once: runs that a user has running at a time.
        reader_grace_s: how long a run goes on after its last reader has left, before it is cancelled.
        drain_s: how long runs may go on when the service is stopping.
        abort_s: how long a run may take to end on request, before its task is cancelled; and again after that.
        heartbeat_s: between two heartbeats.
        silent_s: a worker whose heartbeat has not changed for this long loses its runs.
        look_s: between two looks for workers that have died, and for runs that wait.
        most_unsaved_bytes: the most of one run that waits to be written while the store cannot be written; twice as
            much while it can.
        most_tick_bytes: the size of a run's ticks from which on they are recorded without long values; at twice that
            size the run is ended.
        retain_s: how long the texts of finished runs are kept; `None`: without limit.
        retain_bytes: the size of the store above which the oldest texts are deleted; `None`: no limit.
        retain_texts_s: how long the texts of finished runs are kept, where their figures are kept longer; `None`: as
            long as the figures. At least `TEXTS_GRACE_S`.
        prune_s: between two searches for texts to be deleted.
        claim_at_once: runs that this worker is opening, continuing or ending for others at a time.
        most_pause_s: how much of the pause between two workers of a run counts against its deadline.
        most_attempts: how often workers go on with a run that ends no turn and no tool call meanwhile.
    """

    most_per_user: int | None = None
    most_here: int | None = None
    most_in_all: int | None = None
    most_at_once: int | None = None
    reader_grace_s: float = 60.0
    drain_s: float = 10.0
    abort_s: float = 2.0
    heartbeat_s: float = 1.0
    silent_s: float = 5.0
    look_s: float = 0.5
    most_unsaved_bytes: int = 3_000_000
    most_tick_bytes: int = 4_000_000
    retain_s: float | None = None
    retain_bytes: int | None = None
    retain_texts_s: float | None = None
    prune_s: float = 600.0
    claim_at_once: int = 64
    most_pause_s: float = 30.0
    most_attempts: int = 5


class Follower(Protocol):
    """Handles ended runs; it never raises, and never makes a run wait."""

    def offer(self, run: RunRecord, reason: str) -> None:
        """Take note of a run of this process that has ended, and why."""
        ...

    def note_active(self, queries: int) -> None:
        """Take note of how many queries are under way in this process, whenever the number has changed."""
        ...

    def cancel(self, run_id: str) -> bool:
        """End one of the runs that it has started; returns whether there is such a run here."""
        ...

    def forget(self, user_id: str, context_id: str) -> None:
        """End and delete what it has started for the runs of a user's conversation, because that is being deleted."""
        ...

    async def stop(self) -> None:
        """End everything, because the service is stopping."""
        ...


class NoFollower:
    """Does nothing."""

    def offer(self, run: RunRecord, reason: str) -> None:
        """Ignore the run."""

    def note_active(self, queries: int) -> None:
        """Ignore the number."""

    def cancel(self, run_id: str) -> bool:  # noqa: ARG002
        """Return false: it starts no runs."""
        return False

    def forget(self, user_id: str, context_id: str) -> None:
        """Do nothing."""

    async def stop(self) -> None:
        """Do nothing: nothing is under way."""
