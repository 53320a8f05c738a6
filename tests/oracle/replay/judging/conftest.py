"""A store for each test of judgments."""

from tests.oracle.replay.conftest import archive, store, url

__all__ = ["archive", "store", "url"]
