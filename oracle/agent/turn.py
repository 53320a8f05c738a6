"""One LLM turn: sends a request, streams the text to the user, returns the outcome.

Rules:

- Text passes the signal reader first; no signal XML gets out, and each piece is shown as early as it safely can be.
- When the estimated output exceeds what the budget has left, the current piece is delivered and the stream is closed.
- A response that only repeats the answer so far is not shown, and one that repeats itself is cut off.
- A turn that is cancelled or fails keeps its text so far in the outcome, and its tokens count.
- A model that ignores its cancellation is abandoned: the turn ends, and later events are ignored.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import field, replace
from typing import Any, TypedDict

import structlog

from bt_runtime.text import estimate_tokens
from bt_runtime.text.data import dataclass
from oracle.agent.equipment import Equipment
from oracle.agent.journal import RequestRecord, digest_of
from oracle.agent.last_turn import LostTurn
from oracle.agent.notes import GO_ON, limit_note, stronger
from oracle.agent.notices import quoted
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.output import Output
from oracle.agent.planning import TurnPlan
from oracle.agent.run import AgentRun
from oracle.agent.transcript import Transcript
from oracle.core import chunks
from oracle.core.chunks import ToolCalled, ToolReturned
from oracle.decision.repeated_text import LOOP_CHARS, Echo, goes_round
from oracle.llm.protocol import (
    ModelError,
    ModelEvent,
    ModelFault,
    ModelRequest,
    ServerToolCalled,
    ServerToolReturned,
    SourceCited,
    TextDelta,
    ThinkingDelta,
    ToolCallRequested,
    ToolUse,
    TurnEnded,
    Usage,
    UsageReported,
)
from signals import NeedTurn, ParsedResponse, SignalStream

log = structlog.get_logger(__name__)

_LONGEST_PIECE = 16_384
"""Characters; providers send a few words at a time, so a longer piece is split."""
_CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})

_left_behind: set["asyncio.Task[ModelFault | None]"] = set()
"""Streams that have not ended yet; asyncio itself holds tasks weakly."""


@dataclass(slots=True)
class _Progress:
    """The turn so far."""

    output: Output
    reserve: Callable[[int], int]  # grows the turn's part of the budget for so many characters
    characters_reserved: int
    input_tokens: int
    is_taken: Callable[[str], bool]  # whether a call before this turn has the id
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


def notes_for(run: AgentRun, plan: TurnPlan, *, visible: bool, hint: str) -> tuple[str, ...]:
    """The notes of this turn's request: the strongest note, and the turn's own instruction.

    A note that waits is kept for a visible turn. The rest of a lost or failed turn is asked for without it: the request
    that it goes on from had it.
    """
    if visible and _goes_on_from(run):
        return (GO_ON, hint) if hint else (GO_ON,)
    elapsed_s = run.equipment.clock.now() - run.state.start_time
    limit = limit_note(run.state.at(elapsed_s), plan) if visible or plan.wrap_up else None
    note = stronger(run.note if visible else None, limit)
    return tuple(text for text in (note.whole if note else "", hint) if text)


def _asked_with(run: AgentRun, notes: Sequence[str]) -> Transcript:
    """The messages of this turn's request, which ends with a message for the model to answer.

    If the turn had to wait for another one, the last message may be the model's. An invisible turn ends with notes that
    no later turn has.
    """
    return run.transcript.beside(notes) if notes or run.transcript.ends_with_model else run.transcript


def _plan_of(run: AgentRun, sent: RequestRecord) -> TurnPlan:
    """The plan of a request that was already sent, so that the repeated request is the same."""
    return replace(
        run.plan(sent.model), max_tokens=sent.max_tokens, thinking_tokens=sent.thinking_tokens, wrap_up=sent.wrap_up
    )


def _notes_of(lost: LostTurn) -> tuple[str, ...]:
    return (lost.request.note,) if lost.request.note else ()


def _spent(lost: LostTurn, plan: TurnPlan) -> tuple[int, int]:
    """Tokens, and those of output among them, that a lost turn has cost: estimates, as its usage was never reported."""
    output_tokens = estimate_tokens(lost.characters)
    return lost.times * plan.input_tokens + output_tokens, output_tokens


def _goes_on_from(run: AgentRun) -> str:
    """The text of lost or failed turns, the rest of which this turn asks for."""
    before = run.turn.outcome
    return before.whole_text if before is not None and before.is_lost and not before.is_broken else ""


def messages_of_lost(run: AgentRun, lost: LostTurn) -> Transcript:
    """The messages that would be sent if the request of a lost turn were sent once more."""
    return _asked_with(run, _notes_of(lost))


def cut_off_turn(run: AgentRun, lost: LostTurn, *, halted: bool) -> TurnOutcome:
    """A lost turn as an outcome: the text that the user has seen, and its cost.

    Args:
        run: the query.
        lost: the turn.
        halted: the control had halted it; otherwise the model is to go on where the text ends.
    """
    sent, text = lost.request, lost.text if lost.has_text else ""
    plan, visible = _plan_of(run, sent), not sent.is_side
    before = _goes_on_from(run) if visible else ""
    if run.rules is not None and not before:
        run.rules.turn(visible=visible)
    tokens, output_tokens = _spent(lost, plan)
    return TurnOutcome(
        parsed=ParsedResponse(text) if text else None,
        content=({"type": "text", "text": text},) if text else (),
        tokens=tokens,
        input_tokens=plan.input_tokens,
        output_tokens=output_tokens,
        estimated=True,
        model=run.model_used,
        is_last_paid=plan.is_last_paid,
        interrupted=halted,
        duration_ms=lost.duration_ms,
        first_text_ms=lost.first_text_ms,
        notes=_notes_of(lost),
        without_tools=sent.tool_choice == "none",
        is_side=sent.is_side,
        is_lost=True,
        goes_on_from=before,
    )


class TurnRequest(TypedDict):
    """What a control asks for: the arguments of `run_turn` and `OpenTurn` besides the query."""

    visible: bool
    tools: bool
    hint: str
    model: str | None
    retries: bool


class OpenTurn:
    """A turn between its request and its outcome.

    Args:
        run: the query.
        visible: false for work that is not the main chain's: not streamed, not saved, without tools.
        tools: false where the model may not call tools in this turn; a provider that takes no changes of tools in
            mid-conversation finds nothing in its cache then.
        hint: an instruction for this turn.
        model: the provider's model that answers; `None`: the query's.
        retries: as in `ModelRequest`.
        lost: the same turn as a process has left it that died; its request is sent once more as it was, and its cost
            counts with that of this one.
    """

    def __init__(
        self,
        run: AgentRun,
        *,
        visible: bool = True,
        tools: bool = True,
        hint: str = "",
        model: str | None = None,
        retries: bool = True,
        lost: LostTurn | None = None,
    ) -> None:
        self._before = _goes_on_from(run) if visible else ""
        if run.rules is not None and not (self._before and run.turn.fault is None):  # else the lost turn has begun it
            run.rules.turn(visible=visible)
        self._run, self._visible, self._tools = run, visible, tools
        self._model, self._retries, self._lost = model, retries, lost
        self._plan = plan = run.plan(model) if lost is None else _plan_of(run, lost.request)
        self._hint = hint
        self._notes = notes_for(run, plan, visible=visible, hint=hint) if lost is None else _notes_of(lost)
        self._asked = _asked_with(run, self._notes)
        output = run.output if visible else Output(emit=lambda _chunk: None, timestamp=run.equipment.timestamp)
        self._reservation = reservation = run.cost.reserve(plan)

        def reserve(characters: int) -> int:
            return reservation.cover(characters, tokens_left=run.state.tokens_left)

        now, is_taken, last = run.equipment.clock.now, run.transcript.has_call, run.turn.outcome
        # After tool calls the model may repeat itself, because it knows more.
        can_repeat = last is not None and last.is_finished and not (last.calls or last.server_tools)
        echo = Echo(output.answer if can_repeat else "")
        self.progress = _Progress(output, reserve, reservation.characters, plan.input_tokens, is_taken, now, echo)
        output.begin_turn()
        has_schema = visible and run.query.output_schema is not None
        self._check = run.equipment.hooks.check_answer if has_schema else None
        if self._check is not None:  # the answer is shown once it is valid
            self.progress.show, self.progress.echo = lambda _text: None, Echo("")
        self._started_s = now()

    def request(self) -> ModelRequest:
        """What is sent to the provider: system prompt, tools and messages begin with those of the previous request."""
        run, plan, asked, tools = self._run, self._plan, self._asked, self._visible and self._tools
        return ModelRequest(
            system=run.prompt.text if run.prompt else "",
            messages=asked.messages,
            tools=run.equipment.tools.definitions(run.offered),
            tool_choice="auto" if tools and not run.repairs else "none",
            wrap_up=plan.wrap_up,
            max_tokens=plan.max_tokens,
            thinking_tokens=plan.thinking_tokens,
            web_search="web_search" in run.offered,
            look_first=run.look_first,
            model=self._model or run.query.model,
            output_schema=run.query.output_schema if self._visible else None,
            time_left_s=max(0.0, run.state.time_limit_s - (run.equipment.clock.now() - run.state.start_time)),
            previous_message=run.turn.outcome.message_id if run.turn.outcome else "",
            retries=self._retries,
            offers=asked.offers(run.offered, run.usable(tools=tools)),
        )

    def record(self, request: ModelRequest, *, step: str) -> RequestRecord:
        """What is recorded of the request.

        Args:
            request: what is about to be sent to the model.
            step: the key of the outcome that the turn will have.
        """
        run, prompt = self._run, self._run.prompt
        digest, blocks = self._asked.digest()
        return RequestRecord(
            step=step,
            at_s=self._started_s,
            model=request.model,
            prompt=digest_of(request.system),
            segments=prompt.included if prompt else (),
            tools=run.offered,
            tool_choice=request.tool_choice,
            notes=len(self._notes),
            hint=self._hint,
            messages=len(request.messages),
            new_messages=len(request.messages) - run.transcript.sent_messages,
            max_tokens=request.max_tokens,
            thinking_tokens=request.thinking_tokens,
            wrap_up=request.wrap_up,
            is_side=not self._visible,
            digest=digest,
            blocks=blocks,
            note="\n\n".join(self._notes),
        )

    def play(self, events: Iterable[ModelEvent]) -> None:
        """Take the events of a response that is there already, up to the one that exceeds the budget."""
        for event in events:
            if isinstance(event, TextDelta):
                self.progress.take_text(event.text)
            else:
                self.progress.take(event)
            if self.progress.is_enough():
                break

    def release(self) -> None:
        """The model has ended or failed: release the reservation."""
        self._reservation.release()

    def end(self, fault: ModelFault | None = None, *, interrupted: bool = False) -> TurnOutcome:
        """Show the text that was held back, and return the outcome.

        Args:
            fault: what went wrong at the provider.
            interrupted: the turn was cancelled.
        """
        progress = self.progress
        ended = progress.ended
        is_whole = not interrupted and fault is None and ended is not None and ended.stop_reason not in _CUT_OFF
        parsed = progress.reader.close(cut_off=not is_whole)
        progress.think()
        if parsed.remainder:
            progress.show(parsed.remainder)
        is_last = is_whole and not isinstance(parsed.signal, NeedTurn)
        repeats, rest = progress.echo.end(parsed.text, is_whole=is_last)
        progress.show(rest)
        progress.show = progress.output.say  # no reference of its own to the turn, which would be a cycle
        first_s = progress.first_text_s
        outcome = _outcome(
            progress,
            parsed,
            plan=self._plan,
            fault=fault or _fault_of(progress),
            interrupted=interrupted,
            duration_ms=self._since_start_ms(progress.now()),
            first_text_ms=None if first_s is None else self._since_start_ms(first_s),
            notes=self._notes,
            without_tools=not (self._visible and self._tools),
            is_side=not self._visible,
            repeats=progress.goes_round or (repeats and not progress.calls),
        )
        if self._before:
            outcome = replace(outcome, goes_on_from=self._before)
        if self._check is not None:
            outcome = self._check(self._run, outcome)
            progress.output.say(outcome.text)
        if self._lost is None:
            return outcome
        tokens, output_tokens = _spent(self._lost, self._plan)
        return replace(
            outcome,
            tokens=outcome.tokens + tokens,
            output_tokens=outcome.output_tokens + output_tokens,
            estimated=True,
        )

    def _since_start_ms(self, at_s: float) -> int:
        return round((at_s - self._started_s) * 1000)


async def run_turn(
    run: AgentRun,
    *,
    step: str = "",
    visible: bool = True,
    tools: bool = True,
    hint: str = "",
    model: str | None = None,
    retries: bool = True,
) -> TurnOutcome:
    """Run one turn; raises only on errors in our own code. A cancelled turn returns its text so far.

    The arguments are those of `OpenTurn`, and `step`: the key of the outcome, under which the request is recorded.
    """
    lost = run.lost.turns.pop(step, None) if run.lost is not None else None
    turn = OpenTurn(run, visible=visible, tools=tools, hint=hint, model=model, retries=retries, lost=lost)
    try:
        request = turn.request()
        run.journal.request(turn.record(request, step=step), prompt=request.system)
        asked_model, number = request.model or run.equipment.model.name, run.state.turn + 1
        with run.trace.turn(request, model=asked_model, number=number, visible=visible) as note_end:
            fault, interrupted = await _stream(run, request, turn.progress)
            outcome = turn.end(fault, interrupted=interrupted)
            note_end(outcome, turn.progress.usage)
            return outcome
    finally:
        turn.release()


async def _stream(run: AgentRun, request: ModelRequest, progress: _Progress) -> tuple[ModelFault | None, bool]:
    """Read the response to its end, or until this is cancelled: what went wrong, and whether it was cancelled."""
    ended = asyncio.get_running_loop().create_future()
    reading = asyncio.create_task(_read(run.equipment, request, progress, ended), name="model")
    interrupted = False
    try:
        await ended
    except asyncio.CancelledError:
        interrupted = True
        await _stop(reading, grace_s=run.cancel_grace_s())
    progress.is_over = True
    if not reading.done() or reading.cancelled():
        return None, True
    return reading.result(), interrupted


async def _read(
    equipment: Equipment, request: ModelRequest, progress: _Progress, ended: "asyncio.Future[None]"
) -> ModelFault | None:
    """Take each event; returns what went wrong at the provider.

    `ended` is set within the task: a callback on the task would run one iteration of the event loop later.
    """
    try:
        if equipment.hooks.complete is not None:
            request = await equipment.hooks.complete(request)
        async with aclosing(equipment.model.stream(request)) as events:
            async for event in events:
                if progress.is_over:
                    break
                if type(event) is TextDelta:
                    progress.take_text(event.text)
                else:
                    progress.take(event)
                is_near = progress.goes_round or progress.characters > progress.characters_reserved
                if is_near and progress.is_enough():
                    break
    except ModelError as error:
        return error.fault
    finally:
        if not ended.done():
            ended.set_result(None)
    return None


async def _stop(reading: "asyncio.Task[ModelFault | None]", *, grace_s: float) -> None:
    """Cancel the stream and give it the grace time to close; a stream that does not is abandoned."""
    if reading.done():
        return
    reading.cancel()
    _left_behind.add(reading)
    reading.add_done_callback(_forget)
    with suppress(asyncio.CancelledError):  # a second cancel asks for what is already under way
        await asyncio.wait({reading}, timeout=grace_s)
    if not reading.done():
        log.warning("model.ignored_cancellation", grace_s=round(grace_s, 3))


def _forget(reading: "asyncio.Task[ModelFault | None]") -> None:
    _left_behind.discard(reading)
    if not reading.cancelled():
        reading.exception()  # marks it as retrieved


def _with_ids(content: tuple[Mapping[str, Any], ...], calls: Sequence[ToolUse]) -> tuple[Mapping[str, Any], ...]:
    """The model's blocks with the ids under which its calls are run and answered."""
    if not calls:
        return content
    own = iter(calls)
    return tuple([_with_id(each, next(own, None)) if each.get("type") == "tool_use" else each for each in content])


