"""The words of the system notifications and of the sentence that ends an answer which did not complete.

The words are part of the contract with clients; only the numbers change. Pure functions: who sends them adds the time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from oracle.chunks import Severity, SystemType, TerminationReason
from oracle.decision import AgentState, Repetition, find_repetition
from oracle.decision.rules import ERROR_LIMIT

_REPEATED = "the same actions were repeated"
_LONGEST_QUOTE = 300
"""Characters of a tool error or a blocker that a sentence quotes."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A system notification without its time."""

    system_type: SystemType
    message: str
    severity: Severity = "warning"
    metadata: Mapping[str, Any] = field(default_factory=dict)


def quoted(text: str) -> str:
    """Text from a model or a tool as part of a sentence: one line, bounded."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + "…"


def iteration_warning(state: AgentState) -> Notice:
    """Near the limit of turns."""
    message = f"Approaching iteration limit ({state.turn}/{state.turn_limit}). Consider wrapping up your response."
    return Notice("limit_warning", message, "warning", _numbers("iteration", state.turn, state.turn_limit))


def token_warning(state: AgentState) -> Notice:
    """Near the token budget."""
    budget = state.config.token_budget
    message = f"Approaching token budget ({state.tokens_used:,}/{budget:,} tokens). Consider being more concise."
    return Notice("limit_warning", message, "warning", _numbers("token", state.tokens_used, budget))


def stop_notice(reason: TerminationReason, state: AgentState) -> Notice | None:
    """What the user is told when a limit or the lack of progress ends the query; `None` for other reasons."""
    if reason == "max_iterations":
        message = f"Maximum iterations reached ({state.turn}/{state.turn_limit}). Saving partial response."
        return Notice("limit_reached", message, "error", _numbers("iteration", state.turn, state.turn_limit))
    if reason == "token_budget":
        budget = state.config.token_budget
        message = f"Token budget reached ({state.tokens_used:,}/{budget:,} tokens). Saving partial response."
        return Notice("limit_reached", message, "error", _numbers("token", state.tokens_used, budget))
    if reason == "timeout":
        limit = state.config.timeout_seconds
        message = f"Time limit reached ({limit}/{limit} s). Saving partial response."
        return Notice("limit_reached", message, "error", _numbers("timeout", limit, limit))
    if reason == "no_progress":
        repetition = find_repetition(state.recent_actions)
        message = f"No progress detected - {repetition.summary if repetition else _REPEATED}."
        return Notice("no_progress", message, "error", {"repeated_action": _repeated_action(repetition)})
    if reason == "error_limit":
        message = f"Multiple consecutive tool errors ({state.error_streak}/{ERROR_LIMIT}). Saving partial response."
        metadata = {"error_count": state.error_streak, "last_error": quoted(state.last_error)}
        return Notice("error_limit", message, "error", metadata)
    return None


def closing_sentence(reason: TerminationReason, state: AgentState, *, detail: str = "") -> str | None:
    """The sentence that ends the answer; `None` for the reasons that need none (decision 10).

    Args:
        reason: why the query stopped.
        state: at its end.
        detail: the blocker when `stuck`, the error's text when `error`.
    """
    match reason:
        case "max_iterations":
            return f"Stopped: iteration limit reached ({state.turn}/{state.turn_limit})."
        case "token_budget":
            return f"Stopped: token budget reached ({state.tokens_used:,}/{state.config.token_budget:,} tokens)."
        case "timeout":
            return f"Stopped: time limit reached ({state.config.timeout_seconds} s)."
        case "no_progress":
            return f"Stopped: no progress - {_why_no_progress(find_repetition(state.recent_actions))}."
        case "error_limit":
            last_error = quoted(state.last_error).rstrip(".")
            return f"Stopped: {state.error_streak} tool errors in a row (last: {last_error})."
        case "stuck":
            return f"Stopped: could not get further - {quoted(detail).rstrip('.') or 'no way forward was found'}."
        case "error":
            return f"Stopped: {quoted(detail).rstrip('.') or 'an internal error'}."
        case _:
            return None


def _numbers(limit_type: str, current: int, limit: int) -> dict[str, Any]:
    return {
        "current_value": current,
        "limit_value": limit,
        "percent": round(100 * current / limit),
        "limit_type": limit_type,
    }


def _repeated_action(repetition: Repetition | None) -> str:
    return repetition.action.signature if repetition else ""


def _why_no_progress(repetition: Repetition | None) -> str:
    if repetition is None:
        return _REPEATED
    if repetition.kind == "same_error":
        return f"{repetition.action.tool} failed {repetition.times} times with the same error"
    if repetition.kind == "cycle":
        return f"the same {repetition.period} actions brought the same results {repetition.times} times"
    return f"{repetition.action.signature} brought the same result {repetition.times} times"
