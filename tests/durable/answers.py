"""What the provider double says: a function of the digest of the messages, so that the undisturbed answer is known.

Rules:

- Messages are read without what a continuation adds: an assistant's part, the request to go on after it and the rest
  count as the one message that they are together. So a disturbed run has the digests of an undisturbed one.
- The result of a writing call whose outcome nobody knows (`is_error`) counts as the result that it would have had; the
  ledger shows whether it was written. `Reading.unknown` names such calls.
- Asked to go on after a part, the double says the exact rest. A part that it never said is a mistake of the asker.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

Message = Mapping[str, Any]

GO_ON = "exactly where it ended"
"""Part of what the asker writes after a part of a response."""
SIGNAL = '\n<signal type="{type}"><confidence>0.9</confidence>{more}</signal>'
WRITERS = ("note_keyed", "note_plain")

_KIND = re.compile(r"\[(\w+):(\w+)\]")
_ENOUGH = SIGNAL.format(type="context_sufficient", more="<sources_found>1</sources_found>")
_STUCK = SIGNAL.format(
    type="stuck", more='<attempted>["the shelf", "the notes"]</attempted><blocker>the shelf is empty</blocker>'
)
_WRITTEN = "Written as {key}."


class WrongPartError(ValueError):
    """The asker says that the double has said what it never said."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of an answer."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole turn: its pieces of text, its calls, and how it ends."""

    pieces: tuple[str, ...]
    calls: tuple[Call, ...] = ()
    cut_at: int | None = None
    """Where the bound on tokens ends the text, in characters; what goes on from there has the rest."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Reading:
    """A request as the double reads it.

    Args:
        digest: of the messages, without what a continuation adds.
        earlier: the digests of the requests that have been answered whole before it, oldest first.
        tag: of the question.
        kind: of the question: what happens in its turns.
        turn: the number of the turn that is asked for, from 1.
        said: the part of the answer that the asker has.
        unknown: the keys of writing calls of whose outcome the asker knows nothing.
    """

    digest: str
    earlier: tuple[str, ...]
    tag: str
    kind: str
    turn: int
    said: str
    unknown: tuple[str, ...]


def read(messages: Sequence[Message]) -> Reading:
    """Read the messages of a request.

    Raises:
        ValueError: no question has a tag such as `[tools:k1]`, the last message is the model's, or a note of the
            control stands behind one of the model's.
    """
    calls: dict[str, Mapping[str, Any]] = {}
    unknown: list[str] = []
    plain = [_plain(message, calls, unknown) for message in messages]
    if plain[-1]["role"] == "assistant":
        raise ValueError("the conversation must end with a user message, or with a note behind one")
    joined, said = _joined(_with_notes(plain))
    at, kind, tag = _question(joined)
    earlier = tuple(_digest(joined[:end]) for end in range(at + 1, len(joined)) if joined[end]["role"] == "assistant")
    turn = sum(message["role"] == "assistant" for message in joined[at:]) + 1
    return Reading(_digest(joined), earlier, tag, kind, turn, said, tuple(unknown))


def answer(reading: Reading, *, pieces: int) -> Answer:
    """The whole answer to a request; what the asker has of it is not taken away.

    Args:
        reading: of the request.
        pieces: of text in a turn.
    """
    turn, digest = reading.turn, reading.digest
    said = tuple(f"{' ' if n else ''}{reading.tag}.{turn}.{n}.{digest[:6]}" for n in range(pieces))
    calls = tuple(
        Call(f"call_{digest[:20]}_{place}", name, _arguments(name, f"{digest[:20]}_{place}"))
        for place, name in enumerate(_calls(reading.kind, turn))
    )
    if calls:
        return Answer(said, calls)
    if reading.kind == "stuck":
        return Answer((*said, _STUCK))
    if reading.kind == "long":
        whole = "".join(said)
        return Answer((*said, *(f" more.{n}" for n in range(pieces)), _ENOUGH), cut_at=len(whole))
    return Answer((*said, _ENOUGH))


def rest(whole: Answer, said: str) -> Answer:
    """What is left of an answer after a part of it, up to where its bound on tokens ends it.

    Raises:
        WrongPartError: the part is not how the answer begins.
    """
    if not whole.text.startswith(said):
        at = next((n for n, pair in enumerate(zip(whole.text, said, strict=False)) if pair[0] != pair[1]), len(said))
        raise WrongPartError(f"after {said[:at][-40:]!r}: {said[at:][:60]!r}, in place of {whole.text[at:][:60]!r}")
    start, end = len(said), len(whole.text)
    cut_at = whole.cut_at if whole.cut_at is not None and whole.cut_at > start else None
    end = end if cut_at is None else cut_at
    left: list[str] = []
    place = 0
    for piece in whole.pieces:
        kept = piece[max(start - place, 0) : max(end - place, 0)]
        place += len(piece)
        if kept:
            left.append(kept)
    return Answer(tuple(left), () if cut_at is not None else whole.calls, cut_at)


