"""Events between the ticks of a run: requests that have ended and values from outside, each with its time."""

from dataclasses import dataclass, replace
from typing import Any

from bt_runtime.clock import Signal
from bt_runtime.context import Request
from bt_runtime.recording import Outcome


@dataclass(frozen=True, slots=True, eq=False)
class Ended:
    """A request that has ended of itself."""

    request: Request
    outcome: Outcome

    @property
    def at_s(self) -> float:
        """When, in seconds of the run's clock."""
        return self.outcome.at_s


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """A blackboard value from outside."""

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
        """Take out the end of a request that was halted meanwhile; `None` if it has not ended of itself."""
        for event in self._events:
            if isinstance(event, Ended) and event.request is request:
                self._events.remove(event)
                return replace(event.outcome, state="cancelled")
        return None
