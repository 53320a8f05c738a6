"""A run as OpenAI's chat completion: its chunks as a stream, and as one object.

Rules:

- The content of all chunks, joined, is the native answer, and nothing else. A whole answer whose run waits for a person
  ends with a sentence that begins with `WAITS`; where clients send it back it is no part of what was said.
- What is no part of the answer is in fields of its own: thinking and, where it is wanted, what tools do and what waits
  for a person, as lines of `reasoning_content`; pages of the web as `annotations`; other sources as `sources`.
- Tools run here, so there are no `tool_calls`: a client would try to run them.
- A query that has failed ends with a line of data that has `error`, which the SDKs raise.
- The list of annotations is sent once: the SDKs join lists by an index that annotations do not have.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, Self

from oracle.core import chunks as sent
from oracle.core.chunks import Answer, Chunk, Content, Done, Failed, TerminationReason, TokenUsage
from oracle.core.encoding import to_json
from oracle.runs.storage.interrupts import what_is_open
from oracle.runs.storage.records import RunRecord
from oracle.server.api.errors import bounded
from oracle.server.connect.openai.errors import failure
from oracle.server.connect.openai.requests import model_of

WAITS: Final = "This run waits for a person: "
_END: Final = b"data: [DONE]\n\n"
_LIMITED: Final[frozenset[TerminationReason]] = frozenset({"max_iterations", "token_budget", "timeout"})
_LONGEST_LINE: Final = 200
_STOPPING: Final = Failed("The service is stopping; the run continues without this stream.", "service_stopping")


class CompletionFrames:
    """Chunks as a chat completion.

    Args:
        name: its id is made of this.
        created_at: when it began, in seconds since the epoch.
        model: the name under which the client asked for the tree.
        tells_activity: tool calls, sources without an address, and what waits for a person are lines of reasoning.
        with_usage: the stream has one more chunk, with the usage and no choices.
    """

    def __init__(
        self, name: str, *, created_at: float, model: str, tells_activity: bool = True, with_usage: bool = False
    ) -> None:
        self._fields = {"id": f"chatcmpl-{name}", "created": int(created_at), "model": model}
        self._name = name
        self._tells_activity = tells_activity
        self._with_usage = with_usage
        fields = to_json({**self._fields, "object": "chat.completion.chunk"})[:-1]
        self._head = b'data: %b,"choices":[{"index":0,"delta":' % fields
        self._tail = b',"usage":null}\n\n' if with_usage else b"}\n\n"
        self._text = self._frame(b'{"content":\0}').split(b"\0")
        self._answer = Answer()
        self._thought: list[str] = []

    @classmethod
    def of_run(cls, run: RunRecord, **options: bool) -> Self:
        """That of a run."""
        return cls(run.id, created_at=run.created_at, model=model_of(run), **options)

    def opening(self) -> Iterable[bytes]:
        """The frames before the first chunk."""
        return [self._frame(b'{"role":"assistant","content":""}')]

    def frames(self, n: int, chunk: Chunk) -> Iterable[bytes]:  # noqa: ARG002  none of the frames has a number
        """The frames of the next chunk."""
        self._answer.add(chunk)
        if isinstance(chunk, Content):  # nearly always
            return [to_json(chunk.content).join(self._text)]
        if isinstance(chunk, Done):
            return [*self._ending(chunk), _END]
        thought = chunk.content if isinstance(chunk, sent.Thinking) else self._line(_told(chunk))
        if not thought:
            return []
        self._thought.append(thought)
        return [self._frame(b'{"reasoning_content":%b}' % to_json(thought))]

    def parked(self) -> Iterable[bytes]:
        """None: a client of this protocol can decide nothing, so the stream stays open until a person has."""
        return ()

    def interrupted(self) -> bytes:
        """The frames where the service stops before the run ends; a mere end the SDKs take for that of the answer."""
        return b"data: %b\n\n%b" % (to_json(failure(_STOPPING).body), _END)

    def whole(self) -> dict[str, Any]:
        """The completion as one object; where the run waits for a person, what was said so far and what is open."""
        done, text, pending = self._answer.done, self._answer.text, self._answer.pending
        if done is None and pending:
            named = what_is_open(self._name, [each.to_wire() for each in pending])
            text = "\n\n".join(filter(None, (text, f"{WAITS}{named}")))
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if self._thought:
            message["reasoning_content"] = "".join(self._thought)
        message |= self._cited()
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._reason() or "stop"}
        whole = {**self._fields, "object": "chat.completion", "choices": [choice]}
        return whole if done is None else whole | {"usage": usage_of(done)}

    @property
    def failed(self) -> Failed | None:
        """Why there is no answer; `None` if there is one, or if the query goes on."""
        done = self._answer.done
        if done is None or done.termination_reason != "error":
            return None
        return self._answer.failed or Failed("The run failed.", "internal")

    def _ending(self, done: Done) -> Iterator[bytes]:
        if cited := self._cited():
            yield self._frame(to_json(cited))
        if self.failed is not None:
            yield b"data: %b\n\n" % to_json(failure(self.failed).body)
            return
        yield self._frame(b"{}", self._reason())
        if self._with_usage:
            body = {**self._fields, "object": "chat.completion.chunk", "choices": [], "usage": usage_of(done)}
            yield b"data: %b\n\n" % to_json(body)

    def _frame(self, delta: bytes, reason: str | None = None) -> bytes:
        finish = b"null" if reason is None else b'"%b"' % reason.encode()
        return b'%b%b,"finish_reason":%b,"logprobs":null}]%b' % (self._head, delta, finish, self._tail)

    def _reason(self) -> str | None:
        done = self._answer.done
        return None if done is None else "length" if done.termination_reason in _LIMITED else "stop"

    def _cited(self) -> dict[str, Any]:
        """The fields of a message that has sources."""
        at = len(self._answer.text)  # where in it they count is not known
        pages, others = [], []
        for source in self._answer.sources:
            if source.path.startswith(("https://", "http://")):
                page = {"url": source.path, "title": source.snippet or source.path, "start_index": at, "end_index": at}
                pages.append({"type": "url_citation", "url_citation": page})
            else:
                others.append(source.to_wire())
        return ({"annotations": pages} if pages else {}) | ({"sources": others} if others else {})

    def _line(self, text: str) -> str:
        """A line of its own; empty for no text, and where activity is not told."""
        if not text or not self._tells_activity:
            return ""
        text = bounded(" ".join(text[: 4 * _LONGEST_LINE].split()), most=_LONGEST_LINE)
        starts = not self._thought or self._thought[-1].endswith("\n")
        return f"{text}\n" if starts else f"\n{text}\n"


def _told(chunk: Chunk) -> str:
    """The line about a tool call, or about what waits; empty: none."""
    match chunk:
        case sent.ToolCalled(call):
            return f"Tool: {call.name} {to_json(call.arguments).decode()}"
        case sent.SourceFound(source) if source.source_type != "web":
            return f"Source: {source.path}" if source.line is None else f"Source: {source.path}:{source.line}"
        case sent.ToolReturned(is_error=True):
            return f"Failed: {chunk.tool_result}"
        case sent.ApprovalRequested(interrupt):
            return f"Waiting for approval: {interrupt.message}"
        case sent.QuestionAsked(interrupt):
            return f"Waiting for an answer: {interrupt.message}"
        case sent.Answered(interrupt):
            return f"Decided: {interrupt.status}"
    return ""


def usage_of(done: Done) -> dict[str, Any]:
    """The usage of a chat completion. Where only the sum is known, all of it counts as input."""
    known = done.usage or TokenUsage(input_tokens=done.tokens_used)
    asked = known.input_tokens + known.cache_creation_tokens + known.cache_read_tokens
    return {
        "prompt_tokens": asked,
        "completion_tokens": known.output_tokens,
        "total_tokens": asked + known.output_tokens,
        "prompt_tokens_details": {"cached_tokens": known.cache_read_tokens},
    }
