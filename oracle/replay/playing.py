"""Plays a recorded run on a tree, step by step: what the tree asked for, what the user saw, and how it ended."""

from collections.abc import Mapping
from dataclasses import field
from hashlib import sha256
from typing import Literal

from bt_runtime import (
    BTError,
    Outcome,
    Registry,
    Request,
    Retrace,
    Status,
    TickRecord,
    Trace,
    TreeDefinition,
    event_ticks,
)
from bt_runtime.kinds.action import CallAction
from bt_runtime.text.data import dataclass
from oracle.agent.closing import explain_stop
from oracle.agent.nodes.endings import Finish
from oracle.agent.nodes.llm_turn import LlmTurn
from oracle.agent.nodes.tool_calls import RunTools
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.agent.tool_calls import calls_of
from oracle.core.chunks import Closing, Content, Failed, SystemNotice, TerminationReason
from oracle.core.encoding import to_json
from oracle.core.logs import quiet
from oracle.replay.recorded import RecordedRun, rebuild
from oracle.runs.repeating import RebuiltRun

EffectKind = Literal["turn", "tools", "call", "work", "notice", "sentence", "error"]


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that a tree did that the model, a tool or the user would notice.

    Args:
        text: for people: the notification, the sentence, the tool.
        digest: equal for equal effects: of a turn it covers the whole request.
        path: the node; empty if the effect is not a request.
    """

    kind: EffectKind
    text: str = field(compare=False)
    digest: str
    path: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What a leaf returned when a tick visited it."""

    path: str
    status: Status


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """What the tree did about one recorded event.

    Args:
        tick: the number of the recorded tick that the event caused.
        effects: everything that the tree did, in order.
        results: of the leaves that were visited, in order.
        records: the records of the tree's own ticks.
    """

    tick: int
    effects: tuple[Effect, ...]
    results: tuple[NodeResult, ...]
    records: tuple[TickRecord, ...] = field(default=(), compare=False, repr=False)


