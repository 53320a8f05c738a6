"""The words of the system notifications and of the sentence that ends an answer which did not complete.

The words are part of the contract with clients; only the numbers change. These are pure functions: the sender adds the
time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated
from oracle.core.chunks import Severity, SystemType, TerminationReason
from oracle.decision import AgentState, Repetition, ToolAction, action_signature, find_repetition
from oracle.decision.rules import ERROR_LIMIT
from signals import as_plain_text

_LONGEST_QUOTE = 300
"""Characters of a tool error or a blocker that a sentence quotes."""
_LONGEST_CALL = 200
"""Characters of the arguments of one call, where a sentence names several."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A system notification without its time."""

    system_type: SystemType
    message: str
    severity: Severity = "warning"
    metadata: Mapping[str, Any] = field(default_factory=dict)


def quoted(text: str) -> str:
    """Text from a model or a tool as part of a sentence: one line of bounded length, without signals."""
    return truncated(as_plain_text(" ".join(text.split())), _LONGEST_QUOTE)


def history_cut(omitted_messages: int, *, is_shortened: bool) -> Notice:
    """The model gets only a part of the conversation: the rest is beyond the bound on its history."""
    cuts = []
    if omitted_messages:
        cuts.append(f"the {omitted_messages:,} oldest messages are left out")
    if is_shortened:
        cuts.append("the last exchange is shortened")
    message = f"This conversation no longer fits beside the question: {' and '.join(cuts)}."
    metadata = {"omitted_messages": omitted_messages, "shortened": is_shortened}
    return Notice("limit_warning", message, "info", metadata)


def waits_for_place(place: int) -> Notice:
    """The query waits until the service has a place for it; `place`: among those that wait."""
    message = f"The service is busy. Your question waits for its turn, at place {place:,}."
    return Notice("queued", message, "info", {"place": place})


def iteration_warning(state: AgentState) -> Notice:
    """Near the limit of turns."""
    message = f"Approaching iteration limit ({state.turn}/{state.turn_limit}). Consider wrapping up your response."
    return Notice("limit_warning", message, "warning", _turn_numbers(state))


def token_warning(state: AgentState) -> Notice:
    """Near the token budget."""
    budget = state.config.token_budget
    message = f"Approaching token budget ({state.tokens_used:,}/{budget:,} tokens). Consider being more concise."
    return Notice("limit_warning", message, "warning", _token_numbers(state))


def time_warning(state: AgentState, elapsed_s: float) -> Notice:
    """Near the limit of time."""
    message = f"Approaching time limit ({elapsed_s:.0f}/{state.time_limit_s:g} s). Consider wrapping up your response."
    percent = 100 * elapsed_s / state.time_limit_s
    return Notice("limit_warning", message, "warning", _numbers("timeout", elapsed_s, state.time_limit_s, percent))


def stop_notice(reason: TerminationReason, state: AgentState) -> Notice | None:
    """The notification that a limit or the lack of progress ends the query; `None` for other reasons."""
    if reason == "max_iterations":
        message = f"Maximum iterations reached ({state.turn}/{state.turn_limit}). Saving partial response."
        return Notice("limit_reached", message, "error", _turn_numbers(state))
    if reason == "token_budget" and state.limit_reached:
        message = f"Ended because {state.limit_reached}. Saving partial response."
        return Notice("limit_reached", message, "error")
    if reason == "token_budget":
        budget = state.config.token_budget
        message = f"Token budget reached ({state.tokens_used:,}/{budget:,} tokens). Saving partial response."
        return Notice("limit_reached", message, "error", _token_numbers(state))
    if reason == "timeout":
        limit = state.time_limit_s
        message = f"Time limit reached ({limit:g}/{limit:g} s). Saving partial response."
        return Notice("limit_reached", message, "error", _numbers("timeout", limit, limit, 100))
    if reason == "no_progress":
        repetition = find_repetition(state.recent_actions)
        message = f"No progress detected - {repetition.summary if repetition else _repeated(state, ' ')}."
        return Notice("no_progress", message, "error", {"repeated_action": _repeated_action(repetition)})
    if reason == "error_limit":
        message = f"Multiple consecutive tool errors ({state.error_streak}/{ERROR_LIMIT}). Saving partial response."
        metadata = {"error_count": state.error_streak, "last_error": quoted(state.last_error)}
        return Notice("error_limit", message, "error", metadata)
    return None


