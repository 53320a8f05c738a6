"""A provider of chat completions behind the model protocol. The only module of the feature that imports the SDK.

The SDK sends the request and hands over the connection; the events are read
from the raw stream, and retries are made here. A part that a server has refused is left out of later requests for the
same model, or written in another form, until the process ends.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import httpx2
import openai
import structlog

from oracle.core.errors import UpstreamError
from oracle.core.traces import trace_headers
from oracle.features.openai_compatible.completion import CompletionReader
from oracle.features.openai_compatible.providers import BUILT_IN, Provider
from oracle.features.openai_compatible.request import Part, file_parts, request_body
from oracle.llm.attempts import AttemptFailedError, Attempts, RetryPolicy, retry_after_s
from oracle.llm.faults import ProviderError, failure, fault_of, key_fault
from oracle.llm.protocol import ModelError, ModelEvent, ModelFault, ModelRequest, OnLoad, TurnEnded
from oracle.llm.tool_names import own_names
from oracle.llm.wire import IDENTITY, decode_event, events_of, refuse_encoded

__all__ = ["CompatibleModel", "RetryPolicy"]

_DONE: Final = "[DONE]"
_END_S: Final = 0.5
"""How long the end of the response is waited for once nothing follows, so that its connection serves the next turn."""
_SHORTEST_SECRET: Final = 8
_REFUSALS: Final[Mapping[Part, re.Pattern[str]]] = {
    "stream_options": re.compile(r"stream_options|include_usage", re.IGNORECASE),
    "max_tokens": re.compile(
        r"max_(?:completion_)?tokens\b.{0,80}\b(?:unsupported|not supported|unknown|instead)"
        r"|(?:unsupported|unknown|unrecogni[sz]ed|extra).{0,60}\bmax_(?:completion_)?tokens\b",
        re.IGNORECASE | re.DOTALL,
    ),
    "tool_choice": re.compile(r"tool_choice", re.IGNORECASE),
    "response_format": re.compile(r"response_format|json_schema|structured output|grammar", re.IGNORECASE),
    "tools": re.compile(
        r"not support tools|\btools?\b.{0,60}\b(?:not supported|unsupported|requires?)\b", re.IGNORECASE | re.DOTALL
    ),
    "system_messages": re.compile(
        r"\bsystem\b.{0,80}\b(?:beginning|first|start|supported)\b|\broles must alternate|unexpected role 'system'",
        re.IGNORECASE | re.DOTALL,
    ),
    "user_after_tool": re.compile(r"unexpected role 'user' after|\broles must alternate", re.IGNORECASE),
    "system_prompt": re.compile(
        r"\bsystem\b.{0,40}\bnot supported|\broles must alternate|\bonly user and assistant roles", re.IGNORECASE
    ),
    "missing_reasoning": re.compile(
        r"\breasoning_content\b.{0,80}\b(?:missing|must be passed back)\b|\bmissing.{0,20}\breasoning_content\b",
        re.IGNORECASE | re.DOTALL,
    ),
    "call_ids": re.compile(r"\btool call id\b.{0,200}\blength of 9\b", re.IGNORECASE | re.DOTALL),
}
"""The optional parts of a request, each with the words by which servers refuse it."""
_REFUSED: Final = (400, 404, 422, 500, 501)  # llama.cpp reports what its template refuses as 500
_OF_FILES: Final = re.compile(
    r"image|vision|multi-?modal|\bfiles?\b|pdf|content.{0,60}\b(?:string|type|parts?)\b", re.IGNORECASE | re.DOTALL
)
_TYPES: Final[Mapping[str, str]] = {
    "server_error": "api_error",
    "internal_server_error": "api_error",
    "service_unavailable": "overloaded_error",
    "engine_overloaded": "overloaded_error",
    "rate_limit_exceeded": "rate_limit_error",
    "tokens": "rate_limit_error",
    "requests": "rate_limit_error",
}
"""The types of errors, in the words of `ProviderError`."""
_NO_CREDIT: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})

log = structlog.get_logger(__name__)


class CompatibleModel:
    """The models of one provider over chat completions.

    Args:
        provider_name: by which the operator knows it; `TurnEnded.model` begins with it.
        provider: its address and limits.
        model: the provider's name for the model of requests that name none.
        api_key: `None`: it needs none; empty: the one that it needs is missing.
        retry: how requests are repeated until an answer begins.
        on_load: called at each refusal because of load or a rate limit, whether or not the request is repeated.
    """

    has_web_search = False

    def __init__(
        self,
        provider_name: str,
        provider: Provider,
        *,
        model: str = "",
        api_key: str | None = None,
        retry: RetryPolicy | None = None,
        on_load: OnLoad = lambda _: None,
    ) -> None:
        self.name, self._model = provider_name, model
        self._provider, self._key = provider, api_key
        self._retry, self._on_load = retry or RetryPolicy(), on_load
        self._refused: dict[str, set[Part]] = {}
        self._address = provider.base_url
        self._key_words = provider.key_env or f"the `key_env` of the provider {provider_name!r}"
        self._headers = {} if self._address == BUILT_IN["openai"].base_url else _headers(api_key, os.environ)
        self._client = openai.AsyncOpenAI(
            api_key=api_key or "none",
            base_url=provider.base_url,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                timeout=httpx2.Timeout(provider.silence_s, connect=10.0), event_hooks={"response": [refuse_encoded]}
            ),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn.

        Raises:
            ModelError: the provider failed or refused the request.
        """
        model = request.model or self._model
        attempts = Attempts(self._retry, request.time_left_s, retries=request.retries)
        if self._key is not None and not (self._key and self._key.isascii() and self._key.isprintable()):
            problem = f"There is no usable API key for the provider {self.name!r}."
            raise ModelError(key_fault(problem, key=self._key_words))
        while True:
            refused = frozenset(self._refused.get(model, ()))
            body = request_body(request, model=model, provider=self._provider, without=refused)
            limit = body.get("max_tokens", body.get("max_completion_tokens", 0))
            tools = own_names(tool.name for tool in request.tools)
            keeps = "missing_reasoning" in refused
            reader = CompletionReader(max_tokens=limit, tools=tools, keeps_reasoning=keeps)
            try:
                async with aclosing(self._attempt(body, reader)) as events:
                    async for event in events:
                        yield event
            except AttemptFailedError as failed:
                if not reader.has_answer and self._learns(failed.error, model, body):
                    continue
                if (fault := _refuses_files(failed, body)) is not None:
                    raise ModelError(fault) from None
                wait_s = attempts.wait_after(failed, has_answer=reader.has_answer, on_load=self._on_load)
                if wait_s is None:
                    # Without its cause: transport errors can quote headers, and a header holds the key.
                    raise ModelError(failed.fault) from None
            else:
                break
            await attempts.wait(wait_s)
        for event in reader.end():
            yield event
        answered = f"{self.name}/{model}"  # a local server may report the path of a file
        ids = reader.request_ids
        log.info("provider.answered", model=answered, provider_request_ids=ids)
        yield TurnEnded(reader.stop_reason, reader.usage, reader.content, answered, reader.stop_detail, ids)

    def _learns(self, error: ProviderError | None, model: str, body: Mapping[str, Any]) -> bool:
        """Note what the server has refused of the request; returns whether the next one will differ."""
        known = self._refused.get(model, set())
        if error is None or error.status not in _REFUSED:
            return False
        for part, words in _REFUSALS.items():
            if _has(body, part, self._provider) and part not in known and words.search(error.message[:2_000]):
                self._refused[model] = {*known, part}
                log.warning(
                    "provider.feature_refused",
                    feature=part,
                    model=f"{self.name}/{model}",
                    status=error.status,
                    problem=error.said[:300],
                )
                return True
        return False

    async def _attempt(self, body: Mapping[str, Any], reader: CompletionReader) -> AsyncGenerator[ModelEvent, None]:
        """One request and its stream.

        Raises:
            AttemptFailedError: any failure of the provider or the connection.
        """
        model = body["model"]
        stream = await self._open(body, model)
        request_id = stream.response.headers.get("x-request-id")
        reader.request_ids = () if request_id is None else (request_id,)
        async with stream, aclosing(events_of(stream.response.aiter_bytes())) as lines:
            while not reader.is_done:
                try:
                    data = await anext(lines, None)
                    if data is None:
                        kind = stream.response.headers.get("content-type", "")
                        if not reader.has_answer and "event-stream" not in kind:  # such as the page of a chat product
                            reason = f"{kind[:40]!r} in place of a stream; is {self._address} the right address?"
                            raise AttemptFailedError(failure("unreadable", reason, model=model, request_id=request_id))
                        return
                    reader.is_done = data.strip() == _DONE
                    chunk = {} if reader.is_done or not data else decode_event(data)
                    if chunk.get("error"):
                        raise self._reported_by(chunk["error"], request_id, model)
                    made = reader.feed(chunk)
                except httpx2.HTTPError as error:
                    fault = failure("broken", type(error).__name__, model=model, request_id=request_id)
                    raise AttemptFailedError(fault, is_retryable=True) from None
                except ValueError as error:
                    fault = failure("unreadable", str(error)[:200], model=model, request_id=request_id)
                    raise AttemptFailedError(fault, is_retryable=True) from None
                for item in made:
                    yield item
            with suppress(TimeoutError, httpx2.HTTPError, ValueError):
                async with asyncio.timeout(_END_S):
                    await anext(lines, None)

    async def _open(self, body: Mapping[str, Any], model: str) -> openai.AsyncStream[Any]:
        try:
            opened: openai.AsyncStream[Any] = await self._client.chat.completions.create(
                **body,
                stream=True,
                extra_body=dict(self._provider.body),
                extra_headers={**self._headers, **IDENTITY, **trace_headers()},
            )
        except openai.APIStatusError as error:
            raise self._refused_by(error, model) from None
        except (openai.APIConnectionError, httpx2.HTTPError, UpstreamError) as error:
            if isinstance(refused := error.__cause__ or error, UpstreamError):  # by `refuse_encoded`
                raise AttemptFailedError(failure("unreadable", str(refused), model=model)) from None
            reason, address = type(error.__cause__ or error).__name__, f"whether a server listens at {self._address}"
            fault = failure("unreachable", reason, model=model, address=address)
            raise AttemptFailedError(fault, is_retryable=True) from None
        return opened

    def _refused_by(self, error: openai.APIStatusError, model: str) -> AttemptFailedError:
        headers, body = error.response.headers, error.body
        fields = body if isinstance(body, Mapping) else {}
        said = str(fields.get("message") or fields.get("detail") or body or "")
        if error.status_code == 404 and not fields:
            said = f"{said}; is {self._address} the right address, with the /v1 that most have?"
        reported = self._error(fields, said, error.status_code, error.request_id)
        return self._failed(
            replace(
                reported,
                retry_after_s=retry_after_s(headers),
                should_retry={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
            ),
            model,
        )

    def _reported_by(self, error: object, request_id: str | None, model: str) -> AttemptFailedError:
        """The error that the stream reports in place of an answer, or of its rest."""
        fields = error if isinstance(error, Mapping) else {}
        code = fields.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else 200
        return self._failed(self._error(fields, str(fields.get("message") or error), status, request_id), model)

    def _error(self, fields: Mapping[str, Any], said: str, status: int, request_id: str | None) -> ProviderError:
        words = [str(fields.get(name) or "") for name in ("code", "type")]
        known = next((_TYPES[word] for word in words if word in _TYPES), "")
        return ProviderError(
            status=402 if _NO_CREDIT.intersection(words) else status,
            type=known or next((word for word in words if word and not word.isdigit()), ""),
            message=said,
            request_id=request_id,
            secrets=(self._key,) if self._key and len(self._key) >= _SHORTEST_SECRET else (),
            key=self._key_words,
        )

    def _failed(self, error: ProviderError, model: str) -> AttemptFailedError:
        fault = fault_of(error, model=f"{self.name}/{model}")
        return AttemptFailedError(fault, error=error, is_retryable=error.is_retryable)


def _has(body: Mapping[str, Any], part: Part, provider: Provider) -> bool:
    """Whether a request has what a server may refuse."""
    messages = body["messages"]
    match part:
        case "max_tokens":
            return True
        case "system_messages":
            return provider.system_messages
        case "user_after_tool":
            return any(one["role"] == "tool" and then["role"] == "user" for one, then in pairwise(messages))
        case "system_prompt":
            return bool(messages[0]["role"] == "system")
        case "missing_reasoning":
            return any(each["role"] == "assistant" and "reasoning_content" not in each for each in messages)
        case "call_ids":
            return any(each["role"] == "tool" for each in messages)
    return part in body


def _refuses_files(failed: AttemptFailedError, body: Mapping[str, Any]) -> ModelFault | None:
    """What is said of a model that does not take the pictures or PDF of a request; `None`: that is not the reason."""
    error = failed.error
    if error is None or error.status not in _REFUSED or not _OF_FILES.search(error.message[:2_000]):
        return None
    if not any(file_parts(each) for each in body["messages"]):
        return None
    problem = "The language model does not take the attached files. Choose another model, or ask without them."
    return replace(failed.fault, message=problem, cause=f"The model takes no such files ({error.said[:300]}).")


def _headers(key: str | None, environ: Mapping[str, str]) -> dict[str, str | openai.Omit]:
    """The headers of a provider other than OpenAI, without those that the SDK takes from the environment for that."""
    lines = environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = [
        "OpenAI-Organization",
        "OpenAI-Project",
        *(line.partition(":")[0].strip() for line in lines if ":" in line),
    ]
    left_out: dict[str, str | openai.Omit] = dict.fromkeys(names, openai.omit)
    return {**left_out, "Authorization": f"Bearer {key}" if key else openai.omit}
