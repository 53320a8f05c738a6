"""Fixtures: a model of the feature over the wire of the stand-in server, requests, and readers of turns."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import pytest

from oracle.core.retry import Retry
from oracle.features.openai_compatible.model import CompatibleModel, RetryPolicy
from oracle.features.openai_compatible.providers import Provider
from oracle.llm.protocol import Model, ModelEvent, ModelRequest, TurnEnded
from tests.support.provider import Reply
from tests.support.provider.completions import CompletionsServer
from tests.support.turns import Waits

KEY = "sk-test-0123456789"


class Line(NamedTuple):
    server: CompletionsServer
    model: CompatibleModel
    waits: Waits
    load: list[float | None]


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Any]]:
    """Makes a server that plays `turns`, and a model connected to it."""
    async with AsyncExitStack() as stack:

        async def make(
            turns: Iterable[Reply] = (),
            *,
            key: str | None = None,
            provider: dict[str, Any] | None = None,
            **settings: Any,
        ) -> Line:
            server = await stack.enter_async_context(CompletionsServer(turns, **settings))
            waits, load = Waits(), list[float | None]()
            given = Provider(base_url=f"{server.url}/v1", **(provider or {}))
            retry = RetryPolicy(2, Retry(0.5, 8.0, chance=lambda: 0.0), waits)
            model = CompatibleModel("local", given, api_key=key, retry=retry, on_load=load.append)
            stack.push_async_callback(model.aclose)
            return Line(server, model, waits, load)

        yield make


@pytest.fixture
def ask() -> Callable[..., ModelRequest]:
    """Makes a request with one question."""

    def make(**fields: Any) -> ModelRequest:
        fields = {"system": "You are the oracle.", "model": "qwen3:8b", **fields}
        fields.setdefault("messages", ({"role": "user", "content": "Where is it?"},))
        return ModelRequest(**fields)

    return make


@pytest.fixture
def read() -> Callable[[Model, ModelRequest], Any]:
    """Reads a turn to its end: its events, and the last one, which must be the only `TurnEnded`."""

    async def run(model: Model, request: ModelRequest) -> tuple[list[ModelEvent], TurnEnded]:
        *events, end = [event async for event in model.stream(request)]
        assert isinstance(end, TurnEnded)
        assert not any(isinstance(event, TurnEnded) for event in events)
        return events, end

    return run


@pytest.fixture(autouse=True)
def quiet_logs() -> None:
    """Tests here look at the log, which is not quiet."""
