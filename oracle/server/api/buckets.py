"""Where it is kept how many requests each user may still send: in this process, or for several on one machine."""

import fcntl
import mmap
import struct
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Final, NamedTuple, Protocol

_MOST_USERS: Final = 10_000
_SLOT: Final = struct.Struct("=8sdd")
_SLOTS: Final = 16_384
_TRIED: Final = 8
"""The slots that a user may have; so many users must meet in them before one is forgotten."""


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
