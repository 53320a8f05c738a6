"""What a long command is doing, on standard error, and Ctrl-C that keeps what was found.

At a terminal it is one line that is replaced; elsewhere a line every ten seconds.
"""

import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

from oracle.cli.interrupts import Interrupts

_EVERY_S: Final = 0.2
_EVERY_ELSEWHERE_S: Final = 10.0
_COLUMNS: Final = 80


class ProgressLine:
    """Context manager. The first Ctrl-C sets `is_interrupted`, for the command to stop at; the second ends the process.

    Args:
        stream: where the line is shown.
        now: seconds, monotonic.
    """

    def __init__(self, stream: TextIO | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        self._now = now
        self._next_s = 0.0 if self._is_terminal else now() + _EVERY_ELSEWHERE_S
        self._interrupts = Interrupts()

    def __enter__(self) -> Self:
        self._interrupts.__enter__()
        self._interrupts.bind(stop=lambda: None, give_up=self.clear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._interrupts.__exit__(kind, error, trace)
        self.clear()

    @property
    def is_interrupted(self) -> bool:
        """Whether the command is to stop."""
        return self._interrupts.number is not None

    def code(self, otherwise: int) -> int:
        """The exit code: that of the interruption if there was one."""
        return self._interrupts.exit_code or otherwise

    def show(self, text: str) -> None:
        """Show a line in place of the last one, a few times a second at most; in a file a line of its own, seldom."""
        if (now_s := self._now()) < self._next_s:
            return
        self._next_s = now_s + (_EVERY_S if self._is_terminal else _EVERY_ELSEWHERE_S)
        self._write(f"\r\x1b[K{text[: _width(self._stream) - 1]}" if self._is_terminal else f"{text}\n")

    def clear(self) -> None:
        """Take the line away, before anything else is printed."""
        if self._is_terminal:
            self._write("\r\x1b[K")
            self._next_s = 0.0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _COLUMNS
    except (OSError, ValueError):
        return _COLUMNS