def _with_id(block: Mapping[str, Any], call: ToolUse | None) -> Mapping[str, Any]:
    return block if call is None or call.id == block.get("id") else {**block, "id": call.id}


def _outcome(
    progress: _Progress,
    parsed: ParsedResponse,
    *,
    plan: TurnPlan,
    fault: ModelFault | None,
    interrupted: bool,
    **of_request: Any,  # noqa: ANN401  the fields of the outcome that the response does not decide
) -> TurnOutcome:
    ended, usage = progress.ended, progress.usage
    broken = interrupted or fault is not None
    cut_by_budget = progress.characters > progress.characters_reserved and ended is None and not broken
    ran_out = ended is not None and ended.stop_reason == "max_tokens"
    is_full = ended is not None and ended.stop_reason == "model_context_window_exceeded"
    input_tokens, output_tokens, estimated = _count(progress, is_whole=ended is not None)
    return TurnOutcome(
        parsed=parsed,
        content=progress.content,
        calls=() if broken else tuple(progress.calls),
        server_tools=tuple(progress.server_tools),
        stop_reason=ended.stop_reason if ended else None,
        tokens=input_tokens + output_tokens,
        output_tokens=output_tokens,
        input_tokens=progress.input_tokens
        if usage.billed_input is None
        else usage.billed_input + usage.cache_read_tokens,
        cache_creation_tokens=min(usage.cache_creation_tokens, input_tokens),
        cache_read_tokens=usage.cache_read_tokens,
        caches=bool(usage.cache_creation_tokens or usage.cache_read_tokens),
        estimated=estimated,
        model=ended.model if ended else "",
        cut_off=ran_out or cut_by_budget or is_full or (progress.goes_round and not broken),
        budget_cut=cut_by_budget or is_full or (ran_out and plan.capped_by_budget),
        is_last_paid=plan.is_last_paid,
        interrupted=interrupted,
        fault=fault,
        request_ids=ended.request_ids if ended else (),
        cache_miss=usage.cache_miss,
        message_id=ended.message_id if ended else "",
        **of_request,
    )


