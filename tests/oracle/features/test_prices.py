"""The file of prices."""

from pathlib import Path

import pytest

from oracle.core.chunks import TokenUsage
from oracle.features.usage.prices import Prices, read_prices
from oracle.server.settings.reading import SettingsError

GOOD = """\
currency: USD
models:
  claude-small-1: { input: 1, output: 5, cache_creation: 1.25, cache_read: 0.1 }
  "claude-small-*": { input: 2, output: 0, cache_creation: 0, cache_read: 0 }
  "claude-*": { input: 3, output: 15, cache_creation: 3.75, cache_read: 0.3 }
"""
ONE = "models: {m: {input: 1, output: 5, cache_creation: 1, cache_read: 0.1}}"


@pytest.fixture
def read(tmp_path: Path):
    def from_text(text: str) -> Prices:
        file = tmp_path / "prices.yaml"
        file.write_text(text, encoding="utf-8")
        return read_prices(file)

    return from_text


def test_a_name_goes_before_globs_and_the_first_glob_before_the_others(read) -> None:
    prices = read(GOOD)
    million = TokenUsage(1_000_000)
    assert prices.currency == "USD"
    assert [prices.cost(f"claude-{name}", million) for name in ("small-1", "small-2", "large")] == [1, 2, 3]


def test_each_kind_has_its_price(read) -> None:
    prices = read(GOOD)
    assert prices.costs("claude-small-1", TokenUsage(10, 20, 30, 40)) == {
        "input": 0.00001,
        "cache_creation": 0.000025,
        "cache_read": 0.000003,
        "output": 0.0002,
    }
    assert prices.cost("claude-small-1", TokenUsage(10, 20, 30, 40)) == 0.000238


def test_the_cost_of_an_unknown_model_is_not_known(read) -> None:
    assert read(GOOD).cost("gpt", TokenUsage(1)) is None
    assert read_prices(None).cost("claude-small-1", TokenUsage(1)) is None


def test_what_is_free_costs_nothing(read) -> None:
    free = read("currency: EUR\nmodels: {'*': {input: 0, output: 0, cache_creation: 0, cache_read: 0}}")
    assert free.cost("any", TokenUsage(5, 5, 5, 5)) == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "prices.yaml"),
        ("[]", "prices.yaml:1:1: the file must be a mapping"),
        (ONE, "the file has no 'currency'"),
        ("currency: USD", "the file has no 'models'"),
        (f"currency: USD\nmodel: {{}}\n{ONE}", "prices.yaml:2:1: the file has no field 'model'"),
        (f"currency: dollars\n{ONE}", "prices.yaml:1:1: 'currency' must be three capital letters"),
        (f"currency: [USD]\n{ONE}", "'currency' must be three capital letters"),
        ("currency: USD\nmodels: []", "prices.yaml:2:1: 'models' must be a mapping"),
        ("currency: USD\nmodels: {m: 3}", "the price of 'm' must be a mapping"),
        ("currency: USD\nmodels: {m: {input: 1}}", "needs 'output'"),
        (f"currency: USD\n{ONE.replace('input: 1', 'input: -1')}", "at least 0"),
        (f"currency: USD\n{ONE.replace('input: 1', 'input: .nan')}", "input"),
        (f"currency: USD\n{ONE.replace('input: 1', 'input: 1e9')}", "at most 100000"),
        (f"currency: USD\n{ONE.replace('input: 1', 'input: free')}", "must be a number"),
        (f"currency: USD\n{ONE.replace('input: 1', 'inputs: 1')}", "has no setting 'inputs'"),
        (f"currency: USD\n{ONE}\n{ONE}", "models"),
        (f"currency: USD\n{ONE.replace('m:', '?:', 1)}", "prices.yaml"),
    ],
)
def test_mistakes_are_told_with_their_places(read, text: str, told: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read(text)
    assert told in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_prices(tmp_path / "none.yaml")
    with pytest.raises(SettingsError, match="is no file"):
        read_prices(tmp_path)
