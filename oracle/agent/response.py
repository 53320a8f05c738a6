"""The response of a turn as it arrives: what is shown of it at once, and the outcome that it comes to.

Rules:

- Text passes the signal reader first; no signal XML gets out, and each piece is shown as early as it safely can be.
- When the estimated output exceeds what the budget has left, the current piece is delivered and the rest is not read.
- A response that only repeats the answer so far is not shown, and one that repeats itself is cut off.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import structlog

from bt_runtime.text import estimate_tokens
from bt_runtime.text.data import dataclass
from oracle.agent.notices import quoted
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.output import Output
from oracle.agent.planning import TurnPlan
from oracle.core import chunks
from oracle.core.chunks import ToolCalled, ToolReturned
from oracle.decision.repeated_text import LOOP_CHARS, Echo, goes_round
from oracle.llm.protocol import (
    ModelEvent,
    ModelFault,
    ServerToolCalled,
    ServerToolReturned,
    SourceCited,
    ThinkingDelta,
    ToolCallRequested,
    ToolUse,
    TurnEnded,
    Usage,
    UsageReported,
)
from signals import ParsedResponse, SignalStream

log = structlog.get_logger(__name__)

_LONGEST_PIECE = 16_384
"""Characters; providers send a few words at a time, so a longer piece is split."""


@dataclass(slots=True)
class Response:
    """The response so far.

    Args:
        output: shows it to the user.
        reserve: grows the turn's part of the budget for this many characters; returns how many it covers now.
        characters_reserved: how many it covered at the beginning.
        input_tokens: those of the request, estimated.
        is_taken: whether a call before this turn has the id.
        now: the time in seconds.
        echo: holds back what only repeats the answer so far.
    """

    output: Output
    reserve: Callable[[int], int]
    characters_reserved: int
    input_tokens: int
    is_taken: Callable[[str], bool]
    now: Callable[[], float]
    echo: Echo
    reader: SignalStream = field(default_factory=SignalStream)
    raw: list[str] = field(default_factory=list)
    look_again_at: int = LOOP_CHARS
    goes_round: bool = False
    calls: list[ToolUse] = field(default_factory=list)
    server_tools: list[str] = field(default_factory=list)
    characters: int = 0
    usage: Usage = field(default_factory=Usage)
    ended: TurnEnded | None = None
    is_over: bool = False
    first_text_s: float | None = None
    show: Callable[[str], None] = field(init=False)
    """The receiver of visible text; the first piece is timed, at no cost for later ones."""

    def __post_init__(self) -> None:
        self.show = self._show_first

    def _show_first(self, text: str) -> None:
        text = self.echo.feed(text)
        if not text:
            return
        self.first_text_s = self.now()
        self.show = self.output.say
        self.output.say(text)

    def is_enough(self) -> bool:
        """Whether nothing more of the response is wanted."""
        return self.goes_round or (self.characters > self.characters_reserved and self.exceeds_budget())

    def exceeds_budget(self) -> bool:
        """Whether the output so far is more than the budget pays for."""
        if self.characters > self.characters_reserved:
            self.characters_reserved = self.reserve(self.characters)
        return self.characters > self.characters_reserved

    def take_text(self, text: str) -> None:
        """Show a piece of text, which is what most events are."""
        if len(text) > _LONGEST_PIECE:
            self._take_long(text, self.take_text)
            return
        self.characters += len(text)
        self.raw.append(text)
        if self.characters >= self.look_again_at:
            self.look_again_at += self.characters // 4
            self.goes_round = goes_round("".join(self.raw))
        shown = self.reader.feed(text)
        if self.reader.thoughts:
            self.think()
        if shown:
            self.show(shown)

    def think(self) -> None:
        """Show the thinking that stood within the text."""
        for thought in self.reader.thoughts:
            self.output.think(thought)
        self.reader.thoughts.clear()

    def _take_thought(self, text: str) -> None:
        self.characters += len(text)
        self.output.think(text)

    def _take_long(self, text: str, take: Callable[[str], None]) -> None:
        """Take the text in pieces of bounded size, up to the one that exceeds the budget."""
        for at in range(0, len(text), _LONGEST_PIECE):
            take(text[at : at + _LONGEST_PIECE])
            if self.is_enough():
                return

    def take(self, event: ModelEvent) -> None:
        """Show the events that can be shown, and keep the rest."""
        match event:
            case ThinkingDelta(text):
                self._take_long(text, self._take_thought)
            case ToolCallRequested(call):
                self._take_call(call)
            case ServerToolCalled(call_id, name, arguments):
                self.server_tools.append(name)
                self.output.call_tool(ToolCalled(chunks.ToolCall(call_id, name, arguments)))
            case ServerToolReturned(call_id, text):
                self.output.return_tool(ToolReturned(call_id, text, is_error=event.is_error, duration_ms=0))
                for source in event.sources:
                    self.output.cite(source)
            case SourceCited(source):
                self.output.cite(source)
            case UsageReported(usage):
                self.usage = usage
            case TurnEnded():
                self.ended, self.usage = event, event.usage

    def _take_call(self, requested: ToolUse) -> None:
        size = len(str(requested.arguments))
        self.characters += size
        if size > _LONGEST_PIECE and self.exceeds_budget():
            log.warning("tool_call.dropped", characters=size)  # the budget does not pay for it
            return
        self.show(self.echo.release())
        if (announced := self.output.claim(requested.name, requested.arguments)) is not None:
            self.calls.append(replace(requested, id=announced))  # announced by the turn that this one repeats
            return
        call = self._with_own_id(requested)
        self.calls.append(call)
        self.output.call_tool(ToolCalled(chunks.ToolCall(call.id, call.name, call.arguments)))

    def _with_own_id(self, call: ToolUse) -> ToolUse:
        """The call with an id that is unique in the query, because results are matched by it."""
        number, call_id = 1, call.id or "call"
        while self.is_taken(call_id) or any(other.id == call_id for other in self.calls):
            number, call_id = number + 1, f"{call.id or 'call'}_{number + 1}"
        return call if call_id == call.id else replace(call, id=call_id)

    @property
    def content(self) -> tuple[Mapping[str, Any], ...]:
        """The model's blocks as they go back to the provider; only the complete ones if the turn was cut off."""
        if self.ended is not None:
            return _with_ids(self.ended.content, self.calls)
        text = "".join(self.raw)
        spoken: list[Mapping[str, Any]] = [{"type": "text", "text": text}] if text.strip() else []
        return (
            *spoken,
            *({"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in self.calls),
        )


def _with_ids(content: tuple[Mapping[str, Any], ...], calls: Sequence[ToolUse]) -> tuple[Mapping[str, Any], ...]:
    """The model's blocks with the ids under which its calls are run and answered."""
    if not calls:
        return content
    own = iter(calls)
    return tuple([_with_id(each, next(own, None)) if each.get("type") == "tool_use" else each for each in content])


def _with_id(block: Mapping[str, Any], call: ToolUse | None) -> Mapping[str, Any]:
    return block if call is None or call.id == block.get("id") else {**block, "id": call.id}


def outcome_of(
    response: Response,
    parsed: ParsedResponse,
    *,
    plan: TurnPlan,
    fault: ModelFault | None,
    interrupted: bool,
    **of_request: Any,  # noqa: ANN401  fields of several types
) -> TurnOutcome:
    """What the response comes to.

    Args:
        response: has taken its last event.
        parsed: its text, and the signal.
        plan: what the turn was planned with.
        fault: what went wrong at the provider; `None`: what the stop reason says.
        interrupted: the turn was cancelled.
        of_request: the other fields of the outcome.
    """
    ended, usage = response.ended, response.usage
    fault = fault or _fault_of(response)
    broken = interrupted or fault is not None
    cut_by_budget = response.characters > response.characters_reserved and ended is None and not broken
    ran_out = ended is not None and ended.stop_reason == "max_tokens"
    is_full = ended is not None and ended.stop_reason == "model_context_window_exceeded"
    input_tokens, output_tokens, estimated = _count(response, is_whole=ended is not None)
    return TurnOutcome(
        parsed=parsed,
        content=response.content,
        calls=() if broken else tuple(response.calls),
        server_tools=tuple(response.server_tools),
        stop_reason=ended.stop_reason if ended else None,
        tokens=input_tokens + output_tokens,
        output_tokens=output_tokens,
        input_tokens=response.input_tokens
        if usage.billed_input is None
        else usage.billed_input + usage.cache_read_tokens,
        cache_creation_tokens=min(usage.cache_creation_tokens, input_tokens),
        cache_read_tokens=usage.cache_read_tokens,
        caches=bool(usage.cache_creation_tokens or usage.cache_read_tokens),
        estimated=estimated,
        model=ended.model if ended else "",
        cut_off=ran_out or cut_by_budget or is_full or (response.goes_round and not broken),
        budget_cut=cut_by_budget or is_full or (ran_out and plan.capped_by_budget),
        is_last_paid=plan.is_last_paid,
        interrupted=interrupted,
        fault=fault,
        request_ids=ended.request_ids if ended else (),
        cache_miss=usage.cache_miss,
        message_id=ended.message_id if ended else "",
        **of_request,
    )


def _count(response: Response, *, is_whole: bool) -> tuple[int, int, bool]:
    """Input and output tokens of the turn as the budget counts them, and whether one is an estimate."""
    usage, guessed_output = response.usage, estimate_tokens(response.characters)
    nothing_came = not (is_whole or response.characters or usage.input_tokens)
    if nothing_came:
        return 0, 0, False
    input_tokens, input_guessed = usage.billed_input, usage.billed_input is None
    output_tokens, output_guessed = usage.output_tokens, usage.output_tokens is None
    if output_tokens is None or (not is_whole and guessed_output > output_tokens):
        output_tokens, output_guessed = guessed_output, True
    if input_tokens is None:
        input_tokens = response.input_tokens
    return input_tokens, output_tokens, input_guessed or output_guessed


def _fault_of(response: Response) -> ModelFault | None:
    """Stop reasons that end the query: a refusal, and a stream that ended without one."""
    if response.ended is None:
        return None
    match response.ended.stop_reason:
        case "refusal":
            why = f": {detail}" if (detail := quoted(response.ended.stop_detail or "").rstrip(".")) else ""
            return ModelFault(
                "provider_refused",
                f"The model declined to answer this{why}. Put the question in other words, or choose another model.",
            )
        case "broken":
            return ModelFault(
                "provider_failed",
                "The model's answer broke off before its end. Please ask again.",
                "The provider's stream ended without a stop reason.",
                {"model": response.ended.model, "request_ids": list(response.ended.request_ids)},
                "broken_off",
            )
        case _:
            return None
