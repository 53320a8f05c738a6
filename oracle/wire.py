"""Chunks as JSON objects: what is on the wire and in the log, as models that read them back and describe them.

`Chunk.to_wire` writes them, because one is written for every piece of text; `read_chunk` is the way back, for the
whole answer and for runs that are ended from their logs; the models are the schema of the stream in `/openapi.json`.
A test holds the two ways and the golden file together. Fields that are not known are passed over, so that a log of a
later version can be read.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, WithJsonSchema

from oracle import chunks
from oracle.chunks import Chunk, ErrorType, Severity, SourceType, SystemType, TerminationReason

_Number = Annotated[int | float, WithJsonSchema({"type": "number"})]  # 7 stays 7, and is not 7.0


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True)


class Source(_Wire):
    """Where something in the answer comes from; fields without a value are left out."""

    path: str = Field(description="Relative to the root of its kind; an address for `web`.")
    source_type: SourceType
    line: int | None = Field(default=None, description="The first line that matters, from 1.")
    snippet: str | None = None
    score: float | None = Field(default=None, description="Greater is better; comparable within one result alone.")


class ToolCall(_Wire):
    """A call of a tool by the model."""

    id: str
    name: str
    arguments: dict[str, Any]


class Metadata(_Wire):
    """The numbers behind a notification; which there are depends on `system_type`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    current_value: _Number | None = None
    limit_value: _Number | None = None
    percent: _Number | None = None
    limit_type: Literal["iteration", "token", "timeout"] | None = None


class ThinkingChunk(_Wire):
    """A piece of the model's thinking, to be appended."""

    type: Literal["thinking"]
    content: str


class ContentChunk(_Wire):
    """A piece of the answer, to be appended."""

    type: Literal["content"]
    content: str


class SourceChunk(_Wire):
    """A source that the answer may rest on."""

    type: Literal["source"]
    source: Source


class ToolCallChunk(_Wire):
    """The model called a tool; its result follows."""

    type: Literal["tool_call"]
    tool_call: ToolCall


class ToolResultChunk(_Wire):
    """What a tool call brought."""

    type: Literal["tool_result"]
    tool_call_id: str
    tool_result: str
    is_error: bool
    duration_ms: int


class SystemChunk(_Wire):
    """A notification in the chat, neither the user's nor the model's."""

    type: Literal["system"]
    system_type: SystemType
    system_message: str
    severity: Severity
    metadata: Metadata
    timestamp: str = Field(description="ISO 8601, UTC.")


class ErrorChunk(_Wire):
    """The query failed; what was said before stays, and `done` follows."""

    type: Literal["error"]
    error: str = Field(description="For the user.")
    error_type: ErrorType


class DoneChunk(_Wire):
    """The last chunk of every query."""

    type: Literal["done"]
    termination_reason: TerminationReason
    tokens_used: int
    tokens_estimated: bool
    model_used: str
    context_id: str
    run_id: str
    turns: int


AnyChunk = Annotated[
    ThinkingChunk | ContentChunk | SourceChunk | ToolCallChunk | ToolResultChunk | SystemChunk | ErrorChunk | DoneChunk,
    Field(discriminator="type"),
]
"""One chunk, told apart by its `type`."""

CHUNK: TypeAdapter[AnyChunk] = TypeAdapter(AnyChunk)


def read_chunk(data: bytes | str) -> Chunk:
    """The chunk behind the JSON of `Chunk.to_wire`.

    Raises:
        ValueError: it is no chunk.
    """
    match CHUNK.validate_json(data):
        case ThinkingChunk(content=content):
            return chunks.Thinking(content)
        case ContentChunk(content=content):
            return chunks.Content(content)
        case SourceChunk(source=source):
            return chunks.SourceFound(chunks.Source(**dict(source)))
        case ToolCallChunk(tool_call=call):
            return chunks.ToolCalled(call.id, call.name, call.arguments)
        case ToolResultChunk() as result:
            return chunks.ToolReturned(
                result.tool_call_id, result.tool_result, is_error=result.is_error, duration_ms=result.duration_ms
            )
        case SystemChunk() as notice:
            return chunks.SystemNotice(**notice.model_dump(exclude={"type"}, exclude_unset=True))
        case ErrorChunk(error=error, error_type=kind):
            return chunks.Failed(error, kind)
        case DoneChunk() as done:
            return chunks.Done(**done.model_dump(exclude={"type"}))
