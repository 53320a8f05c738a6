"""The streaming reader: text goes in piecewise, what the user may see comes out, the signal stays.

It does no I/O, and its clock is its only source of time. Rules:

- The visible text is the response less its signal blocks (and the blank lines around blocks at the end), whatever the
  chunking. Nothing else is lost, added or reordered.
- Text is shown as soon as nothing that may follow can change it. Held back are: what may become a signal, until that is
  known; white space that may belong to a signal at the end; a signal in open code, until the code closes.
- In code a signal is an example. Code that never closes is not code, and a signal in it was a signal. A
  fence at the end that holds nothing but one signal is that signal, and dropped with it. The end of a paragraph ends
  every code span. In a fence that is still open `FENCE_HOLD_CHARS` after the signal, the signal is taken for an
  example: a signal belongs at the end of a response, and this one is not there.
- Of a response that was cut off, the beginning of a signal at its end is not shown.
- Notes of the control, markers of chat templates and calls that are written as text are dropped, and what stands in
  `<think>` goes to `thoughts` (`.leaks`); in code they are examples.
- No input makes it hold more than `FENCE_HOLD_CHARS` + `visible.GAP_CHARS` + one delta, and the work is linear.
"""

import re
from dataclasses import replace

from .errors import SignalError
from .fenced import Wrapping, only_signal
from .leaks import THOUGHT_END, Leak, find_leak, is_beginning_of_leak
from .markdown import CodeContext, ends_paragraph, find_span_end
from .markup import WINDOW_CHARS, SignalBlock, find_block, find_type, is_beginning, skip_ends
from .model import Signal
from .reader import BlockReading, Clock, read_block, utc_now
from .response import ParsedResponse, describe
from .view import MoreTextNeeded, TextView
from .visible import VisibleText

FENCE_HOLD_CHARS = 16_384

