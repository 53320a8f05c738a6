"""The latest chunks of a run in memory, and who waits for more."""

from oracle.storage import StoredChunk
from oracle.storage.tails import MOST_BYTES, Tail


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


async def test_a_future_that_is_ignored_is_not_set_at_the_next_change() -> None:
    tail = written_here()
    waiting, ignored = tail.news(), tail.news()
    tail.ignore(ignored)
    tail.publish([StoredChunk(1, b"{}")])
    assert waiting.done()
    assert not ignored.done()
