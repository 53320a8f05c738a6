"""Stores for the tests of the debugger."""

from tests.oracle.runs.conftest import store

__all__ = ["store"]
