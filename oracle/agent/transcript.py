"""The messages of one query as the provider gets them.

Rules (decisions 8, 24):

- Always well-formed, whatever was interrupted: no two messages in a row have one role, none is empty, and each tool
  call has exactly one result, in the next message.
- Append only: what was sent stays as it was, so each request begins with the whole one before it. The provider's cache
  and its check of what thinking was bound to depend on that.
- What is not the model's own is neutralised (`oracle.control_notes`); the control's notes alone bear its mark.
- A note behind tool results is a part of the last one's text. As a block of its own it would look like the user's
  next words, after which models tend to end the turn without any.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oracle.agent.planning import message_characters
from oracle.control_notes import marked, neutralised
from oracle.models.protocol import Message, ToolCall

NOT_RUN = "Not run: the control goes on without it."
"""For a call that nobody has answered when the next message comes."""
_NOT_RUN_YET = "Not run yet."


@dataclass(frozen=True, slots=True)
class CallText:
    """What the model is told of one of its tool calls."""

    call: ToolCall
    text: str
    is_error: bool


@dataclass(slots=True)
class Transcript:
    """History, question, and what this query has added."""

    _messages: list[Message] = field(default_factory=list)
    _sent_messages: int = 0
    _sent_characters: int = 0

    @classmethod
    def of(cls, history: Sequence[Message], question: str) -> "Transcript":
        """Begin with a conversation's history and a new question."""
        transcript = cls()
        for message in history:
            transcript._add(message["role"], _neutralised(message["content"]))
        transcript._add("user", [_text(neutralised(question))])
        return transcript

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of them, oldest first."""
        return tuple(self._messages)

    @property
    def ends_with_model(self) -> bool:
        """Whether the model spoke last, so that a request must add something for it to answer."""
        return bool(self._messages) and self._messages[-1]["role"] == "assistant"

    @property
    def unsent_characters(self) -> int:
        """How much has been added since `mark_sent`."""
        return message_characters(self._messages) - self._sent_characters

    @property
    def call_ids(self) -> frozenset[str]:
        """The ids of all tool calls so far."""
        return frozenset(str(call["id"]) for message in self._messages for call in _calls(message))

    def __len__(self) -> int:
        return len(self._messages)

    def mark_sent(self) -> None:
        """Everything so far has been in a request: from now on its blocks stay as they are."""
        self._sent_messages, self._sent_characters = len(self._messages), message_characters(self._messages)

    def with_note(self, note: str) -> tuple[Message, ...]:
        """The messages of a request that brings this note, if it is not empty."""
        return self.beside(note).messages if note else self.messages

    def beside(self, note: str) -> "Transcript":
        """A copy that ends with this note, for work beside the answer; it can be made in the midst of tool calls."""
        copy = Transcript(list(self._messages), self._sent_messages, self._sent_characters)
        copy._answer_open_calls(_NOT_RUN_YET)
        copy.add_note(note)
        return copy

    def add_note(self, text: str) -> None:
        """A note of the control, in its marked form; calls without a result are answered first."""
        self._answer_open_calls(NOT_RUN)
        note, last = marked(text), self._messages[-1]
        blocks = _blocks(last["content"])
        is_sent = len(self._messages) <= self._sent_messages
        if last["role"] == "user" and blocks[-1].get("type") == "tool_result" and not is_sent:
            result = {**blocks[-1], "content": f"{blocks[-1]['content']}\n\n{note}"}
            self._messages[-1] = {"role": "user", "content": [*blocks[:-1], result]}
        else:
            self._add("user", [_text(note)])

    def add_turn(self, content: Sequence[Mapping[str, Any]]) -> None:
        """What the model said, as it said it; nothing if it said nothing."""
        if content:
            self._answer_open_calls(NOT_RUN)
            self._add("assistant", list(content))

    def add_tool_results(self, results: Iterable[CallText]) -> None:
        """The results of the last turn's tool calls, in the model's order; those of other calls are left out."""
        told = {each.call.id: each for each in reversed(list(results))}
        if any(call["id"] in told for call in self._open_calls()):
            self._answer_open_calls(NOT_RUN, told)

    def _open_calls(self) -> Sequence[Mapping[str, Any]]:
        return _calls(self._messages[-1]) if self.ends_with_model else ()

    def _answer_open_calls(self, why_not: str, told: Mapping[str, CallText] | None = None) -> None:
        """A result for each call of the model's last message: what there is to tell, or why there is none."""
        known = told or {}
        blocks = [_result(str(call["id"]), known.get(str(call["id"])), why_not) for call in self._open_calls()]
        if blocks:
            self._add("user", blocks)

    def _add(self, role: str, content: Any) -> None:  # noqa: ANN401  text or blocks
        if self._messages and self._messages[-1]["role"] == role:
            merged = [*_blocks(self._messages[-1]["content"]), *_blocks(content)]
            self._messages[-1] = {"role": role, "content": merged}
        else:
            self._messages.append({"role": role, "content": content})


def _result(call_id: str, told: CallText | None, why_not: str) -> Mapping[str, Any]:
    text = why_not if told is None else neutralised(told.text)
    is_error = told is None or told.is_error
    content = text if text.strip() else "(empty)"
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}


def _calls(message: Message) -> Sequence[Mapping[str, Any]]:
    return [block for block in _blocks(message["content"]) if block.get("type") == "tool_use"]


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}


def _blocks(content: Any) -> list[Any]:  # noqa: ANN401
    return [_text(content)] if isinstance(content, str) else list(content)


def _neutralised(content: Any) -> Any:  # noqa: ANN401
    """What a history holds: text, or blocks of it."""
    if isinstance(content, str):
        return neutralised(content)
    return [{**block, "text": neutralised(block["text"])} if "text" in block else block for block in content]
