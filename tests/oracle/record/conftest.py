"""A store for each test of judgments."""

from tests.oracle.replays.conftest import archive, store, url

__all__ = ["archive", "store", "url"]
