"""A run as the events of OpenAI's Responses.

Rules:

- The events of a response have the numbers 0, 1, 2, …; `data: [DONE]` is a frame behind the last one.
- One item of text is open at a time; tool calls that run side by side are open beside it.
- A notification is an item of reasoning: it is neither a part of the answer nor something that the client has to do.
- The wait for a place is `response.queued`.
- No client has an event for a cancelled response: it ends with `response.incomplete`, and its status says the rest.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from oracle.core.chunks import (
    Answered,
    ApprovalRequested,
    Chunk,
    Content,
    Done,
    Failed,
    Interrupt,
    QuestionAsked,
    Source,
    SourceFound,
    SystemNotice,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.core.encoding import to_json
from oracle.runs.storage.records import RunRecord
from oracle.server.connect.openai.response_items import (
    Portions,
    ResponseName,
    ResponseStatus,
    annotation_of,
    answer_item,
    approval_item,
    function_item,
    response_body,
    tool_item,
    tool_result,
)

END: Final = b"data: [DONE]\n\n"

_LIMITED: ResponseStatus = "incomplete"
_ENDS: Final[Mapping[str, ResponseStatus]] = {
    "completed": "completed",
    "user_cancelled": "cancelled",
    "error": "failed",
}
_LAST_EVENT: Final[Mapping[str, str]] = {"completed": "completed", "failed": "failed"}
_ERROR_CODES: Final = {"provider_overloaded": "rate_limit_exceeded", "context_too_large": "invalid_prompt"}


class _Kind(NamedTuple):
    """What the items of text differ in."""

    prefix: str
    text: str
    part: str
    number: str


_MESSAGE: Final = _Kind("msg", "response.output_text", "response.content_part", "content_index")
_REASONING: Final = _Kind("rs", "response.reasoning_summary_text", "response.reasoning_summary_part", "summary_index")


class _Text:
    """An item of text that is open.

    Args:
        kind: of the item.
        item_id: its name.
        output_index: its place in the output.
    """

    def __init__(self, kind: _Kind, item_id: str, output_index: int) -> None:
        self.kind = kind
        self.id = item_id
        self.output_index = output_index
        self.place = {"item_id": item_id, "output_index": output_index, kind.number: 0}
        self.pieces: list[str] = []
        self.characters = 0
        self.annotations: list[dict[str, Any]] = []
        self.further: dict[str, Any] = {"logprobs": []} if kind is _MESSAGE else {}
        event = f"{kind.text}.delta"
        fields = to_json({"type": event, **self.place, **self.further})[:-1]
        self._head = b'event: %b\ndata: %b,"sequence_number":' % (event.encode(), fields)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def delta(self, number: int, piece: str) -> bytes:
        """The event of the next piece."""
        self.pieces.append(piece)
        self.characters += len(piece)
        return b'%b%d,"delta":%b}\n\n' % (self._head, number, to_json(piece))

    def part(self) -> dict[str, Any]:
        if self.kind is _MESSAGE:
            return {"type": "output_text", "text": self.text, "annotations": self.annotations, "logprobs": []}
        return {"type": "summary_text", "text": self.text}

    def item(self, status: str) -> dict[str, Any]:
        """The item; without its part while nothing is in it."""
        common = {"id": self.id, "status": status}
        parts = [self.part()] if self.pieces else []
        if self.kind is _MESSAGE:
            return common | {"type": "message", "role": "assistant", "content": parts}
        return common | {"type": "reasoning", "summary": parts}


class ResponseTranslator:
    """The chunks of a run as the events of one of the responses that answer it.

    Args:
        run: the run.
        first: the chunk with which the response begins; it is one of `portions.starts`, or becomes one.
    """

    def __init__(self, run: RunRecord, *, first: int = 1) -> None:
        self.portions = Portions()
        self.is_over = False
        """Whether the response has ended."""
        self.given: list[dict[str, Any]] = []
        """What the client has answered at the beginning of the response."""
        self._run = run
        self.wanted = first
        self._functions = {each["name"] for each in run.input.get("client_tools", ())}
        self._calls: dict[str, ToolCall] = {}  # without a result
        self._approvals: dict[str | None, str] = {}  # what has asked for a call
        self._sources: list[Source] = []  # no text has them yet
        self._failed: Failed | None = None
        self._done: Done | None = None
        self._begin(ResponseName(run.id), None)

    def _begin(self, name: ResponseName, previous: ResponseName | None) -> None:
        self.name = name
        self._previous = previous
        self.status: ResponseStatus = "in_progress"
        self._has_begun = False
        self._number = 0
        self._output: list[dict[str, Any]] = []
        self._text: _Text | None = None
        self._open: dict[str, int] = {}  # the places of tool calls by the id of the call
        self._asked: set[str] = set()

    def opening(self) -> list[bytes]:
        """The frames before the first chunk."""
        created = self._state("created")
        return [created] if self.wanted == 1 else []

    def frames(self, n: int, chunk: Chunk) -> list[bytes]:
        """The frames of the chunk of this number."""
        if self.is_over:
            return []
        is_wanted = self.name.first == self.wanted
        frames = list(self._events(n, chunk))
        is_waiting = self.portions.add(n, chunk)
        if is_waiting:
            frames += self._finish("completed", n)
        elif self._done is not None:
            frames += self._finish(_ENDS.get(self._done.termination_reason, _LIMITED), n)
        if is_wanted:
            self.is_over = is_waiting or self._done is not None
            return frames
        if is_waiting:
            self._begin(ResponseName(self._run.id, n + 1), self.name)
            frames = [self._state("created"), *self._progress()]
            return frames if self.name.first == self.wanted else []
        return []

    def parked(self) -> list[bytes]:
        """None: where the run waits for the client, the response has ended already."""
        return []

    def body(self, *, is_queued: bool = False) -> dict[str, Any]:
        """The response object as it is after the chunks so far."""
        output = list(self._output)
        if self._text is not None:
            output[self._text.output_index] = self._text.item("in_progress")
        error = None
        if self.status == "failed":
            failed = self._failed or Failed("The answer has failed.", "internal")
            error = {"code": _ERROR_CODES.get(failed.error_type, "server_error"), "message": failed.error}
        status = "queued" if is_queued and self.status == "in_progress" else self.status
        return response_body(
            self._run, self.name, status, output, previous=self._previous, done=self._done, error=error
        )

    def _events(self, n: int, chunk: Chunk) -> Iterator[bytes]:
        if isinstance(chunk, SystemNotice) and chunk.system_type == "queued" and not self._has_begun:
            yield self._state("queued", is_queued=True)
            return
        if not self._has_begun:
            yield from self._progress()
        match chunk:
            case Content(piece):
                yield from self._write(_MESSAGE, n, piece)
            case Thinking(piece):
                yield from self._write(_REASONING, n, piece)
            case SourceFound(source):
                self._sources.append(source)
                yield from self._cite()
            case SystemNotice():
                yield from self._close()
                yield from self._write(_REASONING, n, chunk.system_message)
                yield from self._close()
            case Failed():
                self._failed = chunk
            case Done():
                self._done = chunk
            case _:
                yield from self._act(n, chunk)

    def _act(
        self, n: int, chunk: ToolCalled | ToolReturned | ApprovalRequested | QuestionAsked | Answered
    ) -> Iterator[bytes]:
        match chunk:
            case ToolCalled(call):
                self._calls[call.id] = call
                if call.name not in self._functions:
                    yield from self._call(n, call)
            case ToolReturned(call_id):
                yield from self._return(n, chunk, self._calls.pop(call_id, None))
            case Answered(interrupt):
                if self.name.first == self.wanted and interrupt.id in self.portions.asked:
                    self.given.append(answer_item(self._run, n, chunk))
                if interrupt.tool_call_id in self._calls and chunk.arguments is not None:
                    call = self._calls[interrupt.tool_call_id]
                    self._calls[call.id] = ToolCall(call.id, call.name, chunk.arguments)
            case _:
                yield from self._ask(n, chunk.interrupt)

    # Texts

    def _write(self, kind: _Kind, n: int, piece: str) -> Iterator[bytes]:
        if not piece:
            return
        if self._text is None or self._text.kind is not kind:
            yield from self._close()
            text = self._text = _Text(kind, f"{kind.prefix}_{self._run.id}_{n}", len(self._output))
            yield self._add(text.item("in_progress"))
            yield self._event(f"{kind.part}.added", **text.place, part=text.part())
            yield from self._cite()
        yield self._text.delta(self._number, piece)
        self._number += 1

    def _cite(self) -> Iterator[bytes]:
        """The sources that no text has yet, if there is a text that can have them."""
        text = self._text
        if text is None or text.kind is not _MESSAGE:
            return
        for source in self._sources:
            made = annotation_of(source, at=text.characters)
            number = len(text.annotations)
            yield self._event(
                "response.output_text.annotation.added", **text.place, annotation_index=number, annotation=made
            )
            text.annotations.append(made)
        self._sources.clear()

    def _close(self, status: str = "completed") -> Iterator[bytes]:
        """The end of the text that is open."""
        text, self._text = self._text, None
        if text is None:
            return
        yield self._event(f"{text.kind.text}.done", **text.place, text=text.text, **text.further)
        yield self._event(f"{text.kind.part}.done", **text.place, part=text.part())
        yield self._end(text.output_index, text.item(status))

    # Tools

    def _call(self, n: int, call: ToolCall, *, approved_by: str | None = None) -> Iterator[bytes]:
        yield from self._close()
        item = tool_item(f"mcp_{self._run.id}_{n}", call, approved_by=approved_by)
        self._open[call.id] = len(self._output)
        yield from self._arguments(item, "mcp_call", began="mcp_call.in_progress")

    def _return(self, n: int, returned: ToolReturned, call: ToolCall | None) -> Iterator[bytes]:
        if call is None or call.name in self._functions:
            return
        if call.id not in self._open:  # it has waited for the client, who has the response that began it
            yield from self._call(n, call, approved_by=self._approvals.get(call.id))
        place = self._open.pop(call.id)
        item = self._output[place] | tool_result(returned)
        yield self._event(f"response.mcp_call.{item['status']}", item_id=item["id"], output_index=place)
        yield self._end(place, item)

    def _ask(self, n: int, interrupt: Interrupt) -> Iterator[bytes]:
        """The item of something that is to be decided; what others decide, the client only waits for."""
        if interrupt.answerers != "user":
            return
        self._asked.add(interrupt.id)
        yield from self._close()
        if (function := function_item(f"fc_{self._run.id}_{n}", interrupt)) is not None:
            yield from self._arguments(function, "function_call")
            yield self._end(len(self._output) - 1, self._output[-1] | {"status": "completed"})
            return
        self._approvals[interrupt.tool_call_id] = interrupt.id
        yield self._add(approval_item(interrupt))
        yield self._end(len(self._output) - 1, self._output[-1])

    def _arguments(self, item: Mapping[str, Any], kind: str, *, began: str | None = None) -> Iterator[bytes]:
        """The item of a call, with its arguments as the pieces that clients expect."""
        place = {"item_id": item["id"], "output_index": len(self._output)}
        arguments = item["arguments"]
        yield self._add({**item, "status": "in_progress", "arguments": ""})
        if began is not None:
            yield self._event(f"response.{began}", **place)
        yield self._event(f"response.{kind}_arguments.delta", **place, delta=arguments)
        yield self._event(f"response.{kind}_arguments.done", **place, arguments=arguments)
        self._output[place["output_index"]]["arguments"] = arguments

    # The response

    def _progress(self) -> list[bytes]:
        self._has_begun = True
        return [self._state("in_progress")]

    def _finish(self, status: ResponseStatus, n: int) -> Iterator[bytes]:
        yield from self._close("completed" if status == "completed" else "incomplete")
        if self._done is None:  # what is asked longer than the response lasts is asked in it, too
            for each in [each for each in self.portions.waiting if each.id not in self._asked]:
                yield from self._ask(n, each)
        for place in self._open.values():
            yield self._end(place, self._output[place] | {"status": "incomplete"})
        self._open.clear()
        self.status = status
        yield self._state(_LAST_EVENT.get(status, "incomplete"))
        yield END

    def _state(self, event: str, *, is_queued: bool = False) -> bytes:
        return self._event(f"response.{event}", response=self.body(is_queued=is_queued))

    def _add(self, item: dict[str, Any]) -> bytes:
        self._output.append(item)
        return self._event("response.output_item.added", output_index=len(self._output) - 1, item=item)

    def _end(self, place: int, item: dict[str, Any]) -> bytes:
        self._output[place] = item
        return self._event("response.output_item.done", output_index=place, item=item)

    def _event(self, name: str, **fields: Any) -> bytes:  # noqa: ANN401
        data = to_json({"type": name, "sequence_number": self._number, **fields})
        self._number += 1
        return b"event: %b\ndata: %b\n\n" % (name.encode(), data)
