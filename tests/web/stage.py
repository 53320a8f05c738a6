"""What the stand-in provider says to each question, however many are asked at the same time; and turns that wait."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oracle.llm.scripted import content_events
from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import SUFFICIENT, says, text_of
from tests.support.provider import Disturbed, Reply, StandInProvider


class Stage(Iterator[Reply]):
    """The replies to each question, by their place in it; the same question may be asked several times at once.

    Args:
        provider: which plays them; it is taken over.
        otherwise: the replies to a question for which none were laid out.
    """

    def __init__(self, provider: StandInProvider, otherwise: Sequence[Reply] = ()) -> None:
        self._provider = provider
        self._otherwise = otherwise
        self._replies: dict[str, Sequence[Reply]] = {}
        provider.play(self)

    def lay(self, question: str, *replies: Reply) -> None:
        """Answer this question so from now on: the first turn with the first reply, and so on."""
        self._replies[question] = replies

    def __next__(self) -> Reply:
        messages = self._provider.bodies[-1]["messages"]
        for start in range(len(messages) - 1, -1, -1):
            if not _is_question(messages[start]):
                continue  # what tools have found may have the words of a question
            if (question := self._question_in(messages[start])) is not None:
                return _nth(self._replies[question], messages[start:])
        if not self._otherwise:
            raise StopIteration
        last = max(at for at, message in enumerate(messages) if _is_question(message))
        return _nth(self._otherwise, messages[last:])

    def _question_in(self, message: Mapping[str, Any]) -> str | None:
        text = text_of(message)
        return max((each for each in self._replies if each in text), key=len, default=None)


def _is_question(message: Mapping[str, Any]) -> bool:
    content = message["content"]
    return message["role"] == "user" and not (
        isinstance(content, list) and any(block["type"] == "tool_result" for block in content)
    )


def _nth(replies: Sequence[Reply], messages: Sequence[Mapping[str, Any]]) -> Reply:
    turn = sum(message["role"] == "assistant" for message in messages)
    if turn >= len(replies):
        raise StopIteration
    return replies[turn]


def held(turn: ScriptedTurn, gate: asyncio.Event, *, pieces: int | None = None) -> Disturbed:
    """The turn, of which the first pieces of text come at once, and the rest when the gate is set.

    Args:
        turn: its `text` is a tuple of the pieces.
        gate: what is waited for.
        pieces: how many pieces of text come before; `None` means all of its content, so that it only does not end.
    """
    if pieces is None:
        return Disturbed(turn, "wait", gate=gate)
    events = [{}, {}, *content_events(turn, number=1, sign=lambda text: text)]  # after `message_start` and `ping`
    places = [at for at, event in enumerate(events, start=1) if event.get("delta", {}).get("type") == "text_delta"]
    assert 1 <= pieces <= len(places), f"the turn has {len(places)} pieces of text, not {pieces}"
    return Disturbed(turn, "wait", after=places[pieces - 1], gate=gate)


def held_answer(gate: asyncio.Event, before: str, after: str) -> Disturbed:
    """A turn that ends the query: the first part of its text comes at once, the second when the gate is set."""
    return held(says((before, after + SUFFICIENT)), gate, pieces=1)
