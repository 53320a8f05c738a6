"""What a run is in the words of OpenAI's Responses: names, items and the response object.

Rules:

- All of it comes from the row of the run, as it was begun, and from its chunks. An item is named by the run and by the
  chunk with which it begins, so a response has the same bytes whenever and wherever it is read.
- A run that asks the client something is answered by several responses. Each ends where the client has to act; the
  next one, `resp_<run>_<n>`, begins with the chunk `n` that comes after.
- What the client has to answer is named by the interrupt: a call of its function by `call_id`, everything else by the
  id of an `mcp_approval_request`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from oracle.core.chunks import (
    Answered,
    ApprovalRequested,
    Chunk,
    Content,
    Done,
    Interrupt,
    QuestionAsked,
    Source,
    TokenUsage,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.core.encoding import to_json
from oracle.runs.storage.records import RunRecord
from oracle.server.connect.openai.models import model_of

ResponseStatus = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]

_NAME = re.compile(r"resp_([A-Za-z0-9.-]{1,64})(?:_([1-9][0-9]{0,8}))?")
_OWN_SERVER: Final = "oracle"

OWN_KEYS: Final = "oracle.responses/"
"""How the keys of metadata begin that are not the client's: what it has said in other fields is kept there."""
PREVIOUS: Final = f"{OWN_KEYS}previous_response_id"
CONVERSATION: Final = f"{OWN_KEYS}conversation"
_WITHOUT_MEANING: Final = {
    "background": False,
    "frequency_penalty": 0.0,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""Fields that clients expect, and that mean nothing here."""


class ResponseName(NamedTuple):
    """The id of a response.

    Args:
        first: the number of the chunk with which it begins.
    """

    run_id: str
    first: int = 1

    def __str__(self) -> str:
        """As clients have it."""
        return f"resp_{self.run_id}" if self.first == 1 else f"resp_{self.run_id}_{self.first}"

    @classmethod
    def read(cls, text: str) -> "ResponseName | None":
        """The name behind its text; `None`: no response of ours has such a name."""
        found = _NAME.fullmatch(text)
        return None if found is None else cls(found[1], int(found[2] or 1))


@dataclass(slots=True)
class Portions:
    """Where the responses that answer one run begin.

    Args:
        starts: the first chunk of each response so far.
        asked: what the client may answer, by its id, as it was asked.
        asked_in: the first chunk of the response that asks it.
        pending: what waits for a person now.
        calls: tool calls without a result.
    """

    starts: list[int] = field(default_factory=lambda: [1])
    asked: dict[str, Interrupt] = field(default_factory=dict)
    asked_in: dict[str, int] = field(default_factory=dict)
    pending: dict[str, Interrupt] = field(default_factory=dict)
    calls: dict[str, ToolCall] = field(default_factory=dict)

    @property
    def waiting(self) -> list[Interrupt]:
        """What waits for the client: what only other people may answer is none of it."""
        return [each for each in self.pending.values() if each.answerers == "user"]

    def after(self, interrupt_id: str) -> int:
        """The first chunk of the response that goes on when this is answered."""
        if interrupt_id in self.pending:
            return self.starts[-1]
        return next((start for start in self.starts if start > self.asked_in[interrupt_id]), self.starts[-1])

    def add(self, n: int, chunk: Chunk) -> bool:
        """Add the chunk of this number; whether a response ends with it, because nothing goes on without the client."""
        if isinstance(chunk, Content):
            return False
        match chunk:
            case ToolCalled(call):
                self.calls[call.id] = call
                return False
            case ToolReturned(call_id):
                self.calls.pop(call_id, None)
            case ApprovalRequested(interrupt) | QuestionAsked(interrupt):
                self.pending[interrupt.id] = interrupt
                if interrupt.answerers == "user":
                    self.asked[interrupt.id] = interrupt
                    self.asked_in[interrupt.id] = self.starts[-1]
            case Answered(interrupt):
                self.pending.pop(interrupt.id, None)
                return False
            case _:
                return False
        # Who has answered all at once is not asked again while the answers are taken, one after the other.
        is_asked = any(self.asked_in[each.id] == self.starts[-1] for each in self.waiting)
        is_over = is_asked and self.calls.keys() <= {each.tool_call_id for each in self.pending.values()}
        if is_over:
            self.starts.append(n + 1)
        return is_over


def response_body(
    run: RunRecord,
    name: ResponseName,
    status: ResponseStatus,
    output: Sequence[Mapping[str, Any]],
    *,
    previous: ResponseName | None = None,
    done: Done | None = None,
    error: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The response object.

    Args:
        run: as it was begun, or later: only what does not change is read.
        name: of the response.
        status: as it is now.
        output: the items so far.
        previous: the response of the same run that it follows.
        done: the end of the run, for the last response of it.
        error: `code` and `message` of one that failed.
    """
    asked = run.input
    kept: Mapping[str, str] = asked.get("metadata") or {}
    return _WITHOUT_MEANING | {
        "id": str(name),
        "object": "response",
        "created_at": int(run.created_at),
        "completed_at": None,
        "status": status,
        "background": bool(asked.get("detached")),
        "error": error,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": asked.get("instructions"),
        "metadata": {name: each for name, each in kept.items() if not name.startswith(OWN_KEYS)},
        "model": model_of(run),
        "output": output,
        "previous_response_id": kept.get(PREVIOUS) if previous is None else str(previous),
        "tools": [_tool(each) for each in asked.get("client_tools", ())],
        "usage": None if done is None else usage_of(done),
        **({"conversation": {"id": kept[CONVERSATION]}} if CONVERSATION in kept else {}),
    }


def _tool(kept: Mapping[str, Any]) -> dict[str, Any]:
    described = {"description": kept["description"], "parameters": kept["input_schema"]}
    return {"type": "function", "name": kept["name"], "strict": False, **described}


def usage_of(done: Done) -> dict[str, Any]:
    """The tokens of a run. Where only their sum is known, all of them count as input."""
    known = done.usage or TokenUsage(input_tokens=done.tokens_used)
    written, read = known.cache_creation_tokens, known.cache_read_tokens
    given, made = known.input_tokens + written + read, known.output_tokens
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + made,
    }


