"""What an agent sees of its query: the request, and nothing else."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.habits.tasks import Question
from oracle.agent.tool_calls import NOT_RUN
from oracle.llm.protocol import Message, ModelRequest


@dataclass(frozen=True)
class Made:
    """A call that the agent has made, with its result.

    Args:
        turn: of this query, from 1.
        was_run: false where the control has refused it.
    """

    turn: int
    tool: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool

    @property
    def was_run(self) -> bool:
        return not self.text.startswith(NOT_RUN)


@dataclass(frozen=True)
class View:
    """A request as the agent reads it.

    Args:
        question: the one to answer.
        offered: the names of the tools.
        made: the calls of this query.
        replies: its own texts of turns without calls, in this query.
        notes: what the control says: after which turn, and the text. Refusals of calls are among them.
        earlier: the conversation before the question.
        turn: the number of the turn that is asked for, from 1.
        may_call: whether the provider would let it call tools in this turn.
    """

    question: Question
    offered: tuple[str, ...]
    made: tuple[Made, ...]
    replies: tuple[str, ...]
    notes: tuple[tuple[int, str], ...]
    earlier: str
    turn: int
    may_call: bool

    @property
    def seen(self) -> str:
        """All text that the agent has got, other than the question."""
        return "\n".join([self.earlier, *(call.text for call in self.made)])

    def has_called(self, tool: str, **arguments: object) -> bool:
        return any(call.tool == tool and dict(call.arguments) == arguments for call in self.made)


def view_of(request: ModelRequest, question: Question) -> View:
    """Read a request.

    Args:
        request: to a model.
        question: the user's message that it is about.
    """
    begin = max(
        at for at, each in enumerate(request.messages) if each["role"] == "user" and question.text in _plain(each)
    )
    calls: dict[str, tuple[int, str, Mapping[str, Any]]] = {}
    made: list[Made] = []
    replies: list[str] = []
    notes: list[tuple[int, str]] = []
    turn = 0
    for message in request.messages[begin:]:
        if message["role"] == "assistant":
            turn += 1
            used = [block for block in _blocks(message) if block["type"] == "tool_use"]
            calls |= {block["id"]: (turn, block["name"], block["input"]) for block in used}
            replies += [] if used else [_plain(message)]
            continue
        for block in _blocks(message):
            if message["role"] == "system":
                notes.append((turn, block["text"]))
            elif block["type"] == "tool_result":
                call = Made(*calls[block["tool_use_id"]], block["content"], block["is_error"])
                made.append(call)
                notes += [] if call.was_run else [(turn, call.text)]
    earlier = "\n".join(_plain(each) for each in request.messages[:begin])
    offered = tuple(tool.name for tool in request.tools)
    may_call = request.tool_choice == "auto" and bool(offered)
    return View(question, offered, tuple(made), tuple(replies), tuple(notes), earlier, turn + 1, may_call)


def paths_in(text: str) -> Iterator[str]:
    """The paths of the hits of a search, best first."""
    for match in re.finditer(r"^([\w./-]+\.\w+):\d+ ", text, re.MULTILINE):
        yield match[1]


def _blocks(message: Message) -> list[Mapping[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _plain(message: Message) -> str:
    return "\n".join(block["text"] for block in _blocks(message) if block["type"] == "text")
