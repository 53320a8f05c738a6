"""Claude behind the model protocol. The only module that imports the SDK, which takes a second.

The SDK makes the request and hands over the connection; the events are read from it raw, because building the SDK's
event objects costs more than all else, and because blocks must go back to the provider field by field as they came.

Retries are ours, not the SDK's, for two reasons: a provider may answer 200 and tell an overload as the first event, and
a `retry-after` of minutes must not hold a query that has a deadline. Nothing is retried once content has come.
"""

import asyncio
import math
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2

from oracle.models.anthropic_events import PAUSED, MessageReader, decode_event
from oracle.models.anthropic_faults import (
    ProviderError,
    broken_fault,
    fault_of,
    key_fault,
    unreachable_fault,
    unreadable_fault,
)
from oracle.models.anthropic_request import DEFAULT_MODEL, request_body, without_thinking
from oracle.models.protocol import ModelError, ModelEvent, ModelFault, ModelRequest, TurnEnded, Usage, UsageReported
from oracle.models.thinking import ThinkingSettings, thinking_settings

MAX_PAUSES = 8
"""How often one turn may be paused by the provider and gone on with."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When and how long to wait before a request is made again.

    Args:
        max_retries: on top of the first attempt.
        base_s: the first wait; each further one is twice as long, less up to a quarter by chance.
        max_s: the longest wait of our own choosing.
        max_retry_after_s: a provider that asks for more is not waited for.
        sleep: how to wait.
        chance: a number from 0 to 1.
    """

    max_retries: int = 2
    base_s: float = 0.5
    max_s: float = 8.0
    max_retry_after_s: float = 20.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def wait_s(self, attempt: int, *, retry_after_s: float | None) -> float | None:
        """How long to wait after failed attempt number `attempt` (from 0); `None` means give up."""
        if attempt >= self.max_retries:
            return None
        if retry_after_s is not None:
            return retry_after_s if retry_after_s <= self.max_retry_after_s else None
        longest = min(self.max_s, self.base_s * 2.0 ** min(attempt, 30))
        return longest * (1 - 0.25 * self.chance())


