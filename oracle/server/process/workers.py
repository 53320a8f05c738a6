"""Several workers behind one socket: a parent that starts them, replaces them, and ends with them.

The parent binds the socket and forks; it serves nothing and opens nothing, so that it can fork at any time. The workers
share the modules that it has loaded, accept from the one socket, and have the store in common.

Rules:

- One worker starts at a time: the first migrates the store, and says what is wrong for all. One that takes longer than
  `_START_S` to listen holds up no other.
- Each worker has a pipe to the parent, whose end says that it has died. Once it listens it writes there several times a
  second; one that stops writing hangs, and is killed.
- A worker that dies is replaced at once. Only one that ended before it listened delays the next: by a growing wait
  while others listen, by `_PACE_S` from start to start while none does.
- The parent ends with the exit code of a worker that ended by itself before it listened, if no other is left; before
  any has listened, also with that of one that was killed.
- Another pipe, which nobody writes to, says when to stop: it ends when the parent is asked to stop, or dies. Workers
  react to no signal: a terminal and some service managers send it to all processes, and it would come twice from the
  parent's. What has not ended after `stop_s` is killed. On Linux the kernel kills the workers of a parent that died, so
  that the port is free for the next one even if a worker hangs.
- Exit codes are those of a single process: 0 when asked to stop, 128 and the signal's number when asked twice.
"""

import ctypes
import gc
import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

import structlog

from bt_runtime.text.data import dataclass
from oracle.core.retry import Retry

log = structlog.get_logger(__name__)

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_RETRY: Final = Retry(first_s=1.0, longest_s=30.0)
_PACE_S: Final = 1.0
_START_S: Final = 30.0
_SILENT_S: Final = 15.0
"""A worker that is silent for this long hangs; others have had its runs for ten seconds by then."""
_LOOK_S: Final = 0.5
_PR_SET_PDEATHSIG: Final = 1  # <linux/prctl.h>


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker has from its parent.

    Args:
        number: 1, 2, 3, …; one that replaces another has its number.
        is_first: whether it is the first of all.
        listener: bound; it accepts from this.
        stopping: a descriptor that can be read when the worker is to stop.
        pulse: a descriptor that takes the worker's beats to its parent.
    """

    number: int
    is_first: bool
    listener: socket.socket
    stopping: int
    pulse: int

    def beat(self) -> None:
        """Tell the parent that the event loop runs; the first time, that the first request can be answered."""
        with suppress(BlockingIOError, BrokenPipeError):  # the parent is stopped, or has died
            os.write(self.pulse, b"1")


@dataclass(slots=True)
class _Process:
    """A worker as its parent knows it; `silent_s` counts seconds in which the parent itself was running."""

    number: int
    pulse: int
    is_listening: bool = False
    silent_s: float = 0.0


class WorkerProcesses:
    """The workers of one parent, from their start to their end.

    Args:
        count: how many there are to be.
        listener: bound; the parent never listens.
        work: serves until the worker has to stop, in a process of its own; returns the exit code.
        stop_s: how long workers may take to end when they are asked to stop.
        silent_s: a worker that has listened and is silent for this long is killed.
        retry: the waits after workers that ended before they listened.
    """

    def __init__(
        self,
        count: int,
        *,
        listener: socket.socket,
        work: Callable[[Worker], int],
        stop_s: float,
        silent_s: float = _SILENT_S,
        retry: Retry = _RETRY,
    ) -> None:
        self._count = count
        self._listener = listener
        self._work = work
        self._stop_s = stop_s
        self._silent_s = silent_s
        self._retry = retry
        self._processes: dict[int, _Process] = {}  # that live
        self._stopping, stop = os.pipe()
        self._stop: int | None = stop  # the other end; closed to stop the workers
        self._kill_at_s = math.inf
        self._has_listened = False
        self._exit_code = 0
        self._started_s = self._due_s = -math.inf  # of the last worker, and of the next one
        self._failures = 0  # workers in a row that ended before they listened

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
        self._start(is_first=True)
        while self._processes or self._stop is not None:
            self._look()
            if self._may_start():
                self._start()
        return self._exit_code

    def _may_start(self) -> bool:
        processes = self._processes.values()
        is_starting = any(not each.is_listening and each.silent_s < _START_S for each in processes)
        if self._stop is None or len(processes) == self._count or is_starting:
            return False
        is_served = any(each.is_listening for each in processes)
        return time.monotonic() >= (self._due_s if is_served else min(self._due_s, self._started_s + _PACE_S))

    def _start(self, *, is_first: bool = False) -> None:
        number = min({*range(1, self._count + 1)} - {each.number for each in self._processes.values()})
        pulse, beat = os.pipe()
        self._started_s = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self._become_worker()
            os.set_blocking(beat, False)
            raise SystemExit(self._work(Worker(number, is_first, self._listener, self._stopping, beat)))
        self._processes[pid] = _Process(number, pulse)
        os.close(beat)

    def _become_worker(self) -> None:
        if self._stop is None:
            raise SystemExit(0)
        os.close(self._stop)
        with suppress(AttributeError):  # not Linux: there a worker that hangs outlives its parent
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _do_nothing)  # not ignored: what a tool starts would inherit that

    def _look(self) -> None:
        """Wait up to `_LOOK_S` for what the workers say; note who has died, and kill who hangs or ends too late."""
        began_s = time.monotonic()
        stopping = [] if self._stop is None else [self._stopping]
        ready, _, _ = select.select([*stopping, *(each.pulse for each in self._processes.values())], [], [], _LOOK_S)
        now_s = time.monotonic()
        for pid, process in tuple(self._processes.items()):
            process.silent_s += min(now_s - began_s, _LOOK_S)  # no more if the parent was stopped as well
            signs = os.read(process.pulse, select.PIPE_BUF) if process.pulse in ready else None
            if signs:
                process.silent_s = 0.0
            if signs and not process.is_listening:
                process.is_listening = self._has_listened = True
                self._failures, self._due_s = 0, -math.inf
            is_hung = process.is_listening and process.silent_s >= self._silent_s
            if signs != b"" and (is_hung or now_s >= self._kill_at_s):
                log.error("worker.killed", number=process.number, pid=pid, silent_s=round(process.silent_s, 1))
                os.kill(pid, signal.SIGKILL)
                signs = b""
            if signs == b"":
                self._reap(pid)

    def _reap(self, pid: int) -> None:
        """Take note of how a worker has ended."""
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        process = self._processes.pop(pid)
        os.close(process.pulse)
        if self._stop is None:
            return
        log.error("worker.died", number=process.number, pid=pid, exit_code=code)
        if process.is_listening:
            return
        self._failures += 1
        self._due_s = time.monotonic() + self._retry.wait_s(self._failures)
        if not self._processes and (code >= 0 or not self._has_listened):
            self._exit_code = code if code >= 0 else 128 - code
            self._end()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._stop is not None:
            self._end()
            return
        self._exit_code, self._kill_at_s = 128 + number, -math.inf
        for pid in tuple(self._processes):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _end(self) -> None:
        """Have the workers stop, and leave the port to them; once."""
        stop, self._stop = self._stop, None
        if stop is not None:
            self._kill_at_s = time.monotonic() + self._stop_s
            self._listener.close()
            os.close(stop)


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """Wait for what the parent says."""
