"""The limits of a turn, the cost of a request, and how much of the tools' results fits."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bt_runtime.text import CHARACTERS_PER_TOKEN, estimate_tokens
from bt_runtime.text.data import dataclass
from oracle.agent.outcomes import CallResult, TurnOutcome
from oracle.core.encoding import held_frozen
from oracle.decision import AgentState
from oracle.llm.protocol import Message

LEAST_FOR_THINKING = 2048
"""Thinking is off when less of the budget is left."""

CACHE_LIFETIME_S = 300.0
"""How long the provider keeps a prompt after its last use (platform.claude.com, "Prompt caching": 5 minutes)."""

_NOT_READ = frozenset({"type", "id", "signature"})
"""Fields of a block that the estimate of its tokens leaves out."""

_SEQUENCES = (list, tuple)

_LEAST_RESULTS = 2_000
"""If fewer tokens of results fit, another turn is not worth planning for."""
_ANSWER_RESERVE = 500
"""Tokens that a short answer takes; a turn that cannot pay for this is not worth planning for."""


@held_frozen
class TurnPlan:
    """Limits of one turn.

    Args:
        max_tokens: of output; at least 1, at most what is left of the budget.
        capped_by_budget: the budget, not the model's own bound, set `max_tokens`.
        thinking_tokens: 0 turns thinking off.
        wrap_up: this is the last turn that the limits allow; its tool calls will not be run.
        is_last_paid: the token budget does not pay for a turn after this one.
        is_last_but_one: the limits allow one turn after this one, as far as that can be foreseen.
        tokens_left: of the budget when the turn begins; streamed output beyond this closes the stream.
        input_tokens: the estimated input of the request, as the budget will count it.
        whole_tokens: the same where the provider has nothing of it in its cache.
    """

    max_tokens: int
    capped_by_budget: bool
    thinking_tokens: int
    wrap_up: bool
    is_last_paid: bool
    is_last_but_one: bool
    tokens_left: int
    input_tokens: int
    whole_tokens: int


def message_characters(messages: Iterable[Message]) -> int:
    """Characters of the messages, tool calls and results included."""
    return sum(content_characters(message["content"]) for message in messages)


def content_characters(content: object) -> int:
    """Characters of a message's content: text, or blocks with their inputs and results."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, dict):
        return sum([content_characters(content[key]) for key in content if key not in _NOT_READ])
    return sum(map(content_characters, content)) if isinstance(content, _SEQUENCES) else 0


@held_frozen
class InputEstimate:
    """Tokens of the next request's input.

    Args:
        whole: all of it: what the budget counts where the provider has nothing of it in its cache.
        expected: what the budget will count, as far as can be foreseen.
    """

    whole: int
    expected: int


def plan_turn(
    state: AgentState,
    *,
    request: InputEstimate,
    max_output_tokens: int,
    thinking_tokens: int,
    reserved_tokens: int = 0,
) -> TurnPlan:
    """Decide what the next turn may do.

    Args:
        state: before the turn.
        request: the estimated input of the request.
        max_output_tokens: the output limit of a turn, apart from the budget.
        thinking_tokens: how much of it may be thinking when there is room.
        reserved_tokens: of the budget, for the turns that are in progress.
    """
    left = max(0, state.tokens_left - reserved_tokens)
    max_tokens = max(1, min(max_output_tokens, left))
    is_last_paid = state.turn_limit > 1 and _budget_pays_for_one_turn_only(left, request)
    turns_left = state.turn_limit - state.turn
    wrap_up = is_last_paid or (state.turn_limit > 1 and turns_left <= 1)
    return TurnPlan(
        max_tokens=max_tokens,
        capped_by_budget=left < max_output_tokens,
        thinking_tokens=thinking_room(left, most=thinking_tokens, max_tokens=max_tokens),
        wrap_up=wrap_up,
        is_last_paid=is_last_paid,
        is_last_but_one=turns_left == 2 or (turns_left > 2 and not wrap_up and _pays_for_two_turns_only(left, request)),
        tokens_left=left,
        input_tokens=request.expected,
        whole_tokens=request.whole,
    )


def results_room(state: AgentState, request: InputEstimate) -> int:
    """The tokens that the results of a turn's tools may have, so that the budget pays for another turn after the next.

    If it does not, or if the next turn is the last one anyway, they may use what that turn can pay for.

    Args:
        state: after the turn.
        request: the estimated input of the next request, without the results.
    """
    for_last = state.tokens_left - request.expected - 2 * _ANSWER_RESERVE
    for_two = (for_last - request.whole) // 2 - _ANSWER_RESERVE  # what is estimated may be a little more
    return max(0, for_two if for_two >= _LEAST_RESULTS and state.turn < state.turn_limit - 1 else for_last)


def thinking_room(left: int, *, most: int, max_tokens: int) -> int:
    """How much of a turn may be thinking: half at most, so that the answer has the rest; none if little is left."""
    return min(most, max_tokens // 2) if left >= LEAST_FOR_THINKING else 0


def _budget_pays_for_one_turn_only(left: int, request: InputEstimate) -> bool:
    """Another turn after this one could not be paid; but a turn whose input alone is too dear is no wrap-up either.

    The second turn is reckoned as if the provider had dropped the conversation from its cache by then:
    that cannot be foreseen, and would be the whole input once more.
    """
    both = request.expected + _ANSWER_RESERVE + request.whole + _ANSWER_RESERVE
    return request.expected <= left < both


def _pays_for_two_turns_only(left: int, request: InputEstimate) -> bool:
    """The turn after this one would be the last one paid for, with results worth a turn (`results_room`)."""
    both = request.expected + request.whole + 2 * (_ANSWER_RESERVE + _LEAST_RESULTS)
    return left - request.expected - 4 * _ANSWER_RESERVE < both


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
        """Grow for an output of this size, as far as the budget allows; returns the characters that are reserved.

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
            shape: the parts of the request besides its messages that void the cache when they change.
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
        """Record the tokens that the provider counted for a turn, and what its cache holds from now on.

        A request without tools differs in `tool_choice`, and so shares no cached messages with the others.
        """
        keeps = outcome.caches and not outcome.without_tools
        self._input_tokens, self._cached_shape = outcome.input_tokens, shape
        self._cached_until_s = now_s - outcome.duration_ms / 1000 + CACHE_LIFETIME_S if keeps else 0.0


_LEAST = 400
"""Characters of a result that are never cut off."""


def fitted(results: Sequence[CallResult], *, characters: int) -> tuple[CallResult, ...]:
    """The results with the longest ones cut, so that together they have about `characters` characters.

    A cut result says so, and how to get the rest of it.
    """
    left, most = characters, 0
    for waiting, size in zip(range(len(results), 0, -1), sorted(len(each.text) for each in results), strict=True):
        most = max(_LEAST, left // waiting)  # longer results use the room that shorter ones leave
        left -= min(size, most)
    return tuple(replace(each, text=_cut(each.text, most)) if len(each.text) > most else each for each in results)


def _cut(text: str, most: int) -> str:
    kept = text[:most].rpartition("\n")[0] or text[:most]
    return (
        f"{kept}\n\n[Cut: the first {len(kept):,} of {len(text):,} characters; the token budget pays for no more. "
        "For the rest, read a range of lines, or search with narrower words.]"
    )
