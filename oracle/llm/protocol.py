"""The protocol of a language model: a request in, the events of one turn out.

Rules:

- Messages have the shape of the Anthropic Messages API (`{"role": …, "content": str | [block, …]}`), because its blocks
  (signed thinking, server tools) must go back to the provider unmodified. Adapters of other providers translate.
- A note of the control is a message of the role `system` right behind a user's. `oracle.llm.marked_notes` has
  another form, for models that take no such messages.
- A file beside a question is a block of the type `attachment` with `id`, `name`, `media_type`, `size` and `tokens`, in
  the place of its bytes. `Hooks.complete` puts the provider's blocks there; the embedded model gets it as it is.
- `stream` yields events as they arrive and ends with exactly one `TurnEnded`, or raises `ModelError`.
- Closing the iterator, or cancelling the task that reads it, closes the provider's connection immediately.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import field
from typing import Any, Final, Literal, Protocol

from bt_runtime.text.data import dataclass
from oracle.core.chunks import ErrorType, Source
from oracle.core.encoding import held_frozen
from oracle.core.errors import UpstreamError

DEFAULT_MODEL: Final = "claude-sonnet-5-5"
"""The provider's model that answers if none is named."""
MIN_THINKING_TOKENS: Final = 1024
"""The provider's smallest budget for thinking; below it thinking is off."""


Message = Mapping[str, Any]
CONTINUE = "Continue."
"""The user's message between two turns of the model, which the control writes."""
StopReason = Literal[
    "end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal", "model_context_window_exceeded", "broken"
]
"""Why a turn ended. `broken`: the stream ended without a stop reason.
`pause_turn` does not occur: the adapter continues the turn."""
CacheMiss = Literal[
    "model_changed", "system_changed", "tools_changed", "messages_changed", "previous_message_not_found", "unavailable"
]
"""Why the provider's cache did not have the whole previous request, in the provider's words; `unavailable`: it cannot
say, or a parameter such as `tool_choice` or the thinking differs."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as it is offered to the model: `input_schema` is a JSON Schema of type object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


Offer = tuple[int, int, tuple[str, ...]]
"""A number of messages, one of blocks of the note after them, and the tools that may be called from there, by name."""


@held_frozen
class ModelRequest:
    """The request for one turn.

    Args:
        system: the composed prompt; the same in all turns of a query, so that the provider's cache stays valid.
        messages: the conversation, ending with a user message or a note behind it.
        tools: the offered tools; later turns of the query only append to them.
        tool_choice: with `none` the model cannot call tools, which stay listed. A change invalidates the provider's
            cache of the messages, so a model that takes changes of its tools gets those of `offers` instead.
        wrap_up: tool calls of this turn are not run; a note in the messages says so, too, and models that do not read
            notes use this.
        max_tokens: the limit on the output, thinking included; at least 1.
        thinking_tokens: the part of it that may be thinking; 0 turns thinking off.
        web_search: offer the provider's own web search, if it has one.
        look_first: names of the tools that such questions need first; the prompt says so, too, and models that do not
            read prompts use this.
        model: the provider's name for the model; `None` means the adapter's default.
        output_schema: JSON schema of the answer, for providers that can hold the model to it; `None`: it is free text.
        time_left_s: seconds until the query's deadline, which bounds the retries; `None` if there is no deadline.
        offers: which of the tools the model may call: first those of the query's first request, then what has changed.
            Models that take no such changes are offered all `tools`.
        previous_message: the provider's id of the response before, which a missed cache is explained by; empty if
            there was none.
        retries: whether it is sent again where it fails before an answer begins; not where another model stands in.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    wrap_up: bool = False
    max_tokens: int = 4096
    thinking_tokens: int = 0
    web_search: bool = False
    look_first: tuple[str, ...] = ()
    model: str | None = None
    output_schema: Mapping[str, Any] | None = None
    time_left_s: float | None = None
    previous_message: str = ""
    retries: bool = True
    offers: tuple[Offer, ...] = ()


