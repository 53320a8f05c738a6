"""The surroundings of a scenario: a model, tools and events from outside that do what the scenario says.

Time is the scenario's own: it stands still while anything can go on, and then jumps to the next moment at which
something is due. So a query of minutes is played in milliseconds, and always in the same way.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol

from bt_runtime import PausableClock
from bt_runtime.nodes.clock import Event
from bt_runtime.testing import FakeClock
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.board import ANSWERS
from oracle.classify.protocol import EncoderState
from oracle.classify.types import IntentShares, QueryShares
from oracle.core.chunks import (
    Answered,
    ApprovalRequested,
    Chunk,
    Content,
    Interrupt,
    QuestionAsked,
    Source,
    SystemNotice,
)
from oracle.features.scenarios.model import Moment, PersonDecides, Scenario, ToolAnswer, ToolScript, Turn
from oracle.llm.protocol import ModelEvent, ModelRequest
from oracle.llm.scripted import ScriptedModel, ScriptedTurn
from oracle.tools import Tool, ToolError, ToolResult, project_tools, vault_tools, web_tools

_SETTLE_ROUNDS: Final = 25
"""Iterations of the event loop in which the control acts on an event from outside before the model goes on."""


@cache
def shipped_tools() -> Mapping[str, Tool]:
    """The tools that ship, by name; they are never called here."""
    with TemporaryDirectory(prefix="oracle-scenarios-") as folder:
        vault = vault_tools(Path(folder), now=lambda: datetime.now(UTC))
        tools = (*project_tools(Path(folder)), *vault, *web_tools(has_web_search=True))
    return {tool.name: tool for tool in tools}


class Improviser(Protocol):
    """Plays model and people where nothing is written beforehand, and sees what happens."""

    def speak(self, request: ModelRequest) -> Turn:
        """What the model says."""
        ...

    def decide(self, interrupt: Interrupt) -> PersonDecides:
        """What a person decides."""
        ...

    def see(self, what: object) -> None:
        """In order: chunks, outcomes, tick records, the number of each request, the name of each tool that begins."""
        ...


@dataclass(slots=True)
class Moments:
    """Calls what is due at a moment, once.

    Args:
        clock: the scenario's time.
        see: gets each chunk, the number of each request, and the name of each tool that begins to run.
    """

    clock: FakeClock
    see: Callable[[object], object] = lambda _: None
    _due: list[tuple[Moment, Callable[[], object]]] = field(default_factory=list)
    _said: str = ""
    _has_fired: bool = False

    def at(self, moment: Moment, action: Callable[[], object]) -> None:
        """Call the action at that moment."""
        self._due.append((moment, action))

    def start(self) -> list["asyncio.Task[None]"]:
        """Begin to wait for the moments that are times."""
        return [
            asyncio.create_task(self._wait(moment, action)) for moment, action in self._due if moment.kind == "at_s"
        ]

    async def _wait(self, moment: Moment, action: Callable[[], object]) -> None:
        await self.clock.sleep(moment.value)
        action()

    def emit(self, chunk: Chunk) -> None:
        """A chunk was sent."""
        self.see(chunk)
        if isinstance(chunk, Content):
            self._said += chunk.content
            self._fire("said", lambda text: text in self._said)
        elif isinstance(chunk, SystemNotice):
            self._fire("notice", lambda system_type: system_type == chunk.system_type)

    def asks(self, nth: int) -> None:
        """The model gets its n-th request."""
        self.see(nth)
        self._fire("request", lambda wanted: wanted == nth)

    def calls(self, tool: str) -> None:
        """A tool begins to run."""
        self.see(tool)
        self._fire("call", lambda name: name == tool)

    def _fire(self, kind: str, is_due: Callable[[Any], bool]) -> None:
        for entry in list(self._due):
            moment, action = entry
            if moment.kind == kind and is_due(moment.value):
                self._due.remove(entry)
                self._has_fired = True
                action()

    async def settle(self) -> None:
        """Let the control act on what has happened."""
        if self._has_fired:
            self._has_fired = False
            for _ in range(_SETTLE_ROUNDS):
                await asyncio.sleep(0)


class RunClock(PausableClock):
    """The run's time, which stands still while the run waits for people alone, as that of a parked run does."""

    async def wait(self, event: Event, *, until_s: float | None) -> None:
        """Wait for the event or, unless it stands still, the time; it goes on afterwards."""
        try:
            await super().wait(event, until_s=until_s)
        finally:
            self.go()


class StagedPeople:
    """Decides what the run asks people, as the scenario says; what it says nothing of expires.

    Args:
        scenario: states the decisions.
        clock: the scenario's time.
        run_clock: the run's.
        decide: what is decided, in place of that.

    Attributes:
        deliver: writes a key of the blackboard.
    """

    deliver: Callable[[str, Any], None]

    def __init__(
        self,
        scenario: Scenario,
        clock: FakeClock,
        run_clock: RunClock,
        decide: Callable[[Interrupt], PersonDecides] | None = None,
    ) -> None:
        self._decisions = list(reversed(scenario.people))
        self._decides = decide or self._scripted
        self._clock = clock
        self._run_clock = run_clock
        self._pending = 0
        self._later: set[asyncio.Task[None]] = set()

    @property
    def left(self) -> int:
        """How many scripted decisions were not asked for."""
        return len(self._decisions)

    def _scripted(self, interrupt: Interrupt) -> PersonDecides:  # noqa: ARG002  in the order of the questions
        return self._decisions.pop() if self._decisions else PersonDecides(decision="expire")

    def rest(self) -> bool:
        """Stop the run's time, if people are asked: `may_park` of a query that would be parked, but stays here."""
        if self._pending:
            self._run_clock.stop()
        return False

    def emit(self, chunk: Chunk) -> None:
        """A chunk was sent."""
        if isinstance(chunk, Answered):
            self._pending -= 1
        if not isinstance(chunk, ApprovalRequested | QuestionAsked):
            return
        self._pending += 1
        decides = self._decides(chunk.interrupt)
        task = asyncio.ensure_future(self._decide(chunk.interrupt.id, decides))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _decide(self, interrupt_id: str, decides: PersonDecides) -> None:
        if decides.after_s:
            await self._clock.sleep(decides.after_s)
        self.deliver(ANSWERS, {interrupt_id: decides.delivered()})


