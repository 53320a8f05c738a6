"""Errors as OpenAI's clients read them: `{"error": {"message", "type", "param", "code"}}`.

Rules:

- The SDKs choose their class by the status alone: what is wrong with a request is 400 here, where the service's own
  calls answer 422.
- A model that a request may not name does not exist: 404 with the code `model_not_found`.
- A refusal for longer than the SDKs wait, such as a day's limit of spending, is `insufficient_quota`, not asked again.
- What failed in a run is not asked again by the SDKs (`x-should-retry`): the run has ended, and would end the same way.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from starlette.responses import Response

from oracle.core.chunks import Failed
from oracle.server.api.adapters import Refusal
from oracle.server.api.errors import json_answer

_TYPES: Final[Mapping[int, str]] = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_CODES: Final[Mapping[int, str]] = {
    401: "invalid_api_key",
    404: "not_found",
    405: "method_not_supported",
    409: "conflict",
    413: "request_too_large",
    429: "rate_limit_exceeded",
}
_PASSING: Final = ("provider_overloaded", "service_stopping", "interrupted", "not_continued")
_FAILURES: Final[Mapping[str, int]] = {"context_too_large": 400, "provider_failed": 502, **dict.fromkeys(_PASSING, 503)}
_FAILURE_CODES: Final[Mapping[str, str]] = {"context_too_large": "context_length_exceeded"}
_NOT_AGAIN: Final[Mapping[str, str]] = {"x-should-retry": "false"}
_LONGEST_WAIT_S: Final = 60
"""As long as the SDKs wait by `Retry-After` (openai 1.x, `_calculate_retry_timeout`); what takes longer is a quota."""
_PARAMS: Final[Mapping[str, str]] = {"tree": "model", "question": "messages"}
"""What the service's own calls name otherwise."""


class Failure(NamedTuple):
    """Why a run has no answer: the status where nothing has been sent yet, and the body."""

    status: int
    body: Mapping[str, Any]


def refused(refusal: Refusal) -> Response:
    """A refusal, of whatever stands in front of a call or is raised in it."""
    is_model = refusal.status == 422 and refusal.where[1:] == ("model",)
    status = 404 if is_model else 400 if refusal.status == 422 else refusal.status
    code = "model_not_found" if is_model else _CODES.get(status)
    body = error_body(refusal.message, status=status, code=code, param=param_of(refusal.where))
    if status != 429 or (refusal.retry_after_s or 0) <= _LONGEST_WAIT_S:
        return json_answer(body, status=status)
    body["error"] |= {"type": "insufficient_quota", "code": "insufficient_quota"}
    return json_answer(body, status=status, headers=_NOT_AGAIN)


def failure(failed: Failed) -> Failure:
    """A run that has failed."""
    status = _FAILURES.get(failed.error_type, 500)
    code = _FAILURE_CODES.get(failed.error_type, failed.error_type)
    return Failure(status, error_body(failed.error, status=status, code=code))


def failed_answer(failed: Failed) -> Response:
    """The answer to a request whose run has failed."""
    status, body = failure(failed)
    return json_answer(body, status=status, headers=_NOT_AGAIN)


def error_body(message: str, *, status: int, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """The body of an error."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def param_of(where: Sequence[str | int]) -> str | None:
    """A place in a body as OpenAI names it, such as `messages[3].content`; `None` for another place."""
    if not where or where[0] != "body":
        return None
    named = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where[1:]).removeprefix(".")
    return _PARAMS.get(named, named) or None
