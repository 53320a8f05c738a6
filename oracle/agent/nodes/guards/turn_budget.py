"""The `turn_budget` guard."""

from typing import Annotated

from pydantic import Field

from bt_runtime import Facts, Figure, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import GuardFlow
from bt_runtime.language.kind import ExpressionText
from bt_runtime.nodes.scope import number_of
from bt_runtime.text.phrases import counted
from oracle.agent.nodes.base import StateGuard
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import LIMITS_TURNS
from oracle.decision import AgentState, rules


class TurnBudgetSettings(NodeSettings):
    """Settings of `turn_budget`.

    Args:
        limit: a lower limit of LLM turns of the query: a number or an expression; `None` means the effective one.
    """

    limit: Annotated[int, Field(ge=1)] | ExpressionText | None = None


@node(
    "turn_budget",
    settings=TurnBudgetSettings,
    shorthand="limit",
    facts=Facts(roles=(LIMITS_TURNS,), reads=("turn", "turn_limit")),
    flow=GuardFlow("turns asked", writes=LAGGING, limit="limit", counter="turn"),
)
class TurnBudget(StateGuard[TurnBudgetSettings]):
    """Trips when the finished LLM turns have reached the limit: `max_iterations`.

    SUCCESS while there are turns left. The limit is the user's `max_iterations` or the tree's `max_turns`, whichever is
    lower. All turns of the query count, those before the loop too, and a limit that was asked for once holds for the
    rest of the query. An expression is evaluated at every tick.

    ```yaml
    turn_budget: {limit: 10}
    ```
    """

    reason = "max_iterations"

    def update(self) -> Status:
        if isinstance(self.settings.limit, str):
            self._passed = None  # an expression can have another value in the same state
        return super().update()

    def holds(self, state: AgentState) -> bool:
        """Whether the turns are used up; a lower limit of this guard is the effective one once it has been asked.

        So the warning is sent in time, and the last turn that it allows wraps up.
        """
        own = self.settings.limit
        if own is not None:
            limit = number_of(own, self, setting="limit", least=0, whole=True)
            self.agent.state = lowered = state.with_turn_limit(limit)
            if lowered is not state:
                self.publish()
                return rules.turns_are_used_up(lowered)
        return rules.turns_are_used_up(state)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state = self.agent.state
        text = f"{state.turn:,} of {counted(state.turn_limit, 'turn')}"
        sentence = f"The limit of turns is reached: {text}." if rules.turns_are_used_up(state) else f"{text} are used."
        return Words(text, sentence, (Figure("turns", state.turn, state.turn_limit),))
