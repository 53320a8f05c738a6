"""The `warn_near_limits` kind."""

from bt_runtime import Facts, Figure, NoSettings, Status, Stepped, Words, node
from bt_runtime.analysis.effects import Case, leaf
from bt_runtime.text.phrases import joined
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.roles import WARNS_NEAR_LIMITS


@node("warn_near_limits", facts=Facts(roles=(WARNS_NEAR_LIMITS,)), flow=leaf(Case("success")))
class WarnNearLimits(AgentNode[NoSettings]):
    """Tells user and model, once for each limit, that the turns or the tokens are nearly used up.

    SUCCESS, always. The user's percentages decide when; the model gets the warning as a note with its next turn.

    ```yaml
    warn_near_limits:
    ```
    """

    def update(self) -> Status:
        self.agent.warn_near_limits()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state = self.agent.state
        sent = [name for name, is_sent in (("turns", state.turn_warned), ("tokens", state.token_warned)) if is_sent]
        text = f"{state.iteration_percent:.0f} % of the turns · {state.token_percent:.0f} % of the tokens"
        warned = f"; warned of: {joined(sent)}" if sent else ""
        figures = (Figure("turns", state.iteration_percent, 100, "%"), Figure("tokens", state.token_percent, 100, "%"))
        return Words(f"{text}{warned}", f"{text} are used{warned or '; no warning was due'}.", figures)
