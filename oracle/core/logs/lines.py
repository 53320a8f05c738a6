"""Where log lines go: to standard error, at once or by a thread.

Rules:

- A line that cannot be written is lost; it never breaks, and in a service never delays, what it reports.
- A service writes by a thread (`written_in_background`): a pipe that nobody reads, a terminal that was stopped with
  Ctrl-S or a full disk holds up that thread alone. What waits for it is bounded; lines beyond that are dropped and
  counted, and the log says how many as soon as it can.
- The thread writes to the file itself, not to `sys.stderr`: a thread that is stuck there holds a lock that the
  interpreter wants when it ends.
"""

import json
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST_LINES: Final = 10_000
"""Lines that wait to be written."""
LAST_WAIT_S: Final = 1.0
"""For the lines that are left at the end of the process."""


class LineThread:
    """Writes lines in a thread of its own.

    Args:
        descriptor: the file that is written to.
        most_lines: lines that may wait to be written; further ones are dropped.
    """

    def __init__(self, descriptor: int, *, most_lines: int = MOST_LINES) -> None:
        self.dropped = 0
        """Lines that were not written, since the start."""
        self._descriptor = descriptor
        self._most_lines = most_lines
        self._lines: deque[str] = deque()
        self._unsaid = 0  # dropped lines of which the log does not know yet
        self._is_closing = False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="log-lines", daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        """Have a line written; never waits."""
        with self._change:
            if len(self._lines) >= self._most_lines:
                self.dropped += 1
                self._unsaid += 1
                return
            self._lines.append(line)
            self._change.notify()

    def close(self, *, within_s: float = LAST_WAIT_S) -> bool:
        """Write what is left; returns whether all of it was written in that time."""
        with self._change:
            self._is_closing = True
            self._change.notify()
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while lines := self._take():
            try:
                data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:  # gone: what follows is lost as well, as it would be without a thread
                continue

    def _take(self) -> list[str]:
        """The lines that wait; none once it is closed."""
        with self._change:
            while not self._lines and not self._is_closing:
                self._change.wait()
            lines = list(self._lines)
            self._lines.clear()
            if self._unsaid:
                lines.append(json.dumps({"level": "warning", "event": "log.dropped", "lines": self._unsaid}))
                self._unsaid = 0
            return lines


class _Lines:
    """The log lines of this process."""

    def __init__(self) -> None:
        self.thread: LineThread | None = None

    def put(self, line: str) -> None:
        """Write a line, to whatever standard error is at that moment, or by the thread."""
        if self.thread is not None:
            self.thread.put(line)
            return
        try:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # gone, closed, or never there
            return


_LINES = _Lines()


def put_line(line: str) -> None:
    """Write a log line."""
    _LINES.put(line)


def dropped_lines() -> int:
    """Log lines that this process has dropped because nothing took them."""
    return 0 if _LINES.thread is None else _LINES.thread.dropped


@contextmanager
def written_in_background() -> Iterator[None]:
    """Have log lines written by a thread while this is entered, and wait at most `LAST_WAIT_S` for the last ones.

    Where standard error is no file (a test has replaced it), lines are written as they were before.
    """
    try:
        descriptor = sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        yield
        return
    thread = _LINES.thread = LineThread(descriptor)
    try:
        yield
    finally:
        if thread.close():  # otherwise lines cannot be written, and those that still come are dropped
            _LINES.thread = None
