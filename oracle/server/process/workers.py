"""Several workers behind one socket: a parent that starts them, replaces them, and ends with them.

The parent binds the socket and forks; it serves nothing and opens nothing, so that it can fork at any time. The workers
share the modules that it has loaded, accept from the one socket, and have the store in common.

Rules:

- Each worker starts when the one before it listens: the first migrates the store, and says what is wrong for all.
- A pipe that nobody writes to says when to stop: it ends when the parent is asked to stop, or dies. Workers heed no
  signal: a terminal and some service managers send it to all processes, and it would come twice from the parent's.
- A worker that dies is replaced: at once, or after a growing wait if another was within the last minute. If none is
  left and a new one cannot start, the parent ends with its exit code.
- Exit codes are those of a single process: 0 when asked to stop, 128 and the signal's number when asked twice.
"""

import gc
import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Final

import structlog

from oracle.core.retry import Retry

log = structlog.get_logger(__name__)

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_RETRY: Final = Retry(first_s=1.0, longest_s=30.0)
_STEADY_S: Final = 60.0
"""Without a death, after which the next one counts as the first."""


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker has from its parent.

    Args:
        number: 1, 2, 3, …; one that replaces another has its number.
        is_first: whether it is the first of all.
        listener: bound; it accepts from this.
        stopping: a descriptor that can be read when the worker is to stop.
        ready: a descriptor that tells the parent that the worker listens.
    """

    number: int
    is_first: bool
    listener: socket.socket
    stopping: int
    ready: int

    def note_listening(self) -> None:
        """Tell the parent that the first request can be answered. Call it once."""
        with suppress(BrokenPipeError):  # the parent has died
            os.write(self.ready, b"1")
        os.close(self.ready)


class WorkerProcesses:
    """The workers of one parent, and what becomes of them.

    Args:
        count: how many there are to be.
        listener: bound; the parent never listens.
        work: serves until the worker has to stop, in a process of its own; returns the exit code.
        retry: the waits before further replacements.
    """

    def __init__(
        self, count: int, *, listener: socket.socket, work: Callable[[Worker], int], retry: Retry = _RETRY
    ) -> None:
        self._count = count
        self._listener = listener
        self._work = work
        self._retry = retry
        self._numbers: dict[int, int] = {}  # of the workers that live, by their process
        self._stopping, stop = os.pipe()
        self._stop: int | None = stop  # the other end; closed to stop the workers
        self._is_asked = False
        self._exit_code = 0
        self._deaths = 0
        self._replaced_s = -math.inf

    def run(self) -> int:
        """Start the workers, and keep them going until a signal comes; main thread only.

        Returns:
            The exit code.

        Raises:
            SystemExit: this is the process of a worker, with its exit code.
            Exception: this is the process of a worker, and its work raised this.
        """
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        gc.freeze()  # a collection would write to what is shared with the workers
        while len(self._numbers) < self._count and self._stop is not None:
            if code := self._start(is_first=not self._numbers):
                self._give_up(code)
        while self._numbers:
            self._reap(-1, 0 if self._is_complete else os.WNOHANG)
            if not self._is_complete:
                self._replace()
        return self._exit_code

    @property
    def _is_complete(self) -> bool:
        """Whether there is nobody to be started."""
        return self._stop is None or len(self._numbers) == self._count

    def _start(self, *, is_first: bool = False) -> int:
        """Start a worker, and wait until it listens.

        Returns:
            0; its exit code if it has ended before.
        """
        number = min({*range(1, self._count + 1)} - {*self._numbers.values()})
        started, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(started)
            self._become_worker()
            raise SystemExit(self._work(Worker(number, is_first, self._listener, self._stopping, ready)))
        self._numbers[pid] = number
        os.close(ready)
        is_listening = os.read(started, 1)
        os.close(started)
        return 0 if is_listening else self._reap(pid, 0)

    def _become_worker(self) -> None:
        if self._stop is None:
            raise SystemExit(0)
        os.close(self._stop)
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _heed_not)  # not ignored: what a tool starts would inherit that

    def _replace(self) -> None:
        """Start a worker in the place of one that died."""
        is_again = time.monotonic() - self._replaced_s < _STEADY_S
        self._deaths = self._deaths + 1 if is_again else 0
        if self._deaths:
            select.select([self._stopping], [], [], self._retry.wait_s(self._deaths))
        if self._stop is not None:
            code = self._start()
            self._replaced_s = time.monotonic()
            if code and not self._numbers:
                self._give_up(code)

    def _reap(self, pid: int, flags: int) -> int:
        """Wait for the end of a worker; returns its exit code, as a shell counts."""
        pid, status = os.waitpid(pid, flags)
        if pid == 0:
            return 0
        code = os.waitstatus_to_exitcode(status)
        number = self._numbers.pop(pid)
        if self._stop is not None:
            log.error("worker.died", number=number, pid=pid, exit_code=code)
        return code if code >= 0 else 128 - code

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        if not self._is_asked:
            self._is_asked = True
            self._end()
            return
        self._exit_code = 128 + number
        for pid in tuple(self._numbers):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _give_up(self, code: int) -> None:
        """End, because there can be no worker."""
        if not self._is_asked:
            self._exit_code = code
            self._end()

    def _end(self) -> None:
        """Tell the workers to stop, and leave the port to them."""
        if self._stop is not None:
            self._listener.close()
            os.close(self._stop)
            self._stop = None


def _heed_not(number: int, frame: FrameType | None) -> None:
    """Wait for what the parent says."""
