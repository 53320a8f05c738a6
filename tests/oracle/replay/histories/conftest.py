"""Histories are read from a store like replays."""

from tests.oracle.replay.conftest import archive, store

__all__ = ["archive", "store"]
