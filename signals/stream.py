"""The streaming reader: text goes in piecewise, what the user may see comes out, the signal stays (020 FR-002, FR-005).

It does no I/O and knows no time but its clock. Rules:

- The visible text is the response less its signal blocks (and the blank lines around blocks at the end), whatever the
  chunking (decision 17). Nothing else is lost, added or reordered.
- Text is shown as soon as nothing that may follow can change it. Held back are: what may become a signal, until that is
  known; white space that may belong to a signal at the end; a signal in open code, until the code closes.
- In code a signal is an example (decision 16). Code that never closes is no code, and a signal in it was a signal. A
  fence at the end that holds nothing but one signal is that signal, fence and all. A
  paragraph ends every code span. In a fence that is still open `FENCE_HOLD_CHARS` after the signal, it is taken for an
  example: a signal stands at the end of a response, and this one does not.
- Whatever comes, no more than `FENCE_HOLD_CHARS` + `visible.GAP_CHARS` + one delta is held, and the work is linear.
"""

import re

from .errors import StreamClosedError
from .examples import NO_SPAN, OpenRuns, find_span_end
from .fenced import OpeningFence
from .markdown import (
    LINE_CHARS,
    RUN_CHARS,
    Fence,
    at_line_start,
    closes_fence,
    ends_paragraph,
    find_fence_end,
    opens_fence,
)
from .markup import NOT_A_SIGNAL, SIGNAL_START, WINDOW_CHARS, Block, find_block, find_type, skip_ends
from .model import Signal
from .reader import Clock, Reading, read_block, utc_now
from .response import ParsedResponse, describe
from .visible import VisibleText

FENCE_HOLD_CHARS = 16_384

_OUTSIDE = re.compile(rf"{SIGNAL_START}|`{{1,{RUN_CHARS}}}|~{{1,{RUN_CHARS}}}")
_IN_PARAGRAPH = re.compile(rf"{_OUTSIDE.pattern}|[\r\n]")
_IN_FENCE = {mark: re.compile(rf"{SIGNAL_START}|{mark}{{1,{RUN_CHARS}}}") for mark in "`~"}
_SIGNALS_ALONE = re.compile(SIGNAL_START)


