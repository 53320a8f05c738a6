"""A model that plays a script, for tests and benchmarks; its events are made by the reader of the provider's stream."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from oracle.llm.anthropic_events import MessageReader
from oracle.llm.blocks import without_loose_end
from oracle.llm.protocol import (
    ModelError,
    ModelEvent,
    ModelFault,
    ModelRequest,
    StopReason,
    TurnEnded,
    Usage,
    UsageReported,
)
from oracle.llm.script import ScriptedTurn, content_events

SIGNATURE: Final = "scripted-signature"
"""The signature of the thinking of a `ScriptedModel`."""


class ScriptEndedError(ModelError):
    """More turns were requested than the script has."""


class ScriptedModel:
    """A model that answers each request with the next turn of a script.

    Args:
        turns: the script; it may be endless (`itertools.repeat`).
        name: the model's name.
        has_web_search: whether it claims to search the web itself.
        sleep: waits for a turn's `delay_s`.
    """

    def __init__(
        self,
        turns: Iterable[ScriptedTurn],
        *,
        name: str = "scripted",
        has_web_search: bool = False,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._turns: Iterator[ScriptedTurn] = iter(turns)
        self.name = name
        self.has_web_search = has_web_search
        self._sleep = sleep
        self._played = 0
        self.requests: list[ModelRequest] = []
        """The requests received, oldest first."""

    async def aclose(self) -> None:
        """Do nothing; there are no connections."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next turn.

        Raises:
            ModelError: the script contains a fault.
            ScriptEndedError: the script has no more turns.
        """
        self.requests.append(request)
        content: list[Mapping[str, Any]] = []
        while True:
            turn = self._next()
            model = turn.model or request.model or self.name
            if turn.delay_s > 0:
                await self._sleep(turn.delay_s)
            reader = MessageReader(model=model)
            for wire_event in content_events(turn, number=self._played, sign=lambda _: SIGNATURE):
                for event in reader.feed(wire_event):
                    yield event
            if turn.usage is not None:
                yield UsageReported(turn.usage)
            if turn.hang:
                await asyncio.Event().wait()
            if turn.fault is not None:
                raise ModelError(turn.fault)
            content += reader.content
            if turn.ends_as != "pause_turn":
                break
        reason: StopReason = turn.ends_as  # type: ignore[assignment]  # checked in ScriptedTurn; never `pause_turn` here
        yield TurnEnded(reason, turn.usage or Usage(), without_loose_end(content), model)

    def _next(self) -> ScriptedTurn:
        turn = next(self._turns, None)
        if turn is None:
            raise ScriptEndedError(
                ModelFault(
                    error_type="internal",
                    message=f"The script has {self._played} turns, and one more was asked for. Add a turn, "
                    "or let the last one end the run (no tool calls, no `need_turn`).",
                )
            )
        self._played += 1
        return turn
