"""Whether what was gathered suffices.

The heuristic is the default implementation of `SufficiencyJudge`; a trained model can replace it.
"""

from dataclasses import dataclass
from typing import Final, Literal, Protocol, get_args

from oracle.agent.gathering.gathered import Gathered

SufficiencyReason = Literal["nothing_new", "said_so", "nothing_found", "answered"]
REASONS: Final[tuple[SufficiencyReason, ...]] = get_args(SufficiencyReason)

_KNOWN_WEIGHT: Final = 2
"""A call that brings what is known weighs more than a turn that finds nothing: other words may still find something."""
_ENOUGH: Final = 2
_FIRM: Final = 4
_ENOUGH_WITHOUT: Final = 3
_FIRM_WITHOUT: Final = 6
"""Empty turns that count where nothing was found at all."""


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """A verdict on what was gathered.

    Args:
        reason: why more calls bring nothing; empty: they may bring something.
        is_firm: more was tried after that without success, so that only a new lead is worth a call.
    """

    reason: SufficiencyReason | Literal[""] = ""
    is_firm: bool = False

    @property
    def suffices(self) -> bool:
        """Whether the answer can be given now, as well as it will be."""
        return bool(self.reason)


OPEN: Final = Sufficiency()
ANSWERED: Final = Sufficiency("answered")


class SufficiencyJudge(Protocol):
    """Says whether what was gathered suffices.

    A judge must be a pure function: a replay asks again, and must get the same verdict.
    """

    @property
    def name(self) -> str:
        """For logs."""
        ...

    def judge(self, gathered: Gathered) -> Sufficiency:
        """The verdict after the tools of a turn; must not wait."""
        ...


class HeuristicSufficiency:
    """Judges by what the sources have answered, and how many turns of tools in a row have brought nothing new.

    - `said_so`: the model itself said so beside its last calls, and something was found. Firm at once.
    - `nothing_new`: something was found, and then one call brought what was known, or two turns found nothing. Firm
      after twice as much.
    - `answered`: the sources that the question needs have answered.
    - `nothing_found`: three turns in a row found nothing, and nothing was found before. Firm after six.
    """

    name = "heuristic"

    def judge(self, gathered: Gathered) -> Sufficiency:
        """The verdict."""
        if gathered.has_found:
            if gathered.said_sufficient:
                return Sufficiency("said_so", is_firm=True)
            weight = _KNOWN_WEIGHT * gathered.known_calls + gathered.empty_turns
            if weight >= _ENOUGH:
                return Sufficiency("nothing_new", is_firm=weight >= _FIRM)
            return ANSWERED if gathered.answers_question else OPEN
        empty = gathered.empty_turns
        return Sufficiency("nothing_found", is_firm=empty >= _FIRM_WITHOUT) if empty >= _ENOUGH_WITHOUT else OPEN
