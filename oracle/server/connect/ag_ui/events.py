"""A run as events of AG-UI 1.0.

Rules:

- One run of ours is one run of AG-UI, or several where it waits for people in between: each of those ends as the
  protocol's run does (`parked`), and the next one begins with what was decided.
- Every message, tool call and step is closed before the run is finished (`verifyEvents`).
- A turn is a step. It begins with what the model says or calls, and ends when it goes on after results.
- Calls of tools that the client runs are left open by a run that succeeds (`pendingToolCallIds`), as the protocol has
  it: the client gives their results as messages. What people decide are interrupts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, field
from typing import Any, Final, Literal

from bt_runtime.text.data import dataclass
from oracle.core import chunks
from oracle.core.chunks import Chunk, Interrupt
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


@dataclass(slots=True)
class AgUiEvents:
    """The events of a run, as a `Translator`.

    Args:
        run: its row.
        thread: the client's name of the conversation.
        name: of the run, for the client; `None`: its own id.
        begins: frames that go before.
        starts: events that follow the start.
        resumed: the interrupts that the client has answered: what it has seen of the run ends before the first of
            them; empty: it has seen nothing, or all of that has gone by.
        given: the calls whose results the client has itself.
    """

    run: RunRecord
    _: KW_ONLY
    thread: str
    name: str | None = None
    begins: Iterable[bytes] = ()
    starts: Sequence[Event] = ()
    resumed: Collection[str] = ()
    given: Collection[str] = ()
    _frames: list[bytes] = field(init=False, default_factory=list)
    _asked: dict[str, Interrupt] = field(init=False, default_factory=dict)
    _failed: chunks.Failed | None = field(init=False, default=None)
    _turn: int = field(init=False, default=0)
    _in_turn: bool = field(init=False, default=False)
    _has_results: bool = field(init=False, default=False)
    _speaking: Literal["TEXT", "REASONING", ""] = field(init=False, default="")  # the message that is open
    _message: str = field(init=False, default="")  # its id
    _delta: bytes = field(init=False, default=b"")  # of text: all that stands before what is said
    _parent: str = field(init=False, default="")

    def opening(self) -> Iterable[bytes]:
        """What goes before, and the start."""
        start = {"type": "RUN_STARTED", **self._of_run, "protocolVersion": PROTOCOL_VERSION}
        return [*self.begins, *map(_frame, (start, *self.starts))]

    def frames(self, n: int, chunk: Chunk) -> Iterable[bytes]:
        """The events of a chunk."""
        if self._delta and isinstance(chunk, chunks.Content) and not self.resumed:  # nearly always
            return (b"%b%b}\n\n" % (self._delta, to_json(chunk.content)),)
        self._frames = []
        is_answer = isinstance(chunk, chunks.Answered) and chunk.interrupt.id in self.resumed
        if is_answer or isinstance(chunk, chunks.Done):
            self._catch_up()
        self._take(f"{self.run.id}-{n}", chunk)
        return () if self.resumed else self._frames

    def parked(self) -> Iterable[bytes]:
        """The end of a run that waits."""
        self._frames = []
        self._catch_up()
        pending = [each for each in self._asked.values() if each.status == "pending"]
        asked = [_interrupt(each) for each in pending if not is_of_client(each)]
        calls = [each.tool_call_id for each in pending if is_of_client(each)]
        outcome: Event = {"type": "success", "pendingToolCallIds": calls}
        if asked:
            outcome = {"type": "interrupt", "interrupts": asked}
        self._close_turn()
        self._put("RUN_FINISHED", **self._of_run, outcome=outcome)
        return self._frames

    @property
    def _of_run(self) -> Event:
        return {"threadId": self.thread, "runId": self.name or self.run.id}

    def _put(self, kind: str, **fields: Any) -> None:  # noqa: ANN401  JSON data
        self._frames.append(_frame({"type": kind, **fields}))

    def _take(self, new_id: str, chunk: Chunk) -> None:
        match chunk:
            case chunks.Content(text) | chunks.Thinking(text) if text:
                self._speak("TEXT" if isinstance(chunk, chunks.Content) else "REASONING", text, new_id)
            case chunks.ToolCalled(call):
                self._call(call, new_id)
            case chunks.ToolReturned():
                self._return(chunk, new_id)
            case chunks.SourceFound(source):
                self._put("CUSTOM", name="source", value=source.to_wire())
            case chunks.SystemNotice():
                self._put("CUSTOM", name="notice", value=chunk.to_wire())
            case chunks.ApprovalRequested(interrupt) | chunks.QuestionAsked(interrupt) | chunks.Answered(interrupt):
                self._asked[interrupt.id] = interrupt
                self._put("CUSTOM", name=chunk.type, value=interrupt.to_wire())
            case chunks.Failed():
                self._failed = chunk
            case chunks.Done():
                self._end(chunk)

    def _speak(self, kind: Literal["TEXT", "REASONING"], text: str, new_id: str) -> None:
        self._begin_turn()
        if self._speaking != kind:
            self._close()
            self._speaking, self._message = kind, new_id
            if kind == "TEXT":
                self._parent = new_id
                self._delta = _frame({"type": "TEXT_MESSAGE_CONTENT", "messageId": new_id, "delta": ""})[:-5]
                self._put("TEXT_MESSAGE_START", messageId=new_id, role="assistant")
            else:
                self._put("REASONING_START", messageId=new_id)
                self._put("REASONING_MESSAGE_START", messageId=new_id, role="reasoning")
        self._put(f"{kind}_MESSAGE_CONTENT", messageId=self._message, delta=text)

    def _close(self) -> None:
        """Close what is said or thought."""
        if self._speaking:
            self._put(f"{self._speaking}_MESSAGE_END", messageId=self._message)
        if self._speaking == "REASONING":
            self._put("REASONING_END", messageId=self._message)
        self._speaking, self._delta = "", b""

    def _call(self, call: chunks.ToolCall, new_id: str) -> None:
        self._begin_turn()
        self._close()
        self._parent = self._parent or new_id
        self._put("TOOL_CALL_START", toolCallId=call.id, toolCallName=call.name, parentMessageId=self._parent)
        self._put("TOOL_CALL_ARGS", toolCallId=call.id, delta=to_json(call.arguments).decode())
        self._put("TOOL_CALL_END", toolCallId=call.id)

    def _return(self, result: chunks.ToolReturned, new_id: str) -> None:
        self._close()
        self._has_results = True
        if result.tool_call_id not in self.given:
            failed = {"metadata": {"is_error": True}} if result.is_error else {}
            of_call = {"messageId": new_id, "toolCallId": result.tool_call_id, "role": "tool"}
            self._put("TOOL_CALL_RESULT", **of_call, content=result.tool_result, **failed)

    def _begin_turn(self) -> None:
        if self._has_results or not self._in_turn:
            self._close_turn()
            self._turn += 1
            self._in_turn = True
            self._put("STEP_STARTED", stepName=f"turn {self._turn}")

    def _close_turn(self) -> None:
        self._close()
        if self._in_turn:
            self._put("STEP_FINISHED", stepName=f"turn {self._turn}")
        self._in_turn = self._has_results = False
        self._parent = ""

    def _catch_up(self) -> None:
        """What the client has seen ends here: what was open then was closed by the run of AG-UI that it has read."""
        if self.resumed:
            self._close_turn()
            self._frames, self.resumed = [], ()

    def _end(self, done: chunks.Done) -> None:
        self._close_turn()
        end: dict[str, Any] = {} if done.usage is None else {"usage": [_usage(done.model_used, done.usage)]}
        if done.termination_reason == "error":
            failed = self._failed or chunks.Failed("The run failed.", "internal")
            self._put("RUN_ERROR", message=failed.error, code=failed.error_type, **end)
            return
        end["result"] = {"run_id": done.run_id, "termination_reason": done.termination_reason, "turns": done.turns}
        how = "cancelled" if done.termination_reason == "user_cancelled" else "success"
        self._put("RUN_FINISHED", **self._of_run, outcome={"type": how}, **end)


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


def _usage(model: str, usage: chunks.TokenUsage) -> Event:
    whole = usage.input_tokens + usage.cache_read_tokens + usage.cache_creation_tokens
    return {
        "model": model,
        "inputTokens": whole,
        "outputTokens": usage.output_tokens,
        "totalTokens": whole + usage.output_tokens,
        "cachedInputTokens": usage.cache_read_tokens,
        "cacheWriteInputTokens": usage.cache_creation_tokens,
    }
