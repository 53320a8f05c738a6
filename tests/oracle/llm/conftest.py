"""Fixtures: models over the wire of the stand-in provider, requests, and readers of turns."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from oracle.core.retry import Retry
from oracle.llm.anthropic import AnthropicModel, RetryPolicy
from oracle.llm.protocol import Model, ModelEvent, ModelRequest, TextDelta, TurnEnded
from tests.support.provider import Reply, StandInProvider

KEY = "sk-ant-test-0123456789"


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


class Line:
    """A stand-in provider and a model connected to it."""

    def __init__(self, provider: StandInProvider, model: AnthropicModel, waits: Waits) -> None:
        self.provider = provider
        self.model = model
        self.waits = waits


Connect = Callable[..., Any]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes a provider that plays `turns`, and a model connected to it."""
    async with AsyncExitStack() as stack:

        async def make(turns: Iterable[Reply] = (), *, max_retries: int = 2, **settings: Any) -> Line:
            provider = await stack.enter_async_context(StandInProvider(turns, **settings))
            waits = Waits()
            retry = RetryPolicy(max_retries, Retry(0.5, 8.0, chance=lambda: 0.0), waits)
            model = AnthropicModel(api_key=KEY, base_url=provider.url, retry=retry)
            stack.push_async_callback(model.aclose)
            return Line(provider, model, waits)

        yield make


@pytest.fixture
def key() -> str:
    return KEY


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