class AnthropicModel:
    """Claude over the Messages API.

    Args:
        api_key: `None` lets the SDK find one (`ANTHROPIC_API_KEY`).
        base_url: `None` lets the SDK find one (`ANTHROPIC_BASE_URL`), else the provider's own.
        model: the model of requests that name none.
        max_retries: attempts after the first, while no content has come.
        retry: the whole retry policy, in place of `max_retries`.
        client: a client to share; it is not closed by `aclose`.
        silence_s: so long may the provider say nothing (it pings) before the connection counts as broken.

    Raises:
        ModelError: the SDK's own settings name credentials that are not there.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        model: str = DEFAULT_MODEL,
        max_retries: int = 2,
        retry: RetryPolicy | None = None,
        client: anthropic.AsyncAnthropic | None = None,
        silence_s: float = 120.0,
    ) -> None:
        self._model = model
        self._retry = RetryPolicy(max_retries=max_retries) if retry is None else retry
        self._owns_client = client is None
        self._client = client or _new_client(api_key=api_key, base_url=base_url, silence_s=silence_s)

    @property
    def name(self) -> str:
        """The model of requests that name none."""
        return self._model

    @property
    def has_web_search(self) -> bool:
        """The provider searches the web itself."""
        return True

    async def aclose(self) -> None:
        """Close the connections, unless the client came from outside."""
        if self._owns_client:
            await self._client.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn; a paused one goes on within it.

        Raises:
            ModelError: the provider failed or refused.
            ValueError: the request's messages do not end with the user's.
        """
        turn = _Turn(model=request.model or self._model)
        for _ in range(MAX_PAUSES + 1):
            body, thinking = self._body(request, turn)
            async with aclosing(self._read_message(body, thinking, turn)) as events:
                async for event in events:
                    yield event
            turn.close_message()
            if turn.reader.stop_reason != PAUSED:
                yield turn.ended()
                return
        raise ModelError(
            ModelFault(
                error_type="provider_failed",
                message=f"The model provider paused its turn {MAX_PAUSES + 1} times without finishing it.",
                detail={"model": turn.model},
            )
        )

    def _body(self, request: ModelRequest, turn: "_Turn") -> tuple[dict[str, Any], ThinkingSettings]:
        left = max(1, request.max_tokens - (turn.spent.output_tokens or 0))
        thinking = thinking_settings(turn.model, thinking_tokens=request.thinking_tokens, max_tokens=left)
        body = request_body(request, model=turn.model, max_tokens=left, thinking=thinking, paused=turn.content)
        return body, thinking

    async def _read_message(
        self, body: dict[str, Any], thinking: ThinkingSettings, turn: "_Turn"
    ) -> AsyncGenerator[ModelEvent, None]:
        """The events of one message, with retries while it has no content."""
        headers = {"anthropic-beta": ",".join(thinking.betas)} if thinking.betas else None
        attempt = 0
        while True:
            turn.reader = MessageReader(model=turn.model)
            try:
                async with aclosing(self._attempt(body, headers, turn.reader)) as events:
                    async for event in events:
                        yield turn.counted(event)
            except _AttemptFailedError as failure:
                stripped = without_thinking(body) if failure.refuses_thinking else None
                if stripped is not None:
                    body = stripped
                    continue
                wait_s = None
                if failure.is_retryable and not turn.reader.has_content:
                    wait_s = self._retry.wait_s(attempt, retry_after_s=failure.retry_after_s)
                if wait_s is None:
                    # Without its cause: transport errors can quote headers, and a header holds the key.
                    raise ModelError(failure.fault) from None
                attempt += 1
            else:
                return
            await self._retry.sleep(wait_s)

    async def _attempt(
        self, body: Mapping[str, Any], headers: Mapping[str, str] | None, reader: MessageReader
    ) -> AsyncGenerator[ModelEvent, None]:
        """One request and its stream.

        Raises:
            _AttemptFailedError: whatever goes wrong at the provider or on the way to it.
        """
        stream = await self._open(body, headers, reader.model)
        async with stream, aclosing(_wire_events(stream)) as lines:
            while True:
                try:
                    event = await anext(lines, None)
                    if event is None:
                        return
                    if event.get("type") == "error":
                        raise self._told_in_stream(event, stream.response, reader.model)
                    made = reader.feed(event)
                except httpx2.HTTPError as error:
                    reason = type(error).__name__
                    raise _AttemptFailedError(broken_fault(reason, model=reader.model), is_retryable=True) from None
                except ValueError as error:
                    raise _AttemptFailedError(unreadable_fault(str(error)[:200], model=reader.model)) from None
                for item in made:
                    yield item

    async def _open(
        self, body: Mapping[str, Any], headers: Mapping[str, str] | None, model: str
    ) -> anthropic.AsyncStream[Any]:
        self._check_key()
        try:
            opened: anthropic.AsyncStream[Any] = await self._client.messages.create(
                **body, stream=True, extra_headers=headers
            )
        except anthropic.APIStatusError as error:
            raise self._refused(error, model) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            reason = type(error.__cause__ or error).__name__
            raise _AttemptFailedError(unreachable_fault(reason, model=model), is_retryable=True) from None
        except (anthropic.AnthropicError, TypeError) as error:
            # The SDK says a missing key with a TypeError that speaks of authentication.
            if isinstance(error, TypeError) and "authentication" not in str(error):
                raise
            raise _AttemptFailedError(key_fault("There is no usable API key for the model provider.")) from None
        return opened

    def _check_key(self) -> None:
        """A key with a line break or a letter of another script (copied too much) must not get into a header."""
        for key in (self._client.api_key, self._client.auth_token):
            if key and not (key.isascii() and key.isprintable()):
                raise _AttemptFailedError(key_fault("The API key has characters that no key has."))

    def _without_key(self, text: str) -> str:
        """The provider's text without the key, should it or a proxy have repeated it."""
        for secret in (self._client.api_key, self._client.auth_token):
            if secret:
                text = text.replace(secret, "[key]")
        return text

    def _told_in_stream(self, event: Mapping[str, Any], response: httpx2.Response, model: str) -> "_AttemptFailedError":
        error = event.get("error")
        told = error if isinstance(error, Mapping) else {}
        return _failed(
            ProviderError(
                status=200,
                type=str(told.get("type") or "api_error"),
                message=self._without_key(str(told.get("message") or "")),
                request_id=response.headers.get("request-id"),
            ),
            model,
        )

    def _refused(self, error: anthropic.APIStatusError, model: str) -> "_AttemptFailedError":
        headers = error.response.headers
        return _failed(
            ProviderError(
                status=error.status_code,
                type=str(error.type or ""),
                message=self._without_key(str(error.api_message or error.message)),
                request_id=error.request_id,
                retry_after_s=_retry_after_s(headers),
                should_retry={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
            ),
            model,
        )


@dataclass(slots=True)
class _Turn:
    """One turn: the message that is being read, and what the paused ones before it brought."""

    model: str
    reader: MessageReader = field(init=False)
    content: tuple[Mapping[str, Any], ...] = ()
    spent: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        self.reader = MessageReader(model=self.model)

    def counted(self, event: ModelEvent) -> ModelEvent:
        """The event as it counts for the whole turn."""
        if isinstance(event, UsageReported) and self.content:
            return UsageReported(_sum(self.spent, event.usage))
        return event

    def close_message(self) -> None:
        """Take over what the message brought."""
        self.content = (*self.content, *self.reader.content)
        self.spent = _sum(self.spent, self.reader.usage)

    def ended(self) -> TurnEnded:
        """The turn's last event."""
        reader = self.reader
        return TurnEnded(reader.ended_as(), self.spent, self.content, reader.model, reader.stop_detail)


class _AttemptFailedError(Exception):
    """One attempt failed; the fault is what to say if it was the last."""

    def __init__(
        self,
        fault: ModelFault,
        *,
        is_retryable: bool = False,
        retry_after_s: float | None = None,
        refuses_thinking: bool = False,
    ) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.is_retryable = is_retryable
        self.retry_after_s = retry_after_s
        self.refuses_thinking = refuses_thinking


def _new_client(*, api_key: str | None, base_url: str | None, silence_s: float) -> anthropic.AsyncAnthropic:
    try:
        return anthropic.AsyncAnthropic(
            api_key=None if api_key is None else api_key.strip(),
            base_url=base_url,
            max_retries=0,
            timeout=httpx2.Timeout(silence_s, connect=10.0),
        )
    except anthropic.AnthropicError as error:
        raise ModelError(
            key_fault(f"The model provider's credentials are not usable ({type(error).__name__}).")
        ) from None


async def _wire_events(stream: anthropic.AsyncStream[Any]) -> AsyncGenerator[dict[str, Any], None]:
    async for event in stream.raw_events(stream.response):
        if event.data:
            yield decode_event(event.data)


def _failed(error: ProviderError, model: str) -> _AttemptFailedError:
    return _AttemptFailedError(
        fault_of(error, model=model),
        is_retryable=error.is_retryable,
        retry_after_s=error.retry_after_s,
        refuses_thinking=error.refuses_thinking,
    )


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait that the provider asks for; a date, which it does not send, counts as none."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if seconds >= 0 and math.isfinite(seconds):
            return seconds
    return None


def _sum(first: Usage, second: Usage) -> Usage:
    return Usage(
        input_tokens=_add(first.input_tokens, second.input_tokens),
        cache_creation_tokens=first.cache_creation_tokens + second.cache_creation_tokens,
        cache_read_tokens=first.cache_read_tokens + second.cache_read_tokens,
        output_tokens=_add(first.output_tokens, second.output_tokens),
    )


def _add(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else first + second
