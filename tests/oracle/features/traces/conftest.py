"""A collector that the environment names."""

import os
from collections.abc import Iterator

import pytest
import structlog

from tests.oracle.features.traces.collector import Collector


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    with Collector() as it:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", it.url)
        yield it


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """What a command or a host does to the log of the process ends with the test."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()
