"""Whether a fence is no code but the model's wrapping around its signal (decision 16).

It is if it stands at the very end of a response and holds nothing but one well-formed signal; also if it is never
closed. Only the end of the response can tell, so a fence is held back while its content begins like a signal and
nothing but white space follows it. Any other fence is code as soon as its first words are there.
"""

import re
from dataclasses import dataclass

from .markdown import NO_CONTENT, Fence, fence_content, find_fence_end
from .markup import NOT_A_SIGNAL, SIGNAL_START, WHITE, WINDOW_CHARS, Block, find_block, find_type
from .reader import Clock, read_block

_START = re.compile(SIGNAL_START)
_WHITE_RUN = re.compile(rf"[{WHITE}]*")


@dataclass(frozen=True, slots=True)
class FencedSignal:
    """A signal in a fence of its own: its block, and the place after the fence's closing marks."""

    block: Block
    end: int


class OpeningFence:
    """A fence whose opening marks have come, and of which it is not known whether it is code.

    What is known about its content is kept from one look to the next, as distances from the opening marks, so that
    each character is looked at a few times whatever the chunking.

    Args:
        fence: the fence.
        now: the clock that stamps signals.
    """

    __slots__ = ("_closed_at", "_now", "_sought", "_start", "_type_end", "_white", "fence", "signal")

    def __init__(self, fence: Fence, *, now: Clock) -> None:
        self.fence = fence
        self.signal: FencedSignal | None = None
        self._now = now
        self._start: int | None = None  # of the content
        self._type_end: int | None = None  # of the `type=` of a signal that the content begins with
        self._sought = 0  # no line closes the fence before
        self._closed_at: int | None = None  # after the line that closes the fence
        self._white = 0  # white space alone follows that line up to here

    def is_code(self, text: str, run_end: int, *, limit: int, full: bool, ended: bool) -> bool | None:
        """Whether it is code; `None` while that is not known. If it is not, `signal` is what it holds.

        Args:
            text: the text.
            run_end: after the opening marks.
            limit: the end of what may be looked at.
            full: no more text will come, or the window is full.
            ended: the response ends at `limit`.
        """
        begins = self._begins_with_signal(text, run_end, limit=limit, full=full)
        if not begins:
            return None if begins is None else True
        if self._closed_at is None:
            self._look_for_end(text, run_end, limit, ended=ended)
        if self._closed_at is not None and self._is_followed(text, run_end, limit):
            return True
        if not ended:
            return True if full else None
        self.signal = self._only_signal(text, run_end, limit)
        return self.signal is None

    def _begins_with_signal(self, text: str, base: int, *, limit: int, full: bool) -> bool | None:
        if self._start is None:
            start = fence_content(text, base, limit=limit, full=full)
            if start is None or start == NO_CONTENT:
                return None if start is None else False
            self._start = self._sought = start - base
        start = base + self._start
        if self._type_end is None:
            if _START.match(text, start, limit) is None:
                return False
            window = min(limit, start + WINDOW_CHARS)
            type_end = find_type(text, start, limit=window, full=full or window < limit)
            if type_end is None or type_end == NOT_A_SIGNAL:
                return None if type_end is None else False
            self._type_end = type_end - base
        return True

    def _look_for_end(self, text: str, base: int, limit: int, *, ended: bool) -> None:
        end, sought = find_fence_end(text, self.fence, base + self._sought, limit=limit, ended=ended)
        self._sought = sought - base
        if end is not None:
            self._closed_at = self._white = end - base

    def _is_followed(self, text: str, base: int, limit: int) -> bool:
        """Whether something other than white space stands after the fence."""
        white = _WHITE_RUN.match(text, base + self._white, limit)
        if white is not None:
            self._white = white.end() - base
        return base + self._white < limit

    def _only_signal(self, text: str, base: int, limit: int) -> FencedSignal | None:
        """The well-formed signal that the content begins with, if nothing else stands in the fence."""
        end = content_end = limit
        if self._closed_at is not None:
            end = base + self._closed_at
            content_end = max(text.rfind("\n", base, end), text.rfind("\r", base, end))
        start, type_end = base + (self._start or 0), base + (self._type_end or 0)
        if type_end > content_end:
            return None
        block = find_block(text, start, type_end, limit=min(content_end, start + WINDOW_CHARS), full=True)
        if block is None or not block.closed or text[block.end : content_end].strip(WHITE):
            return None
        return FencedSignal(block, end) if read_block(text, block, now=self._now).signal else None
