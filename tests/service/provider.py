"""The provider of a server that serves many tests: each lays out what is said next."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from tests.support.provider import RecordedRequest, Reply, StandInProvider


class _Script(Iterator[Reply]):
    """Replies that can still be laid out when all before were taken."""

    def __init__(self) -> None:
        self.replies: deque[Reply] = deque()

    def __next__(self) -> Reply:
        if not self.replies:
            raise StopIteration
        return self.replies.popleft()


class Desk:
    """A stand-in provider whose script changes from test to test; requests count from the latest `play`."""

    def __init__(self) -> None:
        self._script = _Script()
        self.provider = StandInProvider(self._script)
        self._before = 0

    def play(self, *replies: Reply) -> None:
        """Answer the next requests with these, and forget what was laid out before."""
        self._script.replies = deque(replies)
        self._before = len(self.provider.requests)

    def take_over(self) -> None:
        """Be what the provider plays again, after another script was laid out; nothing is laid out now."""
        self.provider.play(self._script)
        self.play()

    def add(self, reply: Reply) -> None:
        """Answer one request more."""
        self._script.replies.append(reply)

    @property
    def requests(self) -> list[RecordedRequest]:
        return self.provider.requests[self._before :]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests]

    async def wait_request(self, count: int = 1) -> RecordedRequest:
        return await self.provider.wait_request(self._before + count)

    async def wait_disconnected(self, count: int = 1) -> RecordedRequest:
        return await self.provider.wait_disconnected(self._before + count)
