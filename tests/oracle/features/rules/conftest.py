"""Tests of rules look at what is logged."""

import pytest


@pytest.fixture
def quiet_logs():
    """The log of the process stays as it is."""
