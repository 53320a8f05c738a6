"""The cost of a query's requests: what the provider has counted and cached, and what running turns have reserved."""

from dataclasses import dataclass

from bt_runtime.text import estimate_tokens
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.planning import CACHE_LIFETIME_S, InputEstimate


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
            whole = new + estimate_tokens(prompt)
            return InputEstimate(whole, whole)
        whole = self._input_tokens + new
        is_cached = self._cached_shape == shape and now_s < self._cached_until_s
        return InputEstimate(whole, new if is_cached else whole)

    def note(self, outcome: TurnOutcome, *, shape: object, now_s: float) -> None:
        """Take over what the provider has counted for a turn, and what its cache holds from now on.

        A request without tools differs in `tool_choice`, and so shares no cached messages with the others.
        """
        keeps = outcome.caches and not outcome.without_tools
        self._input_tokens, self._cached_shape = outcome.input_tokens, shape
        self._cached_until_s = now_s - outcome.duration_ms / 1000 + CACHE_LIFETIME_S if keeps else 0.0
