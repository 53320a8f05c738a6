"""A store for the tests that begin with a recorded run."""

from tests.oracle.replay.conftest import archive, store

__all__ = ["archive", "store"]
