"""`Translator`: what an adapter makes of a run's chunks.

A translator is a pure function of the run's row as it was begun and of its chunks: no clock, no random id. Ids are made
from the run's id and the numbers of chunks. So the same run gives the same bytes whenever it is read, by any worker,
and a client that comes back gets the rest of them.
"""

from collections.abc import Iterable
from typing import Protocol

from oracle.core.chunks import Chunk


class Translator(Protocol):
    """Makes the frames of one stream: whole server-sent events, each with its blank line. Used for one stream only."""

    def opening(self) -> Iterable[bytes]:
        """The frames before the first chunk."""
        ...

    def frames(self, n: int, chunk: Chunk) -> Iterable[bytes]:
        """The frames of chunk `n`; those of `done` have the end of the protocol's message."""
        ...

    def parked(self) -> Iterable[bytes]:
        """The frames that end the message of a run that waits for people alone; the stream ends after them.

        Without any the stream stays open, and goes on with the run. Called again when it is read again.
        """
        ...
