"""Base classes of the agent's nodes, with access to the query."""

from abc import abstractmethod
from typing import TypeVar

from bt_runtime import Action, Guard, Node, NodeSettings, Status
from oracle.agent.nodes.board import publish
from oracle.agent.nodes.host import AgentHost
from oracle.agent.run import AgentRun
from oracle.core.chunks import TerminationReason
from oracle.decision import AgentState

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
