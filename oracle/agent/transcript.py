"""The messages of one query as the provider gets them.

Rules:

- Always well-formed, whatever was interrupted: roles alternate, no message is empty, and each tool call has exactly one
  result, in the next message.
- Append only: sent messages never change, so each request begins with the whole previous one. The provider's cache, and
  its check of thinking blocks, depend on that.
- The control's notes are system messages, each right behind a message of the user's, and nothing but the model's
  follows them (platform.claude.com, "Mid-conversation system messages"). `oracle.llm.marked_notes` has the form for
  models that take none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from hashlib import sha256
from typing import Any

from bt_runtime.text import CHARACTERS_PER_TOKEN
from bt_runtime.text.data import dataclass
from oracle.agent.planning import content_characters
from oracle.core.encoding import held_frozen, to_json
from oracle.llm.protocol import CONTINUE, Message, Offer, ToolUse

NOT_RUN = "Not run: the control goes on without it."
"""The result of a call that still has none when the next message comes."""
_NOT_RUN_YET = "Not run yet."


@held_frozen
class CallText:
    """The result of a tool call as the model gets it."""

    call: ToolUse
    text: str
    is_error: bool


@dataclass(slots=True)
class _Digest:
    """Of the blocks of some messages, one after the other: how they are grouped into messages may still change."""

    hash: Any = field(default_factory=sha256)
    messages: int = 0
    blocks: int = 0

    def add(self, messages: Sequence[Message], *, most: int | None = None) -> None:
        for message in messages:
            self.messages += 1
            role = message["role"].encode()
            for block in _blocks(message["content"]):
                if self.blocks == most:
                    return
                self.blocks += 1
                self.hash.update(b"%b %b\n" % (role, _encoded(block)))

    def text(self) -> str:
        return str(self.hash.hexdigest())

    def copy(self) -> "_Digest":
        return _Digest(self.hash.copy(), self.messages, self.blocks)


@dataclass(slots=True)
class Transcript:
    """History, question, and what this query has added; sizes are counted as messages are added.

    Args:
        offered: which tools the model may call, as `ModelRequest.offers` has it; empty before the first request.
    """

    _messages: list[Message] = field(default_factory=list)
    _call_ids: set[str] = field(default_factory=set)
    _open: tuple[Mapping[str, Any], ...] = ()
    """The tool calls of the last message."""
    _characters: int = 0
    _sent_messages: int = 0
    _sent_characters: int = 0
    _digested: "_Digest" = field(default_factory=_Digest, repr=False)
    offered: tuple[Offer, ...] = ()

    @classmethod
    def of(
        cls, history: Sequence[Message], question: str, attachments: Sequence[Mapping[str, Any]] = ()
    ) -> "Transcript":
        """Begin with a conversation's history and a new question, the files beside it first."""
        transcript = cls()
        for message in (*history, {"role": "user", "content": [*attachments, _text(question)]}):
            transcript._add(message["role"], message["content"])
            attached = [each for each in _blocks(message["content"]) if each["type"] == "attachment"]
            transcript._characters += CHARACTERS_PER_TOKEN * sum(each["tokens"] for each in attached)
        return transcript

    def begin_anew(
        self, history: Sequence[Message], question: str, attachments: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Restart with another history and question, as if nothing had been added or sent."""
        begun = Transcript.of(history, question, attachments)
        for each in fields(self):
            setattr(self, each.name, getattr(begun, each.name))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, oldest first."""
        return tuple(self._messages)

    @property
    def ends_with_model(self) -> bool:
        """Whether the last message is the model's, so that a request must add a message."""
        return bool(self._messages) and self._messages[-1]["role"] == "assistant"

    @property
    def sent_messages(self) -> int:
        """How many messages requests of this query have had."""
        return self._sent_messages

    @property
    def unsent_characters(self) -> int:
        """Characters that were added since `mark_sent`."""
        return self._characters - self._sent_characters

    def digest(self) -> tuple[str, int]:
        """SHA-256 of all blocks so far in hexadecimal, and their number; each block is read once in a query."""
        whole = self._digested = self._digested.copy()  # the verifier returns to the previous one
        whole.add(self._messages[whole.messages : -1])  # only the last message can still change
        last = whole.copy()
        last.add(self._messages[-1:])
        return last.text(), last.blocks

    def digest_of(self, blocks: int) -> str:
        """The digest of the first blocks."""
        digest = _Digest()
        digest.add(self._messages, most=blocks)
        return digest.text()

    def offers(self, listed: tuple[str, ...], usable: tuple[str, ...]) -> tuple[Offer, ...]:
        """`offered`, with what a request of these messages changes.

        Args:
            listed: the tools of the request.
            usable: those that the model may call.
        """
        known, last = self.offered or ((0, 0, listed),), self._messages[-1]
        notes = len(last["content"]) if last["role"] == "system" else 0
        return known if known[-1][2] == usable else (*known, (len(self._messages) - bool(notes), notes, usable))

    def reserve_calls(self, ids: Iterable[str]) -> None:
        """Reserve these ids: no later call gets one of them."""
        self._call_ids.update(ids)

    def has_call(self, call_id: str) -> bool:
        """Whether one of the tool calls so far has the id."""
        return call_id in self._call_ids

    def mark_sent(self) -> None:
        """A request has had every message so far; from now on their blocks stay as they are."""
        self._sent_messages, self._sent_characters = len(self._messages), self._characters

    def beside(self, notes: Sequence[str]) -> "Transcript":
        """A copy that the model can answer, and that ends with these notes."""
        self._digested = self._digested.copy()
        self._digested.add(self._messages[self._digested.messages : -1])
        messages, ids, sent = list(self._messages), set(self._call_ids), (self._sent_messages, self._sent_characters)
        copy = Transcript(messages, ids, self._open, self._characters, *sent, self._digested.copy(), self.offered)
        copy._answer_open_calls(_NOT_RUN_YET)
        copy.add_notes(notes)
        return copy

    def ask_on(self) -> None:
        """Let the model speak again; calls without a result are answered first."""
        self._answer_open_calls(NOT_RUN)
        if self.ends_with_model:
            self._add("user", [_text(CONTINUE)])

    def add_notes(self, texts: Sequence[str]) -> None:
        """Add notes of the control, so that the model can answer them."""
        self.ask_on()
        if texts:
            self._add("system", [_text("\n\n".join(texts))])

    def add_turn(self, content: Sequence[Mapping[str, Any]]) -> None:
        """Add the model's response, unchanged; nothing if it is empty."""
        if content:
            self._answer_open_calls(NOT_RUN)
            self._add("assistant", list(content))

    def add_tool_results(self, results: Iterable[CallText]) -> None:
        """Add the results of the last turn's tool calls, in the model's order; results of other calls are ignored."""
        known = {each.call.id: each for each in reversed(list(results))}
        if known and any(call["id"] in known for call in self._open):
            self._answer_open_calls(NOT_RUN, known)

    def _answer_open_calls(self, why_not: str, known: Mapping[str, CallText] | None = None) -> None:
        """Add a result for each call of the model's last message: the known one, or why there is none."""
        if self._open:
            results = known or {}
            ids = [str(call["id"]) for call in self._open]
            self._add("user", [_result(call_id, results.get(call_id), why_not) for call_id in ids])

    def _add(self, role: str, content: Any) -> None:  # noqa: ANN401  text or blocks
        self._characters += content_characters(content)
        self._open = (*self._open, *_calls(content)) if role == "assistant" else ()
        self._call_ids.update([str(call["id"]) for call in self._open])
        if self._messages and self._messages[-1]["role"] == role:
            merged = [*_blocks(self._messages[-1]["content"]), *_blocks(content)]
            self._messages[-1] = {"role": role, "content": merged}
        else:
            self._messages.append({"role": role, "content": content})


def _result(call_id: str, known: CallText | None, why_not: str) -> Mapping[str, Any]:
    text = why_not if known is None else known.text
    is_error = known is None or known.is_error
    content = text if text.strip() else "(empty)"
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}


def _calls(content: Any) -> Sequence[Mapping[str, Any]]:  # noqa: ANN401
    return () if isinstance(content, str) else [block for block in content if block.get("type") == "tool_use"]


def _encoded(block: Mapping[str, Any]) -> bytes:
    try:
        return to_json(block)
    except (TypeError, ValueError, RecursionError):  # arguments that a log could not store either
        return str(block.get("id")).encode(errors="replace")


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}


def _blocks(content: Any) -> list[Any]:  # noqa: ANN401
    return [_text(content)] if isinstance(content, str) else list(content)
