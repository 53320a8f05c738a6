"""Ctrl-C and SIGTERM: the first one asks the query to stop, the second one ends the process at once.

The handlers are Python's own, not the event loop's: they run even while the loop is blocked writing to a slow reader.
The second signal is left to the system, which needs no Python to run: a process that hangs in a library ends as well.
"""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from oracle.cli.errors import INTERRUPTED

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Handles both signals while it is entered; only in the main thread, and not where the caller ignores them."""

    def __init__(self) -> None:
        self.number: int | None = None
        """The signal that came; `None` if none did."""
        self._stop: Callable[[], object] | None = None
        self._give_up: Callable[[], object] | None = None
        self._before: dict[signal.Signals, Any] = {}

    @property
    def exit_code(self) -> int | None:
        """Of the process; `None` if it was not interrupted."""
        return None if self.number is None else INTERRUPTED + self.number

    def bind(self, *, stop: Callable[[], object], give_up: Callable[[], object]) -> None:
        """What to do from now on; until now a signal ends the command.

        Args:
            stop: asks the query to stop; called in the middle of anything.
            give_up: leaves the terminal usable, should the process end at once; called before `stop`.
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
