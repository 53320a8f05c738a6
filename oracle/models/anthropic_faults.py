"""What the provider's errors mean: for the user, and for the operator who can do something about them. Pure.

Decision 33: a fault's message is for the user, who learns what happened and what to do, without names of settings, keys
or hosts, and without the provider's words; its cause and detail are for the operator.
"""

import re
from dataclasses import dataclass
from typing import Any

from oracle.chunks import ErrorType
from oracle.models.protocol import ModelFault

MAX_QUOTED_CHARACTERS = 300
"""How much of the provider's own text a cause repeats."""

_TOO_LONG = re.compile(
    r"prompt is too long|context_length_exceeded|request_too_large|input is too long"
    r"|too many (?:input |total )?tokens|context (?:window|limit|length)",
    re.IGNORECASE,
)
_CHANGED_THINKING = re.compile(r"bound to a different conversation|prefix_mismatch", re.IGNORECASE)
_REFUSED_THINKING = re.compile(
    r"thinking.{0,80}(?:signature|cannot be modified|\bbound\b|prefix)"
    r"|(?:signature|\bbound to a different conversation|prefix_mismatch)",
    re.IGNORECASE | re.DOTALL,
)
_REFUSED_BETA = re.compile(r"anthropic-beta|\bbeta (?:flag|header|feature)|block_binding: extra inputs", re.IGNORECASE)
_REFUSED_WEB_SEARCH = re.compile(
    r"web[ _]search.{0,100}(?:not (?:enabled|available|supported|allowed|permitted)|disabled|does not match)"
    r"|(?:not (?:support|enable|allow)\w*|unknown|unsupported).{0,60}web[ _]search",
    re.IGNORECASE | re.DOTALL,
)
_RETRYABLE_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
_LOAD_TYPES = frozenset({"overloaded_error", "rate_limit_error"})


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
    def is_load(self) -> bool:
        """Whether the provider has too much to do, or we have asked too much of it: a matter of time."""
        return self.status in (429, 503, 529) or self.type in _LOAD_TYPES

    @property
    def refuses_thinking(self) -> bool:
        """Whether it will not take a thinking block of an earlier turn back."""
        return self.status == 400 and _REFUSED_THINKING.search(self.message) is not None

    @property
    def refuses_changed_thinking(self) -> bool:
        """Whether it will not take thinking back because something before it has changed."""
        return self.status == 400 and _CHANGED_THINKING.search(self.message) is not None

    @property
    def refuses_beta(self) -> bool:
        """Whether it does not know a beta that the request names."""
        return self.status in (400, 403) and _REFUSED_BETA.search(self.message) is not None

    @property
    def refuses_web_search(self) -> bool:
        """Whether its own web search is not to be had here."""
        return self.status in (400, 403) and _REFUSED_WEB_SEARCH.search(self.message) is not None


def fault_of(error: ProviderError, *, model: str) -> ModelFault:
    """The fault that an error is.

    Args:
        error: what the provider said, without secrets.
        model: the name that was asked for.
    """
    error_type, message, cause = _explain(error, model)
    detail: dict[str, Any] = {"status": error.status, "type": error.type, "model": model}
    if error.request_id is not None:
        detail["request_id"] = error.request_id
    if error.retry_after_s is not None:
        detail["retry_after_s"] = error.retry_after_s
    return ModelFault(error_type, message, cause, detail)


def broken_fault(reason: str, *, model: str, request_id: str | None = None) -> ModelFault:
    """The connection was lost while the answer came."""
    return _own_fault(
        "The connection to the language model broke in the middle of the answer. Please ask again.",
        f"The connection to the model provider broke in the middle of the answer ({reason}).",
        reason,
        model,
        request_id,
    )


def unreachable_fault(reason: str, *, model: str) -> ModelFault:
    """No answer began."""
    return _own_fault(
        "The language model cannot be reached at the moment. Please try again later.",
        f"The model provider could not be reached ({reason}). Check the network and ANTHROPIC_BASE_URL.",
        reason,
        model,
    )