def own_stop_sentence(reason: TerminationReason) -> str:
    """The sentence that ends the answer when the control ended the run for a limit that has not been reached."""
    return f"Stopped: the tree ended this run with the reason {reason}."


def own_stop_notice(reason: TerminationReason) -> Notice:
    """The notification that the control ends the query for a limit that has not been reached; it has no numbers."""
    types: Mapping[str, SystemType] = {"no_progress": "no_progress", "error_limit": "error_limit"}
    message = f"The tree ended this run with the reason {reason}. Saving partial response."
    return Notice(types.get(reason, "limit_reached"), message, "info")


def closing_sentence(reason: TerminationReason, state: AgentState, *, detail: str = "") -> str | None:
    """The sentence that ends the answer; `None` for the reasons that need none.

    Args:
        reason: why the query stopped.
        state: where the query stood when it ended; gives the figures of the sentence.
        detail: the blocker when `stuck`, the error's text when `error`, why it was reached when a limit.
    """
    match reason:
        case "max_iterations":
            return f"Stopped: iteration limit reached ({state.turn}/{state.turn_limit})."
        case "token_budget":
            why = f": {detail}" if detail else ""
            budget = f"token budget reached ({state.tokens_used:,}/{state.config.token_budget:,} tokens)"
            return f"Stopped: {state.limit_reached or budget}{why}."
        case "timeout":
            return f"Stopped: time limit reached ({state.time_limit_s:g} s)."
        case "no_progress":
            return f"Stopped: no progress - {_why_no_progress(state)}."
        case "error_limit":
            tried = _signatures(state.recent_actions[-state.error_streak :])
            return f"Stopped: {state.error_streak} tool errors in a row (last: {_last_error(state)}; tried: {tried})."
        case "stuck":
            return f"Stopped: could not get further - {quoted(detail).rstrip('.') or 'no way forward was found'}."
        case "error":
            return error_sentence(detail)
        case _:
            return None


def error_sentence(error: str) -> str:
    """The closing sentence of a query that failed; `error` is the message that the user got, and may be empty."""
    return f"Stopped: {quoted(error).rstrip('.') or 'an internal error'}."


def silence(state: AgentState) -> str:
    """The blocker of a query whose model returns empty responses; empty if the last turn was not empty."""
    if state.empty_turns == 0:
        return ""
    return "the model's last response was empty" if state.empty_turns == 1 else "the model kept giving empty responses"


def _turn_numbers(state: AgentState) -> dict[str, Any]:
    return _numbers("iteration", state.turn, state.turn_limit, state.iteration_percent)


def _token_numbers(state: AgentState) -> dict[str, Any]:
    return _numbers("token", state.tokens_used, state.config.token_budget, state.token_percent)


def _numbers(limit_type: str, current: float, limit: float, percent: float) -> dict[str, Any]:
    return {"current_value": current, "limit_value": limit, "percent": round(percent), "limit_type": limit_type}


def _repeated_action(repetition: Repetition | None) -> str:
    return ", ".join(action.signature for action in repetition.cycle) if repetition else ""


def _why_no_progress(state: AgentState) -> str:
    """Names the calls attempted and, where they failed, the last error."""
    repetition = find_repetition(state.recent_actions)
    if repetition is None:
        return _repeated(state, " came ")
    times, action = repetition.times, repetition.action
    error = f" (last error: {_last_error(state)})" if action.is_error else ""
    if repetition.kind == "same_error":
        tried = _signatures(state.recent_actions[-times:])
        return (
            f"{action.tool} failed {times} times with the same error (tried: {tried}; last error: {_last_error(state)})"
        )
    if repetition.kind == "cycle":
        return f"{_signatures(repetition.cycle)} brought the same results {times} times{error}"
    if len({each.result_digest for each in state.recent_actions[-times:]}) > 1:
        return f"{action.signature} failed {times} times{error}"
    return f"{action.signature} brought the same result {times} times{error}"


def _repeated(state: AgentState, verb: str) -> str:
    """What was repeated where no tool calls are known to be."""
    turns = state.repeated_turns
    return f"the same text{verb}{turns + 1} times" if turns else "the same actions were repeated"


def _signatures(actions: Sequence[ToolAction]) -> str:
    """The different calls, in order."""
    each = [action_signature(action.tool, action.arguments, max_chars=_LONGEST_CALL) for action in actions]
    return ", ".join(dict.fromkeys(each))


def _last_error(state: AgentState) -> str:
    return quoted(state.last_error).rstrip(".") or "no reason given"
