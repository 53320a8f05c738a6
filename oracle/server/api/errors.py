"""Errors as answers: a status and `{"detail": …}`; for what is wrong with a request, FastAPI's 422 list.

Rules:

- A value that a client sent is quoted in bounded length.
- What belongs to another user is answered as if it did not exist: same status, same words.
- 429 and 503 have `Retry-After`.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from bt_runtime import TreeFileError
from oracle.agent.client_tools import ClientToolError
from oracle.agent.control.choosing import UnknownTreeError
from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.agent.query import QuestionError
from oracle.authoring.errors import NoSuchTreeError, TreeFolderError, TrialError
from oracle.core.errors import OperatorError, TreeAuthorError, UserError
from oracle.decision import ConfigError
from oracle.replay.exports.errors import PageNotBuiltError
from oracle.replay.histories.sharing import TooManyPassesError
from oracle.runs.debugging.commands import DebugRefusedError
from oracle.runs.errors import DrainingError
from oracle.runs.storage.breakpoints import TooManyBreakpointsError
from oracle.runs.storage.errors import (
    ConversationBusyError,
    ConversationWaitsError,
    KeyReusedError,
    RunLostError,
    StoreUnavailableError,
    TooManyRunsError,
)
from oracle.runs.storage.interrupts import AnsweredBeforeError, AnswerError, NotOpenError, NotYoursToAnswerError
from oracle.server.api.answers import json_answer
from oracle.server.api.load import OverloadedError
from oracle.tools import ToolSetupError

log = structlog.get_logger(__name__)

RETRY_AFTER_S = 5

_MOST_MISTAKES = 30
_LONGEST_VALUE = 200
_LONGEST_MESSAGE = 1_000


class InvalidRequestError(UserError):
    """A value of a request that only the service can check.

    Args:
        message: what is wrong, and what would be right.
        loc: where it is, in FastAPI's form: `("body", "model")`.
        value: the value exactly as it was given.
    """

    def __init__(self, message: str, *, loc: Sequence[str | int], value: object = None) -> None:
        super().__init__(message)
        self.loc = tuple(loc)
        self.value = value


class UnknownRunError(UserError):
    """There is no such run, or it is another user's."""


class NotOperatorError(UserError):
    """Only operators may do this, and the caller is none."""


class UnknownSourceError(UserError):
    """The run has cited no such source, or it cannot be read any more."""


class UnknownBreakpointError(UserError):
    """There is no such breakpoint."""


class UnknownGrantError(UserError):
    """The caller has given no such grant."""