class StagedEncoder:
    """The encoder of a scenario, which reads everything as the scenario says.

    Args:
        scenario: states the shares of the question and of each turn.
        model: plays its turns.
    """

    state: EncoderState = "ready"

    def __init__(self, scenario: Scenario, model: "StagedModel") -> None:
        self._scenario = scenario
        self._turns = [turn for turn in scenario.model for _ in range(turn.times)]
        self._model = model

    async def query_shares(self, text: str) -> QueryShares | None:  # noqa: ARG002  the protocol
        """Those of the question."""
        return self._scenario.encoded

    async def intent_shares(self, text: str) -> IntentShares | None:  # noqa: ARG002  the protocol
        """Those of the turn that was played last."""
        at = self._model.played - 1
        return self._turns[at].encoded if 0 <= at < len(self._turns) else None


class StagedModel:
    """The scripted model, which makes moments known.

    Args:
        scenario: states what the model says, turn by turn.
        moments: get each request.
        sleep: on the scenario's time.
        speak: what it says to a request, in place of that.
    """

    def __init__(
        self,
        scenario: Scenario,
        moments: Moments,
        sleep: Callable[[float], Awaitable[object]],
        speak: Callable[[ModelRequest], Turn] | None = None,
    ) -> None:
        self.name = "scripted"
        self.has_web_search = "web" in scenario.available
        self.requests: list[ModelRequest] = []
        self.played = 0
        self._moments = moments
        turns = self._turns(scenario) if speak is None else self._spoken(speak)
        self._model = ScriptedModel(turns, name=self.name, has_web_search=self.has_web_search, sleep=sleep)

    async def aclose(self) -> None:
        """Do nothing; there are no connections."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next turn.

        Raises:
            ModelError: the turn has a fault, or the script has no more turns.
        """
        self.requests.append(request)
        self._moments.asks(len(self.requests))
        try:
            await self._moments.settle()
        except asyncio.CancelledError:
            self.played += 1  # the turn of this request, of which nothing comes any more
            raise
        async with aclosing(self._model.stream(request)) as events:
            async for event in events:
                yield event
                await self._moments.settle()

    def _spoken(self, speak: Callable[[ModelRequest], Turn]) -> Iterator[ScriptedTurn]:
        while True:
            self.played += 1
            yield speak(self.requests[-1]).scripted()

    def _turns(self, scenario: Scenario) -> Iterator[ScriptedTurn]:
        for turn in scenario.model:
            for _ in range(turn.times):
                self.played += 1
                yield turn.scripted()


@dataclass(slots=True)
class StagedTools:
    """The tools of a scenario: those that ship, and its own, with the answers that it states."""

    scenario: Scenario
    clock: FakeClock
    moments: Moments
    runs: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def tools(self) -> Iterator[Tool]:
        """All of them."""
        shipped = shipped_tools()
        for tool in shipped.values():
            if tool.group in self.scenario.available:
                script = self.scenario.tools.get(tool.name, ToolScript())
                yield tool if tool.is_server_side else replace(tool, call=self._call_of(tool.name, script))
        for name, script in self.scenario.tools.items():
            if name not in shipped:
                yield self._own(name, script)

    def _own(self, name: str, script: ToolScript) -> Tool:
        schema = {"type": "object", "properties": {}, "additionalProperties": True}
        call = self._call_of(name, script)
        made = Tool(name, f"{name}, as scripted.", "Always.", schema, call, script.group or "code", script.writes)
        labels = None if script.labels is None else frozenset(script.labels)
        return replace(made, needs_approval=script.approve, labels=labels)

    def _call_of(self, name: str, script: ToolScript) -> Callable[[Mapping[str, Any]], Awaitable[ToolResult]]:
        numbers = count()

        async def call(arguments: Mapping[str, Any]) -> ToolResult:
            self.runs.append((name, dict(arguments)))
            answer = _chosen(script.answers, arguments, numbers)
            self.moments.calls(name)
            await self.moments.settle()
            if answer.delay_s:
                await self.clock.sleep(answer.delay_s)
            if answer.hang:
                await asyncio.Event().wait()
            if answer.error is not None:
                raise ToolError(answer.error)
            return _result(name, arguments, answer)

        return call


def _chosen(answers: tuple[ToolAnswer, ...], arguments: Mapping[str, Any], numbers: Iterator[int]) -> ToolAnswer:
    """The answer of a call: one for its arguments, or the next one."""
    for answer in answers:
        if answer.when and all(arguments.get(name) == value for name, value in answer.when.items()):
            return answer
    rest = [answer for answer in answers if not answer.when]
    return rest[min(next(numbers), len(rest) - 1)] if rest else ToolAnswer()


def _result(name: str, arguments: Mapping[str, Any], answer: ToolAnswer) -> ToolResult:
    listed = ", ".join(f"{key}={value}" for key, value in arguments.items())
    default = "Nothing found." if answer.empty else f"The result of {name}({listed})."
    sources = tuple(Source(path=path, source_type=kind) for kind, path in answer.sources)
    return ToolResult(default if answer.result is None else answer.result, sources=sources, is_empty=answer.empty)
