"""A store for the tests that begin with a recorded run."""

from tests.oracle.replays.conftest import archive, store, url

__all__ = ["archive", "store", "url"]