@held_frozen
class Usage:
    """The tokens of one turn as reported by the provider; `None` if not reported.

    Args:
        cache_miss: why its cache did not have all that it could have; empty if it did, or the provider does not say.
    """

    input_tokens: int | None = None
    cache_creation_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int | None = None
    cache_miss: CacheMiss | Literal[""] = ""

    @property
    def billed_input(self) -> int | None:
        """The input that the token budget counts: all of it except cache reads."""
        return None if self.input_tokens is None else self.input_tokens + self.cache_creation_tokens


@held_frozen
class ToolUse:
    """A complete tool call.

    Args:
        id: the provider's id, unique in the query.
        name: the tool, as written by the model.
        arguments: the decoded JSON object; empty if `malformed`.
        malformed: why the arguments are not a JSON object; `None` if they are.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    malformed: str | None = None


@held_frozen
class TextDelta:
    """A piece of the response's text, signal XML included."""

    text: str


@held_frozen
class ThinkingDelta:
    """A piece of the model's thinking."""

    text: str


@held_frozen
class ToolCallRequested:
    """The model calls a tool."""

    call: ToolUse


@dataclass(frozen=True, slots=True)
class ServerToolCalled:
    """The provider runs one of its own tools (web search)."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServerToolReturned:
    """The result of the provider's own tool, as text for the user."""

    tool_call_id: str
    text: str
    is_error: bool
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceCited:
    """The model cites a source of the provider's own search for the preceding text."""

    source: Source


@held_frozen
class UsageReported:
    """The usage so far; if the turn is interrupted, the last report counts."""

    usage: Usage


@held_frozen
class TurnEnded:
    """The turn is complete.

    Args:
        stop_reason: why it ended.
        usage: tokens of the whole turn, all its requests together.
        content: the assistant's content blocks, to be sent back unmodified within this query; they never end in
            thinking, which the provider would reject.
        model: the model that answered.
        stop_detail: the provider's explanation of the stop reason, if any (of a refusal).
        request_ids: the provider's ids of the turn's requests, for its support.
        message_id: the provider's id of the response; empty if it has none.
    """

    stop_reason: StopReason
    usage: Usage
    content: tuple[Mapping[str, Any], ...]
    model: str
    stop_detail: str | None = None
    request_ids: tuple[str, ...] = ()
    message_id: str = ""


ModelEvent = (
    TextDelta
    | ThinkingDelta
    | ToolCallRequested
    | ServerToolCalled
    | ServerToolReturned
    | SourceCited
    | UsageReported
    | TurnEnded
)


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """The name for `done.model_used` until a turn reports the model."""
        ...

    @property
    def has_web_search(self) -> bool:
        """Whether the provider can search the web itself."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn.

        Raises:
            ModelError: the provider failed or refused the request.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


OneOfSeveral = Literal["rate_limited", "unreachable", "timeout", "broken_off", "unknown_model", "bad_request"]
FaultKind = Literal["overloaded", "auth", "refused", "context_too_large", "failed", OneOfSeveral]
"""The kinds of provider failures that trees distinguish. Those of `OneOfSeveral` are of types of errors with several
kinds; the others are the types, in short."""


@dataclass(frozen=True, slots=True)
class ModelFault:
    """A failure, described for the user and for the operator.

    Args:
        error_type: the kind of failure, for clients.
        message: for the user: what happened and what to do; without names of settings, keys or hosts.
        cause: for the operator: the failure in the provider's words, and what to check; empty if there is no more to
            say than `message`. No secrets.
        detail: for the operator: status, the provider's type of error, model, request id.
        narrower: the kind, where the error's type has several.
    """

    error_type: ErrorType
    message: str
    cause: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    narrower: FaultKind | None = None

    @property
    def kind(self) -> str:
        """What went wrong, for the tree: a `FaultKind` if it went wrong at the provider."""
        return self.narrower or self.error_type.removeprefix("provider_")


class ModelError(UpstreamError):
    """The provider failed; `fault` describes how. The exception's text is for the operator."""

    def __init__(self, fault: ModelFault) -> None:
        super().__init__(fault.cause or fault.message)
        self.fault = fault


OnLoad = Callable[[float | None], None]
"""Called when the provider has refused a request because of its load or a rate limit, with the wait that it asks for in
seconds, if it asks for one; must not block."""
