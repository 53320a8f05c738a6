"""Tests of rules look at what is logged, and at what is stored."""

import pytest

from tests.oracle.replay.conftest import archive, store

__all__ = ["archive", "store"]


@pytest.fixture
def quiet_logs():
    """The log of the process stays as it is."""
