"""The `warn_near_limits` kind."""

from pydantic import Field

from bt_runtime import Facts, Figure, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.text.phrases import joined
from oracle.agent import notices
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.roles import WARNS_NEAR_LIMITS


class WarnNearLimitsSettings(NodeSettings):
    """Settings of `warn_near_limits`.

    Args:
        time: percent of the time limit after which the time is warned of, too; `None` for no such warning.
    """

    time: float | None = Field(default=None, gt=0, lt=100)


@node(
    "warn_near_limits",
    settings=WarnNearLimitsSettings,
    facts=Facts(roles=(WARNS_NEAR_LIMITS,), remembers=("_time_warned",)),
    flow=leaf(Case("success")),
)
class WarnNearLimits(AgentNode[WarnNearLimitsSettings]):
    """Tells user and model, once for each limit, that the turns, the tokens or the time are nearly used up.

    SUCCESS, always. The user's percentages decide when; of the time it warns only where the node says from which
    percentage on. It looks when it is ticked, so between turns. The model gets the warning as a note with its next
    turn.

    ```yaml
    warn_near_limits: {time: 50}
    ```
    """

    _time_warned = False

    def update(self) -> Status:
        agent, percent = self.agent, self.settings.time
        agent.warn_near_limits()
        elapsed_s = self.run.now_s - agent.state.start_time
        if percent and not self._time_warned and elapsed_s * 100 >= agent.state.time_limit_s * percent:
            self._time_warned = True
            agent.warn(notices.time_warning(agent.state, elapsed_s))
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state = self.agent.state
        warnings = (("turns", state.turn_warned), ("tokens", state.token_warned), ("time", self._time_warned))
        sent = [name for name, is_sent in warnings if is_sent]
        text = f"{state.iteration_percent:.0f} % of the turns · {state.token_percent:.0f} % of the tokens"
        warned = f"; warned of: {joined(sent)}" if sent else ""
        figures = (Figure("turns", state.iteration_percent, 100, "%"), Figure("tokens", state.token_percent, 100, "%"))
        return Words(f"{text}{warned}", f"{text} are used{warned or '; no warning was due'}.", figures)