_CONTEXT_CHARS = 4  # enough to recognize the start of a line


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
        now: the clock that stamps signals; must return aware times.
    """

    def __init__(self, *, now: Clock = utc_now) -> None:
        self._now = now
        self._closed = False
        self._buffer = "\n" * _CONTEXT_CHARS  # begins with the last characters that were shown
        self._offset = -_CONTEXT_CHARS  # how much was cut off before it, counted from any place while nothing is held
        self._shown = self._at = _CONTEXT_CHARS  # the ends of what is shown or dropped, and of what is decided
        self._held: list[int] = []  # places, plus `_offset`, of signals in code that may prove not to be code
        self._wrapping: Wrapping | None = None  # the fence around the first of them, if that may be a wrapping
        self._until = ""  # text that must arrive before another attempt to decide
        self._idle = True  # nothing is held or undecided, and no backtick is open
        self._plain = False  # nothing is held or undecided, and the line has a word
        self._code = CodeContext()
        self._outer = 0  # how many signals just before were cut short by the start of another
        self.thoughts: list[str] = []  # pieces of thinking; who shows them takes them out
        self._thinking = False
        self._written_calls: list[str] = []
        self._visible = VisibleText()
        self._readings: list[BlockReading] = []
        self._warnings: list[str] = []
        self._signal: Signal | None = None

    @property
    def signal(self) -> Signal | None:
        """The response's signal, as soon as its block is complete."""
        return self._signal

    @property
    def held_chars(self) -> int:
        """How many characters were fed but neither returned nor dropped yet."""
        return len(self._buffer) - self._shown + self._visible.held_chars

    def feed(self, delta: str) -> str:
        """Take the next piece of the response; return what may be shown now.

        Raises:
            SignalError: `close` was called before.
        """
        if "<" not in delta and "`" not in delta and "~" not in delta:
            if self._plain and (("\n" not in delta and "\r" not in delta) or (self._idle and delta[-1] > " ")):
                self._visible.append(delta)
                return delta
            if self._idle and delta:
                self._buffer = (self._buffer + delta)[-_CONTEXT_CHARS:]
                shown = self._visible.show(delta)
                self._plain = self._visible.settled
                return shown
        return self._feed_with_care(delta)

    def close(self, *, cut_off: bool = False) -> ParsedResponse:
        """End the response: decide what is still open.

        Args:
            cut_off: the response did not end by itself: what may have become a signal at its end is dropped.

        Raises:
            SignalError: it was called before.
        """
        if self._closed:
            raise SignalError("close() after close(): a SignalStream reads one response; make a new one")
        self._closed = True
        self._plain = self._idle = False
        drops_end = cut_off and (is_beginning(self._buffer, self._at) or is_beginning_of_leak(self._buffer, self._at))
        if drops_end:
            self._buffer = self._buffer[: self._at]
        returned = len(self._visible.shown)
        self._advance()
        if self._wrapping is not None:
            self._unwrap(self._wrapping)
        if self._held:  # in a fence that is never closed, so it is not code
            self._at = self._held[0] - self._offset
            self._held.clear()
            self._code.end_all()
        self._advance()
        if drops_end:
            self._visible.skip_block()
        self._visible.end()
        shown = self._visible.shown
        remainder = "".join(shown[returned:])
        warnings, readings, calls = tuple(self._warnings), tuple(self._readings), tuple(self._written_calls)
        return ParsedResponse("".join(shown), self._signal, warnings, readings, remainder, calls)

    def _feed_with_care(self, delta: str) -> str:
        if self._closed:
            raise SignalError("feed() after close(): a SignalStream reads one response; make a new one")
        self._buffer += delta
        if self._until not in delta and len(self._buffer) - self._at < WINDOW_CHARS:
            return ""
        returned = len(self._visible.shown)
        self._advance()
        return "".join(self._visible.shown[returned:])

    def _advance(self) -> None:
        """Decide as much of the buffer as can be decided, show what may be shown of it, and cut that off."""
        text, at, code = self._buffer, self._at, self._code
        length = len(text)
        self._until = ""
        try:
            while special := code.specials.search(text, at):
                at = special.start()
                if special.end() == length and not self._closed:
                    break  # it may continue in the next delta
                at = self._decide(special)
            else:
                at = length
        except MoreTextNeeded as need:
            self._until = need.until
        while self._held and self._offset + length - self._held[0] >= FENCE_HOLD_CHARS:
            self._release()
        show_to = self._held[0] - self._offset if self._held else at
        self._show_to(show_to)
        decided = self._shown == length and not self._closed and not self._thinking
        self._idle = decided and not code.open_runs
        self._plain = decided and self._visible.settled
        cut = self._shown - _CONTEXT_CHARS
        self._buffer = text[cut:]
        self._offset += cut
        self._shown = _CONTEXT_CHARS
        self._at = at - cut

    def _show_to(self, end: int) -> None:
        """Show what comes before `end`, or give it out as thinking."""
        if end > self._shown:
            piece, self._shown = self._buffer[self._shown : end], end
            (self.thoughts.append if self._thinking else self._visible.show)(piece)

    def _decide(self, special: re.Match[str]) -> int:
        """Decide what the special place means; return where to continue."""
        start = special.start()
        if self._thinking:
            if "think>" in special[0]:
                self._show_to(special.start())
                self._thinking, self._shown = False, special.end()
                self._code.end_paragraph()
            return special.end()
        if self._wrapping is not None and self._wrapping.end is not None:
            self._release()  # other text follows the fence, so it is code
            return start
        character = self._buffer[start]
        if character == "<":
            return self._at_angle(start)
        if character in "\r\n":
            if ends_paragraph(self._view(), start):
                self._code.end_paragraph()
            return start + 1
        if self._code.fence:
            return self._at_run_in_fence(special)
        if special.lastindex:
            return self._at_opening_fence(special)
        self._code.add_run(special.end() - start)
        return special.end()

    def _at_angle(self, start: int) -> int:
        view = self._view(start, WINDOW_CHARS)
        type_end = find_type(view, start)
        leak = find_leak(view, start) if type_end is None else None
        if type_end is None and leak is None:
            return start + 1
        if self._code.fence:
            self._held.append(self._offset + start)
            return start + 1
        if self._code.open_runs:
            run = find_span_end(view, start, type_end, self._code.open_runs)
            if run is not None:
                self._code.add_run(len(run[0]))
                return run.end()
            self._code.end_paragraph()
        if type_end is None:
            return self._drop(leak, start) if leak is not None else start + 1
        block = find_block(view, start, type_end)
        end = block.end
        if not block.nested:
            end = skip_ends(self._view(end, WINDOW_CHARS), end, self._outer)
        self._outer = self._outer + 1 if block.nested else 0
        self._take_out(block, start, end)
        return end

    def _drop(self, leak: Leak, start: int) -> int:
        """Show what comes before a leak, and drop it; return where to continue."""
        self._show_to(start)
        self._visible.skip_block()
        self._shown = leak.end
        if leak.kind == "call":
            self._written_calls.append(self._buffer[start : leak.end])
        elif leak.kind == "thinking":
            self._thinking, self._code.specials = True, THOUGHT_END
        return leak.end

    def _at_opening_fence(self, special: re.Match[str]) -> int:
        """Enter a fence, and hold it if its content begins with a signal."""
        text, run_end, content = self._buffer, special.end(1), special.end()
        type_end = None
        if special.lastindex == 2 and text[content : content + 1] == "<":
            type_end = find_type(self._view(content, WINDOW_CHARS), content)
        self._code.open_fence(text[special.start() : run_end])
        if type_end is not None:
            start = self._offset + special.start()
            self._wrapping = Wrapping(start, self._offset + content, self._offset + type_end)
            self._held.append(start)
        return run_end

    def _at_run_in_fence(self, special: re.Match[str]) -> int:
        """Decide whether a run of the fence's marks that is alone on its line closes it."""
        end, code = special.end(), self._code
        if special.end(1) - special.start() < len(code.fence):
            return end
        code.close_fence()
        self._held.clear()
        if self._wrapping is not None:
            self._wrapping.end = self._offset + end
            self._held.append(self._wrapping.start)
            code.await_text()
        return end

    def _release(self) -> None:
        """The first of the held places is code."""
        del self._held[0]
        if self._wrapping is not None and self._wrapping.end is not None:
            self._code.end_paragraph()
        self._wrapping = None

    def _unwrap(self, wrapping: Wrapping) -> None:
        """The response ends with a fence that begins with a signal: take out both, or decide that it is code."""
        block = only_signal(self._buffer, wrapping, self._offset, now=self._now)
        self._release()
        if block is not None:
            self._held.clear()
            self._at = len(self._buffer) if wrapping.end is None else wrapping.end - self._offset
            self._take_out(block, wrapping.start - self._offset, self._at)

    def _take_out(self, block: SignalBlock, start: int, end: int) -> None:
        """Show what comes before `start`, drop what comes before `end`, and record the signal there."""
        self._show_to(start)
        self._visible.skip_block()
        self._shown = end
        reading = read_block(self._buffer, block, now=self._now)
        counts = reading.signal is not None and self._signal is None
        if counts:
            self._signal = reading.signal
        self._readings.append(reading)
        self._warnings += describe(reading, counts=counts)

    def _view(self, start: int = 0, length: int | None = None) -> TextView:
        """What may be read from `start` on: `length` characters, or everything."""
        end = len(self._buffer)
        if length is None or end < start + length:
            return TextView(self._buffer, end, self._closed)
        return TextView(self._buffer, start + length, whole=True)


def parse(text: str, *, now: Clock = utc_now) -> ParsedResponse:
    """Read a whole response at once.

    Args:
        text: the model's own text; thinking, tool results and the user's words are not responses.
        now: the clock that stamps signals; must return aware times.
    """
    stream = SignalStream(now=now)
    shown = stream.feed(text)
    parsed = stream.close()
    return replace(parsed, remainder=shown + parsed.remainder)
