"""Which runs are shadowed, and what shadows may cost."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b

from oracle.shadow.options import HOUR_S


def is_sampled(run_id: str, rate: float) -> bool:
    """Whether a run is shadowed: the same at any time and in any process, and still so at a higher rate."""
    drawn = int.from_bytes(blake2b(run_id.encode(), digest_size=8).digest())
    return drawn < rate * 2**64


@dataclass(slots=True)
class Spending:
    """What one shadow may cost, until it has been counted what it has cost.

    Args:
        tokens: reserved, later used.
    """

    tokens: int


class Quota:
    """The tokens of all shadows of a process within the last hour.

    Args:
        most: of them; `None`: any number.
        now_s: monotonic seconds.
    """

    def __init__(self, most: int | None, *, now_s: Callable[[], float]) -> None:
        self._most = most
        self._now_s = now_s
        self._used: deque[tuple[float, int]] = deque()
        self._reserved = 0

    def has_room(self, tokens: int) -> bool:
        """Whether a shadow that may need so many tokens fits into the hour."""
        if self._most is None:
            return True
        while self._used and self._used[0][0] <= self._now_s() - HOUR_S:
            self._used.popleft()
        return self._reserved + sum(used for _, used in self._used) + tokens <= self._most

    @contextmanager
    def spending(self, tokens: int) -> Iterator[Spending]:
        """Reserve so many tokens while a shadow runs; what it has used is counted afterwards."""
        spending = Spending(tokens)
        self._reserved += tokens
        try:
            yield spending
        finally:
            self._reserved -= tokens
            if self._most is not None:
                self._used.append((self._now_s(), spending.tokens))
