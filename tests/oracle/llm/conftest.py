"""Fixtures: requests, and readers of turns."""

from tests.support.turns import ask, end, read, said

__all__ = ["ask", "end", "read", "said"]
