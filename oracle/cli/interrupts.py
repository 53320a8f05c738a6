"""Ctrl-C and SIGTERM: the first asks the query to stop, the second ends the process at once.

The handlers are installed with `signal`, not in the event loop, so they run even while the loop is blocked writing to a
slow reader. The second signal has the system's default action, which also ends a process that hangs in a library.
"""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from oracle.cli.errors import INTERRUPTED

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Context manager that handles both signals, unless the parent process ignores them; main thread only."""

    def __init__(self) -> None:
        self.number: int | None = None
        """The signal that was received; `None` if none was."""
        self._stop: Callable[[], object] | None = None
        self._give_up: Callable[[], object] | None = None
        self._before: dict[signal.Signals, Any] = {}

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process; `None` if it was not interrupted."""
        return None if self.number is None else INTERRUPTED + self.number

    def bind(self, *, stop: Callable[[], object], give_up: Callable[[], object]) -> None:
        """Set the actions of the first signal; before this call a signal ends the command.

        Args:
            stop: asks the query to stop; may be called at any point of the program.
            give_up: restores the terminal in case the process ends at once; called before `stop`.
        """
        self._stop, self._give_up = stop, give_up

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:  # `nohup`, or a job in the background of a script
                self._before[number] = before
                signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._stop is None or self._give_up is None:
            raise SystemExit(INTERRUPTED + number)
        self.number = number
        for each in self._before:
            signal.signal(each, signal.SIG_DFL)
        self._give_up()
        self._stop()