@cache
def _calls(kind: str, turn: int) -> tuple[str, ...]:
    """The tools that a turn of a kind of question calls; none, if it is the last."""
    script: Mapping[str, Sequence[Sequence[str]]] = {
        "tools": [["shelf_read"], ["note_keyed"], ["shelf_read"], ["note_plain"], ["note_keyed", "shelf_read"]],
        "parallel": [["shelf_read", "note_keyed", "shelf_read", "note_plain", "note_keyed"], ["shelf_read"] * 3],
        "stuck": [["shelf_empty"], [], ["note_keyed"]],  # and stuck in between
        "deadly": [["shelf_read"], ["deadly"]],
        "write": [["note_keyed"]],
        "write_plain": [["note_plain"]],
        "beside": [["shelf_slow", "note_keyed"]],
    }
    if kind == "endless":  # until a limit ends it
        return ("shelf_read", "note_keyed")
    turns = script.get(kind, [])
    return tuple(turns[turn - 1]) if turn <= len(turns) else ()


def _arguments(name: str, key: str) -> Mapping[str, Any]:
    return {"key": key, "text": f"noted {key}"} if name in WRITERS else {"key": key}


def result_of(key: str) -> str:
    """The result of a writing tool, as the tool double has it."""
    return _WRITTEN.format(key=key)


def _plain(message: Message, calls: dict[str, Mapping[str, Any]], unknown: list[str]) -> dict[str, Any]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {"role": message["role"], "content": list(_plain_blocks(blocks, calls, unknown))}


def _plain_blocks(
    blocks: Sequence[Mapping[str, Any]], calls: dict[str, Mapping[str, Any]], unknown: list[str]
) -> Iterator[dict[str, Any]]:
    """The blocks without cache marks and thinking, with the results that writing calls have or would have had."""
    for block in blocks:
        kind = block["type"]
        if kind == "text":
            yield {"type": "text", "text": block["text"]}
        elif kind == "tool_use":
            calls[block["id"]] = block
            yield {name: block[name] for name in ("type", "id", "name", "input")}
        elif kind == "tool_result":
            call, is_error, text = calls[block["tool_use_id"]], bool(block.get("is_error")), _result(block)
            if is_error and call["name"] in WRITERS:
                unknown.append(call["input"]["key"])
                is_error, text = False, result_of(call["input"]["key"])
            yield {"type": kind, "id": block["tool_use_id"], "content": text, "error": is_error}


def _result(block: Mapping[str, Any]) -> str:
    content = block.get("content", "")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _with_notes(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages, with each note of the control in the message of the user's that it stands behind."""
    read: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            if not read or read[-1]["role"] != "user":
                raise ValueError("role 'system' must follow a user message")
            read[-1] = {**read[-1], "content": [*read[-1]["content"], *message["content"]]}
        else:
            read.append(message)
    return read


def _joined(messages: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """The messages with their parts joined, and the part that the asker has of what it asks for."""
    joined: list[dict[str, Any]] = []
    begun: dict[str, Any] | None = None  # the part after which the asker has asked to go on
    for message in messages:
        if message["role"] == "user" and joined and _asks_to_go_on(message, joined[-1] if begun is None else begun):
            begun = joined.pop() if begun is None else begun
        elif begun is not None:  # what was said after a part
            begun = {"role": "assistant", "content": _together(begun["content"], message["content"])}
            joined.append(begun)
            begun = None
        else:
            joined.append(message)
    said = "" if begun is None else "".join(block["text"] for block in begun["content"] if block["type"] == "text")
    return joined, said


def _asks_to_go_on(message: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    blocks = message["content"]
    if before["role"] != "assistant" or any(block["type"] == "tool_use" for block in before["content"]):
        return False
    return all(block["type"] == "text" for block in blocks) and any(GO_ON in block["text"] for block in blocks)


def _together(first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    blocks = [*first, *second]
    texts = "".join(block["text"] for block in blocks if block["type"] == "text")
    return [{"type": "text", "text": texts}, *(block for block in blocks if block["type"] != "text")]


def _question(messages: Sequence[Mapping[str, Any]]) -> tuple[int, str, str]:
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] == "user":
            for block in messages[at]["content"]:
                if block["type"] == "text" and (found := _KIND.search(block["text"])):
                    return at, found[1], found[2]
    raise ValueError("no question has a tag such as '[tools:k1]'")


def _digest(messages: Sequence[Mapping[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()
