"""Fixtures: models over the wire of the stand-in provider, requests, and readers of turns."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from oracle.core.retry import Retry
from oracle.features.claude.model import AnthropicModel, RetryPolicy
from tests.support.provider import Reply, StandInProvider
from tests.support.turns import Waits, ask, end, read, said

__all__ = ["ask", "end", "read", "said"]

KEY = "sk-ant-test-0123456789"


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


@pytest.fixture(autouse=True)
def quiet_logs() -> None:
    """Tests read the log here, so nothing of it is left out."""
