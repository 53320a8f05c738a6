"""Rate limiting: a token bucket for each user, in this process.

Each worker counts for itself; a limit over all workers belongs into a proxy in front.
"""

import math
from collections import OrderedDict
from collections.abc import Callable

_MOST_USERS = 10_000


class RequestLimit:
    """A bucket of `per_minute` requests for each user, refilled at that rate.

    Args:
        per_minute: how many.
        clock: monotonic seconds.
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float]) -> None:
        self._most = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # user: (left, at); oldest use first

    def take(self, user_id: str) -> int:
        """Count a request.

        Returns:
            0 if the request may proceed, otherwise the seconds until the next one may.
        """
        now = self._clock()
        left, at = self._buckets.pop(user_id, (self._most, now))
        left = min(self._most, left + (now - at) * self._per_second)
        wait_s = 0 if left >= 1 else max(1, math.ceil((1 - left) / self._per_second))
        self._buckets[user_id] = (left if wait_s else left - 1, now)
        if len(self._buckets) > _MOST_USERS:  # the least recently used is the likeliest to be full
            self._buckets.popitem(last=False)
        return wait_s
