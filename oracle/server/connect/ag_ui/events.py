"""A run as events of AG-UI 1.0.

Rules:

- One run of ours is one run of AG-UI, or several where it waits for people in between: each of those ends as the
  protocol's run does (`parked`), and the next one begins with what was decided.
- Every message, tool call and step is closed before the run is finished (`verifyEvents`).
- A turn is a step. It begins with what the model says or calls, and ends when it goes on after results.
- Calls of tools that the client runs are left open by a run that succeeds (`pendingToolCallIds`), as the protocol has
  it: the client gives their results as messages. What people decide are interrupts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from oracle.core.chunks import (
    Answered,
    ApprovalRequested,
    Chunk,
    Content,
    Done,
    Failed,
    Interrupt,
    QuestionAsked,
    SourceFound,
    SystemNotice,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.core.encoding import to_json
from oracle.runs.storage.records import RunRecord

PROTOCOL_VERSION: Final = "1.0"
Event = Mapping[str, Any]


def is_of_client(interrupt: Interrupt) -> bool:
    """Whether it is a call of a tool that the client runs."""
    return interrupt.reason == "input_required" and interrupt.tool_call_id is not None


def question_id(run_id: str) -> str:
    """The id of the message that a run answers."""
    return f"{run_id}-0"


class AgUiEvents:
    """The events of a run, as a `Translator`.

    Args:
        run: its row.
        thread: the client's name of the conversation.
        name: of the run, for the client; `None`: its own id.
        begins: frames that go before.
        starts: events that follow the start.
        resumed: the interrupts that the client has answered: what it has seen of the run ends before the first of
            them; empty: it has seen nothing.
        given: the calls whose results the client has itself.
    """

    def __init__(
        self,
        run: RunRecord,
        *,
        thread: str,
        name: str | None = None,
        begins: Iterable[bytes] = (),
        starts: Sequence[Event] = (),
        resumed: Collection[str] = (),
        given: Collection[str] = (),
    ) -> None:
        self._run_id = run.id
        self._of_run = {"threadId": thread, "runId": name or run.id}
        self._begins = begins
        self._starts = starts
        self._resumed = resumed
        self._given = given
        self._is_behind = bool(resumed)
        self._pending: dict[str, Interrupt] = {}
        self._failed: Failed | None = None
        self._turn = 0
        self._in_turn = self._has_results = False
        self._text = self._thought = self._parent = ""

    def opening(self) -> Iterable[bytes]:
        """What goes before, and the start."""
        yield from self._begins
        yield _frame({"type": "RUN_STARTED", **self._of_run, "protocolVersion": PROTOCOL_VERSION})
        yield from map(_frame, self._starts)

    def frames(self, n: int, chunk: Chunk) -> Iterable[bytes]:
        """The events of a chunk."""
        if isinstance(chunk, Content) and self._text and not self._is_behind and not self._has_results:  # nearly always
            return (_frame({"type": "TEXT_MESSAGE_CONTENT", "messageId": self._text, "delta": chunk.content}),)
        is_answer = isinstance(chunk, Answered) and chunk.interrupt.id in self._resumed
        if self._is_behind and (is_answer or isinstance(chunk, Done)):
            self._forget_open()
        events = [*self._events(n, chunk)]
        return () if self._is_behind else tuple(map(_frame, events))

    def parked(self) -> Iterable[bytes]:
        """The end of a run that waits."""
        if self._is_behind:
            self._forget_open()
        asked = [_interrupt(each) for each in self._pending.values() if not is_of_client(each)]
        calls = [each.tool_call_id for each in self._pending.values() if is_of_client(each)]
        outcome: Event = {"type": "success", "pendingToolCallIds": calls}
        if asked:
            outcome = {"type": "interrupt", "interrupts": asked}
        yield from map(_frame, self._close_turn())
        yield _frame({"type": "RUN_FINISHED", **self._of_run, "outcome": outcome})

    def _events(self, n: int, chunk: Chunk) -> Iterator[Event]:
        match chunk:
            case Content(text) if text:
                yield from self._say(n)
                yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._text, "delta": text}
            case Thinking(text) if text:
                yield from self._think(n)
                yield {"type": "REASONING_MESSAGE_CONTENT", "messageId": self._thought, "delta": text}
            case ToolCalled(call):
                yield from self._call(n, call)
            case ToolReturned():
                yield from self._close()
                self._has_results = True
                if chunk.tool_call_id not in self._given:
                    yield self._result(n, chunk)
            case SourceFound() | SystemNotice() | ApprovalRequested() | QuestionAsked() | Answered():
                yield self._custom(chunk)
            case Failed():
                self._failed = chunk
            case Done():
                yield from self._end(chunk)

    def _custom(self, chunk: SourceFound | SystemNotice | ApprovalRequested | QuestionAsked | Answered) -> Event:
        if isinstance(chunk, SourceFound | SystemNotice):
            name, value = ("source", chunk.source) if isinstance(chunk, SourceFound) else ("notice", chunk)
            return {"type": "CUSTOM", "name": name, "value": value.to_wire()}
        self._pending.pop(chunk.interrupt.id, None)
        if chunk.interrupt.status == "pending":
            self._pending[chunk.interrupt.id] = chunk.interrupt
        return {"type": "CUSTOM", "name": chunk.type, "value": chunk.interrupt.to_wire()}

    def _say(self, n: int) -> Iterator[Event]:
        yield from self._begin_turn()
        if not self._text:
            yield from self._close()
            self._text = self._parent = self._id(n)
            yield {"type": "TEXT_MESSAGE_START", "messageId": self._text, "role": "assistant"}

    def _think(self, n: int) -> Iterator[Event]:
        yield from self._begin_turn()
        if not self._thought:
            yield from self._close()
            self._thought = self._id(n)
            yield {"type": "REASONING_START", "messageId": self._thought}
            yield {"type": "REASONING_MESSAGE_START", "messageId": self._thought, "role": "reasoning"}

    def _call(self, n: int, call: ToolCall) -> Iterator[Event]:
        yield from self._begin_turn()
        yield from self._close()
        self._parent = self._parent or self._id(n)
        of_call = {"toolCallId": call.id}
        yield {"type": "TOOL_CALL_START", **of_call, "toolCallName": call.name, "parentMessageId": self._parent}
        yield {"type": "TOOL_CALL_ARGS", **of_call, "delta": to_json(call.arguments).decode()}
        yield {"type": "TOOL_CALL_END", **of_call}

    def _result(self, n: int, chunk: ToolReturned) -> Event:
        of_call = {"messageId": self._id(n), "toolCallId": chunk.tool_call_id, "role": "tool"}
        failed = {"metadata": {"is_error": True}} if chunk.is_error else {}
        return {"type": "TOOL_CALL_RESULT", **of_call, "content": chunk.tool_result, **failed}

    def _begin_turn(self) -> Iterator[Event]:
        if self._has_results or not self._in_turn:
            yield from self._close_turn()
            self._turn += 1
            self._in_turn = True
            yield {"type": "STEP_STARTED", "stepName": f"turn {self._turn}"}

    def _close(self) -> Iterator[Event]:
        """Close what is said or thought."""
        if self._text:
            yield {"type": "TEXT_MESSAGE_END", "messageId": self._text}
        if self._thought:
            yield {"type": "REASONING_MESSAGE_END", "messageId": self._thought}
            yield {"type": "REASONING_END", "messageId": self._thought}
        self._text = self._thought = ""

    def _close_turn(self) -> Iterator[Event]:
        yield from self._close()
        if self._in_turn:
            yield {"type": "STEP_FINISHED", "stepName": f"turn {self._turn}"}
        self._in_turn = self._has_results = False
        self._parent = ""

    def _forget_open(self) -> None:
        """What is open was closed by the run of AG-UI that the client has read."""
        list(self._close_turn())
        self._is_behind = False

    def _end(self, done: Done) -> Iterator[Event]:
        yield from self._close_turn()
        end: dict[str, Any] = {} if done.usage is None else {"usage": [_usage(done.model_used, done.usage)]}
        if done.termination_reason == "error":
            failed = self._failed or Failed("The query failed.", "internal")
            yield {"type": "RUN_ERROR", "message": failed.error, "code": failed.error_type, **end}
            return
        end["result"] = {"run_id": done.run_id, "termination_reason": done.termination_reason, "turns": done.turns}
        how = "cancelled" if done.termination_reason == "user_cancelled" else "success"
        yield {"type": "RUN_FINISHED", **self._of_run, "outcome": {"type": how}, **end}

    def _id(self, n: int) -> str:
        return f"{self._run_id}-{n}"


def spoken_question(run: RunRecord) -> tuple[Event, ...]:
    """What a run answers, as the events of a message."""
    message = {"messageId": question_id(run.id)}
    content = {"type": "TEXT_MESSAGE_CONTENT", **message, "delta": str(run.input.get("question", ""))}
    return {"type": "TEXT_MESSAGE_START", **message, "role": "user"}, content, {"type": "TEXT_MESSAGE_END", **message}


def _frame(event: Event) -> bytes:
    return b"data: %b\n\n" % to_json(event)


def _interrupt(interrupt: Interrupt) -> Event:
    schema = interrupt.response_schema
    if "answer" not in interrupt.may:  # the payload with which an approval is answered
        arguments = {"arguments": schema} if "edit" in interrupt.may else {}
        properties = {"approved": {"type": "boolean"}, "comment": {"type": "string"}, **arguments}
        schema = {"type": "object", "properties": properties, "required": ["approved"]}
    wire = interrupt.to_wire()
    names = {"message": "message", "toolCallId": "tool_call_id", "expiresAt": "expires_at"}
    shown = {name: wire[ours] for name, ours in names.items() if ours in wire}
    about = {name: wire[name] for name in ("tool_name", "arguments", "may", "answerers") if name in wire}
    return {"id": interrupt.id, "reason": interrupt.reason, **shown, "responseSchema": schema, "metadata": about}


def _usage(model: str, usage: TokenUsage) -> Event:
    whole = usage.input_tokens + usage.cache_read_tokens + usage.cache_creation_tokens
    return {
        "model": model,
        "inputTokens": whole,
        "outputTokens": usage.output_tokens,
        "totalTokens": whole + usage.output_tokens,
        "cachedInputTokens": usage.cache_read_tokens,
        "cacheWriteInputTokens": usage.cache_creation_tokens,
    }
