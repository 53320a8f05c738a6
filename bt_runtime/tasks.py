"""The asyncio tasks behind a run's requests, and the events between ticks.

Tasks are started in order, and cancelled and awaited when their nodes are halted. The ends of requests and values from
outside wait in an inbox, each with its time.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Literal

import structlog

from bt_runtime.clock import Clock, Signal
from bt_runtime.context import Request
from bt_runtime.recording import Outcome, describe

log = structlog.get_logger(__name__)

_working: ContextVar[str] = ContextVar("bt_runtime_working_node", default="")


def working_node() -> str:
    """The path of the node whose work is under way in this task, or in one that is started from it; else empty."""
    return _working.get()


@dataclass(frozen=True, slots=True, eq=False)
class Ended:
    """A request that has ended without being cancelled."""

    request: Request
    outcome: Outcome

    @property
    def at_s(self) -> float:
        """When it ended, in seconds of the run's clock."""
        return self.outcome.at_s


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """A blackboard value or a forced result from outside."""

    key: str
    value: Any
    at_s: float


class Inbox:
    """Events that no tick has got yet, in the order of time.

    Attributes:
        arrival: set when an event comes in.
    """

    __slots__ = ("_events", "arrival")

    def __init__(self) -> None:
        self.arrival = Signal()
        self._events: list[Ended | Delivery] = []

    def __len__(self) -> int:
        return len(self._events)

    @property
    def has_deliveries(self) -> bool:
        """Whether a value from outside is among them."""
        return any(isinstance(event, Delivery) for event in self._events)

    def add(self, event: Ended | Delivery) -> None:
        """Add an event, and wake the run."""
        self._events.append(event)
        self.arrival.set()

    def take(self, *, before_s: float) -> list[Ended | Delivery]:
        """The events from before a time; all of them if there are none."""
        taken = [event for event in self._events if event.at_s < before_s] or self._events
        self._events = self._events[len(taken) :]
        return taken

    def withdraw(self, request: Request) -> Outcome | None:
        """Remove the end of a request that was halted in the meantime; `None` if it has not ended."""
        for event in self._events:
            if isinstance(event, Ended) and event.request is request:
                self._events.remove(event)
                return replace(event.outcome, state="cancelled")
        return None


class Tasks:
    """The tasks of one run.

    Args:
        clock: gives the times of the outcomes.
        halt_grace_s: how long a cancelled task may take to end, in real seconds, not those of the run's clock: it
            bounds code that ignores its cancellation.
        inbox: gets the end of every request that was not cancelled.
    """

    __slots__ = ("_by_request", "_clock", "_ending", "_halt_grace_s", "_inbox")

    def __init__(self, clock: Clock, *, halt_grace_s: float, inbox: Inbox) -> None:
        self._clock = clock
        self._halt_grace_s = halt_grace_s
        self._inbox = inbox
        self._by_request: dict[Request, asyncio.Task[Any]] = {}
        self._ending = False

    def __len__(self) -> int:
        return len(self._by_request)

    @property
    def under_way(self) -> Collection[Request]:
        """The requests whose work has not ended."""
        return self._by_request.keys()

    def start(self, requests: Iterable[Request]) -> None:
        """Start the work of the requests, in order."""
        for request in requests:
            self._by_request[request] = asyncio.create_task(self._serve(request), name=request.key)

    async def settle(self, halted: Sequence[Request]) -> list[Outcome]:
        """Cancel and await the tasks of halted requests; returns their partial results, in the same order."""
        await self._stop([self._by_request[request] for request in halted if request in self._by_request])
        return [self._kept(request) for request in halted]

    async def end(self) -> None:
        """Cancel and await all remaining tasks."""
        self._ending = True
        await self._stop(list(self._by_request.values()))
        self._by_request.clear()

    async def _stop(self, tasks: Sequence[asyncio.Task[Any]]) -> None:
        """Cancel tasks and await them; one that has not ended within the grace period is abandoned."""
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        _, late = await asyncio.wait(tasks, timeout=self._halt_grace_s)
        for task in late:
            log.error("task.left_behind", task=task.get_name(), grace_s=self._halt_grace_s)

    def _kept(self, request: Request) -> Outcome:
        """The outcome of a halted request, whose task is forgotten."""
        task = self._by_request.pop(request, None)
        at_s = self._clock.now()
        if task is None or not task.done() or task.cancelled():
            return Outcome(request.key, "cancelled", at_s=at_s)
        error = task.exception()
        if error is not None:
            return Outcome(request.key, "cancelled", error=describe(error), at_s=at_s)
        return Outcome(request.key, "cancelled", task.result(), at_s=at_s)

    async def _serve(self, request: Request) -> Any:  # noqa: ANN401  whatever the node's work returns
        """Do the work, and put its end into the inbox; `settle` collects the results of halted requests instead.

        `start` runs inside the task, so its exceptions are failures of the work; a task that is cancelled before never
        starts. The inbox is filled from within the task: a callback would run one iteration of the event loop later.
        """
        _working.set(request.node.path)
        try:
            value = await request.node.start()
        except asyncio.CancelledError:
            if request.halted or self._ending:
                raise
            # Not cancelled by this run: something that the work awaits was.
            self._arrive(request, error="CancelledError: cancelled from within")
        except Exception as error:
            if request.halted or self._ending:
                raise
            self._arrive(request, error=describe(error))
        else:
            if request.halted or self._ending:
                return value
            self._arrive(request, value)
        return None

    def _arrive(self, request: Request, value: Any = None, *, error: str | None = None) -> None:  # noqa: ANN401
        del self._by_request[request]
        state: Literal["done", "failed"] = "done" if error is None else "failed"
        self._inbox.add(Ended(request, Outcome(request.key, state, value, error, at_s=self._clock.now())))
