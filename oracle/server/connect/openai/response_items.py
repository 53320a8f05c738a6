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
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final, NamedTuple

from bt_runtime.text.data import dataclass
from oracle.core import chunks as sent
from oracle.core.chunks import Answer, Chunk, Done, Interrupt, Source, TokenUsage, ToolCall, ToolReturned
from oracle.core.encoding import to_json
from oracle.runs.storage.records import RunRecord

_NAME: Final = re.compile(r"resp_([A-Za-z0-9.-]{1,64})(?:_([1-9][0-9]{0,8}))?")
_OWN_SERVER: Final = "oracle"

OWN_KEYS: Final = "oracle.responses/"
"""How the keys of metadata begin that are not the client's: what it has said in other fields is kept there."""
PREVIOUS: Final = f"{OWN_KEYS}previous_response_id"
CONVERSATION: Final = f"{OWN_KEYS}conversation"

WITHOUT_MEANING: Final[Mapping[str, Any]] = (
    dict.fromkeys(("completed_at", "instructions", "max_output_tokens", "max_tool_calls", "prompt_cache_key"))
    | {"safety_identifier": None, "frequency_penalty": 0.0, "presence_penalty": 0.0, "temperature": 1.0, "top_p": 1.0}
    | {"parallel_tool_calls": True, "store": True, "tool_choice": "auto", "top_logprobs": 0, "truncation": "disabled"}
    | {"reasoning": {"effort": None, "summary": None}, "text": {"format": {"type": "text"}}, "service_tier": "default"}
)
"""Fields that clients expect."""


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
class Portions(Answer):
    """What a run has said, and where the responses that answer it begin.

    Args:
        starts: the first chunk of each response so far.
        asked_in: the first chunk of the response that asks it, by the id of what the client may answer.
    """

    starts: list[int] = field(default_factory=lambda: [1])
    asked_in: dict[str, int] = field(default_factory=dict)

    @property
    def waiting(self) -> list[Interrupt]:
        """What waits for the client: what only other people may answer is left out."""
        return [each for each in self.pending if each.answerers == "user"]

    def after(self, interrupt_id: str) -> int:
        """The first chunk of the response that goes on when this is answered."""
        if self.interrupts[interrupt_id].status == "pending":
            return self.starts[-1]
        return next((each for each in self.starts if each > self.asked_in[interrupt_id]), self.starts[-1])

    def take(self, n: int, chunk: Chunk) -> bool:
        """Add the chunk of this number; whether a response ends with it, because nothing goes on without the client."""
        self.add(chunk)
        match chunk:
            case sent.Answered(Interrupt(tool_call_id=str(call_id))) if (
                chunk.arguments is not None and call_id in self.calls
            ):
                self.calls[call_id] = replace(self.calls[call_id], arguments=chunk.arguments)
            case ToolReturned():
                return self._ends(n)
            case sent.ApprovalRequested(interrupt) | sent.QuestionAsked(interrupt):
                if interrupt.answerers == "user":
                    self.asked_in[interrupt.id] = self.starts[-1]
                return self._ends(n)
        return False

    def _ends(self, n: int) -> bool:
        # Who has answered all at once is not asked again while the answers are taken, one after the other.
        is_asked = any(self.asked_in[each.id] == self.starts[-1] for each in self.waiting)
        is_over = is_asked and {call.id for call in self.open_calls} <= {each.tool_call_id for each in self.pending}
        if is_over:
            self.starts.append(n + 1)
        return is_over


def function_tool(kept: Mapping[str, Any]) -> dict[str, Any]:
    """A function of the client's, as the run keeps it."""
    described = {"description": kept["description"], "parameters": kept["input_schema"]}
    return {"type": "function", "name": kept["name"], "strict": False, **described}


def usage_of(done: Done) -> dict[str, Any]:
    """The tokens of a run. Where only their sum is known, all of them count as input."""
    known = done.usage or TokenUsage(input_tokens=done.tokens_used)
    written, read = known.cache_creation_tokens, known.cache_read_tokens
    given = known.input_tokens + written + read
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "output_tokens": known.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + known.output_tokens,
    }


def question_item(run: RunRecord) -> dict[str, Any]:
    """The question of a run."""
    text = {"type": "input_text", "text": run.input["question"]}
    return {"id": f"msg_{run.id}_0", "type": "message", "status": "completed", "role": "user", "content": [text]}


def annotation_of(source: Source, *, at: int) -> dict[str, Any]:
    """A source as a citation behind the first `at` characters of a text."""
    if source.source_type == "web":
        page = {"url": source.path, "title": source.snippet or source.path}
        return {"type": "url_citation", "start_index": at, "end_index": at, **page}
    line = "" if source.line is None else f":{source.line}"
    file_id = f"{source.source_type}:{source.path}{line}"
    return {"type": "file_citation", "file_id": file_id, "filename": source.path, "index": at}


def tool_item(item_id: str, call: ToolCall, *, approved_by: str | None) -> dict[str, Any]:
    """A call of a tool that the service runs, as it begins."""
    begun = {"status": "in_progress", "approval_request_id": approved_by, "output": None, "error": None}
    return {"id": item_id, "type": "mcp_call", **_named(call.name), "arguments": _json(call.arguments), **begun}


def tool_result(returned: ToolReturned) -> dict[str, Any]:
    """What the item of a call has when its result is there."""
    if not returned.is_error:
        return {"status": "completed", "output": returned.tool_result}
    content = [{"type": "text", "text": returned.tool_result}]
    return {"status": "failed", "error": {"type": "mcp_tool_execution_error", "content": content}}


def asking_item(interrupt: Interrupt) -> dict[str, Any]:
    """What the client is to decide, or the call of its function; a question has its text and schema as arguments."""
    asked = interrupt.arguments
    if interrupt.tool_call_id is not None and "answer" in interrupt.may:
        call = {"id": f"fc_{interrupt.id}", "call_id": interrupt.id, "name": interrupt.tool_name}
        return {"type": "function_call", "status": "completed", **call, "arguments": _json(asked or {})}
    if asked is None:
        schema = {"response_schema": interrupt.response_schema} if "answer" in interrupt.may else {}
        asked = {"message": interrupt.message, **schema}
    named = _named(interrupt.tool_name or interrupt.reason)
    return {"id": interrupt.id, "type": "mcp_approval_request", **named, "arguments": _json(asked)}


def _named(tool: str) -> dict[str, str]:
    label, _, name = tool.rpartition(".")
    return {"server_label": label or _OWN_SERVER, "name": name}


def _json(arguments: Mapping[str, Any]) -> str:
    return to_json(arguments).decode()
