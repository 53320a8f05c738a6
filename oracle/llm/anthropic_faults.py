"""Failures of the provider: what they mean, what it refuses, and when a request is repeated.

The provider's errors, explained to the user and to the operator. Pure.

A fault's message is for the user: what happened and what to do, without names of settings, keys or hosts,
and without the provider's text. Its cause and detail are for the operator.

Parts of a request that the provider, or a gateway in front of it, has rejected.

Some accounts, gateways and other servers of the same format reject optional parts. A rejected part is left out of later
requests for the same model until the process ends:

- The beta that drops thinking of a changed conversation. It is requested only after the provider has rejected such
  thinking; if the beta is unknown, the thinking itself is left out.
- The provider's own web search, which an administrator of the organisation has to enable.
- The marks of the provider's cache, and the settings of thinking, which other servers may not know.
- System messages within a conversation, which other servers may not know (`oracle.llm.anthropic_request`).

When a failed request to the provider is repeated.

- An overloaded or rate-limiting provider is retried until the query's deadline: a late answer is worth more than an
  early error. For the same reason a `retry-after` of minutes is honoured if it ends before the deadline.
- Any other transient failure is retried a few times.
- Who is to leave the provider to others retries no refusal because of load (`RetryPolicy.waits_for_load`).
- Without a deadline (`ModelRequest.time_left_s` is `None`) every failure is retried only a few times.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import structlog

from bt_runtime import Clock, SystemClock
from oracle.core.chunks import ErrorType
from oracle.core.retry import Retry, pause
from oracle.llm.claude import model_facts
from oracle.llm.protocol import ModelFault

OptionalPart = Literal["beta", "web_search", "cache_control", "thinking", "system_messages"]

MAX_QUOTED_CHARACTERS = 300
"""The longest part of the provider's text that a cause quotes."""

_TOO_LONG = re.compile(
    r"prompt is too long|context_length_exceeded|request_too_large|input is too long"
    r"|too many (?:input |total )?tokens|context[ _](?:window|limit|length|size)",
    re.IGNORECASE,
)
_CHANGED_THINKING = re.compile(r"bound to a different conversation|prefix_mismatch", re.IGNORECASE)
_REFUSED_THINKING = re.compile(
    r"thinking.{0,80}(?:signature|cannot be modified|\bbound\b|prefix)"
    r"|(?:signature|\bbound to a different conversation|prefix_mismatch)",
    re.IGNORECASE | re.DOTALL,
)
_NOT_KNOWN = (
    r"(?:extra|unknown|unrecogni[sz]ed|unexpected|unsupported|disabled|does not match"
    r"|(?:not|n't) (?:enable|available|support|allow|permit|known|recogni))"
)


def _not_known(part: str) -> re.Pattern[str]:
    return re.compile(rf"{part}.{{0,100}}{_NOT_KNOWN}|{_NOT_KNOWN}.{{0,60}}{part}", re.IGNORECASE | re.DOTALL)


_REFUSALS: Final[Mapping[OptionalPart, re.Pattern[str]]] = {
    "beta": re.compile(r"anthropic-beta|\bbeta (?:flag|header|feature)|block_binding: extra inputs", re.IGNORECASE),
    "web_search": _not_known("web[ _]search"),
    "cache_control": _not_known("cache_control"),
    "thinking": _not_known(r"\b(?:thinking|output_config|effort)\b"),
    "system_messages": re.compile(
        r"\brole\b.{0,60}\bsystem\b|\bsystem\b.{0,60}\brole\b|messages[.\[]\d+\]?\.role", re.IGNORECASE | re.DOTALL
    ),
}
"""The parts of a request that it can do without, each with the words by which a provider refuses it."""

