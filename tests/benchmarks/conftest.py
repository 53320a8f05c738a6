"""The benchmarks' own tests."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They test what measures the product, not the product: all tests of this folder are long."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.long("of a benchmark, not of the product"))
