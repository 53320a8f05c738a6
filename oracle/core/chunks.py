"""The chunks of the stream that a client receives: the text, the actions and the end of a query.

Rules for every run, whatever controls it:

- Exactly one `Done`, and it is the last chunk.
- The `Content` chunks, joined, are the answer, which the conversation keeps.
- No chunk contains signal XML.

Each kind is defined once, here. `write_chunk` and `read_chunk` are the JSON object that the contract fixes and the way
back; `CHUNK` has its schema, for `/openapi.json`. A golden test holds the names. What chunks add up to is an `Answer`.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from typing import Annotated, Any, Final, Literal, TypeVar, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticSerializationError

from bt_runtime.text.data import dataclass
from oracle.core.encoding import from_json, to_json

SourceType = Literal["code", "vault", "thread", "web"]
Severity = Literal["info", "warning", "error"]
Topic = Literal[
    "limit_warning",
    "limit_reached",
    "no_progress",
    "error_limit",
    "stuck",
    "capability_gap",
    "delegation_recommended",
    "fallback",
    "notice",
]
"""What a notification of the control can be about; `notice`: anything else."""
SystemType = Literal[Topic, "paused", "queued", "recovered", "summarized"]
"""What a notification can be about. The last ones come from no control: `paused` from an operator who debugs the run,
`queued` and `recovered` from the service, whose run waits for a place or goes on after its worker has died;
`summarized` has the summary that stands for the beginning of the conversation from now on."""
ErrorType = Literal[
    "provider_auth",
    "provider_overloaded",
    "provider_failed",
    "provider_refused",
    "context_too_large",
    "answer_invalid",
    "tree_failed",
    "service_stopping",
    "interrupted",
    "not_continued",
    "internal",
]
InterruptReason = Literal["tool_call", "input_required", "confirmation"]
"""Why a run waits for a person: may this call be made, what is the answer to this question, may this be done?"""
Decision = Literal["approve", "refuse", "edit", "answer"]
"""What a person can do about it."""
InterruptStatus = Literal["pending", "approved", "refused", "edited", "answered", "expired", "withdrawn"]
"""Its status; `withdrawn`: the run has ended, or no longer waits for it."""
STATUSES: Final[Mapping[str, InterruptStatus]] = {
    "approve": "approved",
    "refuse": "refused",
    "edit": "edited",
    "answer": "answered",
    "expire": "expired",
    "withdraw": "withdrawn",
}
"""How an interrupt stands after each decision."""
TerminationReason = Literal[
    "user_cancelled",
    "completed",
    "max_iterations",
    "token_budget",
    "timeout",
    "no_progress",
    "error_limit",
    "error",
    "stuck",
]


_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def _kind(cls: type[_T]) -> type[_T]:
    """A dataclass that is frozen only for type checkers.

    One is made for every piece of text. Frozen at run time too it would take 215 ns to make, and not 130; with slots
    the constant `type` would be stored in each.
    """
    return dataclass(unsafe_hash=True)(cls)


@_kind
class _Wire:
    """A part of the stream."""

    def to_wire(self) -> dict[str, Any]:
        """The JSON object as a dictionary; fields without a value are left out."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: value.to_wire() if isinstance(value, _Wire) else value
            for name, value in values.items()
            if value is not None
        }


@_kind
class Source(_Wire):
    """Where something in the answer comes from; fields without a value are left out."""

    path: Annotated[str, Field(description="Relative to the root of its kind; an address for `web`.")]
    source_type: SourceType
    line: Annotated[int | None, Field(description="The first line that matters, from 1.")] = None
    snippet: str | None = None
    score: Annotated[float | None, Field(description="Greater is better; comparable only within one result.")] = None


@_kind
class ToolCall(_Wire):
    """A call of a tool by the model."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@_kind
class Thinking(_Wire):
    """A piece of the model's thinking, to be appended."""

    type: Literal["thinking"] = field(default="thinking", init=False)
    content: str


@_kind
class Content(_Wire):
    """A piece of the answer, to be appended."""

    type: Literal["content"] = field(default="content", init=False)
    content: str