def annotation_of(source: Source, *, at: int) -> dict[str, Any]:
    """A source as a citation behind the first `at` characters of a text."""
    if source.source_type == "web":
        place = {"start_index": at, "end_index": at}
        return {"type": "url_citation", "url": source.path, "title": source.snippet or source.path, **place}
    line = "" if source.line is None else f":{source.line}"
    file_id = f"{source.source_type}:{source.path}{line}"
    return {"type": "file_citation", "file_id": file_id, "filename": source.path, "index": at}


def tool_item(item_id: str, call: ToolCall, *, approved_by: str | None = None) -> dict[str, Any]:
    """A call of a tool that the service runs, as it begins."""
    label, _, name = call.name.rpartition(".")
    return {
        "id": item_id,
        "type": "mcp_call",
        "status": "in_progress",
        "server_label": label or _OWN_SERVER,
        "name": name,
        "arguments": to_json(call.arguments).decode(),
        "approval_request_id": approved_by,
        "output": None,
        "error": None,
    }


def tool_result(returned: ToolReturned) -> dict[str, Any]:
    """What the item of a call has when its result is there."""
    if not returned.is_error:
        return {"status": "completed", "output": returned.tool_result}
    content = [{"type": "text", "text": returned.tool_result}]
    return {"status": "failed", "error": {"type": "mcp_tool_execution_error", "content": content}}


def function_item(item_id: str, interrupt: Interrupt) -> dict[str, Any] | None:
    """A call of a function of the client; `None`: it asks for something else."""
    if not _is_function(interrupt):
        return None
    return {
        "id": item_id,
        "type": "function_call",
        "status": "completed",
        "call_id": interrupt.id,
        "name": interrupt.tool_name,
        "arguments": to_json(interrupt.arguments or {}).decode(),
    }


def approval_item(interrupt: Interrupt) -> dict[str, Any]:
    """What else the client is to decide; a question has its text and the schema of its answer as arguments."""
    label, _, name = (interrupt.tool_name or interrupt.reason).rpartition(".")
    asked = interrupt.arguments
    if asked is None:
        asked = {"message": interrupt.message}
        asked |= {"response_schema": interrupt.response_schema} if "answer" in interrupt.may else {}
    return {
        "id": interrupt.id,
        "type": "mcp_approval_request",
        "server_label": label or _OWN_SERVER,
        "name": name,
        "arguments": to_json(asked).decode(),
    }


def user_item(run: RunRecord) -> dict[str, Any]:
    """The question of a run."""
    text = {"type": "input_text", "text": run.input["question"]}
    return {"id": f"msg_{run.id}_0", "type": "message", "status": "completed", "role": "user", "content": [text]}


def answer_item(run: RunRecord, n: int, answered: Answered) -> dict[str, Any]:
    """What became of something that was asked."""
    interrupt, answer = answered.interrupt, answered.answer
    if _is_function(interrupt):
        output = answer.get("output") if isinstance(answer, Mapping) else answer
        return {
            "id": f"fco_{run.id}_{n}",
            "type": "function_call_output",
            "status": "completed" if interrupt.status == "answered" else "incomplete",
            "call_id": interrupt.id,
            "output": output if isinstance(output, str) else "",
        }
    reason = answered.comment if answer is None else to_json(answer).decode()
    return {
        "id": f"mcpa_{run.id}_{n}",
        "type": "mcp_approval_response",
        "approval_request_id": interrupt.id,
        "approve": interrupt.status in ("approved", "edited", "answered"),
        "reason": reason,
    }


def _is_function(interrupt: Interrupt) -> bool:
    """Whether the client is to run a function of its own."""
    return interrupt.tool_call_id is not None and "answer" in interrupt.may
