"""Models over the wire of the stand-in, and how a turn is read to its end."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from oracle.models.anthropic import AnthropicModel, RetryPolicy
from oracle.models.protocol import Model, ModelEvent, ModelRequest, TextDelta, TurnEnded
from oracle.testing import Reply, StandInProvider

KEY = "sk-ant-test-0123456789"


class Slept:
    """Waits that are only written down."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Line:
    """A stand-in provider and a model that speaks to it."""

    def __init__(self, provider: StandInProvider, model: AnthropicModel, slept: Slept) -> None:
        self.provider = provider
        self.model = model
        self.slept = slept


Connect = Callable[..., Any]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes a provider that answers with `turns`, and a model that asks it."""
    async with AsyncExitStack() as stack:

        async def make(turns: Iterable[Reply] = (), *, max_retries: int = 2, **settings: Any) -> Line:
            provider = await stack.enter_async_context(StandInProvider(turns, **settings))
            slept = Slept()
            retry = RetryPolicy(max_retries=max_retries, sleep=slept, chance=lambda: 0.0)
            model = AnthropicModel(api_key=KEY, base_url=provider.url, retry=retry)
            stack.push_async_callback(model.aclose)
            return Line(provider, model, slept)

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
    """Reads a turn to its end."""

    async def run(model: Model, request: ModelRequest) -> list[ModelEvent]:
        return [event async for event in model.stream(request)]

    return run


@pytest.fixture
def said() -> Callable[[list[ModelEvent]], str]:
    """The text of a turn's events."""
    return lambda events: "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.fixture
def end() -> Callable[[list[ModelEvent]], TurnEnded]:
    """The last event, which must be the only end."""

    def last(events: list[ModelEvent]) -> TurnEnded:
        ends = [event for event in events if isinstance(event, TurnEnded)]
        assert len(ends) == 1
        assert events[-1] is ends[0]
        return ends[0]

    return last
