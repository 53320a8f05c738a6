"""How much of a body of a client's protocol is read: it has the client's whole history, and nobody has counted it."""

from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, FailFast, model_validator

from oracle.core.errors import UserError

MOST_ITEMS: Final = 20_000
"""Of each list of a body, such as its messages."""
MOST_VALUES: Final = 200_000
"""In a whole body, on all levels."""

_T = TypeVar("_T")

Items = Annotated[list[_T], FailFast()]
"""A list of which the first wrong item refuses the whole: of each mistake the checker keeps a copy."""


class ClientBody(BaseModel, strict=True):
    """A body that is counted before its fields are looked at."""

    @model_validator(mode="before")
    @classmethod
    def _count(cls, given: object) -> object:
        check_amount(given)
        return given


def check_amount(body: object, *, most_values: int = MOST_VALUES) -> None:
    """Refuse a body that has too many values, whatever they are.

    Raises:
        UserError: it has.
    """
    for name, items in body.items() if isinstance(body, dict) else ():
        if isinstance(items, list) and len(items) > MOST_ITEMS:
            problem = f"this has at most {MOST_ITEMS:,} items, given {len(items):,}: send less of the history"
            raise UserError(problem, loc=("body", name))
    count = 0
    rest = [body]
    while rest:
        each = rest.pop()
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        count += len(inner)
        if count > most_values:
            problem = f"the body has more than {most_values:,} values; at most these are read"
            raise UserError(problem, loc=("body",))
        rest += [value for value in inner if isinstance(value, dict | list)]
