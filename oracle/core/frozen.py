"""Dataclasses of what is made again and again while a query runs."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def held_frozen(cls: type[_T]) -> type[_T]:
    """A dataclass with slots that type checkers hold frozen, and that is compared and hashed as one.

    Frozen at run time too, each would set its fields through `object.__setattr__`, which takes three times as long.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
