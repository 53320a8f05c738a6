"""The errors of a provider, explained to the user and to the operator. Pure.

A fault's message is for the user: what happened and what to do, without names of settings, keys or hosts,
and without the provider's text. Its cause and detail are for the operator.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, Literal

from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated
from oracle.core.chunks import ErrorType
from oracle.llm.protocol import ModelFault, OneOfSeveral

KEY: Final = "ANTHROPIC_API_KEY"
MAX_QUOTED_CHARACTERS = 300
"""The longest part of the provider's text that a cause quotes."""

_TOO_LONG = re.compile(
    r"prompt is too long|context_length_exceeded|request_too_large|input is too long"
    r"|too many (?:input |total )?tokens|context[ _](?:window|limit|length|size)",
    re.IGNORECASE,
)
_RETRYABLE_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
_LOAD_TYPES = frozenset({"overloaded_error", "rate_limit_error"})


@dataclass(frozen=True, slots=True)
class ProviderError:
    """An error as the provider reported it.

    Args:
        status: the HTTP status; 200 for an error within the stream.
        type: `error.type`, such as `overloaded_error`; empty if missing.
        message: `error.message`, or the body of the response, as it came: it decides what the error is, and only `said`
            is for people.
        request_id: for the provider's support; `None` if missing.
        retry_after_s: the wait that the provider asks for; `None` if it asks for none.
        should_retry: the provider's `x-should-retry` header; `None` if missing.
        secrets: texts that may be in the message and are not for logs.
        is_below_version: the address of the provider as it is set has the `v1` that is added to it.
        key: the variable of its key, or other words for where that is set.
    """

    status: int
    type: str = ""
    message: str = field(default="", repr=False)
    request_id: str | None = None
    retry_after_s: float | None = None
    should_retry: bool | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    is_below_version: bool = False
    key: str = KEY

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed later."""
        if self.should_retry is not None:
            return self.should_retry
        if self.status == 200:
            return self.type in _RETRYABLE_TYPES
        return self.status in (408, 409, 429) or self.status >= 500

    @property
    def is_load(self) -> bool:
        """Whether the provider is overloaded or a rate limit is reached, which passes with time."""
        return self.status in (429, 503, 529) or self.type in _LOAD_TYPES

    @property
    def said(self) -> str:
        """The message with secrets replaced, in case the provider or a proxy repeats them."""
        text = self.message
        for secret in self.secrets:
            text = text.replace(secret, "[key]")
        return text


_NOT_SET_UP = "The language model is not set up correctly. Please tell the operator of this service."

_Explanation = tuple[Callable[[ProviderError], bool], ErrorType, OneOfSeveral | None, str, str]
_EXPLANATIONS: tuple[_Explanation, ...] = (
    (
        lambda error: error.status == 401 or error.type == "authentication_error",
        "provider_auth",
        None,
        _NOT_SET_UP,
        "The model provider refused the API key (401: {said}). Check {key}.",
    ),
    (
        lambda error: error.status == 403 or error.type == "permission_error",
        "provider_auth",
        None,
        _NOT_SET_UP,
        "The API key may not do this (403: {said}). Check {key} and what its workspace allows.",
    ),
    (
        lambda error: error.status == 404 and error.is_below_version,
        "provider_failed",
        "bad_request",
        _NOT_SET_UP,
        "ANTHROPIC_BASE_URL has /v1, which is added to it: there is no /v1/v1/messages (404: {said}). Leave /v1 out.",
    ),
    (
        lambda error: error.status == 404 or error.type == "not_found_error",
        "provider_failed",
        "unknown_model",
        "The language model that was chosen is not available. Choose another one, or tell the operator.",
        "The provider does not know the model {model!r} ({said}). Choose another with ORACLE_MODEL or `model`.",
    ),
    (
        lambda error: (
            error.status == 413
            or (error.status in (200, 400, 422) and _TOO_LONG.search(f"{error.type} {error.message}") is not None)
        ),
        "context_too_large",
        None,
        "The conversation is too long for the language model. Start a new one, or ask for less at once.",
        "The conversation is too long for the model {model!r} ({said}).",
    ),
    (
        lambda error: error.status == 429 or error.type == "rate_limit_error",
        "provider_overloaded",
        "rate_limited",
        "The language model has too many requests. Please try again {when}.",
        "The model provider's limit is reached (rate limited: {said}). Try again {when}, or raise the limit.",
    ),
    (
        lambda error: error.status in (503, 529) or error.type == "overloaded_error",
        "provider_overloaded",
        None,
        "The language model is overloaded. Please try again in a moment.",
        "The model provider is overloaded ({status}: {said}).",
    ),
    (
        lambda error: error.status in (400, 422) or error.type == "invalid_request_error",
        "provider_failed",
        "bad_request",
        "The language model did not take the request. Please ask in another way, or start a new conversation.",
        "The model provider refused the request ({said}).",
    ),
    (
        lambda _: True,
        "provider_failed",
        None,
        "The language model failed. Please ask again.",
        "The model provider failed ({where}: {said}).",
    ),
)
"""Each kind of error: its type, what that does not say of it, the message for the user and the cause for the operator;
the first match applies."""

Failure = Literal["broken", "unreachable", "unreadable", "endless"]
_KINDS: Final[Mapping[Failure, OneOfSeveral]] = {"broken": "broken_off", "unreachable": "unreachable"}
_FAILURES: Mapping[Failure, tuple[str, str]] = {
    "broken": (
        "The connection to the language model broke in the middle of the answer. Please ask again.",
        "The connection to the model provider broke in the middle of the answer ({reason}).",
    ),
    "unreachable": (
        "The language model cannot be reached at the moment. Please try again later.",
        "The model provider could not be reached ({reason}). Check the network and {address}.",
    ),
    "unreadable": (
        "The language model sent something that could not be read. Please ask again.",
        "The model provider sent something that could not be read ({reason}).",
    ),
    "endless": (
        "The language model did not come to an end. Please ask again, or ask for less at once.",
        "The model provider did not finish its turn ({reason}).",
    ),
}
"""Failures that the provider does not report, with the message for the user and the cause for the operator."""


def fault_of(error: ProviderError, *, model: str) -> ModelFault:
    """The fault for an error that the provider reported.

    Args:
        error: the error, without secrets.
        model: the requested model.
    """
    error_type, kind, message, cause = next(row[1:] for row in _EXPLANATIONS if row[0](error))
    words = {
        "said": quoted(error.said) or "no reason given",
        "status": error.status,
        "where": error.type if error.status == 200 else error.status,
        "when": "in a moment" if error.retry_after_s is None else f"in {error.retry_after_s:.0f} s",
        "model": model,
        "key": error.key,
    }
    detail: dict[str, Any] = {"status": error.status, "type": error.type, "model": model}
    if error.request_id is not None:
        detail["request_id"] = error.request_id
    if error.retry_after_s is not None:
        detail["retry_after_s"] = error.retry_after_s
    return ModelFault(error_type, message.format(**words), cause.format(**words), detail, kind)


def failure(
    kind: Failure, reason: str, *, model: str, request_id: str | None = None, address: str = "ANTHROPIC_BASE_URL"
) -> ModelFault:
    """The fault for a failure that the provider did not report: a broken connection, an unreadable stream.

    Args:
        kind: which.
        reason: the name of the error, or what was read.
        model: the requested model.
        request_id: for the provider's support; `None` if there is none.
        address: what says where the provider is.
    """
    message, cause = _FAILURES[kind]
    detail = {"reason": reason, "model": model}
    if request_id is not None:
        detail["request_id"] = request_id
    narrower: OneOfSeveral | None = "timeout" if "Timeout" in reason else _KINDS.get(kind)
    return ModelFault("provider_failed", message, cause.format(reason=reason, address=address), detail, narrower)


def key_fault(problem: str, *, key: str = KEY) -> ModelFault:
    """The fault for a missing or unusable API key."""
    advice = f"Set {key} to a key of the provider, or ORACLE_LLM=offline to work without one."
    return ModelFault("provider_auth", _NOT_SET_UP, f"{problem} {advice}")


def quoted(text: str) -> str:
    """The provider's text on one line and bounded."""
    return truncated(" ".join(text.split()), MAX_QUOTED_CHARACTERS)
