"""The cost of a query's requests: what the provider has counted and cached, and what running turns have reserved."""

from dataclasses import dataclass

from bt_runtime.text import CHARACTERS_PER_TOKEN, estimate_tokens
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.planning import CACHE_LIFETIME_S, InputEstimate, TurnPlan

GROWTH_TOKENS = 128
"""What a turn reserves at a time once its output exceeds what was planned."""


@dataclass(slots=True, eq=False)
class Reservation:
    """The part of the token budget that a turn in progress may use.

    It grows while the turn's output exceeds the plan and no other turn has reserved what is left, so that turns side by
    side keep to one budget.

    Args:
        input_tokens: estimated, of the request.
    """

    cost: "RequestCost"
    input_tokens: int
    output_tokens: int

    @property
    def characters(self) -> int:
        """The output that is reserved, in characters."""
        return self.output_tokens * CHARACTERS_PER_TOKEN

    def cover(self, characters: int, *, tokens_left: int) -> int:
        """Grow for an output of this size, as far as the budget goes; returns the characters that are reserved.

        Args:
            characters: length of the output so far.
            tokens_left: of the budget, without the turns in progress.
        """
        wanted = characters // CHARACTERS_PER_TOKEN + GROWTH_TOKENS
        unreserved = max(0, tokens_left - self.cost.reserved_tokens + self.input_tokens)
        grown = min(unreserved, max(0, wanted - self.output_tokens))
        self.output_tokens += grown
        self.cost.reserved_tokens += grown
        return self.characters

    def release(self) -> None:
        """The turn has ended."""
        self.cost.reserved_tokens -= self.input_tokens + self.output_tokens


@dataclass(slots=True)
class RequestCost:
    """Estimates the input of the next request.

    Args:
        reserved_tokens: of the budget, for the turns that are in progress.
    """

    reserved_tokens: int = 0
    _input_tokens: int | None = None
    _cached_shape: object = None
    _cached_until_s: float = 0.0

    def estimate(self, *, unsent: int, prompt: int, shape: object, now_s: float) -> InputEstimate:
        """Input tokens of the next request.

        Earlier messages cost what the provider has reported for them, and nothing while its cache holds them. The rest
        is estimated from characters.

        Args:
            unsent: characters that no request has had yet.
            prompt: characters of the system prompt.
            shape: what of the request, its messages apart, voids the cache when it changes.
            now_s: the time.
        """
        new = estimate_tokens(unsent)
        if self._input_tokens is None:
            whole = estimate_tokens(unsent + prompt)
            return InputEstimate(whole, whole)
        whole = self._input_tokens + new
        is_cached = self._cached_shape == shape and now_s < self._cached_until_s
        return InputEstimate(whole, new if is_cached else whole)

    def reserve(self, plan: TurnPlan) -> Reservation:
        """Reserve what a turn is planned to use, until `Reservation.release`."""
        self.reserved_tokens += plan.input_tokens + plan.max_tokens
        return Reservation(self, plan.input_tokens, plan.max_tokens)

    def note(self, outcome: TurnOutcome, *, shape: object, now_s: float) -> None:
        """Take over what the provider has counted for a turn, and what its cache holds from now on.

        A request without tools differs in `tool_choice`, and so shares no cached messages with the others.
        """
        keeps = outcome.caches and not outcome.without_tools
        self._input_tokens, self._cached_shape = outcome.input_tokens, shape
        self._cached_until_s = now_s - outcome.duration_ms / 1000 + CACHE_LIFETIME_S if keeps else 0.0
