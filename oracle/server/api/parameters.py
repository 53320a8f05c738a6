"""Query parameters of several calls; unknown ones are refused, so that a misspelt filter is not silently ignored."""

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError

TEXT: Final = r"^[^\x00]*$"
"""What a text may be that the database is asked about: PostgreSQL takes no NUL."""

When = Annotated[datetime | None, Query(description="ISO 8601; without an offset it is UTC.")]

_MOST_TOLD = 30


def seconds_of(when: datetime | None) -> float | None:
    """The time in seconds since the epoch."""
    if when is None:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a request with query parameters that its call does not have; a dependency of every call.

    Raises:
        RequestValidationError: there are some.
    """
    if not request.scope["query_string"]:
        return
    known = _names(request.scope["route"].dependant)
    unknown = [(name, value) for name, value in request.query_params.items() if name not in known]
    if unknown:
        right = f"those that there are: {', '.join(sorted(known))}" if known else "this call has none"
        raise RequestValidationError(
            [
                {
                    "type": "extra_forbidden",
                    "loc": ("query", name),
                    "msg": f"There is no such query parameter; {right}",
                    "input": value,
                }
                for name, value in unknown[:_MOST_TOLD]
            ]
        )


def _names(dependant: Dependant) -> set[str]:
    own = {field.alias for field in dependant.query_params}
    return own.union(*(_names(each) for each in dependant.dependencies))
