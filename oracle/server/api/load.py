"""How many requests each user may still send, and whether the process keeps up with its work.

Rules:

- A process whose event loop is late refuses new queries, so that those under way end in time. Nothing else is refused:
  streams, resumed ones, reads and cancels only serve what has begun, and a query that is sent again with its key is
  such a read.
- It refuses before clients give up. The first of them are liveness probes, which wait a second and by default end a
  process, with everything that it does, at the third failure within 20 to 30 s (Kubernetes). Hence `MOST_LAG_S`, and
  measurements of the last seconds: a lag of 2 s is an overload after 7 s, one of 1.2 s after 10.
- One stall is no overload, however long it was, nor are two: a lag in one measurement after another is.
- Queries that come at once are opened a few at a time, so that the event loop has time for what has begun, and for
  probes. A few more wait for a moment; all others are refused, which costs less than a tenth of an opening.
"""

import asyncio
import fcntl
import mmap
import struct
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Final, NamedTuple, Protocol

import structlog

from oracle.core.errors import AnswerFields, UserError

log = structlog.get_logger(__name__)


_MOST_USERS: Final = 10_000
_SLOT: Final = struct.Struct("=8sdd")
_SLOTS: Final = 16_384
_TRIED: Final = 8
"""The slots that a user may have: a user is forgotten only if more users than this meet in them."""


class Bucket(NamedTuple):
    """How many requests are left, at a monotonic time in seconds."""

    left: float
    at: float


class Buckets(Protocol):
    """The buckets of users. One that was not used for long may be forgotten: it is the likeliest to be full."""

    def change(self, user_id: str, change: Callable[[Bucket | None], Bucket]) -> Bucket:
        """Replace a user's bucket by what `change` makes of it (of `None`, if there is none); returns the new one."""
        ...


class OwnBuckets:
    """Those of one process."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()  # oldest use first

    def __len__(self) -> int:
        return len(self._buckets)

    def change(self, user_id: str, change: Callable[[Bucket | None], Bucket]) -> Bucket:
        """Replace a user's bucket."""
        bucket = self._buckets[user_id] = change(self._buckets.pop(user_id, None))
        if len(self._buckets) > _MOST_USERS:
            self._buckets.popitem(last=False)
        return bucket


class SharedBuckets:
    """Those of a process and all that it forks, in memory that they share; a lock of the system's excludes them.

    A process that dies has released the lock, and has changed a bucket wholly or not at all, up to the moment of a
    copy of 24 bytes.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  for as long as the process
        self._file.truncate(_SLOTS * _SLOT.size)
        self._slots = mmap.mmap(self._file.fileno(), _SLOTS * _SLOT.size)

    def close(self) -> None:
        """Give the memory back; a service needs it for as long as its process lives."""
        self._slots.close()
        self._file.close()

    def change(self, user_id: str, change: Callable[[Bucket | None], Bucket]) -> Bucket:
        """Replace a user's bucket."""
        name = blake2b(user_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        first = int.from_bytes(name) % (_SLOTS - _TRIED)
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            found = {at: _SLOT.unpack_from(self._slots, at * _SLOT.size) for at in range(first, first + _TRIED)}
            place = next((at for at, slot in found.items() if slot[0] == name), None)
            bucket = change(None if place is None else Bucket(*found[place][1:]))
            if place is None:
                place = min(found, key=lambda at: found[at][2])  # the free ones have the time 0
            _SLOT.pack_into(self._slots, place * _SLOT.size, name, *bucket)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
        return bucket


MOST_LAG_S: Final = 1.0
"""The smoothed lag from which on new queries are refused; they are taken again below half of it."""
MOST_OPENINGS: Final = 16
"""Queries that are being opened at a time."""
MOST_WAITING: Final = 64
"""Queries that wait for that."""
MOST_WAIT_S: Final = 1.0
"""How long each of them waits."""
_WEIGHT: Final = 0.25  # of the latest measurement
_COUNTED_S: Final = 2.0  # the most that a measurement counts


_LATER: Final[AnswerFields] = {
    "status": 503,
    "detail": "The service is overloaded; try again in a moment.",
}


class LoopLoad:
    """Judges measurements of the event loop's lag, which come at regular intervals, and lets queries in.

    Args:
        most_wait_s: how long a query waits until it is opened.
    """

    def __init__(self, *, most_wait_s: float = MOST_WAIT_S) -> None:
        self._most_wait_s = most_wait_s
        self._places = asyncio.Semaphore(MOST_OPENINGS)
        self._openings = 0  # and those that wait for theirs
        self.lag_s = 0.0
        """The smoothed lag; a longer measurement counts as 2 s."""
        self.is_overloaded = False

    def note(self, lag_s: float) -> None:
        """Take note of a measurement, in seconds."""
        self.lag_s += _WEIGHT * (min(lag_s, _COUNTED_S) - self.lag_s)
        if self.is_overloaded and self.lag_s < MOST_LAG_S / 2:
            self.is_overloaded = False
            log.info("service.caught_up")
        elif not self.is_overloaded and self.lag_s > MOST_LAG_S:
            self.is_overloaded = True
            log.warning("service.overloaded", lag_ms=round(self.lag_s * 1000))

    def admit(self) -> None:
        """Let a new query in.

        Raises:
            UserError: the process is late, or as many queries as may wait to be opened.
        """
        if self.is_overloaded:
            raise UserError(f"the event loop is {self.lag_s:.1f} s late; at most {MOST_LAG_S} s are allowed", **_LATER)
        if self._openings >= MOST_OPENINGS + MOST_WAITING:
            raise UserError(f"{MOST_WAITING} runs wait to be opened, and no more may", **_LATER)

    @asynccontextmanager
    async def opening(self) -> AsyncIterator[None]:
        """Let a new query in when it is its turn; it is being opened while this is entered.

        Raises:
            UserError: it is refused, or it is not its turn in time.
        """
        self.admit()
        self._openings += 1
        waiting = asyncio.timeout(self._most_wait_s)
        try:
            async with waiting, self._places:
                waiting.reschedule(None)
                yield
        except TimeoutError:
            if not waiting.expired():
                raise
            raise UserError(f"the run has waited {self._most_wait_s} s for others to be opened", **_LATER) from None
        finally:
            self._openings -= 1
