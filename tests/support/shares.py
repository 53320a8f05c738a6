"""How much of a long list of cases a run tries."""

from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")


def some(cases: Iterable[T], *, first: int = 0, one_of: int = 4) -> list[T]:
    """All of them with the profile `whole`, as `make check` has it; else one of so many, from the first on."""
    listed = list(cases)
    return listed if settings.get_current_profile_name() == "whole" else listed[first % one_of :: one_of]
