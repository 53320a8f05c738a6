"""The file of prices: what a million tokens of a model cost, read with the places of all its mistakes.

```yaml
currency: USD
models:
  claude-sonnet-4-5: { input: 3, output: 15, cache_creation: 3.75, cache_read: 0.3 }
  "claude-haiku-*": { input: 1, output: 5, cache_creation: 1.25, cache_read: 0.1 }
```

A name goes before globs, and of globs the first that matches. There is one currency, so that costs can be added.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from pydantic import Field

from bt_runtime.language.kind import NodeSettings
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import YamlNode
from oracle.core.chunks import TokenUsage
from oracle.core.yaml_records import Reader, read_file
from oracle.server.api.parts import ServiceParts
from oracle.server.settings.reading import SettingsError

_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_MOST_MODELS: Final = 500
_NAME: Final = re.compile(r".{1,255}", re.DOTALL)
_MILLION: Final = 1_000_000
_DEAREST: Final = 100_000
_DIGITS: Final = 10
"""Decimal places of a cost: enough for one token of the cheapest model, and few enough to hide rounding errors."""


class Price(NodeSettings):
    """What a million tokens of a model cost, by kind."""

    input: float = Field(ge=0, le=_DEAREST, allow_inf_nan=False)
    output: float = Field(ge=0, le=_DEAREST, allow_inf_nan=False)
    cache_creation: float = Field(ge=0, le=_DEAREST, allow_inf_nan=False)
    cache_read: float = Field(ge=0, le=_DEAREST, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Prices:
    """What models cost.

    Args:
        currency: of all prices, such as `USD`; `None`: there are none.
        models: the prices by the models' names or globs.
    """

    currency: str | None = None
    models: Mapping[str, Price] = field(default_factory=dict)

    def costs(self, model: str, usage: TokenUsage) -> Mapping[str, float] | None:
        """What these tokens have cost, by kind; `None`: the model is not known."""
        price = self.models.get(model) or next(
            (each for name, each in self.models.items() if fnmatchcase(model, name)), None
        )
        if price is None:
            return None
        return {kind: round(count * getattr(price, kind) / _MILLION, _DIGITS) for kind, count in usage.by_kind.items()}

    def cost(self, model: str, usage: TokenUsage) -> float | None:
        """The sum of them; `None`: it is not known."""
        costs = self.costs(model, usage)
        return None if costs is None else round(sum(costs.values()), _DIGITS)


def read_prices(path: Path | None) -> Prices:
    """The prices of a file; without one, none are known.

    Raises:
        SettingsError: it cannot be read, or has mistakes; the message has the places of all of them.
    """
    return Prices() if path is None else read_file(path, _prices, what="the file of prices", error=SettingsError)


def _prices(reader: Reader, root: YamlNode) -> Prices:
    names, hint = ("currency", "models"), "such as 'currency: USD', and 'models:' with their names and prices below"
    fields = reader.fields(root, names, what="the file", required=names, hint=hint)
    if reader.mistakes:
        return Prices()
    currency = fields["currency"].node.plain()
    if not isinstance(currency, str) or not _CURRENCY.fullmatch(currency):
        reader.report(fields["currency"], "'currency' must be three capital letters, such as USD")
    hint = "1 to 255 characters"
    models = reader.settings(
        fields["models"], Price, noun="price", of="the price of", names=_NAME, hint=hint, most=_MOST_MODELS
    )
    return Prices(currency, models)


@asynccontextmanager
async def open_prices(parts: ServiceParts) -> AsyncIterator[None]:
    """Let a service count costs, and report them with the usage.

    Raises:
        SettingsError: the file of prices cannot be used.
    """
    prices = read_prices(parts.settings["prices"])
    parts.metrics.costs_of = prices.costs
    parts.add(prices)
    yield
