"""The `no_progress` guard."""

from bt_runtime import Facts, Figure, NoSettings, Stepped, Words, node
from bt_runtime.language.flow import GuardFlow
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.base import StateGuard
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import SEES_REPETITION
from oracle.decision import AgentState, rules
from oracle.decision.progress import TIMES, find_repetition
from oracle.decision.repeated_text import MOST_REPEATED_TURNS


@node("no_progress", facts=Facts(roles=(SEES_REPETITION,)), flow=GuardFlow("progress asked", writes=LAGGING))
class NoProgress(StateGuard[NoSettings]):
    """Trips when tool calls or responses bring the same over and over: `no_progress`.

    FAILURE when the last three calls were the same and had the same result or all failed, when a cycle of two or three
    calls has stood there three times with the same results, or when one tool has failed three times in a row with the
    same error, whatever its arguments; also when two responses in a row only repeat the text before them, or go round
    within themselves. A repetition is not shown, and the model gets a note after the first. SUCCESS while there is
    progress: other calls, other arguments of a call that works, other results, or new text.

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
