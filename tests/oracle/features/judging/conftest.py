"""A store for each test of judgments."""

from tests.oracle.replay.conftest import archive, store

__all__ = ["archive", "store"]