def unreadable_fault(reason: str, *, model: str, request_id: str | None = None) -> ModelFault:
    """The stream is not what the protocol says."""
    return _own_fault(
        "The language model sent something that could not be read. Please ask again.",
        f"The model provider sent something that could not be read ({reason}).",
        reason,
        model,
        request_id,
    )


def endless_fault(pauses: int, *, model: str) -> ModelFault:
    """The provider paused a turn again and again."""
    return _own_fault(
        "The language model did not come to an end. Please ask again, or ask for less at once.",
        f"The model provider paused its turn {pauses} times without finishing it.",
        "paused",
        model,
    )


def key_fault(problem: str) -> ModelFault:
    """There is no key that could be sent."""
    advice = "Set ANTHROPIC_API_KEY to a key of the provider, or ORACLE_LLM=offline to work without one."
    return ModelFault("provider_auth", _NOT_SET_UP, f"{problem} {advice}")


def quoted(text: str) -> str:
    """The provider's text on one line and bounded."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED_CHARACTERS else line[: MAX_QUOTED_CHARACTERS - 1] + "…"


_NOT_SET_UP = "The language model is not set up correctly. Please tell the operator of this service."


def _own_fault(message: str, cause: str, reason: str, model: str, request_id: str | None = None) -> ModelFault:
    detail = {"reason": reason, "model": model}
    if request_id is not None:
        detail["request_id"] = request_id
    return ModelFault("provider_failed", message, cause, detail)


def _explain(error: ProviderError, model: str) -> tuple[ErrorType, str, str]:
    """The type, the words for the user, and those for the operator."""
    status, said = error.status, quoted(error.message) or "no reason given"
    if status == 401 or error.type == "authentication_error":
        cause = f"The model provider refused the API key (401: {said}). Check ANTHROPIC_API_KEY."
        return "provider_auth", _NOT_SET_UP, cause
    if status == 403 or error.type == "permission_error":
        cause = f"The API key may not do this (403: {said}). Check ANTHROPIC_API_KEY and what its workspace allows."
        return "provider_auth", _NOT_SET_UP, cause
    if status == 404 or error.type == "not_found_error":
        return (
            "provider_failed",
            "The language model that was chosen is not available. Choose another one, or tell the operator.",
            f"The provider does not know the model {model!r} ({said}). Choose another with ORACLE_MODEL or `model`.",
        )
    if status == 413 or (status in (200, 400, 422) and _TOO_LONG.search(error.message)):
        return (
            "context_too_large",
            "The conversation is too long for the language model. Start a new one, or ask for less at once.",
            f"The conversation is too long for the model {model!r} ({said}).",
        )
    return _explain_load(error, said)


def _explain_load(error: ProviderError, said: str) -> tuple[ErrorType, str, str]:
    status = error.status
    if status == 429 or error.type == "rate_limit_error":
        when = "in a moment" if error.retry_after_s is None else f"in {error.retry_after_s:.0f} s"
        return (
            "provider_overloaded",
            f"The language model has too many requests. Please try again {when}.",
            f"The model provider's limit is reached (rate limited: {said}). Try again {when}, or raise the limit.",
        )
    if status in (503, 529) or error.type == "overloaded_error":
        return (
            "provider_overloaded",
            "The language model is overloaded. Please try again in a moment.",
            f"The model provider is overloaded ({status}: {said}).",
        )
    if status in (400, 422) or error.type == "invalid_request_error":
        return (
            "provider_failed",
            "The language model did not take the request. Please ask in another way, or start a new conversation.",
            f"The model provider refused the request ({said}).",
        )
    where = error.type if status == 200 else str(status)
    return (
        "provider_failed",
        "The language model failed. Please ask again.",
        f"The model provider failed ({where}: {said}).",
    )
