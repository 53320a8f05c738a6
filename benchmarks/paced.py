"""A model with a realistic pace; each piece of text contains its query, its position, and its time.

A query is five turns of fifty pieces over two seconds, with a tool call after each turn but the last. The question
has a tag, and every piece repeats it, so that a client can check that it receives its own answer. The time in a piece
is the scheduled time and not the time of the timer, so delays of the process itself are measured as well.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracle.llm.protocol import ModelEvent, ModelRequest, TextDelta, ToolCallRequested, ToolUse, TurnEnded, Usage

SIGNAL = '<signal type="context_sufficient"><sources_found>1</sources_found><confidence>0.9</confidence></signal>'
_TAG = re.compile(r"\[(\w+)\]")
_OWN_PACE = re.compile(r"t(\d+)p(\d+)ms(\d+)q")
_PIECE = re.compile(r" (\w+):(\d+):(\d+)@(\d+\.\d+)")


@dataclass(frozen=True, slots=True)
class Pace:
    """The schedule of a query.

    Args:
        turns: LLM turns.
        pieces: pieces of text per turn.
        turn_s: the duration of a turn.
    """

    turns: int = 5
    pieces: int = 50
    turn_s: float = 2.0

    def expected(self, tag: str) -> list[tuple[str, int, int]]:
        """The pieces of a complete answer: tag, turn, number."""
        return [(tag, turn, n) for turn in range(1, self.turns + 1) for n in range(self.pieces)]

    def tag(self, n: int) -> str:
        """The tag of the nth question that is answered at this pace, whatever the server's own is."""
        return f"t{self.turns}p{self.pieces}ms{self.turn_s * 1000:.0f}q{n}"

    def of(self, tag: str) -> "Pace":
        """The pace that a tag names; this one if it names none."""
        found = _OWN_PACE.match(tag)
        return self if found is None else Pace(int(found[1]), int(found[2]), int(found[3]) / 1000)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece as received by a client."""

    tag: str
    turn: int
    n: int
    sent_at: float

    @property
    def place(self) -> tuple[str, int, int]:
        return self.tag, self.turn, self.n


def question(tag: str) -> str:
    """A question about code, so that the tools are offered."""
    return f"Where is the retry policy of the function [{tag}] defined in the code?"


def piece_text(tag: str, turn: int, n: int, sent_at: float) -> str:
    """The text of a piece; it does not end with a space, which would be held back until the next piece."""
    return f" {tag}:{turn}:{n}@{sent_at:.6f}"


def pieces_in(text: str) -> Iterator[Piece]:
    """The pieces of a text."""
    for tag, turn, n, at in _PIECE.findall(text):
        yield Piece(tag, int(turn), int(n), float(at))


def place_of(messages: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """The tag of the last question of a conversation, and the number of the turn that answers it."""
    for back, message in enumerate(reversed(messages)):
        if message["role"] == "user" and (found := _TAG.search(_text_of(message["content"]))):
            later = messages[len(messages) - back :]
            return found[1], sum(each["role"] == "assistant" and _calls(each["content"]) for each in later) + 1
    raise ValueError("no message has a tag such as '[q1]'")


def pieces_said(messages: Sequence[Mapping[str, Any]]) -> int:
    """How many pieces of the turn that is asked for the asker has: its service was killed, and it asks for the rest."""
    said = 0
    for message in messages:
        if message["role"] == "assistant":
            said = 0 if _calls(message["content"]) else said + sum(1 for _ in pieces_in(_text_of(message["content"])))
        elif _TAG.search(_text_of(message["content"])):
            said = 0
    return said


class PacedModel:
    """Answers at a given pace, in this process."""

    name = "paced"
    has_web_search = False

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    def turns_of(self, tag: str) -> int:
        """How many turns the answer to the question with this tag has."""
        return self._pace.of(tag).turns

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        tag, turn = place_of(request.messages)
        said, pace = [], self._pace.of(tag)
        began, gap_s = time.monotonic(), pace.turn_s / pace.pieces
        for n in range(pace.pieces):
            due = began + n * gap_s
            await asyncio.sleep(due - time.monotonic())
            said.append(piece_text(tag, turn, n, due))
            yield TextDelta(said[-1])
        usage = Usage(input_tokens=100, output_tokens=5 * pace.pieces)
        if turn < pace.turns:
            call = ToolUse(f"call_{turn}", "read_file", {"path": f"file_{turn}.py"})
            yield ToolCallRequested(call)
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            yield TurnEnded("tool_use", usage, ({"type": "text", "text": "".join(said)}, block), self.name)
        else:
            yield TextDelta(SIGNAL)
            yield TurnEnded("end_turn", usage, ({"type": "text", "text": "".join(said) + SIGNAL},), self.name)

    async def aclose(self) -> None:
        pass


def make_project(folder: Path, pace: Pace) -> Path:
    """The files that the model reads."""
    folder.mkdir(parents=True, exist_ok=True)
    for turn in range(1, pace.turns):
        (folder / f"file_{turn}.py").write_text(f"# file {turn}\n" + "attempts = 3\n" * 50)
    return folder


def _calls(content) -> bool:
    return not isinstance(content, str) and any(block["type"] == "tool_use" for block in content)


def _text_of(content) -> str:
    if isinstance(content, str):
        return content
    return " ".join(block.get("text", "") for block in content if block["type"] == "text")
