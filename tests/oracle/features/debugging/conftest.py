"""Stores and services for the tests of the debugger."""

from tests.oracle.runs.conftest import store
from tests.oracle.server.api.conftest import start

__all__ = ["start", "store"]