_REFUSED = (400, 403, 422)
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
    """

    status: int
    type: str = ""
    message: str = field(default="", repr=False)
    request_id: str | None = None
    retry_after_s: float | None = None
    should_retry: bool | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    is_below_version: bool = False

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
    def refuses_thinking(self) -> bool:
        """Whether the provider rejects a thinking block of an earlier turn."""
        return self.status == 400 and _REFUSED_THINKING.search(self.message) is not None

    @property
    def refuses_changed_thinking(self) -> bool:
        """Whether the provider rejects thinking because the content before it has changed."""
        return self.status == 400 and _CHANGED_THINKING.search(self.message) is not None

    @property
    def refused_parts(self) -> Sequence[OptionalPart]:
        """What of the request the provider does not know or allow."""
        return [part for part, words in _REFUSALS.items() if self.status in _REFUSED and words.search(self.message)]

    @property
    def said(self) -> str:
        """The message with secrets replaced, in case the provider or a proxy repeats them."""
        text = self.message
        for secret in self.secrets:
            text = text.replace(secret, "[key]")
        return text


_NOT_SET_UP = "The language model is not set up correctly. Please tell the operator of this service."

_Explanation = tuple[Callable[[ProviderError], bool], ErrorType, str, str]
_EXPLANATIONS: tuple[_Explanation, ...] = (
    (
        lambda error: error.status == 401 or error.type == "authentication_error",
        "provider_auth",
        _NOT_SET_UP,
        "The model provider refused the API key (401: {said}). Check ANTHROPIC_API_KEY.",
    ),
    (
        lambda error: error.status == 403 or error.type == "permission_error",
        "provider_auth",
        _NOT_SET_UP,
        "The API key may not do this (403: {said}). Check ANTHROPIC_API_KEY and what its workspace allows.",
    ),
    (
        lambda error: error.status == 404 and error.is_below_version,
        "provider_failed",
        _NOT_SET_UP,
        "ANTHROPIC_BASE_URL has /v1, which is added to it: there is no /v1/v1/messages (404: {said}). Leave /v1 out.",
    ),
    (
        lambda error: error.status == 404 or error.type == "not_found_error",
        "provider_failed",
        "The language model that was chosen is not available. Choose another one, or tell the operator.",
        "The provider does not know the model {model!r} ({said}). Choose another with ORACLE_MODEL or `model`.",
    ),
    (
        lambda error: (
            error.status == 413
            or (error.status in (200, 400, 422) and _TOO_LONG.search(f"{error.type} {error.message}") is not None)
        ),
        "context_too_large",
        "The conversation is too long for the language model. Start a new one, or ask for less at once.",
        "The conversation is too long for the model {model!r} ({said}).",
    ),
    (
        lambda error: error.status == 429 or error.type == "rate_limit_error",
        "provider_overloaded",
        "The language model has too many requests. Please try again {when}.",
        "The model provider's limit is reached (rate limited: {said}). Try again {when}, or raise the limit.",
    ),
    (
        lambda error: error.status in (503, 529) or error.type == "overloaded_error",
        "provider_overloaded",
        "The language model is overloaded. Please try again in a moment.",
        "The model provider is overloaded ({status}: {said}).",
    ),
    (
        lambda error: error.status in (400, 422) or error.type == "invalid_request_error",
        "provider_failed",
        "The language model did not take the request. Please ask in another way, or start a new conversation.",
        "The model provider refused the request ({said}).",
    ),
    (
        lambda _: True,
        "provider_failed",
        "The language model failed. Please ask again.",
        "The model provider failed ({where}: {said}).",
    ),
)
"""Each kind of error: its type, the message for the user and the cause for the operator; the first match applies."""

Failure = Literal["broken", "unreachable", "unreadable", "endless"]
_FAILURES: Mapping[Failure, tuple[str, str]] = {
    "broken": (
        "The connection to the language model broke in the middle of the answer. Please ask again.",
        "The connection to the model provider broke in the middle of the answer ({reason}).",
    ),
    "unreachable": (
        "The language model cannot be reached at the moment. Please try again later.",
        "The model provider could not be reached ({reason}). Check the network and ANTHROPIC_BASE_URL.",
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
"""Failures that the provider does not report itself: the message for the user and the cause for the operator."""


def fault_of(error: ProviderError, *, model: str) -> ModelFault:
    """The fault for an error that the provider reported.

    Args:
        error: the error, without secrets.
        model: the requested model.
    """
    error_type, message, cause = next(row[1:] for row in _EXPLANATIONS if row[0](error))
    words = {
        "said": quoted(error.said) or "no reason given",
        "status": error.status,
        "where": error.type if error.status == 200 else error.status,
        "when": "in a moment" if error.retry_after_s is None else f"in {error.retry_after_s:.0f} s",
        "model": model,
    }
    detail: dict[str, Any] = {"status": error.status, "type": error.type, "model": model}
    if error.request_id is not None:
        detail["request_id"] = error.request_id
    if error.retry_after_s is not None:
        detail["retry_after_s"] = error.retry_after_s
    return ModelFault(error_type, message.format(**words), cause.format(**words), detail)


def failure(kind: Failure, reason: str, *, model: str, request_id: str | None = None) -> ModelFault:
    """The fault for a failure that the provider did not report: a broken connection, an unreadable stream."""
    message, cause = _FAILURES[kind]
    detail = {"reason": reason, "model": model}
    if request_id is not None:
        detail["request_id"] = request_id
    return ModelFault("provider_failed", message, cause.format(reason=reason), detail)


def key_fault(problem: str) -> ModelFault:
    """The fault for a missing or unusable API key."""
    advice = "Set ANTHROPIC_API_KEY to a key of the provider, or ORACLE_LLM=offline to work without one."
    return ModelFault("provider_auth", _NOT_SET_UP, f"{problem} {advice}")


def quoted(text: str) -> str:
    """The provider's text on one line and bounded."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED_CHARACTERS else line[: MAX_QUOTED_CHARACTERS - 1] + "…"