class Playing:
    """One recorded run on one tree.

    Args:
        run: the recorded run, with the values of all outcomes.
        definition: the tree that it ran, or another one.
        registry: the kinds that the tree was read with.
        trace: watches the tree.

    Attributes:
        error: why the control gave up; empty if it has not.
    """

    def __init__(
        self, run: RecordedRun, definition: TreeDefinition, *, registry: Registry, trace: Trace | None = None
    ) -> None:
        self.error = ""
        self.events = event_ticks(run.ticks)
        self._definition = definition
        self._rebuilt: RebuiltRun = rebuild(run, definition, registry=registry, trace=trace)
        opened = self._rebuilt.opened
        tree = opened.tree
        self._retrace = Retrace(tree, run.ticks, match=_same_work, supervisor=opened.floor, before_outcome=self._speak)
        self._said = 0  # chunks that were sent before the last tick: they are the work's, not the tree's
        self._statuses = [Status.INVALID] * len(tree.paths)
        self._leaves = {at for at, node in enumerate(definition.nodes()) if not any(node.children.values())}

    @property
    def is_running(self) -> bool:
        """Whether the tree has not ended, and has not failed as a whole."""
        return self._retrace.is_running and not self.error

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The nodes whose work has no outcome yet, but for `finish`, which a tree may leave to the service."""
        nodes = (request.node for request in self._retrace.open_requests.values() if not request.halted)
        return tuple(node.path for node in nodes if not isinstance(node, Finish))

    @property
    def is_closing(self) -> bool:
        """Whether nothing but its `finish` is under way."""
        return bool(self._retrace.open_requests) and not self.waits_for

    def step(self, event: TickRecord) -> PlayedStep:
        """Play the next event of the recording."""
        rebuilt = self._rebuilt
        with quiet():
            rebuilt.prepare(event)
            self._said = len(rebuilt.chunks)
            try:
                done = self._retrace.step(event)
            except BTError as error:
                self.error = str(error)
                rebuilt.agent.ending.lose_control(error)
                return PlayedStep(event.tick, (Effect("error", self.error, self.error),), ())
        for record in done.records:
            rebuilt.agent.ending.note_errors(record.errors)
        effects = [effect for chunk in rebuilt.chunks[self._said :] if (effect := _seen(chunk)) is not None]
        effects += [self._asked(request) for request in done.posted if not isinstance(request.node, Finish)]
        return PlayedStep(event.tick, tuple(effects), self._results(done.records), done.records)

    def end(self) -> tuple[TerminationReason, tuple[Effect, ...]]:
        """Why the query ends, once the tree has ended, and what the user is still sent about that."""
        sent = len(self._rebuilt.chunks)
        with quiet():
            explain_stop(self._rebuilt.agent)
        effects = tuple(effect for chunk in self._rebuilt.chunks[sent:] if (effect := _seen(chunk)) is not None)
        return self._rebuilt.agent.state.termination_reason or "completed", effects

    def _speak(self, request: Request, outcome: Outcome) -> None:
        self._rebuilt.speak(request, outcome)
        if outcome.state != "cancelled":
            self._said = len(self._rebuilt.chunks)

    def _asked(self, request: Request) -> Effect:
        node, agent = request.node, self._rebuilt.agent
        match node:
            case LlmTurn():
                return Effect("turn", "asks the model", self._request_digest(node), node.path)
            case RunTools():
                names = [call.name for call in calls_of(agent, request)]
                ids = [call.id for call in calls_of(agent, request)]
                return Effect("tools", f"runs {', '.join(names) or 'no tools'}", _digest(ids), node.path)
            case CallAction():
                call = node.settings.call
                return Effect("call", f"calls {call}", call, node.path)
        kind = type(node).__name__
        return Effect("work", f"begins {kind}", kind, node.path)

    def _request_digest(self, node: LlmTurn) -> str:
        """Equal for turns that send the model the same."""
        agent, settings = self._rebuilt.agent, node.settings
        asked = {
            "messages": agent.transcript.messages,
            "note": agent.note.text if settings.visible and agent.note else "",
            "hint": node.hint(),
            "offered": agent.offered,
            "prompt": agent.prompt.text if agent.prompt else "",
            "wrap_up": agent.plan(settings.model).wrap_up,
            "visible": settings.visible,
            "tools": settings.tools,
            "model": settings.model,
            "segment": settings.prompt,
        }
        return _digest(asked)

    def _results(self, records: tuple[TickRecord, ...]) -> tuple[NodeResult, ...]:
        found: list[NodeResult] = []
        for record in records:
            for index, status in record.changes:
                self._statuses[index] = status
            found += [
                NodeResult(self._definition.paths[index], self._statuses[index])
                for index in record.visited
                if index in self._leaves
            ]
        return tuple(found)


def _seen(chunk: object) -> Effect | None:
    """What the user sees of a chunk that a tick has sent."""
    match chunk:
        case SystemNotice():
            return Effect(
                "notice", chunk.system_message, f"{chunk.system_type} {chunk.severity} {chunk.system_message}"
            )
        case Closing() | Content() if chunk.content.strip():
            return Effect("sentence", chunk.content, chunk.content)
        case Failed():
            return Effect("error", chunk.error, f"{chunk.error_type} {chunk.error}")
    return None


def _same_work(outcome: Outcome, requests: Mapping[str, Request]) -> Request | None:
    """The request that a recorded outcome answers although its node has another path: the only one that could be it."""
    label = outcome.key.rpartition("@")[0].rpartition("/")[2]
    match outcome.value:
        case TurnOutcome():
            alike = [request for request in requests.values() if isinstance(request.node, LlmTurn)]
        case ToolsOutcome():
            alike = [request for request in requests.values() if isinstance(request.node, RunTools)]
        case _:
            alike = [request for request in requests.values() if request.node.path.rpartition("/")[2] == label]
    return alike[0] if len(alike) == 1 else None


def _digest(value: object) -> str:
    return sha256(to_json(value)).hexdigest()
