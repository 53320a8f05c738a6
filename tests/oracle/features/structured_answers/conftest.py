"""Fixtures: services, and models over the wires of both stand-ins, under names of their own."""

import pytest

from tests.oracle.features.claude.conftest import connect as connect_claude
from tests.oracle.features.conftest import service, start
from tests.oracle.features.openai_compatible.conftest import connect as connect_others

__all__ = ["connect_claude", "connect_others", "service", "start"]


@pytest.fixture
def to_claude(connect_claude):
    """Makes Claude's provider, and a model connected to it."""
    return connect_claude


@pytest.fixture
def to_others(connect_others):
    """Makes a server of chat completions, and a model connected to it."""
    return connect_others
