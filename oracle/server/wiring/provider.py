"""Claude, with the provider's SDK imported when it is first needed: that takes as long as the rest of a start.

What can be wrong with the provider's settings is found at the start all the same: an address or a proxy by the HTTP
client, and everything else by the SDK itself, which is imported at once unless there is a plain key.
"""

import asyncio
import gc
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final

from oracle.core.loading import collector_paused
from oracle.llm.protocol import Model, ModelError, ModelEvent, ModelRequest, OnLoad
from oracle.server.settings.reading import SettingsError

_KEYS: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
ADDRESS: Final = "ANTHROPIC_BASE_URL"
_PREFIX: Final = "ANTHROPIC_"


class DeferredModel:
    """The provider's model; `prepare` or the first request imports the SDK, in a thread.

    Args:
        name: the model of requests that name none.
        on_load: called at each refusal because of load or a rate limit.
        waits_for_load: whether a request that was refused so is repeated.
    """

    def __init__(self, name: str, *, on_load: OnLoad = lambda _: None, waits_for_load: bool = True) -> None:
        self.name = name
        self._on_load = on_load
        self._waits_for_load = waits_for_load
        self._model: Model | None = None
        self._loading: asyncio.Future[Model] | None = None

    @property
    def has_web_search(self) -> bool:
        """Whether the provider can search the web itself, as far as is known."""
        return self._model is None or self._model.has_web_search

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
                from oracle.llm.anthropic import AnthropicModel, RetryPolicy  # noqa: PLC0415  imports the SDK

                retry = RetryPolicy(waits_for_load=self._waits_for_load)
                self._model = AnthropicModel(model=self.name, retry=retry, on_load=self._on_load)
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


def has_key(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether there is a key for the provider."""
    return any(environ.get(name, "").strip() for name in _KEYS)


def provider_model(name: str, *, on_load: OnLoad = lambda _: None, waits_for_load: bool = True) -> DeferredModel:
    """The provider's model; the arguments are those of `build_model` and `DeferredModel`.

    Raises:
        SettingsError: the provider's own settings (address, proxy, profile) cannot be used.
    """
    model = DeferredModel(name, on_load=on_load, waits_for_load=waits_for_load)
    try:
        # Fails as the SDK's client would; that one, half made, would also print a traceback when it is collected.
        with collector_paused():
            import httpx2  # noqa: PLC0415  only where a provider answers

        httpx2.Client(base_url=os.environ.get(ADDRESS, "")).close()
        if not _has_plain_settings(os.environ):
            model.load()
    except ModelError as error:
        raise SettingsError(str(error)) from None
    except Exception as error:  # noqa: BLE001  the SDK, its HTTP client and its profiles fail in many ways
        raise SettingsError(
            f"the model provider cannot be used as configured ({type(error).__name__}: {error}); "
            "check the ANTHROPIC_… and proxy variables, or set ORACLE_LLM=offline"
        ) from None
    return model


def _has_plain_settings(environ: Mapping[str, str]) -> bool:
    """Whether a key is all that the SDK reads, so that nothing is left for it to refuse."""
    read = {name for name, value in environ.items() if name.startswith(_PREFIX) and value.strip()}
    return bool(read & set(_KEYS)) and read <= {*_KEYS, ADDRESS}
