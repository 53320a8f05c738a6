"""Joins pieces of text while the store is behind, so that an overloaded process writes and sends fewer chunks.

Rules:

- A piece is held back only while an entry of its run has waited longer than `BEHIND_S` for its commit, which takes a
  slow database as well as a slow event loop. Otherwise it is written at once.
- What is held back is written when as much time has passed since its first piece as the entry had waited then, but from
  `HOLD_S` to `LONGEST_HOLD_S`, or earlier: before anything else of the run.
- Only pieces of one kind are joined. A chunk of two line breaks stays alone, and so does the sentence that gives the
  reason for the end.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from oracle.core.chunks import Chunk, Closing, Content, Thinking

BEHIND_S: Final = 0.02
"""Two commits of a store that keeps up."""
HOLD_S: Final = 0.025
LONGEST_HOLD_S: Final = 0.1
"""With a store this far behind, holding a piece back delays it for nobody."""
_MOST_CHARACTERS: Final = 4_096
_PARAGRAPH: Final = "\n\n"


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Do not make the call."""
        ...


class TextJoiner:
    """Passes the chunks of a run on in order, with pieces of text joined while the store is behind.

    It refers to what takes the chunks only while it holds some back, so that a run that has ended is freed at once.

    Args:
        pending_since_s: since when the oldest entry of the run has been waiting for its commit; `None`: none waits.
        now: monotonic seconds, the clock of `pending_since_s`.
        call_later: calls a function after a number of seconds; `None`: the running event loop's.
    """

    def __init__(
        self,
        *,
        pending_since_s: Callable[[], float | None],
        now: Callable[[], float] = time.monotonic,
        call_later: Callable[[float, Callable[[], None]], Timer] | None = None,
    ) -> None:
        self._pending_since_s = pending_since_s
        self._now = now
        self._call_later = call_later
        self._kind: type[Content | Thinking] = Content
        self._texts: list[str] = []
        self._size = 0
        self._timer: Timer | None = None

    def emit(self, chunk: Chunk, write: Callable[[Chunk], None]) -> None:
        """Take a chunk, and write it now or later; never waits."""
        if isinstance(chunk, Content | Thinking) and not (chunk.content == _PARAGRAPH or isinstance(chunk, Closing)):
            if self._texts and (type(chunk) is not self._kind or self._size > _MOST_CHARACTERS):
                self.write_held(write)
            since_s = None if self._texts else self._pending_since_s()
            if since_s is not None and (waited_s := self._now() - since_s) > BEHIND_S:
                self._kind = type(chunk)
                call_later = self._call_later or asyncio.get_running_loop().call_later
                hold_s = min(max(waited_s, HOLD_S), LONGEST_HOLD_S)
                self._timer = call_later(hold_s, partial(self.write_held, write))
            if self._timer is not None:
                self._texts.append(chunk.content)
                self._size += len(chunk.content)
                return
        else:
            self.write_held(write)
        write(chunk)

    def write_held(self, write: Callable[[Chunk], None]) -> None:
        """Write what is held back."""
        if not self._texts:
            return
        text, self._texts, self._size = "".join(self._texts), [], 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        write(self._kind(text))
