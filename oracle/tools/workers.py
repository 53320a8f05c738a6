"""Daemon threads for blocking work that can be abandoned.

Rules:

- The threads are daemons. `asyncio.to_thread` and `ThreadPoolExecutor` join theirs when the interpreter ends, so a
  hanging file system would keep the process alive.
- A cancelled call returns at once. Its thread cannot be killed: it is abandoned, can detect that
  (`check_cancelled`), and may be replaced by another thread, up to a limit. Beyond the limit calls wait in order, and
  may time out.
- A call that is cancelled while it waits never starts.
- A thread waits `IDLE_S` for its next call before it ends: starting one blocks the event loop until it runs, which
  takes milliseconds where many runs are under way.
"""

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from oracle.tools.errors import ToolError
from oracle.tools.keys import CALLER

IDLE_S = 10.0

T = TypeVar("T")


class Workers:
    """A bounded set of daemon threads.

    Args:
        max_running: calls that run concurrently; more wait in order.
        max_abandoned: threads of cancelled calls that may be replaced while they still run.
        max_waiting: calls that may wait; more are refused.
        idle_s: how long a thread waits for its next call.
    """

    def __init__(
        self, *, max_running: int = 8, max_abandoned: int = 32, max_waiting: int = 1_000, idle_s: float = IDLE_S
    ) -> None:
        self._max_running = max_running
        self._max_abandoned = max_abandoned
        self._max_waiting = max_waiting
        self._idle_s = idle_s
        self._lock = threading.Condition(threading.Lock())
        self._waiting: deque[_Job] = deque()
        self._threads = 0
        self._idle = 0  # of them
        self._abandoned = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Run blocking work in a thread and return what it returns, or raise what it raises.

        Raises:
            ToolError: too many calls wait already.
        """
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        with self._lock:
            if len(self._waiting) - self._idle >= self._max_waiting:
                raise ToolError(f"Too many calls are waiting ({self._max_waiting:,}); try again later.")
            self._waiting.append(job)
            self._find_thread()
        try:
            result: T = await job.future
        except asyncio.CancelledError:
            self._abandon(job)
            raise
        return result

    def _abandon(self, job: "_Job") -> None:
        with self._lock:
            job.abandoned.set()
            if job in self._waiting:
                self._waiting.remove(job)
            elif not job.finished:
                self._abandoned += 1
                with suppress(RuntimeError):  # no thread can be started now; the next one that ends takes over
                    self._find_thread()

    def _find_thread(self) -> None:
        """Have an idle thread, or a new one if that is allowed, take the next call."""
        if len(self._waiting) <= self._idle:
            self._lock.notify()
        elif self._has_room(self._threads + 1):
            # Before the counts change: it raises where the system has no more threads.
            threading.Thread(target=self._work, name="tool-worker", daemon=True).start()
            self._threads += 1
            self._idle += 1

    def _has_room(self, threads: int) -> bool:
        return threads <= self._max_running + min(self._abandoned, self._max_abandoned)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.run()
            with self._lock:
                job.finished = True
                if job.abandoned.is_set():
                    self._abandoned -= 1
                self._idle += 1
            del job  # an idle thread holds nothing of the call before

    def _next(self) -> "_Job | None":
        with self._lock:
            self._lock.wait_for(lambda: bool(self._waiting), self._idle_s)
            self._idle -= 1
            if self._waiting and self._has_room(self._threads):
                return self._waiting.popleft()
            self._threads -= 1
            self._lock.notify()  # this thread may have been woken for a call that another idle thread must take now
            return None


class _Job:
    """One call: its work, and where the result goes."""

    __slots__ = ("_context", "_loop", "_work", "abandoned", "finished", "future")

    def __init__(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]") -> None:
        self._work = work
        self._loop = loop
        self._context = contextvars.copy_context()
        self.future = future
        self.abandoned = threading.Event()
        self.finished = False
        self._context.run(CALLER.set, (self.abandoned, loop))

    def run(self) -> None:
        result: Any = None
        error: Exception | None = None
        try:
            result = self._context.run(self._work)
        except StopIteration as stop:  # a future cannot carry one
            error = RuntimeError(f"StopIteration: {stop}")
        except Exception as caught:  # noqa: BLE001 - re-raised where the call is awaited
            error = caught
        except BaseException as caught:  # noqa: BLE001 - sys.exit() in a tool must not end the service
            error = RuntimeError(f"{type(caught).__name__}: {caught}")
        with suppress(RuntimeError):  # the loop is closed: nothing awaits the result
            self._loop.call_soon_threadsafe(_deliver, self.future, result, error)


def _deliver(future: "asyncio.Future[Any]", result: Any, error: Exception | None) -> None:  # noqa: ANN401 - anything
    if future.done():  # cancelled meanwhile
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