log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Refusals:
    """The rejected parts of one model's requests.

    Args:
        model: its name, for the log.
        parts: the parts to leave out.
        drops_changed_thinking: whether the provider has rejected thinking of a changed conversation.
    """

    model: str
    parts: set[OptionalPart] = field(default_factory=set)
    drops_changed_thinking: bool = False

    @property
    def asks_to_drop(self) -> bool:
        """Whether requests use the beta."""
        return self.drops_changed_thinking and "beta" not in self.parts

    @property
    def has_system_messages(self) -> bool:
        """Whether requests may have system messages within the conversation."""
        return "system_messages" not in self.parts and model_facts(self.model).system_messages

    def learn(self, error: ProviderError) -> bool:
        """Record why a request was rejected; returns whether the next request will differ."""
        for part in error.refused_parts:
            is_used = {"beta": self.asks_to_drop, "system_messages": self.has_system_messages}.get(part, True)
            if part not in self.parts and is_used:
                self.parts.add(part)
                log.warning(
                    "provider.feature_refused",
                    feature=part,
                    model=self.model,
                    status=error.status,
                    problem=error.said[:300],
                    provider_request_id=error.request_id,
                )
                return True
        if error.refuses_changed_thinking and not self.drops_changed_thinking:
            self.drops_changed_thinking = True
            return "beta" not in self.parts
        return False


LEAST_FOR_ANSWER_S = 1.0
"""A wait that leaves less than this before the deadline is not started: no answer would fit after it."""
MAX_RETRY_AFTER_S = 20.0
"""Without a deadline, the longest `retry-after` that is honoured."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How requests are repeated.

    Args:
        max_retries: after the first attempt, unless the deadline is the bound; 0 turns all retries off.
        backoff: the waits, if the provider does not ask for one.
        clock: for the waits and the deadline.
        waits_for_load: whether a request that was refused because of load or a rate limit is repeated.
    """

    max_retries: int = 2
    backoff: Retry = field(default_factory=lambda: Retry(first_s=0.5, longest_s=8.0))
    clock: Clock = field(default_factory=SystemClock)
    waits_for_load: bool = True


class Attempts:
    """The attempts of one turn.

    Args:
        policy: the waits between attempts, and the most attempts.
        time_left_s: of the query, at the start of the turn; `None` if there is no deadline.
    """

    def __init__(self, policy: RetryPolicy, time_left_s: float | None) -> None:
        self.failed = 0
        """Consecutive failed attempts."""
        self._policy = policy
        self._deadline_s = None if time_left_s is None else policy.clock.now() + time_left_s

    def next_wait_s(self, error: ProviderError | None) -> float | None:
        """Count a failed attempt; returns the wait before the next one, or `None` if there is none.

        Args:
            error: the provider's error; `None` if it did not answer.
        """
        policy, retries = self._policy, self.failed
        self.failed += 1
        if error is not None and error.is_load and not policy.waits_for_load:
            return None
        is_bounded_by_time = self._deadline_s is not None and error is not None and error.is_load
        if retries >= policy.max_retries and not (is_bounded_by_time and policy.max_retries):
            return None
        requested_s = error.retry_after_s if error is not None else None
        wait_s = policy.backoff.wait_s(self.failed) if requested_s is None else requested_s
        if self._deadline_s is not None:
            return wait_s if policy.clock.now() + wait_s + LEAST_FOR_ANSWER_S <= self._deadline_s else None
        return wait_s if requested_s is None or requested_s <= MAX_RETRY_AFTER_S else None

    async def wait(self, seconds: float) -> None:
        """Wait before the next attempt."""
        await pause(seconds, clock=self._policy.clock)

    def succeed(self) -> None:
        """Reset the count: a message was received whole."""
        self.failed = 0


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait that the provider asks for; a date, which it does not send, is ignored."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if seconds >= 0 and math.isfinite(seconds):
            return seconds
    return None
