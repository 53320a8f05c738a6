"""What one check of a tree may take, however large the tree is and whatever its text is made of."""

from time import thread_time

MOST_TICKS = 8_000
"""Of nodes in the walks of one check, well under a second."""
LONGEST_S = 2.0
"""Processor time of one check; the trees of this project take a hundredth of it."""
_LOOK_EVERY = 16  # questions; none takes more than some milliseconds, and looking at the time takes a system call


class OverBudgetError(Exception):
    """The check has taken more than it may, or is of no use any more."""


class Budget:
    """What is left for one check; its walks and its judges ask it as they go on.

    Args:
        longest_s: processor time of the thread that checks.
    """

    def __init__(self, *, ticks: int = MOST_TICKS, longest_s: float = LONGEST_S) -> None:
        self._ticks = ticks
        self._longest_s = longest_s
        self._until_s: float | None = None
        self._asked = 0
        self._is_cancelled = False

    def cancel(self) -> None:
        """End the check soon; may be called in another thread."""
        self._is_cancelled = True

    def spend(self, ticks: int = 0) -> None:
        """Take ticks, if any, and look whether the check may go on.

        Raises:
            OverBudgetError: it may not.
        """
        self._ticks -= ticks
        if self._ticks < 0 or self._is_cancelled:
            raise OverBudgetError
        self._asked += 1
        if self._asked % _LOOK_EVERY == 1:
            now_s = thread_time()
            if self._until_s is None:
                self._until_s = now_s + self._longest_s
            if now_s > self._until_s:
                self._ticks = -1  # and so for all that follows
                raise OverBudgetError
