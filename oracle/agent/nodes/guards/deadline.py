"""The `deadline` guard."""

from math import floor, inf
from typing import Annotated

from pydantic import Field

from bt_runtime import Facts, Figure, NodeSettings, Stepped, Words, node
from bt_runtime.language.flow import GuardFlow
from bt_runtime.language.kind import ExpressionText
from bt_runtime.nodes.scope import number_of
from bt_runtime.text.phrases import number
from oracle.agent.nodes.base import AgentGuard
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import LIMITS_TIME
from oracle.decision import AgentState, rules


class DeadlineSettings(NodeSettings):
    """Settings of `deadline`.

    Args:
        seconds: a shorter time for this guard alone, from the start of the query: a number or an expression; `None`
            means the user's.
    """

    seconds: Annotated[float, Field(gt=0)] | ExpressionText | None = None


@node(
    "deadline",
    settings=DeadlineSettings,
    shorthand="seconds",
    facts=Facts(roles=(LIMITS_TIME,)),
    flow=GuardFlow("time asked", writes=LAGGING, limit="seconds"),
)
class Deadline(AgentGuard[DeadlineSettings]):
    """Trips when the time for the whole query is over: `timeout`.

    SUCCESS before the deadline. The run is ticked when it passes, so as a guard of a loop it interrupts the running
    child. An expression is evaluated at every tick.

    ```yaml
    deadline: {seconds: 0.5 * time_limit}
    ```
    """

    reason = "timeout"
    unkept = AgentGuard.unkept | {"_limit_s"}
    _limit_s = inf
    """The guard's own limit, as of the last tick."""

    def holds(self, state: AgentState) -> bool:
        """Whether the time of the tick is past the deadline; if it is not, the run is woken at the deadline.

        A shorter limit of this guard becomes the effective one when it trips.
        """
        own = self.settings.seconds
        self._limit_s = inf if own is None else number_of(own, self, setting="seconds", least=0)
        limit_s, elapsed_s = min(self._limit_s, state.time_limit_s), self.run.now_s - state.start_time
        if not rules.deadline_has_passed(limit_s, elapsed_s):
            self.run.wake_at(self.index, state.start_time + limit_s)
            return False
        self.agent.state = state.with_time_limit(limit_s).at(elapsed_s)
        return True

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state = self.agent.state
        limit_s = min(self._limit_s, state.time_limit_s)
        elapsed_s = self.run.now_s - state.start_time
        shown_s = floor(elapsed_s * 10) / 10 if limit_s >= 10 else elapsed_s
        text = f"{number(shown_s)} of {number(limit_s)} s"
        is_over = rules.deadline_has_passed(limit_s, elapsed_s)
        sentence = f"The time for the query is over: {text}." if is_over else f"{text} have passed."
        return Words(text, sentence, (Figure("time", elapsed_s, limit_s, "s"),))
