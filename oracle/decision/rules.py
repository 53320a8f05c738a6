"""When a query stops and when it is warned: pure functions of `AgentState`, defined here only.

The default decision tree and the guard nodes of the YAML trees both call them.
The order of `RULES` is the order of priority: when several hold, the first counts.
"""

from collections.abc import Callable
from math import ceil

from oracle.core.chunks import TerminationReason
from oracle.decision.progress import find_repetition
from oracle.decision.repeated_text import MOST_REPEATED_TURNS
from oracle.decision.state import AgentState

ERROR_LIMIT = 3
"""Tool errors in a row that end a query."""

MOST_BROKEN_TURNS = 10
"""Consecutive turns that failed or were interrupted. The adapter has retried each of them already, so the provider is
unavailable, and a control that keeps asking would never end."""

EMPTY_LIMIT = 3
"""Consecutive empty turns; the model is asked again after each of the first two."""

NOTICE_TURNS = 2
"""The iteration warning is sent at least this many turns before the limit."""


def is_cancelled(state: AgentState) -> bool:
    """A cancel was requested."""
    return state.cancelled


def is_answered(state: AgentState) -> bool:
    """The last response has text and no tool calls, and asks for no other turn."""
    return state.answered


def turns_are_used_up(state: AgentState) -> bool:
    """Finished turns have reached the effective limit."""
    return state.turn >= state.turn_limit


def tokens_are_used_up(state: AgentState) -> bool:
    """Tokens have reached the budget, the budget truncated the last response, or a limit beyond the query is reached.

    A query starts with none used, so the first turn runs unless the user's other queries have reached such a limit.
    """
    return state.budget_cut or bool(state.limit_reached) or state.tokens_used >= state.config.token_budget


def time_is_over(state: AgentState) -> bool:
    """The deadline of the whole query has passed."""
    return deadline_has_passed(state.time_limit_s, state.elapsed_seconds)


def deadline_has_passed(limit_s: float, elapsed_seconds: float) -> bool:
    """The rule of `time_is_over`, for callers that have the time already."""
    return elapsed_seconds >= limit_s


def is_repeating_itself(state: AgentState) -> bool:
    """The latest actions repeat with the same results, or the latest responses repeat what was said."""
    if state.repeated_turns >= MOST_REPEATED_TURNS:
        return True
    return len(state.recent_actions) >= ERROR_LIMIT and find_repetition(state.recent_actions) is not None


def keeps_failing(state: AgentState) -> bool:
    """Three tool errors in a row, over at least two turns: the model had seen one when it made another."""
    return state.error_streak >= ERROR_LIMIT and state.error_streak_until > state.error_streak_since


def keeps_breaking(state: AgentState) -> bool:
    """Too many consecutive turns have failed or were interrupted."""
    return state.broken_turns >= MOST_BROKEN_TURNS


def says_nothing(state: AgentState) -> bool:
    """The model has returned too many consecutive empty responses: the query is stuck."""
    return state.empty_turns >= EMPTY_LIMIT


_Rules = tuple[tuple[TerminationReason, Callable[[AgentState], bool]], ...]

RULES: _Rules = (
    ("user_cancelled", is_cancelled),
    ("completed", is_answered),
    ("max_iterations", turns_are_used_up),
    ("token_budget", tokens_are_used_up),
    ("timeout", time_is_over),
    ("no_progress", is_repeating_itself),
    ("error_limit", keeps_failing),
)


_LIMITS: _Rules = tuple(
    (reason, holds)
    for reason, holds in RULES
    if reason in {"user_cancelled", "max_iterations", "token_budget", "timeout"}
)
"""The rules that no control can override."""


def _first(ruled: _Rules, state: AgentState) -> TerminationReason | None:
    """The reason of the first rule that holds."""
    for reason, holds in ruled:
        if holds(state):
            return reason
    return None


def exceeded(state: AgentState) -> TerminationReason | None:
    """The first of the user's limits that the query has reached, a cancel among them."""
    return _first(_LIMITS, state)


def is_true(reason: TerminationReason, state: AgentState) -> bool:
    """Whether the state supports a reason; a reason without a rule is always supported.

    A control may stop a query under a reason whose rule does not hold: for a limit of its own.
    """
    return all(holds(state) for ruled, holds in RULES if ruled == reason and ruled != "completed")


def termination(state: AgentState) -> TerminationReason | None:
    """The reason to stop now: the one that was given before, else the first rule that holds."""
    return state.termination_reason if state.termination_reason is not None else _first(RULES, state)


def mark_warnings(state: AgentState) -> AgentState:
    """The state with the due warnings marked as sent; the same object if none is due."""
    return state.after_warnings(turn=turn_warning_is_due(state), token=token_warning_is_due(state))


def turn_warning_is_due(state: AgentState) -> bool:
    """Whether the iteration warning is due at the start of this turn.

    Once, at the first turn count that has reached the percentage or is two turns before the limit; never before the
    first turn, and never with a limit of 1.
    """
    if state.turn_warned or state.turn_limit < NOTICE_TURNS or state.turn >= state.turn_limit:
        return False
    by_percent = ceil(state.turn_limit * state.config.soft_warning_percent / 100)
    return state.turn >= max(1, min(by_percent, state.turn_limit - NOTICE_TURNS))


def token_warning_is_due(state: AgentState) -> bool:
    """Whether the token warning is due at the start of this turn: once, and not when the budget is used up already."""
    if state.token_warned or state.turn == 0 or state.tokens_left == 0:
        return False
    return state.tokens_used * 100 >= state.config.token_budget * state.config.token_warning_percent