@_kind
class Closing(Content):
    """The sentence that says why an answer did not complete; for clients a piece of the answer like any other."""

    reason: Annotated[TerminationReason, Field(exclude=True)]

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, without the reason: clients have it in `done`."""
        return {"type": self.type, "content": self.content}


@_kind
class SourceFound(_Wire):
    """A source that the answer may rest on; each is sent once per query."""

    type: Literal["source"] = field(default="source", init=False)
    source: Source


@_kind
class ToolCalled(_Wire):
    """The model called a tool; its result follows."""

    type: Literal["tool_call"] = field(default="tool_call", init=False)
    tool_call: ToolCall


@_kind
class ToolReturned(_Wire):
    """The result of a tool call; also sent for calls that were refused, not run or cancelled."""

    type: Literal["tool_result"] = field(default="tool_result", init=False)
    tool_call_id: str
    tool_result: str
    is_error: bool
    duration_ms: int


@_kind
class SystemNotice(_Wire):
    """A notification in the chat, neither the user's nor the model's; never sent to the model."""

    type: Literal["system"] = field(default="system", init=False)
    system_type: SystemType
    system_message: str
    severity: Severity
    metadata: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    timestamp: Annotated[str, Field(description="ISO 8601, UTC.")]


@_kind
class Interrupt(_Wire):
    """Something that a run waits for a person to decide; the object is the same in chunks, lists and answers."""

    id: str
    reason: InterruptReason
    message: Annotated[str, Field(description="For the person: what is asked, and why.")]
    may: Annotated[tuple[Decision, ...], Field(description="The decisions that are possible.")]
    response_schema: Annotated[
        Mapping[str, Any], Field(description="JSON schema of `answer`, or of `arguments` where these may be edited.")
    ]
    on_expiry: Annotated[
        Literal["refuse", "default", "fail"], Field(description="What counts when nobody has answered in time.")
    ]
    answerers: Annotated[
        Literal["user", "operator", "not_asker"], Field(description="Who may answer: `not_asker` is anyone else.")
    ] = "user"
    status: InterruptStatus = "pending"
    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: Annotated[Mapping[str, Any] | None, Field(description="Of the call that waits.")] = None
    arguments_digest: Annotated[
        str | None, Field(description="Of those arguments as canonical JSON: what is approved is exactly this call.")
    ] = None
    expires_at: Annotated[str | None, Field(description="ISO 8601, UTC.")] = None
    answered_by: str | None = None
    answered_at: Annotated[str | None, Field(description="ISO 8601, UTC.")] = None
    read_before: Annotated[
        tuple[str, ...] | None, Field(description="What was read that the call may be made of: names of tools.")
    ] = None


@_kind
class ApprovalRequested(_Wire):
    """The run asks whether it may make a call, or do something else; it waits for the answer."""

    type: Literal["approval_requested"] = field(default="approval_requested", init=False)
    interrupt: Interrupt


@_kind
class QuestionAsked(_Wire):
    """The run asks a person a question, and waits for the answer."""

    type: Literal["question"] = field(default="question", init=False)
    interrupt: Interrupt


@_kind
class Answered(_Wire):
    """What the run has waited for was decided: by a person, or because nobody has answered in time."""

    type: Literal["answered"] = field(default="answered", init=False)
    interrupt: Annotated[Interrupt, Field(description="As it stands now.")]
    answer: Annotated[Any | None, Field(description="To a question.")] = None
    arguments: Annotated[Mapping[str, Any] | None, Field(description="Those that a person has put in place.")] = None
    comment: str | None = None


@_kind
class Failed(_Wire):
    """The query failed; earlier text stays, and `done` follows."""

    type: Literal["error"] = field(default="error", init=False)
    error: Annotated[str, Field(description="For the user.")]
    error_type: ErrorType


@_kind
class TokenUsage(_Wire):
    """The tokens of all turns of a query. Those of the budget are the sum without `cache_read_tokens`."""

    input_tokens: Annotated[
        int, Field(description="Input that the provider has neither read from its cache nor put there.")
    ] = 0
    cache_creation_tokens: Annotated[int, Field(description="Input that it has put into its cache.")] = 0
    cache_read_tokens: Annotated[int, Field(description="Input that it has read from its cache.")] = 0
    output_tokens: Annotated[int, Field(description="Thinking included.")] = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.cache_creation_tokens + other.cache_creation_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.output_tokens + other.output_tokens,
        )

    @property
    def counted(self) -> int:
        """What the token budget counts."""
        return self.input_tokens + self.cache_creation_tokens + self.output_tokens

    @property
    def by_kind(self) -> dict[str, int]:
        """The tokens by the kinds that have prices."""
        return {name.removesuffix("_tokens"): getattr(self, name) for name in self.__dataclass_fields__}

    def or_none(self) -> "TokenUsage | None":
        """The same; `None` if there are no tokens."""
        return self if self.counted or self.cache_read_tokens else None


@_kind
class Done(_Wire):
    """The last chunk of every query."""

    type: Literal["done"] = field(default="done", init=False)
    termination_reason: TerminationReason
    tokens_used: Annotated[int, Field(description="As the token budget counts them.")]
    tokens_estimated: Annotated[bool, Field(description="The provider reported no usage for at least one turn.")]
    model_used: str
    context_id: Annotated[str, Field(description="The conversation to continue with.")]
    run_id: str
    turns: Annotated[int, Field(description="Finished LLM turns.")]
    usage: Annotated[
        TokenUsage | None, Field(description="Of all turns; left out where there was none, or where it is not known.")
    ] = None
    output: Annotated[
        Any | None, Field(description="The answer to a question with `response_format`, as data; left out without one.")
    ] = None


Chunk = (
    Thinking
    | Content
    | SourceFound
    | ToolCalled
    | ToolReturned
    | SystemNotice
    | ApprovalRequested
    | QuestionAsked
    | Answered
    | Failed
    | Done
)

CHUNK: TypeAdapter[Chunk] = TypeAdapter(
    Annotated[Chunk, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)
"""Reads any chunk by its `type`, and has the JSON schema of all; built on first use, because that takes 5 ms."""


class _Writers(dict[type[Chunk], Callable[..., bytes]]):
    """The serializer of each kind, built on first use. That of the union would take twice as long for each chunk."""

    def __missing__(self, kind: type[Chunk]) -> Callable[..., bytes]:
        writer = self[kind] = TypeAdapter(kind).serializer.to_json
        return writer


_WRITERS = _Writers()


@dataclass(slots=True)
class Answer:
    """What the chunks of a query add up to so far.

    Args:
        texts: the text of each content chunk, in order.
        sources: in the order in which they were found.
        notices: the system notices, oldest first.
        calls: tool calls by id, in order.
        results: of tool calls, by the id of the call.
        interrupts: what the run has asked people, by id, as it stands now.
        failed: the last error; `None` if there was none.
        done: the last chunk; `None` while the query goes on.
        stopped: the reason that the last content chunk gives for the end; `None` if it gives none, or if an error
            came after it, which has a sentence of its own.
        has_text: there is text other than the sentence that gives the reason.
    """

    texts: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    notices: list[SystemNotice] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    results: dict[str, ToolReturned] = field(default_factory=dict)
    interrupts: dict[str, Interrupt] = field(default_factory=dict)
    failed: Failed | None = None
    done: Done | None = None
    stopped: TerminationReason | None = None
    has_text: bool = False

    @property
    def text(self) -> str:
        """The answer: the content chunks, joined."""
        return "".join(self.texts)

    @property
    def pending(self) -> list[Interrupt]:
        """The interrupts that people have not decided yet."""
        return [each for each in self.interrupts.values() if each.status == "pending"]

    @property
    def open_calls(self) -> list[ToolCall]:
        """The tool calls without a result."""
        return [call for call in self.calls.values() if call.id not in self.results]

    def add(self, chunk: Chunk) -> None:
        """Add the next chunk."""
        if isinstance(chunk, Content):  # nearly always, and a third of the time that `match` takes
            self.texts.append(chunk.content)
            self.stopped = chunk.reason if isinstance(chunk, Closing) else None
            if not self.has_text and self.stopped is None and chunk.content.strip():
                self.has_text = True
            return
        match chunk:
            case SourceFound(source):
                self.sources.append(source)
            case SystemNotice():
                self.notices.append(chunk)
            case ToolCalled(call):
                self.calls[call.id] = call
            case ToolReturned(call_id):
                self.results[call_id] = chunk
            case ApprovalRequested(interrupt) | QuestionAsked(interrupt) | Answered(interrupt):
                self.interrupts[interrupt.id] = interrupt
            case Failed():
                self.failed, self.stopped = chunk, None
            case Done():
                self.done = chunk


def write_chunk(chunk: Chunk) -> bytes:
    """The chunk as compact UTF-8 JSON; a lone surrogate becomes U+FFFD, as `to_json` has it.

    Raises:
        TypeError: a value in it is no JSON data.
    """
    try:
        return _WRITERS[type(chunk)](chunk, exclude_none=True)
    except PydanticSerializationError:  # lone surrogates, deep nests, mappings that are no dictionaries
        return to_json(chunk.to_wire())


def read_chunk(data: bytes | str) -> Chunk:
    """The chunk that `write_chunk` wrote; unknown fields, which a later version may have written, are ignored.

    Raises:
        ValueError: it is no chunk.
    """
    try:
        chunk: Chunk = CHUNK.validator.validate_json(data)  # half the time of the adapter's own method
    except ValueError:  # pydantic reads arguments up to 197 levels deep; a model may send more
        return CHUNK.validate_python(from_json(data))
    return chunk
