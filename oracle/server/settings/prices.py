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
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from pydantic import Field

from bt_runtime.language.kind import Kind, NodeSettings
from bt_runtime.language.reading.placeholders import Filler
from bt_runtime.language.reading.settings import read_settings
from bt_runtime.text import Mistake, Place, format_mistakes, in_order
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES, Entry, YamlNode, read_yaml
from oracle.core.chunks import TokenUsage
from oracle.server.settings.reading import SettingsError

_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_MOST_MODELS: Final = 500
_LONGEST_NAME: Final = 255
_MILLION: Final = 1_000_000
_DEAREST: Final = 100_000
_DIGITS: Final = 10
"""Of a cost behind the point: a token of the cheapest model is seen, and no error of the addition."""


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


_KIND: Final = Kind("price", "action", Price)


def read_prices(path: Path | None) -> Prices:
    """The prices of a file; without one, none are known.

    Raises:
        SettingsError: it cannot be read, or has mistakes; the message has the places of all of them.
    """
    if path is None:
        return Prices()
    try:
        if path.exists() and not path.is_file():
            raise SettingsError(f"the file of prices {str(path)!r} is no file")
        with path.open("rb") as file:
            text = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"the file of prices {str(path)!r} cannot be read: {error.strerror or error}") from None
    document = read_yaml(text, file=str(path))
    mistakes = list(document.mistakes)
    found = Prices() if document.root is None else _prices(document.root, mistakes)
    if mistakes:
        raise SettingsError(format_mistakes(in_order(mistakes), {str(path): document.text}))
    return found


def _prices(root: YamlNode, mistakes: list[Mistake]) -> Prices:
    fields = _entries(root, mistakes, root.place, what="the file")
    for name, entry in fields.items():
        if name not in {"currency", "models"}:
            mistakes.append(Mistake(entry.place, f"the file has no field {name!r}", "fields: currency, models"))
    for name, hint in (("currency", "such as 'currency: USD'"), ("models", "their names, and prices below each")):
        if name not in fields:
            mistakes.append(Mistake(root.place, f"the file has no {name!r}", hint))
    if mistakes:
        return Prices()
    currency = fields["currency"].node.plain()
    if not isinstance(currency, str) or not _CURRENCY.fullmatch(currency):
        mistakes.append(Mistake(fields["currency"].place, "'currency' must be three capital letters, such as USD"))
    models = _entries(fields["models"].node, mistakes, fields["models"].place, what="'models'")
    if len(models) > _MOST_MODELS:
        mistakes.append(Mistake(fields["models"].place, f"more than {_MOST_MODELS} models: {len(models)}"))
    return Prices(currency, _models(models, mistakes))


def _models(models: Mapping[str, Entry], mistakes: list[Mistake]) -> Mapping[str, Price]:
    found = {}
    for name, entry in list(models.items())[:_MOST_MODELS]:
        if not 0 < len(name) <= _LONGEST_NAME:
            mistakes.append(Mistake(entry.place, f"the name of a model has 1 to {_LONGEST_NAME} characters"))
        fields = _entries(entry.node, mistakes, entry.place, what=f"the price of {name[:80]!r}")
        filler = Filler({}, samples=frozenset(), mistakes=mistakes, path=name)
        price = read_settings(_KIND, fields, filler=filler, place=entry.place, path=name, mistakes=mistakes)
        if isinstance(price, Price):
            found[name] = price
    return found


def _entries(node: YamlNode, mistakes: list[Mistake], place: Place, *, what: str) -> Mapping[str, Entry]:
    if isinstance(node.data, dict):
        return node.data
    mistakes.append(Mistake(place, f"{what} must be a mapping, not {node.shape}"))
    return {}
