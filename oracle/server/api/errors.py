"""JSON answers, and errors as such: a status and `{"detail": …}`; for what is wrong with a request, FastAPI's 422 list.

Rules:

- A value that a client sent is quoted in bounded length.
- What belongs to another user is answered as if it did not exist: same status, same words.
- 429 and 503 have `Retry-After`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from bt_runtime import TreeFileError
from bt_runtime.text.phrases import truncated
from oracle.core.encoding import to_json
from oracle.core.errors import OracleError, TreeAuthorError, UserError

log = structlog.get_logger(__name__)


def json_answer(
    value: Any,  # noqa: ANN401  JSON data
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """`value` as a JSON answer that no cache keeps."""
    return raw_json(to_json(value), status=status, headers=headers)


def raw_json(data: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON text as an answer that no cache keeps."""
    return Response(
        data,
        status_code=status,
        media_type="application/json",
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


_MOST_MISTAKES = 30
_LONGEST_VALUE = 200
_LONGEST_MESSAGE = 1_000


class ForgottenRunError(UserError):
    """The run exists, and its texts have been deleted."""

    status = 410
    detail = "The texts of this run were deleted by its user or because of their age; its figures are kept."


def add_error_answers(app: FastAPI) -> None:
    """Have the app answer the errors that its calls raise."""
    app.add_exception_handler(405, _on_wrong_method)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(OracleError, _on_error)
    app.add_exception_handler(TreeFileError, _on_broken_tree)


def told(error: OracleError) -> str:
    """What the client reads of an error; what only the operator may read of it goes to the log."""
    if error.log_event is not None:
        log.log(error.log_level, error.log_event, problem=bounded(error, most=_LONGEST_MESSAGE))
    return str(error) if error.detail is None else error.detail


async def _on_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, OracleError) or error.status is None:
        raise error
    detail = told(error)
    if error.status == 422:
        parts = error.parts or [(error.loc, detail)]
        column = {"column": error.column}
        return invalid(
            [mistake(text, loc=loc, value=error.value, context=column) for loc, text in parts[:_MOST_MISTAKES]]
        )
    if error.status in (429, 503):
        return later(error.status, detail, after_s=error.retry_after_s)
    return json_answer({"detail": detail}, status=error.status)


async def _on_broken_tree(request: Request, error: Exception) -> Response:
    return await _on_error(request, TreeAuthorError(str(error)))


def mistake(
    message: str,
    *,
    loc: Sequence[Any],
    value: object = None,
    kind: str = "value_error",
    context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One entry of a 422 list, of bounded size."""
    entry = {
        "type": kind,
        "loc": [part if isinstance(part, int) else bounded(part, most=100) for part in loc],
        "msg": bounded(message, most=_LONGEST_MESSAGE),
        "input": _shown(value),
    }
    numbers = {name: each for name, each in (context or {}).items() if isinstance(each, int) and abs(each) < 2**53}
    return entry | {"ctx": numbers} if numbers else entry


def bounded(value: object, *, most: int = _LONGEST_VALUE) -> str:
    """A text of at most `most` characters."""
    return truncated(str(value), most)


def _shown(value: object) -> object:
    """The value as it was given if it is short and plain, otherwise the name of its type."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return bounded(value)
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, float):
        return repr(value)
    return f"({type(value).__name__})"


def invalid(mistakes: Sequence[Mapping[str, Any]]) -> Response:
    """The answer to a request with these mistakes."""
    return json_answer({"detail": list(mistakes)}, status=422)


async def _on_wrong_method(request: Request, _: Exception) -> Response:
    # The router lists the methods of the first route of the path only.
    routes = request.app.routes
    allowed = [
        method
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return json_answer({"detail": "Method Not Allowed"}, status=405, headers={"Allow": ", ".join(allowed)})


async def _on_invalid_request(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  registered for it
    return invalid(
        [
            mistake(
                _message(each), loc=each["loc"], value=each.get("input"), kind=each["type"], context=each.get("ctx")
            )
            for each in error.errors()[:_MOST_MISTAKES]
        ]
    )


def _message(found: Mapping[str, Any]) -> str:
    # A body of another media type is not parsed; pydantic's message (not an object) would be misleading.
    if tuple(found["loc"]) == ("body",) and isinstance(found.get("input"), bytes):
        return "A request with a body needs the header Content-Type: application/json"
    return str(found["msg"])


def later(status: int, detail: str, *, after_s: int = OracleError.retry_after_s) -> Response:
    """An answer that asks the client to come back."""
    return json_answer({"detail": detail}, status=status, headers={"Retry-After": str(after_s)})
