"""A provider's model with its SDK imported when it is first needed, which takes as long as the rest of a start."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from oracle.core.loading import collector_paused
from oracle.llm.protocol import Model, ModelEvent, ModelRequest


class DeferredModel:
    """A provider's model; `prepare` or the first request makes it, in a thread.

    Args:
        name: the model of requests that name none.
        make: imports the SDK, and makes the model.
        has_web_search: whether the provider can search the web itself, until the model knows better.
    """

    def __init__(self, name: str, make: Callable[[], Model], *, has_web_search: bool) -> None:
        self.name = name
        self._make = make
        self._has_web_search = has_web_search
        self._model: Model | None = None
        self._loading: asyncio.Future[Model] | None = None

    @property
    def has_web_search(self) -> bool:
        """Whether the provider can search the web itself, as far as is known."""
        return self._has_web_search if self._model is None else self._model.has_web_search

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn.

        Raises:
            ModelError: the provider failed or refused.
        """
        return self._stream_once_loaded(request) if self._model is None else self._model.stream(request)

    def prepare(self) -> "asyncio.Future[Model]":
        """Import the SDK in a thread, unless that is under way or done; gives the model that it makes."""
        has_failed = self._model is None and self._loading is not None and self._loading.done()
        if self._loading is None or has_failed:
            self._loading = asyncio.get_running_loop().run_in_executor(None, self.load)
        return self._loading

    def load(self) -> Model:
        """Import the SDK, and make the model."""
        if self._model is None:
            with collector_paused():
                self._model = self._make()
                gc.freeze()  # what was imported lives as long as the process
        return self._model

    async def aclose(self) -> None:
        """Release connections."""
        if self._loading is not None:
            await asyncio.gather(self._loading, return_exceptions=True)
        if self._model is not None:
            await self._model.aclose()

    async def _stream_once_loaded(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        model = await asyncio.shield(self.prepare())
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                yield event
