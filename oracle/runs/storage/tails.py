"""The latest committed chunks of the runs that are being written or followed, and the waiting readers.

Followers wait for chunks, watchers for anything that is committed of a run; a commit without chunks wakes no follower.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from oracle.runs.storage.records import StoredChunk

MOST_BYTES = 16 * 1024
"""Of one run in memory: the text of some seconds, longer than a follower is late where a process is overloaded. What is
older, or was missed by a slow follower, is read from the database."""
_OBJECTS_BYTES = 100
"""What a chunk takes in addition to its data."""


class Tail:
    """The end of one run's stream of chunks."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.last_n = 0
        """The last chunk that is known to be committed."""
        self.is_ended = False
        """`last_n` is the run's last chunk."""
        self.is_written_here = False
        """This process writes the run, so that every chunk is published here."""
        self.changes = 0
        """How often its followers were woken."""
        self.commits = 0
        """How often its watchers were woken."""
        self.users = 0
        self._chunks: list[StoredChunk] = []
        self._bytes = 0
        self._waiting: set[asyncio.Future[None]] = set()
        self._watching: set[asyncio.Future[None]] = set()

    def publish(self, chunks: Sequence[StoredChunk]) -> None:
        """These chunks are committed; they follow the last ones."""
        self._chunks.extend(chunks)
        self._bytes += sum(map(_size, chunks))
        if self._bytes > MOST_BYTES:
            # The oldest half goes, but never the latest chunk; at once, because each time costs a copy.
            gone = 0
            while self._bytes > MOST_BYTES // 2 and gone < len(self._chunks) - 1:
                self._bytes -= _size(self._chunks[gone])
                gone += 1
            del self._chunks[:gone]
        self.last_n = max(self.last_n, chunks[-1].n)
        self.wake()

    def begin(self, last_n: int) -> None:
        """This process writes the run from now on, after chunk `last_n`."""
        self.is_written_here, self.last_n = True, last_n
        self._chunks.clear()
        self._bytes = 0
        self.wake()

    def lose(self) -> None:
        """Another worker has the run."""
        self.is_written_here = False
        self._chunks.clear()
        self._bytes = 0
        self.wake()

    def end(self) -> None:
        """The last chunk was published."""
        self.is_ended = True
        self.wake()

    def wake(self) -> None:
        """Wake all followers and watchers that wait."""
        self.changes += 1
        if self._waiting:
            _release(self._waiting)
        self.committed()

    def committed(self) -> None:
        """Wake the watchers: something was committed, which need not be a chunk."""
        self.commits += 1
        if self._watching:
            _release(self._watching)

    def after(self, n: int, *, limit: int) -> list[StoredChunk] | None:
        """The chunks after number `n`; `None` if they must be read from the database."""
        knows_all = self.is_written_here or self.is_ended
        if knows_all and n >= self.last_n:
            return []
        if not knows_all or not self._chunks or self._chunks[0].n > n + 1:
            return None
        start = n + 1 - self._chunks[0].n
        return self._chunks[start : start + limit]

    async def changed(self, changes: int) -> None:
        """Wait until the followers have been woken more than `changes` times."""
        if self.changes <= changes:
            await _wait_in(self._waiting)

    async def committed_since(self, commits: int) -> None:
        """Wait until the watchers have been woken more than `commits` times."""
        if self.commits <= commits:
            await _wait_in(self._watching)


def _size(chunk: StoredChunk) -> int:
    return len(chunk.data) + _OBJECTS_BYTES


def _release(waiting: set["asyncio.Future[None]"]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)
    waiting.clear()


async def _wait_in(waiting: set["asyncio.Future[None]"]) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting.add(future)
    try:
        await future
    finally:
        waiting.discard(future)


class Tails:
    """The tails in use."""

    def __init__(self) -> None:
        self.is_closed = False
        """The store is closed: nothing more will come."""
        self._by_run: dict[str, Tail] = {}

    def __iter__(self) -> Iterator[Tail]:
        return iter(tuple(self._by_run.values()))

    def get(self, run_id: str) -> Tail | None:
        """The tail, if it is in use."""
        return self._by_run.get(run_id)

    def wake(self, run_id: str) -> None:
        """Wake the run's followers."""
        if (tail := self._by_run.get(run_id)) is not None:
            tail.wake()

    def close(self) -> None:
        """Wake all followers: nothing more will come."""
        self.is_closed = True
        for tail in self:
            tail.wake()

    @contextmanager
    def using(self, run_id: str) -> Iterator[Tail]:
        """The tail, in use as long as this is entered."""
        tail = self.take(run_id)
        try:
            yield tail
        finally:
            self.release(tail)

    def take(self, run_id: str) -> Tail:
        """Use the tail until `release`."""
        tail = self._by_run.get(run_id)
        if tail is None:
            tail = self._by_run[run_id] = Tail(run_id)
        tail.users += 1
        return tail

    def release(self, tail: Tail) -> None:
        """End one use of the tail."""
        tail.users -= 1
        if tail.users == 0 and self._by_run.get(tail.run_id) is tail:
            del self._by_run[tail.run_id]