def _count(progress: _Progress, *, is_whole: bool) -> tuple[int, int, bool]:
    """Input and output tokens of the turn as the budget counts them, and whether one is an estimate."""
    usage, guessed_output = progress.usage, estimate_tokens(progress.characters)
    nothing_came = not (is_whole or progress.characters or usage.input_tokens)
    if nothing_came:
        return 0, 0, False
    input_tokens, input_guessed = usage.billed_input, usage.billed_input is None
    output_tokens, output_guessed = usage.output_tokens, usage.output_tokens is None
    if output_tokens is None or (not is_whole and guessed_output > output_tokens):
        output_tokens, output_guessed = guessed_output, True
    if input_tokens is None:
        input_tokens = progress.input_tokens
    return input_tokens, output_tokens, input_guessed or output_guessed


def _fault_of(progress: _Progress) -> ModelFault | None:
    """Stop reasons that end the query: a refusal, and a stream that ended without one."""
    if progress.ended is None:
        return None
    match progress.ended.stop_reason:
        case "refusal":
            why = f": {detail}" if (detail := quoted(progress.ended.stop_detail or "").rstrip(".")) else ""
            return ModelFault(
                "provider_refused",
                f"The model declined to answer this{why}. Put the question in other words, or choose another model.",
            )
        case "broken":
            return ModelFault(
                "provider_failed",
                "The model's answer broke off before its end. Please ask again.",
                "The provider's stream ended without a stop reason.",
                {"model": progress.ended.model, "request_ids": list(progress.ended.request_ids)},
                "broken_off",
            )
        case _:
            return None
