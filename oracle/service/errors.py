"""What goes wrong, as answers: a status and `{"detail": …}`; for what a client has sent wrong, FastAPI's 422 list.

Rules:

- What a client sent is told back in bounded length, whatever it was.
- Something of another user's is answered as if it had never been: same status, same words.
- 429 and 503 say in `Retry-After` when to come back.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from bt_runtime import TreeFileError
from oracle.agent.query import QuestionError
from oracle.answering import UnknownConversationError as NoSuchConversationError
from oracle.answering import UnknownTreeError
from oracle.decision import ConfigError, DecisionTreeError
from oracle.runs import DrainingError
from oracle.service.answers import json_answer
from oracle.storage import (
    ConversationBusyError,
    KeyReusedError,
    RunLostError,
    StoreUnavailableError,
    TooManyRunsError,
    UnknownConversationError,
)
from oracle.tools import ToolSetupError

log = structlog.get_logger(__name__)

RETRY_AFTER_S = 5

_MOST_MISTAKES = 30
_LONGEST_VALUE = 200
_LONGEST_MESSAGE = 1_000


class InvalidRequestError(Exception):
    """A value of a request that only the service can judge.

    Args:
        loc: where it stands, as FastAPI tells it.
        message: what is wrong, and what would be right.
        value: as it was given.
    """

    def __init__(self, message: str, *, loc: Sequence[str | int], value: object = None) -> None:
        super().__init__(message)
        self.loc = tuple(loc)
        self.value = value


def no_such_run() -> HTTPException:
    """There is none, or it is another user's."""
    return HTTPException(404, "There is no such run.")


def no_such_conversation() -> HTTPException:
    """There is none, or it is another user's."""
    return HTTPException(404, "There is no such conversation.")


def forgotten_run() -> HTTPException:
    """The run was, and its texts have been deleted."""
    return HTTPException(
        410, "What this run said was deleted, by its user or because of its age; its figures are kept."
    )


def add_error_answers(app: FastAPI) -> None:
    """Have the app answer what its calls raise."""
    handlers: dict[int | type[Exception], Any] = {
        405: _on_wrong_method,
        RequestValidationError: _on_invalid_body,
        InvalidRequestError: _on_invalid_value,
        QuestionError: _refusal("question"),
        ConfigError: _refusal("limits"),
        UnknownTreeError: _on_unknown_tree,
        ToolSetupError: _on_unusable_tools,
        TreeFileError: _on_broken_tree,
        DecisionTreeError: _on_broken_tree,
        NoSuchConversationError: _on_unknown_conversation,
        UnknownConversationError: _on_unknown_conversation,
        ConversationBusyError: _on_busy,
        KeyReusedError: _on_reused_key,
        TooManyRunsError: _on_too_many,
        DrainingError: _on_draining,
        StoreUnavailableError: _on_unavailable,
        RunLostError: _on_unavailable,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


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
        "input": _told(value),
    }
    numbers = {name: each for name, each in (context or {}).items() if isinstance(each, int) and abs(each) < 2**53}
    return entry | {"ctx": numbers} if numbers else entry


def bounded(value: object, *, most: int = _LONGEST_VALUE) -> str:
    """A text of at most `most` characters."""
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _told(value: object) -> object:
    """What was given, as far as it is short and plain; else its kind."""
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
    # The router tells the methods of the first route of that path alone.
    routes = request.app.routes
    allowed = [
        method
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return json_answer({"detail": "Method Not Allowed"}, status=405, headers={"Allow": ", ".join(allowed)})


async def _on_invalid_body(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  registered for it
    return invalid(
        [
            mistake(
                _told_why(each), loc=each["loc"], value=each.get("input"), kind=each["type"], context=each.get("ctx")
            )
            for each in error.errors()[:_MOST_MISTAKES]
        ]
    )


def _told_why(found: Mapping[str, Any]) -> str:
    # A body of another type is left unread; pydantic would say that its bytes are no object, which they may well be.
    if tuple(found["loc"]) == ("body",) and isinstance(found.get("input"), bytes):
        return "A body is read with the header Content-Type: application/json only"
    return str(found["msg"])


async def _on_invalid_value(_: Request, error: Exception) -> Response:
    assert isinstance(error, InvalidRequestError)  # noqa: S101  registered for it
    return invalid([mistake(str(error), loc=error.loc, value=error.value)])


def _refusal(field: str) -> Any:  # noqa: ANN401  an exception handler
    async def answer(_: Request, error: Exception) -> Response:
        return invalid([mistake(str(error), loc=("body", field))])

    return answer


async def _on_broken_tree(_: Request, error: Exception) -> Response:
    # The message names the operator's files; it is theirs to read.
    log.error("tree.refused", problem=bounded(error, most=_LONGEST_MESSAGE))
    return invalid([mistake("this tree has mistakes and cannot be run; they are in the log", loc=("body", "tree"))])


async def _on_unknown_tree(_: Request, error: Exception) -> Response:
    assert isinstance(error, UnknownTreeError)  # noqa: S101  registered for it
    return invalid([mistake(str(error), loc=("body", "tree"), value=error.name)])


async def _on_unusable_tools(_: Request, error: Exception) -> Response:
    # A folder of the operator's, and its name: theirs to read.
    log.error("tools.refused", problem=bounded(error, most=_LONGEST_MESSAGE))
    return later(503, "Your notes cannot be reached for now; the operator finds the reason in the log.")


async def _on_unknown_conversation(_: Request, __: Exception) -> Response:
    missing = no_such_conversation()
    return json_answer({"detail": missing.detail}, status=missing.status_code)


async def _on_busy(_: Request, __: Exception) -> Response:
    return json_answer(
        {"detail": "The conversation is answering another query; wait for its end, or cancel it."}, status=409
    )


async def _on_reused_key(_: Request, error: Exception) -> Response:
    return invalid([mistake(str(error), loc=("header", "Idempotency-Key"))])


async def _on_too_many(_: Request, __: Exception) -> Response:
    return later(429, "You have as many runs under way as you may; wait until one has ended, or cancel one.")


async def _on_draining(_: Request, __: Exception) -> Response:
    return later(503, "The service is stopping and takes no new queries; come back in a moment.")


async def _on_unavailable(_: Request, error: Exception) -> Response:
    log.warning("request.refused", problem=bounded(error, most=_LONGEST_MESSAGE))
    return later(503, "The service cannot reach its store for now; come back in a moment.")


def later(status: int, detail: str, *, after_s: int = RETRY_AFTER_S) -> Response:
    """An answer that asks the client to come back."""
    return json_answer({"detail": detail}, status=status, headers={"Retry-After": str(after_s)})
