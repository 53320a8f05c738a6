"""Stores for the tests of the debugger."""

from tests.oracle.runs.conftest import postgresql_url, store, url

__all__ = ["postgresql_url", "store", "url"]
