"""The `grant_turn` kind."""

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import leaf
from bt_runtime.language.kind import TemplateText
from bt_runtime.text.phrases import counted
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import GRANTING
from oracle.agent.nodes.hints import filled_hint
from oracle.agent.nodes.roles import GRANTS_TURN
from oracle.agent.tool_calls import refuse_open
from oracle.agent.transcript import NOT_RUN


class GrantTurnSettings(NodeSettings):
    """Settings of `grant_turn`.

    Args:
        hint: an instruction in addition to the request to continue; `{key}` stands for a blackboard value.
    """

    hint: TemplateText = ""


@node(
    "grant_turn",
    settings=GrantTurnSettings,
    shorthand="hint",
    facts=Facts(roles=(GRANTS_TURN,), shows=True),
    flow=leaf(*GRANTING),
)
class GrantTurn(AgentNode[GrantTurnSettings]):
    """Asks the model to continue in another turn; the guards of the loop decide whether there is one left.

    SUCCESS, always. The request is not part of the conversation that is kept. Tool calls that have not been run by then
    never are.

    ```yaml
    grant_turn: {hint: "Try a tool that you have not used yet."}
    ```
    """

    def update(self) -> Status:
        refuse_open(self.agent, NOT_RUN)
        self.agent.ask_again(filled_hint(self.settings.hint, self.board))
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state = self.agent.state
        if state.turn >= state.turn_limit:
            text = f"{state.turn:,} of {counted(state.turn_limit, 'turn')} are used"
            return Words(f"one more turn is asked for; {text}", f"One more turn is asked for, and {text}.")
        text = f"{state.turn + 1:,} of {state.turn_limit:,}"
        return Words(f"one more turn: {text}", f"One more turn is granted: {text}.")
