"""Claude behind the model protocol. The only module of the product that imports the SDK, which takes a second.

The SDK sends the request and hands over the connection. The events are read from the raw stream, because building the
SDK's event objects costs more than everything else, and because blocks must go back to the provider unmodified.

Retries are made here and not by the SDK for two reasons: a provider may answer 200 and report an overload as the first
event, and the wait depends on the query's deadline. Nothing is retried once an answer has begun; thinking is not part
of the answer.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anthropic
import httpx2
import structlog

from oracle.core.encoding import from_json, to_json
from oracle.core.errors import UpstreamError
from oracle.core.json_schemas import objects_in
from oracle.core.traces import trace_headers
from oracle.features.claude.facts import UNKNOWN, ThinkingSettings, model_facts, thinking_settings
from oracle.features.claude.refusals import Refusals, refuses_schema, refuses_thinking
from oracle.features.claude.request import drop_cache_marks, request_body, without_thinking
from oracle.features.claude.tool_changes import TOOL_CHANGES_BETA, change_tools
from oracle.features.claude.turn import ProviderTurn
from oracle.llm.attempts import AttemptFailedError, Attempts, RetryPolicy, retry_after_s
from oracle.llm.blocks import without_thinking_blocks
from oracle.llm.faults import ProviderError, failure, fault_of, key_fault
from oracle.llm.marked_notes import with_marked_notes
from oracle.llm.message_events import MessageReader
from oracle.llm.protocol import (
    DEFAULT_MODEL,
    ModelError,
    ModelEvent,
    ModelRequest,
    OnLoad,
)
from oracle.llm.tool_names import own_names
from oracle.llm.wire import IDENTITY, decode_event, events_of, refuse_encoded

__all__ = ["DEFAULT_MODEL", "MAX_PAUSES", "AnthropicModel", "RetryPolicy"]

MAX_PAUSES = 8
"""How often the provider may pause one turn."""
_SHORTEST_SECRET = 8

log = structlog.get_logger(__name__)


class AnthropicModel:
    """Claude over the Messages API.

    Args:
        api_key: `None` lets the SDK find one (`ANTHROPIC_API_KEY`).
        base_url: `None` lets the SDK find one (`ANTHROPIC_BASE_URL`), else it is the provider's.
        model: the model of requests that name none.
        retry: how requests are repeated until an answer begins.
        client: a client to share; `aclose` does not close it.
        silence_s: the connection counts as broken after this time without data (the provider sends pings).
        on_load: called at each refusal because of load or a rate limit, whether or not the request is repeated.

    Raises:
        ModelError: the SDK's settings name credentials that do not exist.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        model: str = DEFAULT_MODEL,
        retry: RetryPolicy | None = None,
        client: anthropic.AsyncAnthropic | None = None,
        silence_s: float = 120.0,
        on_load: OnLoad = lambda _: None,
    ) -> None:
        self._model = model
        self._retry = retry or RetryPolicy()
        self._on_load = on_load
        self._refusals: dict[str, Refusals] = {}
        self._owns_client = client is None
        self._client = client or _new_client(api_key=api_key, base_url=base_url, silence_s=silence_s)

    @property
    def name(self) -> str:
        """The model of requests that name none."""
        return self._model

    @property
    def has_web_search(self) -> bool:
        """Whether the provider can search the web itself, as far as it has not refused to."""
        return "web_search" not in self._known_refusals(self._model).parts

    async def aclose(self) -> None:
        """Close the connections, unless the client is shared."""
        if self._owns_client:
            await self._client.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn, and continue it when the provider pauses it.

        Raises:
            ModelError: the provider failed or refused the request.
            ValueError: the last message is not the user's.
        """
        attempts = Attempts(self._retry, request.time_left_s, retries=request.retries)
        turn = ProviderTurn(request.model or self._model, attempts, message_id=request.previous_message)
        for _ in range(MAX_PAUSES + 1):
            async with aclosing(self._read_message(request, turn)) as events:
                async for event in events:
                    yield event
            turn.close_message()
            log.info("provider.answered", model=turn.reader.model, provider_request_ids=turn.request_ids)
            if not turn.goes_on:
                yield turn.ended()
                return
        raise ModelError(failure("endless", f"it paused {MAX_PAUSES + 1} times", model=turn.model))

    def _known_refusals(self, model: str) -> Refusals:
        return self._refusals.setdefault(model, Refusals(model))

    def _body(self, request: ModelRequest, turn: ProviderTurn) -> tuple[dict[str, Any], Mapping[str, str] | None]:
        """The request's body and extra headers."""
        known = self._known_refusals(turn.model)
        if "web_search" in known.parts:
            tools = tuple(tool for tool in request.tools if not (request.web_search and tool.name == "web_search"))
            request = replace(request, web_search=False, tools=tools)
        if not known.has_system_messages:
            request = with_marked_notes(request)
        left = max(1, request.max_tokens - (turn.spent.output_tokens or 0))
        thinking = thinking_settings(
            turn.model, thinking_tokens=request.thinking_tokens, max_tokens=left, drops_changed=known.asks_to_drop
        )
        if "thinking" in known.parts:
            thinking = ThinkingSettings()
        paused = without_thinking_blocks(turn.content) if thinking.is_off else turn.content
        resumed = min(turn.resumed, len(paused))
        body = request_body(
            request, model=turn.model, max_tokens=left, thinking=thinking, paused=paused, resumed=resumed
        )
        has_form = "output_format" not in known.parts and not turn.goes_without_form
        schema = request.output_schema if has_form else None
        if schema is not None and (form := _output_format(schema)) is not None:
            body["output_config"] = {**body.get("output_config", {}), "format": form}
        if "cache_control" in known.parts:
            drop_cache_marks(body)
        elif "diagnostics" not in known.parts and model_facts(turn.model) is not UNKNOWN:
            body["diagnostics"] = {"previous_message_id": turn.message_id or None}
        if turn.goes_without_thinking:
            body = without_thinking(body) or body
        betas = thinking.betas
        turn.changes_tools = known.has_tool_changes and change_tools(body, request.offers)
        if turn.changes_tools:
            betas = (*betas, TOOL_CHANGES_BETA)
        return body, {"anthropic-beta": ",".join(betas)} if betas else None

    async def _read_message(self, request: ModelRequest, turn: ProviderTurn) -> AsyncGenerator[ModelEvent, None]:
        """The events of one message, with retries until an answer begins."""
        while True:
            body, headers = self._body(request, turn)
            turn.reader = MessageReader(model=turn.model, tools=own_names(tool.name for tool in request.tools))
            try:
                async with aclosing(self._attempt(body, headers, turn)) as events:
                    async for event in events:
                        yield turn.counted(event)
            except AttemptFailedError as failed:
                if self._can_ask_otherwise(failed.error, body, turn):
                    continue
                wait_s = turn.attempts.wait_after(failed, has_answer=turn.reader.has_answer, on_load=self._on_load)
                if wait_s is None:
                    # Without its cause: transport errors can quote headers, and a header holds the key.
                    raise ModelError(failed.fault) from None
            else:
                turn.attempts.succeed()
                return
            await turn.attempts.wait(wait_s)

    def _can_ask_otherwise(self, error: ProviderError | None, body: Mapping[str, Any], turn: ProviderTurn) -> bool:
        """Whether the next request will differ, so that the provider may accept it."""
        if error is None:
            return False
        if refuses_schema(error) and not turn.goes_without_form and "format" in body.get("output_config", {}):
            turn.goes_without_form = True
            return True
        if self._known_refusals(turn.model).learn(error, changes_tools=turn.changes_tools):
            return True
        if refuses_thinking(error) and not turn.goes_without_thinking and without_thinking(body) is not None:
            turn.goes_without_thinking = True
            return True
        return False

    async def _attempt(
        self, body: Mapping[str, Any], headers: Mapping[str, str] | None, turn: ProviderTurn
    ) -> AsyncGenerator[ModelEvent, None]:
        """One request and its stream.

        Raises:
            AttemptFailedError: any failure of the provider or the connection.
        """
        reader = turn.reader
        stream = await self._open(body, headers, reader.model)
        request_id = stream.response.headers.get("request-id")
        turn.note_request(request_id)
        async with stream, aclosing(_wire_events(stream)) as lines:
            while True:
                try:
                    event = await anext(lines, None)
                    if event is None:
                        return
                    if event.get("type") == "error":
                        raise self._stream_error(event, request_id, reader.model)
                    made = reader.feed(event)
                except httpx2.HTTPError as error:
                    fault = failure("broken", type(error).__name__, model=reader.model, request_id=request_id)
                    raise AttemptFailedError(fault, is_retryable=True) from None
                except ValueError as error:
                    fault = failure("unreadable", str(error)[:200], model=reader.model, request_id=request_id)
                    raise AttemptFailedError(fault, is_retryable=True) from None
                for item in made:
                    yield item

    async def _open(
        self, body: Mapping[str, Any], headers: Mapping[str, str] | None, model: str
    ) -> anthropic.AsyncStream[Any]:
        # A key with a line break or a non-ASCII letter cannot be sent in a header.
        for key in (self._client.api_key, self._client.auth_token):
            if key and not (key.isascii() and key.isprintable()):
                raise AttemptFailedError(key_fault("The API key has characters that no key has."))
        try:
            opened: anthropic.AsyncStream[Any] = await self._client.messages.create(
                **body, stream=True, extra_headers={**IDENTITY, **trace_headers(), **(headers or {})}
            )
        except anthropic.APIStatusError as error:
            raise self._refused(error, model) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            if isinstance(error.__cause__, UpstreamError):
                raise AttemptFailedError(failure("unreadable", str(error.__cause__), model=model)) from None
            reason = type(error.__cause__ or error).__name__
            raise AttemptFailedError(failure("unreachable", reason, model=model), is_retryable=True) from None
        except (anthropic.AnthropicError, TypeError) as error:
            # The SDK reports a missing key as a TypeError that mentions authentication.
            if isinstance(error, TypeError) and "authentication" not in str(error):
                raise
            raise AttemptFailedError(key_fault("There is no usable API key for the model provider.")) from None
        return opened

    def _secrets(self) -> tuple[str, ...]:
        """Texts that the provider's message must not repeat; a short key may be part of any word, and is no secret."""
        keys = (self._client.api_key, self._client.auth_token)
        return tuple(key for key in keys if key and len(key) >= _SHORTEST_SECRET)

    def _stream_error(self, event: Mapping[str, Any], request_id: str | None, model: str) -> AttemptFailedError:
        error = event.get("error")
        fields = error if isinstance(error, Mapping) else {}
        return _failed(
            ProviderError(
                status=200,
                type=str(fields.get("type") or "api_error"),
                message=str(fields.get("message") or ""),
                request_id=request_id,
                secrets=self._secrets(),
            ),
            model,
        )

    def _refused(self, error: anthropic.APIStatusError, model: str) -> AttemptFailedError:
        headers = error.response.headers
        return _failed(
            ProviderError(
                status=error.status_code,
                type=str(error.type or ""),
                message=str(error.api_message or error.message),
                request_id=error.request_id,
                retry_after_s=retry_after_s(headers),
                should_retry={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
                secrets=self._secrets(),
                is_below_version="/v1" in self._client.base_url.path,
            ),
            model,
        )


def _output_format(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema in the provider's subset (platform.claude.com, "Structured outputs"); `None`: it does not fit there.

    There objects have the named properties and no others, so one that may have any could only be empty.
    """
    if any(part.get("type") == "object" and _is_open(part) for part in objects_in(schema)):
        return None
    try:
        return {"type": "json_schema", "schema": anthropic.transform_schema(from_json(to_json(schema)))}
    except Exception as error:  # noqa: BLE001  it asserts, and raises errors of several kinds
        log.debug("schema.not_sent", problem=str(error)[:200])
        return None


def _is_open(part: Mapping[str, Any]) -> bool:
    return not part.get("properties") or part.get("additionalProperties", False) is not False


def _new_client(*, api_key: str | None, base_url: str | None, silence_s: float) -> anthropic.AsyncAnthropic:
    try:
        return anthropic.AsyncAnthropic(
            api_key=None if api_key is None else api_key.strip(),
            base_url=base_url,
            max_retries=0,
            # Its own spans would repeat ours, replace the `traceparent` of ours, and can have all that is said in them.
            open_telemetry=False,
            http_client=anthropic.DefaultAsyncHttpxClient(
                timeout=httpx2.Timeout(silence_s, connect=10.0), event_hooks={"response": [refuse_encoded]}
            ),
        )
    except anthropic.AnthropicError as error:
        raise ModelError(
            key_fault(f"The model provider's credentials are not usable ({type(error).__name__}).")
        ) from None


async def _wire_events(stream: anthropic.AsyncStream[Any]) -> AsyncGenerator[dict[str, Any], None]:
    async with aclosing(events_of(stream.response.aiter_bytes())) as events:
        async for data in events:
            if data:
                yield decode_event(data)


def _failed(error: ProviderError, model: str) -> AttemptFailedError:
    return AttemptFailedError(fault_of(error, model=model), error=error, is_retryable=error.is_retryable)
