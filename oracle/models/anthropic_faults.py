"""What the provider's errors mean, for the person who can do something about them. Pure: no network, no SDK."""

import re
from dataclasses import dataclass
from typing import Any

from oracle.chunks import ErrorType
from oracle.models.protocol import ModelFault

MAX_QUOTED_CHARACTERS = 300
"""How much of the provider's own text a message repeats."""

_TOO_LONG = re.compile(
    r"prompt is too long|context_length_exceeded|request_too_large|input is too long"
    r"|too many (?:input |total )?tokens|context (?:window|limit|length)",
    re.IGNORECASE,
)
_REFUSED_THINKING = re.compile(
    r"thinking.{0,80}(?:signature|cannot be modified|block_binding|\bbound\b|prefix)"
    r"|(?:signature|\bbound to a different conversation|prefix_mismatch)",
    re.IGNORECASE | re.DOTALL,
)
_RETRYABLE_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})


@dataclass(frozen=True, slots=True)
class ProviderError:
    """An error as the provider told it.

    Args:
        status: the HTTP status; 200 for one that came in the stream.
        type: `error.type`, such as `overloaded_error`; empty if untold.
        message: `error.message`, or what there was of a body.
        request_id: for the provider's support; `None` if untold.
        retry_after_s: how long it asks to wait; `None` if untold.
        should_retry: the provider's own word on retrying, where it gives one.
    """

    status: int
    type: str = ""
    message: str = ""
    request_id: str | None = None
    retry_after_s: float | None = None
    should_retry: bool | None = None

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed a moment later."""
        if self.should_retry is not None:
            return self.should_retry
        if self.status == 200:
            return self.type in _RETRYABLE_TYPES
        return self.status in (408, 409, 429) or self.status >= 500

    @property
    def refuses_thinking(self) -> bool:
        """Whether it will not take a thinking block of an earlier turn back."""
        return self.status == 400 and _REFUSED_THINKING.search(self.message) is not None


def fault_of(error: ProviderError, *, model: str) -> ModelFault:
    """What to tell the user.

    Args:
        error: what the provider said, without secrets.
        model: the name that was asked for.
    """
    error_type, message = _explain(error, model)
    detail: dict[str, Any] = {"status": error.status, "type": error.type, "model": model}
    if error.request_id is not None:
        detail["request_id"] = error.request_id
    if error.retry_after_s is not None:
        detail["retry_after_s"] = error.retry_after_s
    return ModelFault(error_type=error_type, message=message, detail=detail)


def broken_fault(reason: str, *, model: str) -> ModelFault:
    """The connection was lost while the answer came."""
    return ModelFault(
        error_type="provider_failed",
        message=f"The connection to the model provider broke in the middle of the answer ({reason}). Please ask again.",
        detail={"reason": reason, "model": model},
    )


def unreachable_fault(reason: str, *, model: str) -> ModelFault:
    """No answer began."""
    return ModelFault(
        error_type="provider_failed",
        message=f"The model provider could not be reached ({reason}). Check the network and ANTHROPIC_BASE_URL.",
        detail={"reason": reason, "model": model},
    )


def key_fault(problem: str) -> ModelFault:
    """There is no key that could be sent."""
    return ModelFault(
        error_type="provider_auth",
        message=f"{problem} Set ANTHROPIC_API_KEY to a key of the provider, or ORACLE_LLM=offline to work without one.",
    )


def unreadable_fault(reason: str, *, model: str) -> ModelFault:
    """The stream is not what the protocol says."""
    return ModelFault(
        error_type="provider_failed",
        message=f"The model provider sent something that could not be read ({reason}). Please ask again.",
        detail={"reason": reason, "model": model},
    )


def quoted(text: str) -> str:
    """The provider's text on one line and bounded."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED_CHARACTERS else line[: MAX_QUOTED_CHARACTERS - 1] + "…"


def _explain(error: ProviderError, model: str) -> tuple[ErrorType, str]:
    status, said = error.status, quoted(error.message) or "no reason given"
    if status == 401 or error.type == "authentication_error":
        return "provider_auth", f"The model provider refused the API key (401: {said}). Check ANTHROPIC_API_KEY."
    if status == 403 or error.type == "permission_error":
        return (
            "provider_auth",
            f"The API key may not do this (403: {said}). Check ANTHROPIC_API_KEY and what its workspace allows.",
        )
    if status == 404 or error.type == "not_found_error":
        return (
            "provider_failed",
            f"The provider does not know the model {model!r} ({said}). Choose another with ORACLE_MODEL or `model`.",
        )
    if status == 413 or (status in (200, 400, 422) and _TOO_LONG.search(error.message)):
        return (
            "context_too_large",
            f"The conversation is too long for the model {model!r} ({said}). Start a new one, or ask for less at once.",
        )
    return _explain_load(error, said)


def _explain_load(error: ProviderError, said: str) -> tuple[ErrorType, str]:
    status = error.status
    if status == 429 or error.type == "rate_limit_error":
        when = "in a moment" if error.retry_after_s is None else f"in {error.retry_after_s:.0f} s"
        return (
            "provider_overloaded",
            f"The model provider's limit is reached (rate limited: {said}). Try again {when}.",
        )
    if status in (503, 529) or error.type == "overloaded_error":
        return "provider_overloaded", f"The model provider is overloaded ({said}). Try again in a moment."
    if status in (400, 422) or error.type == "invalid_request_error":
        return "provider_failed", f"The model provider refused the request ({said})."
    where = error.type if status == 200 else str(status)
    return "provider_failed", f"The model provider failed ({where}: {said}). Please ask again."
