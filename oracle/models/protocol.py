"""The language model behind a small protocol: a request goes in, events of one turn come out.

Rules:

- Messages have the shape of the Anthropic Messages API (`{"role": …, "content": str | [block, …]}`), because its blocks
  (signed thinking, server tools) must go back to the provider as they came. Other providers translate.
- `stream` yields events as they arrive and ends with exactly one `TurnEnded`, or raises `ModelError`.
- Closing the iterator (or cancelling the task in it) closes the provider's connection at once.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from oracle.chunks import ErrorType, Source
from oracle.errors import UpstreamError

Message = Mapping[str, Any]
StopReason = Literal[
    "end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal", "model_context_window_exceeded", "broken"
]
"""Why a turn ended. `broken`: the stream ended without saying why.
`pause_turn` never gets here: the adapter goes on."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model sees it: `input_schema` is a JSON Schema of type object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything that one turn needs.

    Args:
        system: the composed prompt; the same for all turns of a query, so that the provider's cache holds.
        messages: the conversation, ending with a user message.
        tools: offered in this turn, in an order to which later turns of the query only add.
        tool_choice: `none`: the model cannot call tools (they stay listed). A change voids the provider's cache of the
            messages.
        wrap_up: no tool call of this turn will be run, as a note in the messages says too; for models that read none.
        max_tokens: bound on the output, thinking included; at least 1.
        thinking_tokens: how much of it may be thinking; 0 turns thinking off.
        web_search: offer the provider's own web search, where it has one.
        model: the provider's name for the model; `None` means the adapter's default.
        time_left_s: until the query's deadline, when the request is made: as long may a busy provider be waited for;
            `None` if there is no deadline.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    wrap_up: bool = False
    max_tokens: int = 4096
    thinking_tokens: int = 0
    web_search: bool = False
    model: str | None = None
    time_left_s: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn as the provider reported them; `None` where it reported nothing."""

    input_tokens: int | None = None
    cache_creation_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int | None = None

    @property
    def billed_input(self) -> int | None:
        """Input as the token budget counts it: cache reads are free."""
        return None if self.input_tokens is None else self.input_tokens + self.cache_creation_tokens


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A finished tool call.

    Args:
        id: the provider's id, unique in the query.
        name: the tool, as the model wrote it.
        arguments: the decoded JSON object; empty if `malformed`.
        malformed: why the arguments are no JSON object; `None` when they are.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    malformed: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the response's text, signal XML included."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallRequested:
    """The model wants a tool run."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ServerToolCalled:
    """The provider runs a tool of its own (web search)."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServerToolReturned:
    """What the provider's own tool brought, as text for the user."""

    tool_call_id: str
    text: str
    is_error: bool
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceCited:
    """The model cites a source (of the provider's own search) for what it has just said."""

    source: Source


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Usage known so far; the last one before an interruption counts."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over.

    Args:
        stop_reason: why.
        usage: of the whole turn.
        content: the assistant's content blocks, to be sent back as they are within this query; they never end in
            thinking, which no provider takes back there.
        model: the model that answered.
        stop_detail: the provider's own explanation, where it gives one (of a refusal).
        request_ids: the provider's names for the requests that the turn took, for its support.
    """

    stop_reason: StopReason
    usage: Usage
    content: tuple[Mapping[str, Any], ...]
    model: str
    stop_detail: str | None = None
    request_ids: tuple[str, ...] = ()


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
        """The name that `done.model_used` shows until a turn has told a better one."""
        ...

    @property
    def has_web_search(self) -> bool:
        """Whether the provider can search the web itself."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn.

        Raises:
            ModelError: the provider failed or refused.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


@dataclass(frozen=True, slots=True)
class ModelFault:
    """What went wrong (decision 33).

    Args:
        error_type: what kind of failure it is, for clients.
        message: for the user: what happened and what they can do; no names of settings, keys or hosts.
        cause: for the operator: what went wrong, in the provider's words, and what to check; empty if the message
            says all there is. No secrets.
        detail: for the operator: status, the provider's type of error, model, request id.
    """

    error_type: ErrorType
    message: str
    cause: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


class ModelError(UpstreamError):
    """The provider failed; `fault` says how. The exception's own text is the operator's."""

    def __init__(self, fault: ModelFault) -> None:
        super().__init__(fault.cause or fault.message)
        self.fault = fault
