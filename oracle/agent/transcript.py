"""The messages of one query as the provider gets them: always well-formed, whatever was interrupted (decision 8)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oracle.models.protocol import Message, ToolCall


@dataclass(frozen=True, slots=True)
class CallText:
    """What the model is told of one of its tool calls."""

    call: ToolCall
    text: str
    is_error: bool


@dataclass(slots=True)
class Transcript:
    """History, question, and what this query has added.

    No two messages in a row have the same role, none is empty, and each tool call has its result in the next message.
    """

    _messages: list[Message] = field(default_factory=list)

    @classmethod
    def of(cls, history: Sequence[Message], question: str) -> "Transcript":
        """Begin with a conversation's history and a new question."""
        transcript = cls()
        for message in history:
            transcript._add(message["role"], message["content"])
        transcript.add_user_text(question)
        return transcript

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of them, oldest first."""
        return tuple(self._messages)

    @property
    def ends_with_model(self) -> bool:
        """Whether the model spoke last, so that a request must add something for it to answer."""
        return bool(self._messages) and self._messages[-1]["role"] == "assistant"

    def for_request(self) -> tuple[Message, ...]:
        """The messages, with an ephemeral last one of the user's if the model spoke last.

        So a turn beside the answer can stand anywhere, also between tool calls and their results.
        """
        if not self.ends_with_model:
            return self.messages
        calls = [block for block in _blocks(self._messages[-1]["content"]) if block.get("type") == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": "Not run yet.", "is_error": True}
            for call in calls
        ]
        return (*self._messages, {"role": "user", "content": [*results, {"type": "text", "text": "Continue."}]})

    def __len__(self) -> int:
        return len(self._messages)

    def add_user_text(self, text: str) -> None:
        """A message of the user, or an instruction of the control in the user's place."""
        self._add("user", [{"type": "text", "text": text}])

    def add_turn(self, content: Sequence[Mapping[str, Any]]) -> None:
        """What the model said, as it said it; nothing if it said nothing."""
        if content:
            self._add("assistant", list(content))

    def add_tool_results(self, results: Iterable[CallText]) -> None:
        """The results of the last turn's tool calls, in the model's order."""
        blocks = [
            {
                "type": "tool_result",
                "tool_use_id": each.call.id,
                "content": each.text or "(empty)",
                "is_error": each.is_error,
            }
            for each in results
        ]
        if blocks:
            self._add("user", blocks)

    def _add(self, role: str, content: Any) -> None:  # noqa: ANN401  text or blocks
        if self._messages and self._messages[-1]["role"] == role:
            merged = [*_blocks(self._messages[-1]["content"]), *_blocks(content)]
            self._messages[-1] = {"role": role, "content": merged}
        else:
            self._messages.append({"role": role, "content": content})


def _blocks(content: Any) -> list[Any]:  # noqa: ANN401
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
