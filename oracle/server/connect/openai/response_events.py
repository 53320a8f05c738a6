"""A run as the events of OpenAI's Responses.

Rules:

- The events of a response have the numbers 0, 1, 2, …; `data: [DONE]` is a frame behind the last one.
- One item of text is open at a time; tool calls that run side by side are open beside it.
- A notification is an item of reasoning: it is neither a part of the answer nor something that the client has to do.
- The wait for a place is `response.queued`.
- No client has an event for a cancelled response: it ends with `response.incomplete`, and its status says the rest.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from oracle.core import chunks as sent
from oracle.core.chunks import Chunk, Content, Done, Failed, Interrupt, ToolCall, ToolReturned
from oracle.core.encoding import to_json
from oracle.runs.storage.records import RunRecord
from oracle.server.connect.openai import response_items as items
from oracle.server.connect.openai.requests import model_of
from oracle.server.connect.openai.response_items import CONVERSATION, OWN_KEYS, PREVIOUS, Portions, ResponseName

ResponseStatus = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]

END: Final = b"data: [DONE]\n\n"

_ENDS: Final[Mapping[str, ResponseStatus]] = {
    "user_cancelled": "cancelled",
    "error": "failed",
    "completed": "completed",
}
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
        kind: the names of its events and fields.
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
        self.wanted = first
        self.is_over = False
        """Whether the response has ended."""
        self._run = run
        self._functions = {each["name"] for each in run.input.get("client_tools", ())}
        self._cited = 0  # of the sources; no text has the others yet
        self._begin(ResponseName(run.id), None)

    def _begin(self, name: ResponseName, previous: ResponseName | None) -> None:
        self.name = name
        self._previous = previous
        self._status: ResponseStatus = "in_progress"
        self._done: Done | None = None
        self._has_begun = False
        self._number = 0
        self._output: list[dict[str, Any]] = []
        self._text: _Text | None = None
        self._open: dict[str, int] = {}  # the places of tool calls by the id of the call

    def opening(self) -> list[bytes]:
        """The frames before the first chunk."""
        created = self._state("created")
        return [created] if self.wanted == 1 else []

    def frames(self, n: int, chunk: Chunk) -> list[bytes]:
        """The frames of the chunk of this number."""
        text, is_wanted = self._text, self.name.first == self.wanted
        if isinstance(chunk, Content) and is_wanted and text is not None and text.kind is _MESSAGE:  # nearly always
            self._number += 1
            return [text.delta(self._number - 1, chunk.content)]
        is_waiting = self.portions.take(n, chunk)
        if self.is_over:
            return []
        frames = list(self._events(n, chunk))
        if is_waiting or isinstance(chunk, Done):
            frames += self._finish(chunk if isinstance(chunk, Done) else None)
            self.is_over = is_wanted
        if is_waiting and not is_wanted:
            self._begin(ResponseName(self._run.id, n + 1), self.name)
            frames = [self._state("created"), *self._progress()]
        return frames if self.name.first == self.wanted else []

    def parked(self) -> list[bytes]:
        """None: where the run waits for the client, the response has ended already."""
        return []

    def body(self, *, is_queued: bool = False) -> dict[str, Any]:
        """The response object as it is after the chunks so far."""
        kept: Mapping[str, str] = self._run.input.get("metadata") or {}
        output, error, status = list(self._output), None, self._status
        if self._text is not None:
            output[self._text.output_index] = self._text.item("in_progress")
        if status == "failed":
            failed = self.portions.failed or Failed("The answer has failed.", "internal")
            error = {"code": _ERROR_CODES.get(failed.error_type, "server_error"), "message": failed.error}
        return {
            **items.WITHOUT_MEANING,
            "id": str(self.name),
            "object": "response",
            "created_at": int(self._run.created_at),
            "status": "queued" if is_queued and status == "in_progress" else status,
            "background": bool(self._run.input.get("detached")),
            "error": error,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "metadata": {name: each for name, each in kept.items() if not name.startswith(OWN_KEYS)},
            "model": model_of(self._run),
            "output": output,
            "previous_response_id": kept.get(PREVIOUS) if self._previous is None else str(self._previous),
            "tools": [items.function_tool(each) for each in self._run.input.get("client_tools", ())],
            "usage": None if self._done is None else items.usage_of(self._done),
            **({"conversation": {"id": kept[CONVERSATION]}} if CONVERSATION in kept else {}),
        }

    def _events(self, n: int, chunk: Chunk) -> Iterator[bytes]:
        if isinstance(chunk, sent.SystemNotice) and chunk.system_type == "queued" and not self._has_begun:
            yield self._state("queued", is_queued=True)
            return
        if not self._has_begun:
            yield from self._progress()
        match chunk:
            case Content(piece):
                yield from self._write(_MESSAGE, n, piece)
            case sent.Thinking(piece):
                yield from self._write(_REASONING, n, piece)
            case sent.SystemNotice():
                yield from self._close()
                yield from self._write(_REASONING, n, chunk.system_message)
                yield from self._close()
            case sent.SourceFound():
                yield from self._cite()
            case sent.ToolCalled(call) if call.name not in self._functions:
                yield from self._call(n, call)
            case ToolReturned(call_id) if call_id in self.portions.calls:
                yield from self._return(n, chunk, self.portions.calls[call_id])
            case sent.ApprovalRequested(interrupt) | sent.QuestionAsked(interrupt) if interrupt.answerers == "user":
                yield from self._ask(interrupt)

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
        text, sources = self._text, self.portions.sources
        if text is None or text.kind is not _MESSAGE:
            return
        for source in sources[self._cited :]:
            made = items.annotation_of(source, at=text.characters)
            added = {"annotation_index": len(text.annotations), "annotation": made}
            yield self._event("response.output_text.annotation.added", **text.place, **added)
            text.annotations.append(made)
        self._cited = len(sources)

    def _close(self, status: str = "completed") -> Iterator[bytes]:
        """The end of the text that is open."""
        text, self._text = self._text, None
        if text is None:
            return
        yield self._event(f"{text.kind.text}.done", **text.place, text=text.text, **text.further)
        yield self._event(f"{text.kind.part}.done", **text.place, part=text.part())
        yield self._end(text.output_index, text.item(status))

    # Tools

    def _call(self, n: int, call: ToolCall) -> Iterator[bytes]:
        yield from self._close()
        asked = (id_ for id_ in self.portions.asked_in if self.portions.interrupts[id_].tool_call_id == call.id)
        self._open[call.id] = len(self._output)
        yield from self._arguments(items.tool_item(f"mcp_{self._run.id}_{n}", call, approved_by=next(asked, None)))

    def _return(self, n: int, returned: ToolReturned, call: ToolCall) -> Iterator[bytes]:
        if call.name in self._functions:
            return
        if call.id not in self._open:  # it has waited for the client, who has the response that began it
            yield from self._call(n, call)
        place = self._open.pop(call.id)
        item = self._output[place] | items.tool_result(returned)
        yield self._event(f"response.mcp_call.{item['status']}", item_id=item["id"], output_index=place)
        yield self._end(place, item)

    def _ask(self, interrupt: Interrupt) -> Iterator[bytes]:
        """The item of something that the client is to decide or to run."""
        yield from self._close()
        item = items.asking_item(interrupt)
        if item["type"] == "function_call":
            yield from self._arguments(item)
        else:
            yield self._add(item)
        yield self._end(len(self._output) - 1, item)

    def _arguments(self, item: dict[str, Any]) -> Iterator[bytes]:
        """The item of a call, with its arguments as the pieces that clients expect."""
        place = {"item_id": item["id"], "output_index": len(self._output)}
        event = f"response.{item['type']}_arguments"
        yield self._add({**item, "status": "in_progress", "arguments": ""})
        if item["type"] == "mcp_call":
            yield self._event("response.mcp_call.in_progress", **place)
        yield self._event(f"{event}.delta", **place, delta=item["arguments"])
        yield self._event(f"{event}.done", **place, arguments=item["arguments"])
        self._output[-1] = item

    # The response

    def _progress(self) -> list[bytes]:
        self._has_begun = True
        return [self._state("in_progress")]

    def _finish(self, done: Done | None) -> Iterator[bytes]:
        status = "completed" if done is None else _ENDS.get(done.termination_reason, "incomplete")
        yield from self._close("completed" if status == "completed" else "incomplete")
        for each in self.portions.waiting if done is None else ():
            if self.portions.asked_in[each.id] != self.name.first:  # it is asked for longer than one response lasts
                yield from self._ask(each)
        for place in self._open.values():
            yield self._end(place, self._output[place] | {"status": "incomplete"})
        self._status, self._done = status, done
        yield self._state(status if status in ("completed", "failed") else "incomplete")
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