class SignalStream:
    """Reads one response of the model.

    ```python
    stream = SignalStream()
    for delta in response:
        show(stream.feed(delta))
    parsed = stream.close()
    show(parsed.remainder)
    act_on(parsed.signal)
    ```

    Args:
        now: the clock that stamps signals; must give aware times.
    """

    # `_buffer` begins at the first undecided character; `_shown_to` and all places are indices into it. `_before` are
    # the four characters before it, enough to tell the start of a line. `_plain`: nothing is undecided or held, no
    # backtick is open and the line has a word, so a delta without special characters can go straight out.
    # `_awaits_end`: the buffer is a signal that cannot end before a `>`.
    __slots__ = (
        "_awaits_end",
        "_before",
        "_buffer",
        "_closed",
        "_code_is_over",
        "_ended",
        "_fence",
        "_fence_seek",
        "_now",
        "_open_runs",
        "_opening",
        "_outer",
        "_plain",
        "_readings",
        "_shown_to",
        "_signal",
        "_taken",
        "_visible",
        "_warnings",
    )

    def __init__(self, *, now: Clock = utc_now) -> None:
        self._now = now
        self._buffer = ""
        self._before = "\n"
        self._shown_to = 0
        self._plain = self._awaits_end = False
        self._ended = self._closed = False
        self._fence: Fence | None = None
        self._fence_seek = 0
        self._opening: OpeningFence | None = None
        self._code_is_over = False
        self._open_runs = OpenRuns()
        self._outer = 0
        self._visible = VisibleText()
        self._taken = 0
        self._readings: list[Reading] = []
        self._warnings: list[str] = []
        self._signal: Signal | None = None

    @property
    def signal(self) -> Signal | None:
        """The response's signal, as soon as its block is complete."""
        return self._signal

    @property
    def held_chars(self) -> int:
        """How many characters were fed but neither returned nor dropped yet."""
        return len(self._buffer) + self._visible.held_chars

    def feed(self, delta: str) -> str:
        """Take the next piece of the response; return what may be shown now.

        Raises:
            StreamClosedError: `close` was called before.
        """
        if (
            self._plain
            and "<" not in delta
            and "`" not in delta
            and "~" not in delta
            and (delta[-1:] > " " or ("\n" not in delta and "\r" not in delta))
        ):
            self._visible.append(delta)
            return delta
        return self._feed_with_care(delta)

    def close(self) -> ParsedResponse:
        """The response is over: decide what is still open.

        Raises:
            StreamClosedError: it was called before.
        """
        self._refuse_if_closed("close()")
        self._closed = self._ended = True
        self._skip_returned()
        self._advance()
        self._visible.end()
        self._plain = False
        remainder = self._take()
        text = "".join(self._visible.shown)
        return ParsedResponse(text, self._signal, tuple(self._warnings), tuple(self._readings), remainder)

    def _feed_with_care(self, delta: str) -> str:
        self._refuse_if_closed("feed()")
        if not delta:
            return ""
        self._skip_returned()
        if self._awaits_end and ">" not in delta and len(self._buffer) + len(delta) < WINDOW_CHARS:
            self._buffer += delta
            return ""
        if not self._buffer and not self._open_runs and "<" not in delta and "`" not in delta and "~" not in delta:
            self._visible.show(delta)
            self._before = (self._before + delta[-4:])[-4:]
        else:
            self._buffer += delta
            self._awaits_end = False
            self._advance()
        self._plain = not self._buffer and not self._open_runs and self._visible.settled
        return self._take()

    def _refuse_if_closed(self, what: str) -> None:
        if self._closed:
            raise StreamClosedError(f"{what} after close(): a SignalStream reads one response; make a new one")

    def _skip_returned(self) -> None:
        """Account for what the fast path has shown since the last time."""
        if self._plain:
            self._taken = len(self._visible.shown)
            self._before = "x"

    def _take(self) -> str:
        """What was shown since the last time."""
        new = self._visible.shown[self._taken :]
        self._taken = len(self._visible.shown)
        return "".join(new)

    def _advance(self) -> None:
        """Decide as much of the buffer as can be decided, and cut that off."""
        at = held_from = 0
        self._shown_to = 0
        end = len(self._buffer)
        while at < end:
            special = self._specials().search(self._buffer, at)
            if special is None:
                held_from = end
                break
            after = self._decide(special)
            if after is None:
                held_from = special.start()
                break
            at = held_from = after
        if held_from:
            self._show_up_to(held_from)
            self._before = (self._before + self._buffer[max(0, held_from - 4) : held_from])[-4:]
            self._buffer = self._buffer[held_from:]
            self._fence_seek = max(0, self._fence_seek - held_from)

    def _specials(self) -> re.Pattern[str]:
        """What to look for next."""
        if self._code_is_over:
            return _SIGNALS_ALONE
        if self._fence is not None:
            return _IN_FENCE[self._fence.mark]
        return _IN_PARAGRAPH if self._open_runs else _OUTSIDE

    def _decide(self, special: re.Match[str]) -> int | None:
        """Deal with what stands at a special place; answer where to go on, or `None`: with the next delta."""
        if special[0] == "<":
            return self._at_angle(special.start())
        if special[0] in "\r\n":
            return self._at_line_break(special.start())
        if self._fence is not None:
            return self._at_run_in_fence(special, self._fence)
        return self._at_run(special)

    def _at_angle(self, start: int) -> int | None:
        limit, full = self._window(start, WINDOW_CHARS)
        type_end = find_type(self._buffer, start, limit=limit, full=full)
        if type_end is None:
            return None
        if type_end == NOT_A_SIGNAL:
            return start + 1
        if self._fence is not None:
            return self._at_signal_in_fence(start, type_end, self._fence)
        if self._open_runs:
            return self._at_signal_in_paragraph(start, type_end)
        return self._at_signal(start, type_end)

    def _at_signal_in_fence(self, start: int, type_end: int, fence: Fence) -> int | None:
        limit, full = self._window(start, FENCE_HOLD_CHARS)
        ended = self._ended and limit == len(self._buffer)
        seek = max(start, self._fence_seek)
        end, self._fence_seek = find_fence_end(self._buffer, fence, seek, limit=limit, ended=ended)
        if end is not None:
            self._fence = None
            return end
        if limit - start == FENCE_HOLD_CHARS:
            return start + 1
        if not full:
            return None
        self._fence = None
        self._code_is_over = True  # no line of the rest closes the fence, so none of it is code
        return self._at_signal(start, type_end)

    def _at_signal_in_paragraph(self, start: int, type_end: int) -> int | None:
        limit, full = self._window(start, WINDOW_CHARS)
        span = find_span_end(self._buffer, start, type_end, self._open_runs, limit=limit, full=full)
        if span is None:
            return None
        run_start, run_end = span
        if run_start == NO_SPAN:
            self._open_runs.clear()
            return self._at_signal(start, type_end)
        self._open_runs.meet(run_end - run_start)
        return run_end

    def _at_signal(self, start: int, type_end: int) -> int | None:
        limit, full = self._window(start, WINDOW_CHARS)
        block = find_block(self._buffer, start, type_end, limit=limit, full=full)
        if block is None:
            self._awaits_end = True
            return None
        end = block.end
        if block.nested:
            self._outer += 1
        else:
            rest, rest_full = self._window(end, WINDOW_CHARS)
            after_ends = skip_ends(self._buffer, end, self._outer, limit=rest, full=rest_full)
            if after_ends is None:
                return None
            end = after_ends
            self._outer = 0
        return self._take_out(block, start, end)

    def _take_out(self, block: Block, start: int, end: int) -> int:
        """Show what comes before `start`, leave out what comes before `end`, and note the signal there."""
        self._show_up_to(start)
        self._visible.skip_block()
        self._shown_to = end
        self._record(block)
        return end

    def _at_run(self, run: re.Match[str]) -> int | None:
        """Backticks or tildes outside of a fence."""
        mark, start, end = run[0][0], run.start(), run.end()
        line_start = self._at_line_start(start)
        if self._may_grow(run) and (line_start or mark == "`"):
            return None
        if line_start and end - start >= 3:
            opens = opens_fence(self._buffer, start, end, limit=len(self._buffer), full=self._ended)
            if opens is None:
                return None
            if opens:
                return self._at_opening_fence(start, end, Fence(mark, end - start))
        if mark == "`":
            self._open_runs.meet(end - start)
        return end

    def _at_opening_fence(self, start: int, run_end: int, fence: Fence) -> int | None:
        opening = self._opening = self._opening or OpeningFence(fence, now=self._now)
        limit, full = self._window(start, FENCE_HOLD_CHARS)
        ended = self._ended and limit == len(self._buffer)
        is_code = opening.is_code(self._buffer, run_end, limit=limit, full=full, ended=ended)
        if is_code is None:
            return None
        self._opening = None
        self._open_runs.clear()
        if opening.signal is not None:
            return self._take_out(opening.signal.block, start, opening.signal.end)
        self._fence, self._fence_seek = fence, run_end
        return run_end

    def _at_run_in_fence(self, run: re.Match[str], fence: Fence) -> int | None:
        if not self._at_line_start(run.start()):
            return run.end()
        if self._may_grow(run):
            return None
        if len(run[0]) >= fence.length:
            closes = closes_fence(self._buffer, run.end(), full=self._ended)
            if closes is None:
                return None
            if closes:
                self._fence = None
        return run.end()

    def _at_line_break(self, start: int) -> int | None:
        """A line break after an open backtick."""
        limit, full = self._window(start, 3 * LINE_CHARS + RUN_CHARS)
        ends = ends_paragraph(self._buffer, start, limit=limit, full=full)
        if ends is None:
            return None
        if ends:
            self._open_runs.clear()
        return start + 1

    def _record(self, block: Block) -> None:
        reading = read_block(self._buffer, block, now=self._now)
        counts = reading.signal is not None and self._signal is None
        if counts:
            self._signal = reading.signal
        self._readings.append(reading)
        self._warnings += describe(reading, counts=counts)

    def _window(self, start: int, length: int) -> tuple[int, bool]:
        """The end of what may be looked at from `start`, and whether it can grow no more."""
        end = len(self._buffer)
        return (end, self._ended) if end < start + length else (start + length, True)

    def _may_grow(self, run: re.Match[str]) -> bool:
        return run.end() == len(self._buffer) and not self._ended and len(run[0]) < RUN_CHARS

    def _at_line_start(self, place: int) -> bool:
        before = self._buffer[place - 4 : place] if place >= 4 else (self._before + self._buffer[:place])[-4:]
        return at_line_start(before)

    def _show_up_to(self, place: int) -> None:
        if place > self._shown_to:
            self._visible.show(self._buffer[self._shown_to : place])
            self._shown_to = place


def parse(text: str, *, now: Clock = utc_now) -> ParsedResponse:
    """Read a whole response at once.

    Args:
        text: the model's own text; thinking, tool results and the user's words are no responses (decision 18).
        now: the clock that stamps signals; must give aware times.
    """
    stream = SignalStream(now=now)
    shown = stream.feed(text)
    parsed = stream.close()
    return ParsedResponse(parsed.text, parsed.signal, parsed.warnings, parsed.readings, shown + parsed.remainder)
