"""Adds the cost of a missed cache to the warning about a tree that misses it in each round."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bt_runtime.text import Mistake
from oracle.authoring.costs import CACHE_MISSED, TYPICAL_TOKENS
from oracle.core.chunks import TokenUsage

_TURNS: Final = 1_000


def priced(settings: Any) -> Callable[[Mistake], Mistake]:  # noqa: ANN401  the operator's, with those of the features
    """Add to warnings of a missed cache what 1,000 such turns cost, where the model has a price.

    Args:
        settings: with `prices` and `model`; without a price of its model, the first one in the file counts.

    Raises:
        SettingsError: the file of prices cannot be used.
    """
    if settings.prices is None:
        return lambda warning: warning
    from oracle.features.usage.prices import read_prices  # noqa: PLC0415  it loads what a service needs

    prices = read_prices(Path(settings.prices))
    of = next((name for name in (settings.model, *prices.models) if prices.cost(name, TokenUsage()) is not None), None)
    if of is None:
        return lambda warning: warning
    tokens = TYPICAL_TOKENS * _TURNS
    written, read = TokenUsage(cache_creation_tokens=tokens), TokenUsage(cache_read_tokens=tokens)
    extra = max(0.0, (prices.cost(of, written) or 0.0) - (prices.cost(of, read) or 0.0))

    def worded(warning: Mistake) -> Mistake:
        if warning.code != CACHE_MISSED:
            return warning
        cost = f"{extra:,.2f} {prices.currency} for {_TURNS:,} such turns of {of}"
        return replace(warning, message=f"{warning.message}, which is {cost}")

    return worded
