"""Notes of the control to the model: which one goes with a request, and the texts that no tree file contains.

One note goes with a request: the strongest that waits, and of equally strong ones the latest. Several would
contradict each other, such as "look for what is missing" and "tools are not run any more". The list of tools that are
newly offered goes with every note but that one.
"""

from dataclasses import replace
from typing import Final, Literal, get_args

from oracle.agent.planning import TurnPlan
from oracle.core.encoding import held_frozen
from oracle.decision import AgentState

Strength = Literal["reminder", "hint", "near_limit", "enough", "ending", "last_turn"]
"""The subject of a note, the weakest first; `ending` means that another failure or repetition ends the run."""
_RANK: Final = {strength: rank for rank, strength in enumerate(get_args(Strength))}

TOOL_ERROR: Final = (
    "A tool call failed; its result says why. Change the call or take another way; do not repeat it as it was."
)
"""After a failed call: a note, because the prompt is composed only once."""

EMPTY_TURN: Final = (
    "Your last response was empty. If the whole answer stands above, end with one short closing sentence; "
    "else write the answer now, from what you have."
)
REPEATED_TEXT: Final = (
    "Your last response only repeated what stands above, and the user does not see a repetition. Write what is "
    "missing; if nothing is, end with one short closing sentence. Another repetition ends the run."
)
WRITTEN_CALL: Final = (
    "You wrote a tool call as text: nothing was run, and the user does not see it. Call the tool itself if it is "
    "offered, or answer in plain words."
)
GO_ON: Final = "Your last response was cut off. Go on exactly where it ended."
"""For the request after a turn whose process died."""

ANSWER_NOW: Final = "Answer now from what you have; say plainly what is missing."
WRAP_UP: Final = f"Tools are not run any more. {ANSWER_NOW}"
"""How the note of the last turn ends."""


@held_frozen
class Note:
    """A note that waits for the next request.

    Args:
        text: the words for the model; empty if the note only offers tools.
        strength: against the others that wait.
        offers: what the model reads about tools that are newly offered, whichever note is the strongest.
    """

    text: str
    strength: Strength = "hint"
    offers: str = ""

    @property
    def whole(self) -> str:
        """What goes with the request, as one text: in a last turn nothing is offered."""
        return self.text if self.strength == "last_turn" else "\n".join(filter(None, (self.offers, self.text)))


def stronger(waiting: Note | None, other: Note | None) -> Note | None:
    """The stronger of two notes, with what both offer; the second one if they are equally strong."""
    if waiting is None or other is None:
        return waiting or other
    is_other = other.text and (not waiting.text or _RANK[other.strength] >= _RANK[waiting.strength])
    offers = "\n".join(filter(None, (waiting.offers, other.offers)))
    return replace(other if is_other else waiting, offers=offers)


def limit_note(state: AgentState, plan: TurnPlan) -> Note | None:
    """The note that a turn is the last one that the limits allow, or the last but one; `None` if it is neither.

    How many turns the time allows is an estimate from those so far, so that note forbids nothing.

    Args:
        state: the state at the time of the request.
        plan: what is planned for the turn that the request begins.
    """
    turn, limit = state.turn + 1, state.turn_limit
    elapsed_s, limit_s = state.elapsed_seconds, state.time_limit_s
    used = (
        f"{state.tokens_used:,} of {state.config.token_budget:,} tokens are used, and each turn may count the whole "
        f"conversation again, some {plan.whole_tokens:,}"
    )
    if plan.wrap_up:
        why = f"It is turn {turn} of {limit}" if turn >= limit else f"{used}: the rest pays for one answer"
        return Note(f"This is the last turn that the limits allow. {why}. {WRAP_UP}", "last_turn")
    if state.turn and limit_s - elapsed_s < 2 * elapsed_s / state.turn:
        why = f"{elapsed_s:.0f} of {limit_s:g} s have passed, and a turn takes some {elapsed_s / state.turn:.3g} s"
        rest = "this is probably the last turn that can end in time"
        return Note(f"The time limit is near: {why}, so {rest}. {ANSWER_NOW}", "last_turn")
    if not plan.is_last_but_one:
        return None
    why = f"This is turn {turn} of {limit}" if turn == limit - 1 else f"{used}: that leaves this turn and one more"
    return Note(f"{why}. Tools are still run in this turn; the next one is the last, without tools.", "near_limit")
