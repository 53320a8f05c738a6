"""Fixtures of adapters' tests: requests, and readers of turns; a clock that skips waits."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from oracle.llm.protocol import Model, ModelEvent, ModelRequest, TextDelta, TurnEnded


class Waits:
    """A clock that records each wait and skips it."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._now_s = 0.0

    def now(self) -> float:
        return self._now_s

    async def wait(self, event: asyncio.Event, *, until_s: float | None) -> None:
        assert until_s is not None
        self.seconds.append(until_s - self._now_s)
        self._now_s = until_s


@pytest.fixture
def ask() -> Callable[..., ModelRequest]:
    """Makes a request with one question."""

    def make(question: str = "How does the auth middleware work?", **fields: Any) -> ModelRequest:
        fields.setdefault("system", "You are the oracle.")
        fields.setdefault("messages", ({"role": "user", "content": question},))
        return ModelRequest(**fields)

    return make


@pytest.fixture
def read() -> Callable[[Model, ModelRequest], Any]:
    """Reads a turn to its end and returns the events."""

    async def run(model: Model, request: ModelRequest) -> list[ModelEvent]:
        return [event async for event in model.stream(request)]

    return run


@pytest.fixture
def said() -> Callable[[list[ModelEvent]], str]:
    """The text of a turn's events."""
    return lambda events: "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.fixture
def end() -> Callable[[list[ModelEvent]], TurnEnded]:
    """The last event, which must be the only `TurnEnded`."""

    def last(events: list[ModelEvent]) -> TurnEnded:
        ends = [event for event in events if isinstance(event, TurnEnded)]
        assert len(ends) == 1
        assert events[-1] is ends[0]
        return ends[0]

    return last
