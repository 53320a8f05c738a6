"""One LLM turn: a request goes out, text goes to the user as it comes, the outcome comes back.

Rules (decisions 6-8, 13-18):

- Text passes the signal reader first; no signal XML gets out, and each piece is shown as early as it safely can be.
- When the estimated output exceeds what was left of the budget, the piece at hand is delivered and the stream closed.
- A turn that is cancelled or fails keeps what it said: the outcome says so, and its tokens count.
"""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from oracle.agent.notices import quoted
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.output import Output
from oracle.agent.planning import CHARACTERS_PER_TOKEN, WRAP_UP_HINT, TurnPlan, estimate_tokens
from oracle.agent.run import AgentRun
from oracle.chunks import ToolCalled, ToolReturned
from oracle.models.protocol import (
    ModelError,
    ModelEvent,
    ModelFault,
    ModelRequest,
    ServerToolCalled,
    ServerToolReturned,
    SourceCited,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallRequested,
    TurnEnded,
    Usage,
    UsageReported,
)
from oracle.signals import ParsedResponse, SignalStream

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """What a tree may change about a turn.

    Args:
        visible: false for work that is not the main chain's: not streamed, not saved, without tools.
        tools: false where the model may not call tools in this turn.
        hint: an instruction for this turn alone.
    """

    visible: bool = True
    tools: bool = True
    hint: str = ""


