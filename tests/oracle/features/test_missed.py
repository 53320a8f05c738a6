"""What a missed cache costs, in the words of warnings."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from bt_runtime.text import Mistake, Place
from oracle.authoring.costs import CACHE_MISSED
from oracle.features.usage.missed import priced

PLACE = Place("a.yaml", 1, 1)
MISSED = Mistake(PLACE, "it misses the cache", code=CACHE_MISSED, severity="warning")
PRICES = """\
currency: USD
models:
  other-1: { input: 1, output: 5, cache_creation: 0.05, cache_read: 0.1 }
  "claude-*": { input: 3, output: 15, cache_creation: 3.75, cache_read: 0.3 }
"""


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("claude-opus-5-5", "it misses the cache, which is 27.60 USD for 1,000 such turns of claude-opus-5-5"),
        ("new", "it misses the cache, which is 0.00 USD for 1,000 such turns of other-1"),
    ],
    ids=["its own price", "the first of the file"],
)
def test_the_price_is_that_of_the_model_or_of_the_first_one(tmp_path: Path, model: str, words: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(PRICES, encoding="utf-8")
    worded = priced(SimpleNamespace(prices=file, model=model))
    assert worded(MISSED).message == words
    other = Mistake(PLACE, "it is late", code="classified-late", severity="warning")
    assert worded(other) is other


def test_without_prices_a_warning_stays_as_it_is() -> None:
    assert priced(SimpleNamespace(prices=None, model="claude-opus-5-5"))(MISSED) is MISSED
