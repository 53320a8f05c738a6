"""The latest chunks of a run in memory, and who waits for more."""

import asyncio

from oracle.runs.storage.records import StoredChunk
from oracle.runs.storage.tails import MOST_BYTES, Tail


def written_here() -> Tail:
    """The tail of a run that this process writes."""
    tail = Tail("run-1")
    tail.begin(0)
    return tail


def test_of_large_chunks_only_the_latest_stays_in_memory() -> None:
    tail = written_here()
    for n in range(1, 5):
        large = StoredChunk(n, b"x" * MOST_BYTES)
        tail.publish([large])
        assert tail.after(n - 1, limit=10) == [large]
        assert tail.after(n, limit=10) == []
        assert n == 1 or tail.after(n - 2, limit=10) is None


async def test_a_follower_that_stops_waiting_takes_nothing_from_the_others() -> None:
    tail = written_here()
    gone, waiting = (asyncio.create_task(tail.changed(tail.changes)) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait({gone})
    tail.publish([StoredChunk(1, b"{}")])
    await waiting
    assert gone.cancelled()
    await tail.changed(0)  # a change that is past is not waited for
