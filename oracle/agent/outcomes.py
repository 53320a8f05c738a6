"""What the steps of a query that wait bring back: plain data, kept in the tick records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oracle.decision import Action
from oracle.models.protocol import ModelFault, StopReason, ToolCall
from signals import Signal


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How an LLM turn ended.

    Args:
        text: the visible text of the turn.
        content: the model's blocks as they go back to the provider.
        calls: tool calls, in the model's order.
        stop_reason: as the provider said; `None` if the turn was interrupted or failed.
        tokens: as the budget counts them.
        input_tokens: the whole input, cached or not; 0 if the provider reported none.
        caches: the provider keeps the prompt, so that it is not counted again.
        estimated: the provider reported no usage, or not all of it.
        model: the model that answered; empty if unknown.
        signal: the first well-formed one.
        malformed_signal: there was one that could not be read.
        cut_off: the response ends before its end: by its bound on tokens, or by the token budget.
        budget_cut: it was the budget that cut it off.
        interrupted: the turn was cancelled in mid-stream.
        fault: what went wrong at the provider.
    """

    text: str = ""
    content: tuple[Mapping[str, Any], ...] = ()
    calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason | None = None
    tokens: int = 0
    input_tokens: int = 0
    caches: bool = False
    estimated: bool = False
    model: str = ""
    signal: Signal | None = None
    malformed_signal: bool = False
    cut_off: bool = False
    budget_cut: bool = False
    interrupted: bool = False
    fault: ModelFault | None = None

    @property
    def is_answer(self) -> bool:
        """The model stopped of itself, with no tool calls."""
        return not (self.calls or self.cut_off or self.interrupted or self.fault)


@dataclass(frozen=True, slots=True)
class CallResult:
    """How one tool call ended.

    Args:
        call: as the model made it.
        text: what the model is told.
        is_error: it failed, was refused, or was cancelled.
        counts: it was run to its end, so it is an action, and an error if it failed (decision 5).
        is_empty: it worked and found nothing.
        group: the tool's group; `None` if there is no such tool.
        action: for the rules.
    """

    call: ToolCall
    text: str
    is_error: bool
    counts: bool
    is_empty: bool
    group: str | None
    action: Action


@dataclass(frozen=True, slots=True)
class ToolsOutcome:
    """How the tool calls of a turn ended, in the model's order."""

    results: tuple[CallResult, ...] = ()

    @property
    def found_nothing(self) -> bool:
        """At least one call was run, and none of those brought anything."""
        ran = [result for result in self.results if result.counts]
        return bool(ran) and all(result.is_empty or result.is_error for result in ran)
