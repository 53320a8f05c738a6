"""The UI message stream of the AI SDK (version 1), made from the chunks of a run.

One run is one assistant message, whose id is the run's. Rules:

- What a client reads twice does no harm: a stream may be read again from its start. The id of an event is its number in
  the whole stream.
- Calls that run here have dynamic parts that are `providerExecuted`. Calls of the client's tools, and questions, are
  not: the client answers them (`addToolOutput`). A client tool is called when its question is asked, because the client
  runs it at once.
- Of identical calls people are asked about the first one alone. The others are shown with their results: they would
  seem to wait without end.
- A step is a turn: it ends with the results of all calls, or with the run. What people have answered is never in the
  last step of a message that is complete, or else `sendAutomaticallyWhen` would send it again and again.
- The client gives up at an `error`, so it is the last part.

The parts are those that `uiMessageChunkSchema` of `ai` 7 takes, and `processUIMessageStream` builds a message of.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from oracle.core import chunks
from oracle.core.chunks import Chunk, Interrupt, ToolCall
from oracle.core.encoding import from_json, to_json
from oracle.runs.storage.records import RunRecord
from oracle.tools.client_tools import kept_tools

_PASSING: Final = ("queued", "paused", "recovered")
"""Notices of how the run stands just then, which are no part of the message."""
_OWN: Final = {"dynamic": True, "providerExecuted": True}
_DONE: Final = b"data: [DONE]\n\n"
_FINISHES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("max_iterations", "token_budget", "timeout"), "length"),
    "completed": "stop",
    "user_cancelled": "interrupted",
    "error": "error",
}


def shown_call(interrupt: Interrupt) -> ToolCall:
    """The call in whose part an interrupt is shown; one that belongs to no call gets one of its own."""
    if interrupt.tool_call_id is not None:
        return ToolCall(interrupt.tool_call_id, interrupt.tool_name or "", interrupt.arguments or {})
    if interrupt.reason == "input_required":
        asked = {"question": interrupt.message, "schema": interrupt.response_schema}
        return ToolCall(interrupt.id, "ask_user", asked)
    return ToolCall(interrupt.id, interrupt.tool_name or "approve", {"message": interrupt.message})


class UIMessageStream:
    """The stream of one run.

    Args:
        run: its row.
        seen: the number of the last chunk that the client has; its parts, and those before, are left out.
        answered: ids of what the client was asked; it has seen them, too.
    """

    def __init__(self, run: RunRecord, *, seen: int = 0, answered: Collection[str] = ()) -> None:
        self._run = run
        self._client_tools = {tool.name for tool in kept_tools(run.input)}
        self._seen, self._unseen = seen, set(answered)  # what is still to come of that
        self._is_rest = bool(seen or answered)
        self._n = self._made = 0  # the chunk, and events of the whole stream
        self._events: list[bytes] = []
        self._speaking = self._speech = ""  # the part that is open: "text" or "reasoning", and its id
        self._delta = b""  # of it: all that stands before what is said
        self._in_step = False
        self._open: dict[str, ToolCall] = {}
        self._unshown: set[str] = set()
        self._denied: set[str] = set()
        self._asked: dict[str, bool] = {}  # what people were asked: whether the user is to answer it now
        self._failed: chunks.Failed | None = None

    def opening(self) -> Iterable[bytes]:
        """The `start`; it has no number for a client that goes on with its message."""
        known = {"run_id": self._run.id, "context_id": self._run.context_id}
        self._put("start", messageId=self._run.id, messageMetadata=known)
        return map(_unnumbered, self._events) if self._is_rest else self._events

    def frames(self, n: int, chunk: Chunk) -> Iterable[bytes]:
        """The events of the next chunk."""
        self._n, self._events = n, []
        if self._speaking == "text" and isinstance(chunk, chunks.Content) and not self._is_rest:  # nearly always
            return (self._said(chunk.content),)
        if self._is_rest and ((n > self._seen and not self._unseen) or isinstance(chunk, chunks.Done)):
            self._is_rest, self._speaking = False, ""  # the client's stream has ended here
        self._take(chunk)
        return () if self._is_rest else self._events

    def parked(self) -> Iterable[bytes]:
        """The events of a run that goes on when the user has answered, which say what is seen by then."""
        if not any(self._asked.values()):
            return ()
        self._events = []
        self._end_step()
        self._put("finish", finishReason="tool-calls", messageMetadata={"seen": self._n})
        return [*map(_unnumbered, self._events), _DONE]

    def _put(self, kind: str, **fields: Any) -> None:  # noqa: ANN401  JSON data
        self._made += 1
        self._events.append(b"id: %d\ndata: %b\n\n" % (self._made, to_json({"type": kind, **fields})))

    def _take(self, chunk: Chunk) -> None:
        match chunk:
            case chunks.Content() | chunks.Thinking():
                self._speak("text" if isinstance(chunk, chunks.Content) else "reasoning", chunk.content)
            case chunks.ToolCalled(call):
                self._call(call)
            case chunks.ToolReturned(call_id, text) if call_id in self._open:
                is_data = self._open[call_id].name in self._client_tools and text.startswith(("{", "["))
                with suppress(ValueError):
                    text = from_json(text) if is_data and not chunk.is_error else text
                self._return(call_id, text, is_error=chunk.is_error)
            case chunks.SourceFound(source):
                self._cite(source)
            case chunks.SystemNotice(kind):
                how = {"transient": True} if kind in _PASSING else {"id": f"{self._run.id}-{self._n}"}
                self._put("data-system", **how, data=_fields(chunk))
            case chunks.ApprovalRequested(interrupt) | chunks.QuestionAsked(interrupt):
                self._ask(interrupt, shown_call(interrupt))
            case chunks.Answered(interrupt):
                self._settle(chunk, interrupt, shown_call(interrupt))
            case chunks.Failed():
                self._failed = chunk
            case chunks.Done():
                self._finish(chunk)

    def _speak(self, kind: str, text: str) -> None:
        if self._speaking != kind:
            self._step()
            self._speaking, self._speech = kind, f"{self._run.id}-{self._n}"
            self._delta = to_json({"type": f"{kind}-delta", "id": self._speech, "delta": ""})[:-3]
            self._put(f"{kind}-start", id=self._speech)
        self._events.append(self._said(text))

    def _said(self, text: str) -> bytes:
        self._made += 1
        return b"id: %d\ndata: %b%b}\n\n" % (self._made, self._delta, to_json(text))

    def _silence(self) -> None:
        if self._speaking:
            self._put(f"{self._speaking}-end", id=self._speech)
        self._speaking = ""

    def _step(self) -> None:
        """End what is open, and begin a step unless there is one."""
        self._silence()
        if not self._in_step:
            self._put("start-step")
        self._in_step = True

    def _end_step(self) -> None:
        self._silence()
        self._put("finish-step")
        self._in_step = False

    def _call(self, call: ToolCall) -> None:
        self._step()
        is_repeated = any((each.name, each.arguments) == (call.name, call.arguments) for each in self._open.values())
        self._open[call.id] = call
        if is_repeated or call.name in self._client_tools:
            self._unshown.add(call.id)
        else:
            self._show(call)

    def _show(self, call: ToolCall, **how: bool) -> None:
        self._put("tool-input-available", toolCallId=call.id, toolName=call.name, input=call.arguments, **(how or _OWN))

    def _return(self, call_id: str, output: Any, *, is_error: bool) -> None:  # noqa: ANN401  JSON data
        call = self._open.pop(call_id)
        if call_id in self._unshown:
            self._show(call)
        if call_id in self._denied:
            self._put("tool-output-denied", toolCallId=call_id)
        elif is_error:
            self._put("tool-output-error", toolCallId=call_id, errorText=output)
        else:
            self._put("tool-output-available", toolCallId=call_id, output=output)
        if not self._open:
            self._end_step()

    def _ask(self, interrupt: Interrupt, call: ToolCall, **automatic: bool) -> None:
        is_for_client, is_known = interrupt.reason == "input_required", call.id in self._open
        self._unseen.discard(interrupt.id)
        self._asked[interrupt.id] = interrupt.answerers == "user" and not automatic
        if not is_known:
            self._step()
            self._open[call.id] = call
        if is_for_client and call.id in self._unshown:
            self._show(call, dynamic=False)
        elif is_for_client or not is_known or call.id in self._unshown:
            self._show(call, dynamic=True, providerExecuted=not is_for_client)
        self._unshown.discard(call.id)
        if not is_for_client:
            terms = {"answerers": interrupt.answerers, "expires_at": interrupt.expires_at}
            known = {"toolCallId": call.id, "reason": interrupt.message, "approvalDescriptor": terms}
            self._put("tool-approval-request", approvalId=interrupt.id, **known, **automatic)

    def _settle(self, answered: chunks.Answered, interrupt: Interrupt, call: ToolCall) -> None:
        self._silence()  # as where the stream has ended while it was waited for
        if interrupt.id not in self._asked and call.id in self._open:  # it was allowed before
            self._ask(interrupt, call, isAutomatic=True)
        self._asked[interrupt.id], is_allowed = False, interrupt.status in ("approved", "edited")
        if call.id not in self._open:
            return
        if interrupt.reason != "input_required":
            if answered.arguments is not None:
                self._show(ToolCall(call.id, call.name, answered.arguments))
            if not is_allowed:
                self._denied.add(call.id)
            reason = {"reason": answered.comment} if answered.comment else {}
            self._put("tool-approval-response", approvalId=interrupt.id, approved=is_allowed, **reason)
        if interrupt.tool_call_id is None:
            is_error = not is_allowed and answered.answer is None
            self._return(call.id, interrupt.status if answered.answer is None else answered.answer, is_error=is_error)

    def _cite(self, source: chunks.Source) -> None:
        known = {"sourceId": f"{self._run.id}-{self._n}", "providerMetadata": {"oracle": source.to_wire()}}
        if source.path.startswith(("http://", "https://")):
            self._put("source-url", **known, url=source.path)
        else:
            self._put("source-document", **known, mediaType="text/plain", title=source.path, filename=source.path)

    def _finish(self, done: chunks.Done) -> None:
        self._step()
        self._end_step()
        if done.termination_reason == "user_cancelled":
            self._put("abort", reason=done.termination_reason)
        reason, known = _FINISHES.get(done.termination_reason, "other"), _fields(done) | {"seen": self._n}
        self._put("finish", finishReason=reason, messageMetadata=known)
        if self._failed is not None and reason == "error":
            self._put("error", errorText=self._failed.error)
        self._events.append(_DONE)


def _unnumbered(event: bytes) -> bytes:
    return event[event.index(b"data:") :]


def _fields(chunk: chunks.SystemNotice | chunks.Done) -> dict[str, Any]:
    return {name: value for name, value in chunk.to_wire().items() if name != "type"}
