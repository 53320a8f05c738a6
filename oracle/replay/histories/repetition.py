"""Repeats a recorded run tick by tick on the version of the tree that ran, and says how each came to its result."""

from collections.abc import Callable, Sequence
from typing import Literal

from bt_runtime import BTError, Replaying, TickRecord, Trace, TreeDefinition, deciding, did_the_same
from bt_runtime.kinds.action import CallAction
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.llm_turn import LlmTurn
from oracle.agent.nodes.tool_calls import RunTools
from oracle.agent.run import AgentRun
from oracle.agent.turn import notes_for
from oracle.core.logs import quiet
from oracle.llm.protocol import Message
from oracle.replay.histories.model import KeyFacts, RequestFacts, VisitFacts
from oracle.replay.histories.nodes import Visits, key_facts
from oracle.replay.recorded import UnreplayableError
from oracle.runs.repeating import RebuiltRun

WorkKind = Literal["turn", "tools", "call"]


@dataclass(frozen=True, slots=True)
class Work:
    """What a tick has asked for.

    Args:
        kind: a turn of the model, the tool calls of its last turn, or a call of the tree's own.
        node: the index of the node that asked for it.
        request: of a turn, as the repetition knows it.
        visible: whether a turn is part of the answer.
    """

    kind: WorkKind
    node: int
    request: RequestFacts | None = None
    visible: bool = True


@dataclass(frozen=True, slots=True)
class Reasons:
    """How a tick came to its result; without visits, if it was repeated without a trace."""

    decision: int | None
    visits: tuple[VisitFacts, ...]
    given_back: tuple[VisitFacts, ...]
    work: tuple[Work, ...]


class RepeatedRun:
    """A query that is built anew, and then repeats its recorded ticks.

    Args:
        definition: the version of the tree that ran.
        rebuild: builds the query; called with the keyword `trace`, which watches the tree.

    Attributes:
        keys: of the blackboard, with the values before the first tick.

    Raises:
        UnreplayableError: the query cannot be built.
    """

    def __init__(self, definition: TreeDefinition, rebuild: Callable[..., RebuiltRun]) -> None:
        self._definition = definition
        self._trace = Trace()
        self._visits = Visits(definition.nodes())
        self._last = 0
        try:
            with quiet():
                self._rebuilt = rebuild(trace=self._trace)
        except Exception as error:  # noqa: BLE001  also what kinds of other packages raise
            raise UnreplayableError(f"its run cannot be rebuilt: {_first_line(error)}") from None
        tree = self._rebuilt.tree
        self._replaying = Replaying(tree, before_outcome=self._rebuilt.speak)
        self._requested = Requested(self._rebuilt.agent)
        self._indices = {path: index for index, path in enumerate(definition.paths)}
        self.keys: list[KeyFacts] = key_facts(definition, tree.blackboard)

    def play(self, recorded: TickRecord, *, is_traced: bool = True) -> Reasons:
        """Repeat a tick.

        Args:
            recorded: the tick.
            is_traced: with the reasons; without them it takes less time.

        Raises:
            UnreplayableError: the repetition did something else; no further tick can be repeated.
        """
        if recorded.tick != self._last + 1:
            raise UnreplayableError(f"tick {self._last + 1} is not in the log")
        self._last = recorded.tick
        before = set(self._replaying.open_requests)
        self._trace.is_on = is_traced
        try:
            with quiet():
                self._rebuilt.prepare(recorded)
                record = self._replaying.play(recorded)
                work = self._work(before)
        except Exception as error:  # noqa: BLE001  also what kinds of other packages raise
            problem = str(error) if isinstance(error, BTError) else _first_line(error)
            raise UnreplayableError(f"tick {recorded.tick} cannot be repeated: {problem}") from None
        self._rebuilt.chunks.clear()
        visits, given_back = self._trace.take(), self._trace.take_given_back()
        paths = self._definition.paths
        if record is None or not did_the_same(record, recorded, paths, paths):
            raise UnreplayableError(f"tick {recorded.tick} was not repeated as it was recorded")
        decision = deciding(visits)
        return Reasons(
            None if decision is None else decision.index,
            tuple(map(self._visits.facts, visits)),
            tuple(map(self._visits.facts, given_back)),
            work,
        )

    def _work(self, before: set[str]) -> tuple[Work, ...]:
        """What the last tick has asked for."""
        found: list[Work] = []
        for key, request in self._replaying.open_requests.items():
            if key in before or request.halted:
                continue
            node, index = request.node, self._indices[request.node.path]
            if isinstance(node, LlmTurn):
                found.append(Work("turn", index, self._requested.by(node), visible=node.settings.visible))
            elif isinstance(node, RunTools):
                found.append(Work("tools", index))
            elif isinstance(node, CallAction):
                found.append(Work("call", index))
        return tuple(found)


def _first_line(error: Exception) -> str:
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}"[:500]


class Requested:
    """The requests of a run that is repeated; each has the messages that those before it did not have."""

    def __init__(self, agent: AgentRun) -> None:
        self._agent = agent
        self._sent: Sequence[Message] = ()

    def by(self, node: LlmTurn) -> RequestFacts:
        """What a node asks for, at the end of the tick in which it does."""
        agent, settings = self._agent, node.settings
        plan, messages = agent.plan(settings.model), agent.transcript.messages
        known = _in_common(self._sent, messages)
        if settings.visible:
            self._sent = messages
        return RequestFacts(
            segments=tuple(use.id for use in agent.prompt.segments if use.included) if agent.prompt else (),
            tools=agent.offered,
            tool_choice="auto" if settings.visible and settings.tools else "none",
            notes=notes_for(agent, plan, visible=settings.visible, hint=node.hint()),
            messages=tuple(messages[known:]),
            max_tokens=plan.max_tokens,
            wrap_up=plan.wrap_up,
        )


def _in_common(sent: Sequence[Message], messages: Sequence[Message]) -> int:
    """How many messages are the same at the beginning of both; a message is replaced when something is added to it."""
    count = 0
    for before, now in zip(sent, messages, strict=False):
        if before is not now:
            break
        count += 1
    return count
