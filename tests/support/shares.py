"""How much of a long list of cases a run tries."""

from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")
asked = 0
"""How often `some` was called."""


def some(cases: Iterable[T], *, first: int = 0, one_of: int = 4) -> list[T]:
    """One of so many, from the first on, with the profile `brief`, as `make test` has it; else all of them."""
    global asked  # noqa: PLW0603  says to the plugin that measures tests that this one depends on the profile
    asked += 1
    listed = list(cases)
    return listed[first % one_of :: one_of] if settings.get_current_profile_name() == "brief" else listed