@dataclass(slots=True)
class _Progress:
    """What has come of the turn so far."""

    output: Output
    characters_allowed: int
    input_tokens: int
    reader: SignalStream = field(default_factory=SignalStream)
    raw: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    server_tools: list[str] = field(default_factory=list)
    characters: int = 0
    usage: Usage = field(default_factory=Usage)
    ended: TurnEnded | None = None

    def hear(self, text: str) -> None:
        """A piece of text, which is what most events are."""
        self.raw.append(text)
        self.characters += len(text)
        shown = self.reader.feed(text)
        if shown:
            self.output.say(shown)

    def take(self, event: ModelEvent) -> None:
        """Show what can be shown, keep the rest."""
        match event:
            case ThinkingDelta(text):
                self.characters += len(text)
                self.output.think(text)
            case ToolCallRequested(call):
                self.calls.append(call)
                self.characters += len(str(call.arguments))
                self.output.call_tool(ToolCalled(call.id, call.name, call.arguments))
            case ServerToolCalled(call_id, name, arguments):
                self.server_tools.append(name)
                self.output.call_tool(ToolCalled(call_id, name, arguments))
            case ServerToolReturned():
                self._take_server_result(event)
            case SourceCited(source):
                self.output.cite(source)
            case UsageReported(usage):
                self.usage = usage
            case TurnEnded():
                self.ended, self.usage = event, event.usage

    def _take_server_result(self, event: ServerToolReturned) -> None:
        self.output.return_tool(ToolReturned(event.tool_call_id, event.text, is_error=event.is_error, duration_ms=0))
        for source in event.sources:
            self.output.cite(source)

    @property
    def content(self) -> tuple[Mapping[str, Any], ...]:
        """The model's blocks as they go back to the provider; of a turn that was cut off, what is whole of it."""
        if self.ended is not None:
            return self.ended.content
        text = "".join(self.raw)
        said: list[Mapping[str, Any]] = [{"type": "text", "text": text}] if text.strip() else []
        return (
            *said,
            *({"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in self.calls),
        )

    def read_to_end(self) -> ParsedResponse:
        """Show what the signal reader still held."""
        parsed = self.reader.close()
        self.output.say(parsed.remainder)
        return parsed


def build_request(run: AgentRun, plan: TurnPlan, options: TurnOptions) -> ModelRequest:
    """What is sent to the provider for this turn; takes the hints that are due, unless it is beside the answer."""
    due = run.take_hints() if options.visible else None
    hints = [due, WRAP_UP_HINT if plan.wrap_up else None, options.hint or None]
    may_call = plan.tool_choice == "auto" and options.visible and options.tools
    return ModelRequest(
        system=run.prompt.text if run.prompt else "",
        messages=run.transcript.for_request(),
        tools=run.equipment.tools.definitions(run.offered),
        tool_choice="auto" if may_call else "none",
        max_tokens=plan.max_tokens,
        thinking_tokens=plan.thinking_tokens,
        hint="\n".join(hint for hint in hints if hint) or None,
        web_search="web_search" in run.offered,
        model=run.query.model,
    )


async def run_turn(run: AgentRun, options: TurnOptions | None = None) -> TurnOutcome:
    """Run one turn; never raises but for mistakes of our own. A cancelled turn returns what it has."""
    options = options or TurnOptions()
    plan = run.plan()
    output = run.output if options.visible else Output(emit=_drop, timestamp=run.equipment.timestamp)
    progress = _Progress(output, plan.tokens_left * CHARACTERS_PER_TOKEN, plan.input_tokens)
    output.new_paragraph()
    fault: ModelFault | None = None
    interrupted = False
    started_s = run.equipment.clock.now()
    try:
        async with aclosing(run.equipment.model.stream(build_request(run, plan, options))) as events:
            async for event in events:
                if type(event) is TextDelta:
                    progress.hear(event.text)
                else:
                    progress.take(event)
                if progress.characters > progress.characters_allowed:
                    break
    except ModelError as error:
        fault = error.fault
    except asyncio.CancelledError:
        interrupted = True
    parsed = progress.read_to_end()
    for warning in parsed.warnings:
        log.warning("signal.doubtful", problem=str(warning), turn=run.state.turn + 1)
    outcome = _outcome(progress, parsed, plan=plan, fault=fault or _fault_of(progress), interrupted=interrupted)
    return replace(outcome, duration_ms=round((run.equipment.clock.now() - started_s) * 1000))


def _drop(_chunk: object) -> None:
    """Where an invisible turn speaks."""


def _outcome(
    progress: _Progress, parsed: ParsedResponse, *, plan: TurnPlan, fault: ModelFault | None, interrupted: bool
) -> TurnOutcome:
    ended, usage = progress.ended, progress.usage
    broken = interrupted or fault is not None
    cut_by_budget = progress.characters > progress.characters_allowed and ended is None and not broken
    ran_out = ended is not None and ended.stop_reason == "max_tokens"
    tokens, estimated = _count(progress, is_whole=ended is not None)
    return TurnOutcome(
        parsed=parsed,
        content=progress.content,
        calls=() if broken else tuple(progress.calls),
        server_tools=tuple(progress.server_tools),
        stop_reason=ended.stop_reason if ended else None,
        tokens=tokens,
        input_tokens=progress.input_tokens
        if usage.billed_input is None
        else usage.billed_input + usage.cache_read_tokens,
        caches=bool(usage.cache_creation_tokens or usage.cache_read_tokens),
        estimated=estimated,
        model=ended.model if ended else "",
        cut_off=ran_out or cut_by_budget,
        budget_cut=cut_by_budget or (ran_out and plan.capped_by_budget),
        is_last_paid=plan.is_last_paid,
        interrupted=interrupted,
        fault=fault,
    )


def _count(progress: _Progress, *, is_whole: bool) -> tuple[int, bool]:
    """Tokens of the turn as the budget counts them, and whether any of that is an estimate (decision 6)."""
    usage, guessed_output = progress.usage, estimate_tokens(progress.characters)
    nothing_came = not (is_whole or progress.characters or usage.input_tokens)
    if nothing_came:
        return 0, False
    input_tokens, input_guessed = usage.billed_input, usage.billed_input is None
    output_tokens, output_guessed = usage.output_tokens, usage.output_tokens is None
    if output_tokens is None or (not is_whole and guessed_output > output_tokens):
        output_tokens, output_guessed = guessed_output, True
    return (progress.input_tokens if input_tokens is None else input_tokens) + output_tokens, (
        input_guessed or output_guessed
    )


def _fault_of(progress: _Progress) -> ModelFault | None:
    """Stop reasons that end the query (decision 14)."""
    if progress.ended is None:
        return None
    match progress.ended.stop_reason:
        case "refusal":
            why = f": {quoted(detail)}" if (detail := progress.ended.stop_detail) else ""
            return ModelFault(
                "provider_refused",
                f"The model declined to answer this{why}. Put the question in other words, or choose another model.",
            )
        case "model_context_window_exceeded":
            return ModelFault(
                "context_too_large",
                "The conversation is longer than the model can read. Begin a new one, or ask for less.",
            )
        case "broken":
            return ModelFault("provider_failed", "The model's answer broke off before its end. Please ask again.")
        case _:
            return None
