"""The bounds of shadow runs in one process."""

from dataclasses import dataclass

HOUR_S = 3_600.0


@dataclass(frozen=True, slots=True)
class ShadowOptions:
    """Bounds of the shadow runs of a process.

    Args:
        rate: the share of runs that are shadowed, 0 to 1.
        at_once: how many shadows run concurrently.
        most_waiting: how many ended runs wait for their shadow; further ones are dropped, and counted.
        tokens_per_hour: the most tokens of all shadows in an hour; `None`: any number.
        pause_s: how long no shadow begins or goes on after the provider has refused a request, of a user's query or of
            a shadow, because of its load or a rate limit; longer if the provider asks for it.
        beside: beside how many queries shadows work; while more are under way, shadows wait.
        wait_s: how long a shadow may wait for them, before it begins and between its steps, all together.
        stop_s: how long shadows may take to end when the service is stopping.
    """

    rate: float = 1.0
    at_once: int = 2
    most_waiting: int = 100
    tokens_per_hour: int | None = None
    pause_s: float = 60.0
    beside: int = 0
    wait_s: float = 300.0
    stop_s: float = 1.0
