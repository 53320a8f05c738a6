"""A bound on a run from outside its tree: when the run must end, and what it may start.

A tree decides how it ends; a supervisor enforces bounds that the tree does not. It is called after each tick, so the
tree always decides first. Its decisions are not part of the tree: the tick records of a run that it has ended are those
of a run that was halted, so a replay needs no supervisor.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from bt_runtime.context import Request


class Standing(NamedTuple):
    """The state of a run between two ticks.

    Args:
        now_s: the time of the last tick, in seconds of the run's clock.
        posted: requests that have not been started, in the order in which they were posted; held ones come first.
        under_way: requests whose work has not ended.
        again: the path of the node that asked to be ticked again at once; `None` if none did.
        rests: the run is about to wait: no event is pending, and no node asked for another tick.
    """

    now_s: float
    posted: Sequence[Request]
    under_way: Collection[Request]
    again: str | None
    rests: bool


class Supervisor(Protocol):
    """Bounds one run."""

    def deadline_s(self) -> float | None:
        """The time by which the run must be ticked, in seconds of its clock; `None` if there is none."""
        ...

    def judge(self, standing: Standing) -> Sequence[Request] | None:
        """Called after each tick after which the tree is RUNNING.

        Returns:
            The posted requests to start now. The others are held: they are in the next `Standing` again. `None` ends
            the run: pending work is cancelled and awaited, and posted requests are never started.

        Raises:
            RunError: the run cannot continue; it ends with this error.
        """
        ...
