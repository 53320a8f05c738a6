"""The `hold_back_calls` kind."""

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.text.phrases import clipped, counted
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.roles import HOLDS_BACK_CALLS

NEEDLESS = "Answer now from what you have; say what is missing, if anything is."


class HoldBackCallsSettings(NodeSettings):
    """Settings of `hold_back_calls`.

    Args:
        why: what the model reads in place of a result, after the reason.
    """

    why: str = NEEDLESS


@node(
    "hold_back_calls",
    settings=HoldBackCallsSettings,
    shorthand="why",
    facts=Facts(roles=(HOLDS_BACK_CALLS,)),
    flow=leaf(Case("success")),
)
class HoldBackCalls(AgentNode[HoldBackCallsSettings]):
    """Holds back tool calls of the last turn that can only repeat what is known, and those that go on beyond enough.

    SUCCESS, always. `run_tools` answers such calls with the reason, and runs the others. For what it asks, a call is
    held back only where `judge_context` has found that the context suffices, and then never one that writes, that
    reads what was not read, or that searches for names that were found but not searched for. But where the sources
    have answered, one more call is run, or two with the signal `need_turn`, and further ones only in a group of tools
    that was not tried yet. After a first turn that has looked in three ways at once, two calls of a turn are run in
    groups that were tried. What is held back counts neither as an action nor as an error.

    ```yaml
    hold_back_calls: "You have what there is to find: answer from it."
    ```
    """

    def update(self) -> Status:
        agent = self.agent
        tools, signal = agent.equipment.tools, agent.signals.latest
        agent.gathering.hold_back(agent.turn.open_calls, tools, agent.state, signal=signal, words=self.settings.why)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the run says it
        held = self.agent.gathering.held_back
        if not held:
            return Words("none", "Every call may bring something, so none is held back.")
        why = clipped(next(iter(held.values())), 120)
        calls = counted(len(held), "call")
        return Words(f'{calls} held back: "{why}"', f'{calls} can only repeat what is known: "{why}"')
