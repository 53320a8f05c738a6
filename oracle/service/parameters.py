"""Unknown query parameters are refused, so that a misspelt filter is not silently ignored."""

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError

_MOST_TOLD = 30


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
