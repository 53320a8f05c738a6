"""How runs are held: bounds and intervals, all in one place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Bounds and intervals of a process's runs.

    Args:
        most_per_user: runs that a user may have under way at a time; `None`: any number.
        reader_grace_s: how long a run that was read goes on without a reader before it is cancelled.
        drain_s: how long runs may go on once the service is stopping.
        abort_s: how long a run that was told to end may take, before its task is cancelled; and again after that.
        heartbeat_s: between two signs of life.
        silent_s: a worker that gave no sign for longer has lost its runs.
        reap_s: between two looks for such runs.
        patience_s: how long a run goes on while nothing of it can be written.
        most_unsaved_bytes: the most of one run that waits to be written while the store cannot be written; twice as
            much while it can.
        retain_s: how long the texts of finished runs are kept; `None`: for ever.
        retain_bytes: how large the store may get before the oldest texts go; `None`: any size.
        prune_s: between two looks for texts that must go.
        recover_at_once: interrupted runs that are ended side by side.
    """

    most_per_user: int | None = None
    reader_grace_s: float = 60.0
    drain_s: float = 10.0
    abort_s: float = 2.0
    heartbeat_s: float = 3.0
    silent_s: float = 15.0
    reap_s: float = 5.0
    patience_s: float = 30.0
    most_unsaved_bytes: int = 3_000_000
    retain_s: float | None = None
    retain_bytes: int | None = None
    prune_s: float = 600.0
    recover_at_once: int = 16