class ForgottenRunError(UserError):
    """The run exists, and its texts have been deleted."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """How an error is answered.

    Args:
        status: the HTTP status.
        detail: what the client reads; `None`: the error's own message.
        loc: of a 422, if the error has no `loc` of its own: the part of the request that is wrong.
        event: what is logged, with the error's message, where that is for the operator to read.
        level: the level of that log event.
    """

    status: int
    detail: str | None = None
    loc: tuple[str, ...] = ("body",)
    event: str | None = None
    level: int = logging.ERROR


_BROKEN_TREE = _Refusal(
    422,
    "this tree has mistakes and cannot be run; they are in the log",
    loc=("body", "tree"),
    event="tree.refused",
)
_NO_STORE = _Refusal(
    503,
    "The service cannot reach its store for now; come back in a moment.",
    event="request.refused",
    level=logging.WARNING,
)

REFUSALS: Final[Mapping[type[Exception], _Refusal]] = {
    UserError: _Refusal(422),
    QuestionError: _Refusal(422, loc=("body", "question")),
    ClientToolError: _Refusal(422, loc=("body", "tools")),
    ConfigError: _Refusal(422, loc=("body", "limits")),
    UnknownTreeError: _Refusal(422, loc=("body", "tree")),
    KeyReusedError: _Refusal(422, loc=("header", "Idempotency-Key")),
    NotOperatorError: _Refusal(403, "Only operators may do this; ORACLE_OPERATORS names them."),
    UnknownRunError: _Refusal(404, "There is no such run."),
    NoSuchTreeError: _Refusal(404, "There is no such tree, or no such version of it."),
    TrialError: _Refusal(409),
    DebugRefusedError: _Refusal(409),
    TooManyBreakpointsError: _Refusal(409),
    UnknownSourceError: _Refusal(404, "The run has cited no such source, or it is gone."),
    UnknownBreakpointError: _Refusal(404, "There is no such breakpoint."),
    UnknownGrantError: _Refusal(404, "There is no such grant."),
    TreeFolderError: _Refusal(409, event="tree.not_saved", level=logging.WARNING),
    UnknownConversationError: _Refusal(404, "There is no such conversation."),
    ConversationBusyError: _Refusal(
        409, "The conversation is answering another query; wait for its end, or cancel it."
    ),
    AnswerError: _Refusal(422),
    NotYoursToAnswerError: _Refusal(403),
    AnsweredBeforeError: _Refusal(409),
    NotOpenError: _Refusal(410),
    ConversationWaitsError: _Refusal(409),
    ForgottenRunError: _Refusal(
        410, "What this run said was deleted, by its user or because of its age; its figures are kept."
    ),
    TooManyRunsError: _Refusal(
        429, "You have as many runs under way as you may; wait until one has ended, or cancel one."
    ),
    TooManyPassesError: _Refusal(
        503, "As many runs are being explained as may be at a time; come back in a moment, or close other views."
    ),
    DrainingError: _Refusal(503, "The service is stopping and takes no new queries; come back in a moment."),
    OverloadedError: _Refusal(503, "The service has more to do than it can; come back in a moment."),
    TreeFileError: _BROKEN_TREE,
    TreeAuthorError: _BROKEN_TREE,
    ToolSetupError: _Refusal(
        503,
        "Your notes cannot be reached for now; the operator finds the reason in the log.",
        event="tools.refused",
    ),
    OperatorError: _Refusal(
        503, "The service cannot do this for now; the operator finds the reason in the log.", event="request.refused"
    ),
    PageNotBuiltError: _Refusal(503, event="request.refused", level=logging.WARNING),
    StoreUnavailableError: _NO_STORE,
    RunLostError: _NO_STORE,
}
"""The answer to an error, by its class or the nearest of its bases; for any other error the answer is a 500."""


def add_error_answers(app: FastAPI) -> None:
    """Have the app answer the errors that its calls raise."""
    app.add_exception_handler(405, _on_wrong_method)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    for kind in REFUSALS:
        app.add_exception_handler(kind, _on_refusal)


def told(error: Exception) -> str:
    """What the client reads of an error of `REFUSALS`; what only the operator may read of it goes to the log."""
    refusal = _refusal(error)
    if refusal.event is not None:
        log.log(refusal.level, refusal.event, problem=bounded(error, most=_LONGEST_MESSAGE))
    return str(error) if refusal.detail is None else refusal.detail


def _refusal(error: Exception) -> _Refusal:
    return next(REFUSALS[kind] for kind in type(error).__mro__ if kind in REFUSALS)


async def _on_refusal(_: Request, error: Exception) -> Response:
    refusal, detail = _refusal(error), told(error)
    if refusal.status == 422 and isinstance(error, AnswerError):
        return invalid([mistake(each.problem, loc=("body", *each.place)) for each in error.mistakes[:_MOST_MISTAKES]])
    if refusal.status == 422:
        value = error.name if isinstance(error, UnknownTreeError) else getattr(error, "value", None)
        column = {"column": getattr(error, "column", None)}
        return invalid([mistake(detail, loc=getattr(error, "loc", refusal.loc), value=value, context=column)])
    if refusal.status in (429, 503):
        return later(refusal.status, detail)
    return json_answer({"detail": detail}, status=refusal.status)


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
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


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
        return "A body is read with the header Content-Type: application/json only"
    return str(found["msg"])


def later(status: int, detail: str, *, after_s: int = RETRY_AFTER_S) -> Response:
    """An answer that asks the client to come back."""
    return json_answer({"detail": detail}, status=status, headers={"Retry-After": str(after_s)})
