"""Several providers as one model: the name of a model says which of them answers.

`ollama/qwen3:8b` is the model `qwen3:8b` of the provider `ollama`; a name without the beginning of a provider is one of
Claude's.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from bt_runtime.text.data import dataclass
from oracle.llm.deferred import DeferredModel
from oracle.llm.faults import ProviderError, fault_of
from oracle.llm.protocol import Model, ModelError, ModelEvent, ModelRequest, OnLoad

CLAUDES: Final = "anthropic"
"""What people call Claude's provider."""
UNPREFIXED: Final = ""
"""Stands for the provider of names without the beginning of one, which is Claude's."""
Maker = Callable[[OnLoad, bool], Model]
"""Makes the model of a provider; the arguments are `on_load` and `waits_for_load` of the adapters."""


@dataclass(frozen=True, slots=True)
class ProviderModels:
    """The models of some providers.

    Args:
        makers: by the names of the providers, what makes the model that answers for all of theirs.
        roles: by further names, such as `fast`, the names of the models that they stand for.
        is_ready: whether `UNPREFIXED` has the key that it needs, and answers unless another provider is named.
        lacks: what keeps it from being ready although it is set up in part, and what would be right; `None`: nothing.
        windows: by the names of providers, how much their models read and write together, in tokens, where that is
            known.
    """

    makers: Mapping[str, Maker] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    is_ready: bool = False
    lacks: tuple[str, str] | None = None
    windows: Mapping[str, int] = field(default_factory=dict)

    def find(self, name: str) -> tuple[str, str]:
        """The provider of a model and its name there."""
        name = self.roles.get(name, name)
        provider, _, rest = name.partition("/")
        return (provider, rest) if provider and rest and provider in self.makers else (UNPREFIXED, name)


def joined(each: Iterable[ProviderModels]) -> ProviderModels:
    """The models of all these providers; of two of the same name the later one counts."""
    found = list(each)
    return ProviderModels(
        {name: make for models in found for name, make in models.makers.items()},
        {name: model for models in found for name, model in models.roles.items()},
        is_ready=any(models.is_ready for models in found),
        lacks=next((models.lacks for models in found if models.lacks), None),
        windows={name: size for models in found for name, size in models.windows.items()},
    )


class RoutedModel:
    """Sends each request to the provider that the name of its model begins with.

    Args:
        name: the model of requests that name none; its provider must be there.
        models: of all providers, each made when it is first asked.
        on_load: called at each refusal because of load or a rate limit.
        waits_for_load: whether a request that was refused so is repeated.
    """

    def __init__(self, name: str, models: ProviderModels, *, on_load: OnLoad, waits_for_load: bool) -> None:
        self.name = name
        self._models = models
        self._load = (on_load, waits_for_load)
        self._made: dict[str, Model] = {}
        self.provider = models.find(name)[0] or CLAUDES
        """The provider of `name`."""
        self.first = self._of(models.find(name)[0])
        """Its model."""

    @property
    def has_web_search(self) -> bool:
        """Whether the provider of `name` can search the web itself."""
        return self.first.has_web_search

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn.

        Raises:
            ModelError: the provider failed or refused, or there is none for the model.
        """
        provider, name = self._models.find(request.model or self.name)
        if provider not in self._models.makers:
            raise ModelError(fault_of(ProviderError(404, message="no provider that is set up has it"), model=name))
        return self._of(provider).stream(replace(request, model=name))

    def context_tokens(self, name: str | None) -> int | None:
        """How much the model of a name, `None` being the first one, reads and writes together, if that is known."""
        return self._models.windows.get(self._models.find(name or self.name)[0])

    async def aclose(self) -> None:
        """Close the connections of all providers."""
        for model in self._made.values():
            await model.aclose()

    def _of(self, provider: str) -> Model:
        if provider not in self._made:
            self._made[provider] = self._models.makers[provider](*self._load)
        return self._made[provider]


def prepare(model: Model) -> "asyncio.Future[Model] | None":
    """Import the SDK of a model in a thread; `None`: it has none."""
    first = model.first if isinstance(model, RoutedModel) else model
    return first.prepare() if isinstance(first, DeferredModel) else None


def provider_of(model: Model) -> str:
    """The name of the provider that answers requests that name no model."""
    return model.provider if isinstance(model, RoutedModel) else CLAUDES
