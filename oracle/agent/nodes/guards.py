"""The guards of the agent's trees: cancel, limits, repetition and errors."""

from math import floor, inf
from typing import Annotated

from pydantic import Field

from bt_runtime import Facts, Figure, NodeSettings, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.kind import ExpressionText, GuardFlow
from bt_runtime.nodes.scope import number_of
from bt_runtime.text.phrases import clipped, counted, number
from oracle.agent.nodes.base import AgentGuard, StateGuard
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import LIMITS_TIME, LIMITS_TOKENS, LIMITS_TURNS, SEES_CANCEL, SEES_ERRORS, SEES_REPETITION
from oracle.decision import AgentState, rules
from oracle.decision.progress import TIMES, find_repetition
from oracle.decision.repeated_text import MOST_REPEATED_TURNS


@node(
    "cancelled",
    facts=Facts(roles=(SEES_CANCEL,), reads=("cancel_requested",)),
    flow=GuardFlow("cancel asked", writes=LAGGING),
)
class CancelGuard(AgentGuard[NoSettings]):
    """Trips when the user has cancelled or disconnected for good: `user_cancelled`.

    SUCCESS otherwise.

    ```yaml
    cancelled:
    ```
    """

    reason = "user_cancelled"

    def holds(self, state: AgentState) -> bool:
        if self.run.read("cancel_requested") and not state.cancelled:
            self.agent.state = state = state.after_cancel()
        return rules.is_cancelled(state)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        if self.agent.state.cancelled:
            return Words("cancelled", "The user has cancelled, or did not come back.")
        return Words("nobody has cancelled", "Nobody has cancelled.")


class TurnBudgetSettings(NodeSettings):
    """Settings of `turn_budget`.

    Args:
        limit: a lower limit; a number or an expression.
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
    """Trips when the run has reached its limit of turns: `max_iterations`.

    SUCCESS while turns are left. The limit is the lower one of the user's `max_iterations` and the tree's
    `max_turns`.

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


@node("token_budget", facts=Facts(roles=(LIMITS_TOKENS,)), flow=GuardFlow("tokens asked", writes=LAGGING))
class TokenBudget(StateGuard[NoSettings]):
    """Trips when the run has used up the user's token budget: `token_budget`.

    SUCCESS while tokens are left. It also trips if the budget cut off the last response, or on `limit_reached`.

    ```yaml
    token_budget:
    ```
    """

    reason = "token_budget"

    def holds(self, state: AgentState) -> bool:
        return rules.tokens_are_used_up(state)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state, budget = self.agent.state, self.agent.state.config.token_budget
        text = f"{state.tokens_used:,} of {counted(budget, 'token')}"
        figures = (Figure("tokens", state.tokens_used, budget),)
        if not rules.tokens_are_used_up(state):
            return Words(text, f"{text} are used.", figures)
        if state.limit_reached:
            return Words(f"{text}; another limit is reached", f"Ended: {state.limit_reached}.", figures)
        if state.tokens_used >= budget:
            return Words(text, f"The token budget is used up: {text}.", figures)
        if self.agent.turn.is_last_paid:
            return Words(
                f"{text}; it allows no further turn", f"The token budget does not allow another turn: {text}.", figures
            )
        return Words(f"{text}; it cut a turn off", f"The token budget has cut the response off: {text}.", figures)


class DeadlineSettings(NodeSettings):
    """Settings of `deadline`.

    Args:
        seconds: a shorter time from the start of the run; a number or an expression.
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
    """Trips when the time of the run is up: `timeout`.

    SUCCESS until then. When the time is up, it interrupts the running child.

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
        sentence = f"The time of the run is up: {text}." if is_over else f"{text} have passed."
        return Words(text, sentence, (Figure("time", elapsed_s, limit_s, "s"),))


@node("no_progress", facts=Facts(roles=(SEES_REPETITION,)), flow=GuardFlow("progress asked", writes=LAGGING))
class NoProgress(StateGuard[NoSettings]):
    """Trips when tool calls or responses repeat themselves: `no_progress`.

    FAILURE after three rounds of the same one to three calls with the same results, three failures of one tool with
    the same error, or two responses that only repeat earlier text; SUCCESS otherwise. The model gets a note after the
    first repetition.

    ```yaml
    no_progress:
    ```
    """

    reason = "no_progress"

    def holds(self, state: AgentState) -> bool:
        return rules.is_repeating_itself(state)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        actions = self.agent.state.recent_actions
        repetition = find_repetition(actions, times=2)
        times = repetition.times if repetition else 0
        figures = (Figure("repeats", times, TIMES),)
        if repetition is None and (repeated := self.agent.state.repeated_turns):
            text = f"{repeated} of {MOST_REPEATED_TURNS} responses that repeat what was said"
            return Words(text, f"{text}.", (Figure("repeats", repeated, MOST_REPEATED_TURNS),))
        if repetition is None:
            return Words("no repeats", "No tool call repeats itself.", figures)
        text = f"{repetition.summary}, {clipped(repetition.action.signature, 80)}"
        if times < TIMES:
            return Words(text, f"{times} of {TIMES} repetitions: {text}.", figures)
        return Words(text, f"There is no progress: {text}.", figures)


@node("error_limit", facts=Facts(roles=(SEES_ERRORS,)), flow=GuardFlow("errors asked", writes=LAGGING))
class ErrorLimit(StateGuard[NoSettings]):
    """Trips after three tool errors in a row over at least two turns: `error_limit`.

    SUCCESS otherwise. A successful call resets the count.

    ```yaml
    error_limit:
    ```
    """

    reason = "error_limit"

    def holds(self, state: AgentState) -> bool:
        return rules.keeps_failing(state)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state, limit = self.agent.state, rules.ERROR_LIMIT
        text = f"{state.error_streak:,} of {limit} in a row"
        figures = (Figure("errors in a row", state.error_streak, limit),)
        if rules.keeps_failing(state):
            last = f"; the last one: {clipped(state.last_error, 120)}" if state.last_error else ""
            return Words(text, f"{counted(state.error_streak, 'tool error')} in a row{last}.", figures)
        if state.error_streak >= limit:
            text += ", all in one turn"
        return Words(text, f"Tool errors: {text}.", figures)
