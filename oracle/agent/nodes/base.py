"""The base classes of the agent's nodes, and the host that gives them the query."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar, cast, get_args

import structlog

from bt_runtime import Action, Guard, Node, NodeSettings, Status
from bt_runtime.text.data import dataclass
from oracle.agent.closing import Closer
from oracle.agent.nodes.board import LIMIT_REACHED, Readers, publish
from oracle.agent.notices import Notice
from oracle.agent.run import AgentRun
from oracle.agent.tool_calls import CANCELLED, OWN_CALL, call_tool
from oracle.core.chunks import Severity, TerminationReason, ToolCall, ToolCalled, ToolReturned, Topic
from oracle.core.errors import TreeAuthorError
from oracle.decision import AgentState
from oracle.llm.protocol import ToolUse

log = structlog.get_logger(__name__)


class HostError(TreeAuthorError, RuntimeError):
    """A tree asked for something that the agent does not have."""


@dataclass(slots=True)
class AgentHost:
    """The host of one run.

    Args:
        calls: how many tool calls the tree itself has made.
        demanded: the keys that are published because the tree names them.
    """

    agent: AgentRun
    closing: Closer
    asked_at: str
    calls: int = 0
    demanded: Readers = ()

    def notify(self, *, topic: str, message: str, severity: str, metadata: Mapping[str, Any]) -> None:
        """A system notification from a tree file.

        Raises:
            HostError: the contract with clients has no such topic.
        """
        if topic not in get_args(Topic):
            raise HostError(f"there is no topic {topic!r}; topics are {', '.join(get_args(Topic))}")
        # Names only: the values may be the model's text, which belongs in the run's record.
        log.info("notice.sent", topic=topic, severity=severity, values=sorted(metadata))
        notice = Notice(cast("Topic", topic), message, cast("Severity", severity), metadata)
        self.agent.output.notify(notice)

    async def call(self, action: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool for the tree itself, with its chunks; returns its text.

        Raises:
            HostError: the tool failed, a rule of the tree forbids the call, or there is no tool of that name.
        """
        output, clock, rules = self.agent.output, self.agent.equipment.clock, self.agent.rules
        lost = self.agent.lost
        if lost is not None and (begun := lost.claim(action, arguments)) is not None:
            call_id, refusal = begun.id, None  # the rules have judged it when it began
            if (shown := lost.results.get(call_id)) is not None:
                if shown.is_error:
                    raise HostError(shown.tool_result)
                return shown.tool_result
        else:
            self.calls += 1
            call_id = f"{OWN_CALL}{self.calls}"
            refusal = None if rules is None else rules.refusal(action, arguments, call_id=call_id)
            output.call_tool(ToolCalled(ToolCall(call_id, action, arguments)))
        if refusal is not None:
            output.return_tool(ToolReturned(call_id, refusal, is_error=True, duration_ms=0))
            raise HostError(refusal)
        started_s = clock.now()
        try:
            result = await call_tool(self.agent, ToolUse(call_id, action, arguments))
        except asyncio.CancelledError:
            output.return_tool(ToolReturned(call_id, CANCELLED, is_error=True, duration_ms=0))
            raise
        duration_ms = round((clock.now() - started_s) * 1000)
        output.return_tool(ToolReturned(call_id, result.text, is_error=result.is_error, duration_ms=duration_ms))
        for source in result.sources:
            output.cite(source)
        if result.is_error:
            raise HostError(result.text)
        return result.text


SUCCESS = Status.SUCCESS
SettingsT = TypeVar("SettingsT", bound=NodeSettings)


class AgentNode(Node[SettingsT]):
    """A leaf that works on the query within the tick."""

    @property
    def host(self) -> AgentHost:
        """Of this run."""
        host: AgentHost = self.run.host
        return host

    @property
    def agent(self) -> AgentRun:
        """The query."""
        agent: AgentRun = self.run.host.agent
        return agent

    def publish(self) -> None:
        """Bring the blackboard up to date after a change of the query."""
        host: AgentHost = self.run.host
        host.agent.state = host.agent.state.after_limit(self.run.blackboard[LIMIT_REACHED])
        publish(host.agent, self.run.blackboard, host.demanded, now_s=self.run.now_s)

    def stop_run(self, reason: TerminationReason) -> None:
        """Stop for a reason, in the state and on the blackboard; the first one counts."""
        self.agent.stop(reason)
        self.board.set("termination_reason", self.agent.state.termination_reason)


class AgentAction(AgentNode[SettingsT], Action[SettingsT]):
    """An action that works on the query."""


class AgentGuard(AgentNode[SettingsT], Guard[SettingsT]):
    """A guard that asks one of the termination rules."""

    reason: TerminationReason

    @abstractmethod
    def holds(self, state: AgentState) -> bool:
        """The rule: whether the query must stop."""

    def trips(self) -> str | None:
        """The reason, if the rule holds."""
        agent = self.agent
        if not self.holds(agent.state):
            return None
        agent.stop(self.reason)
        return agent.state.termination_reason


class StateGuard(AgentGuard[SettingsT]):
    """A guard whose rule depends on the state alone: it is asked at every tick, and judges each state once."""

    unkept = AgentGuard.unkept | {"_passed"}

    _passed: AgentState | None = None

    def update(self) -> Status:
        """Judge the state, if it is another one than the last time."""
        agent: AgentRun = self.run.host.agent
        state = agent.state
        if state is self._passed:
            return SUCCESS
        if self.holds(state):
            self._passed = None
            return super().update()
        self._passed = agent.state  # the rule may have made another one, with a lower limit
        return SUCCESS
