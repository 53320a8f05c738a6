"""Tests of the encoder look at what it logs."""

import pytest


@pytest.fixture
def quiet_logs():
    """The log of the process stays as it is."""
