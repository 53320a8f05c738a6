"""Checks at the start whether Claude can answer, and whether its settings are right.

Mistakes are found at the start although the SDK is imported later: the HTTP client checks an address or a proxy, and
the SDK everything else. It is imported at once unless there is a plain key.
"""

import os
from collections.abc import Mapping
from functools import partial
from typing import Final

from oracle.core.loading import collector_paused
from oracle.llm.deferred import DeferredModel
from oracle.llm.protocol import Model, ModelError, OnLoad
from oracle.llm.routing import UNPREFIXED, ProviderModels
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError

_KEYS: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_ADDRESS: Final = "ANTHROPIC_BASE_URL"
_PREFIX: Final = "ANTHROPIC_"


def claude_models(settings: Settings) -> ProviderModels:
    """Claude's models, which have the names without a provider's beginning."""
    has_key = any(os.environ.get(name, "").strip() for name in _KEYS)
    lacks = f"{_ADDRESS} is set and no key" if os.environ.get(_ADDRESS, "").strip() and not has_key else ""
    hint = "set ANTHROPIC_API_KEY (any text for a server that asks for none), or ORACLE_LLM=offline"
    return ProviderModels(
        {UNPREFIXED: partial(claude_model, settings.model)}, is_ready=has_key, lacks=(lacks, hint) if lacks else None
    )


def claude_model(name: str, on_load: OnLoad, waits_for_load: bool) -> DeferredModel:  # noqa: FBT001  a maker
    """Claude.

    Args:
        name: the model of requests that name none.
        on_load: called at each refusal because of load or a rate limit.
        waits_for_load: whether a request that was refused so is repeated.

    Raises:
        SettingsError: the provider's own settings (address, proxy, profile) cannot be used.
    """

    def make() -> Model:
        from oracle.features.claude.model import AnthropicModel, RetryPolicy  # noqa: PLC0415  imports the SDK

        return AnthropicModel(model=name, retry=RetryPolicy(waits_for_load=waits_for_load), on_load=on_load)

    model = DeferredModel(name, make, has_web_search=True)
    try:
        # Fails as the SDK's client would; that one, half made, would also print a traceback when it is collected.
        with collector_paused():
            import httpx2  # noqa: PLC0415  only where a provider answers

        httpx2.Client(base_url=os.environ.get(_ADDRESS, "")).close()
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
    return bool(read & set(_KEYS)) and read <= {*_KEYS, _ADDRESS}
