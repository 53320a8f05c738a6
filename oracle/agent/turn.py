"""One LLM turn: sends a request, streams the text to the user, returns the outcome.

Rules:

- A turn that is cancelled or fails keeps its text so far in the outcome, and its tokens count.
- A model that ignores its cancellation is abandoned: the turn ends, and later events are ignored.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

import structlog

from bt_runtime.text import estimate_tokens
from bt_runtime.text.data import dataclass
from oracle.agent.equipment import Equipment
from oracle.agent.journal import RequestRecord, digest_of
from oracle.agent.last_turn import LostTurn
from oracle.agent.notes import GO_ON, limit_note, stronger
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.output import Output
from oracle.agent.planning import TurnPlan
from oracle.agent.response import Response, outcome_of
from oracle.agent.run import AgentRun
from oracle.agent.transcript import Transcript
from oracle.decision.repeated_text import Echo
from oracle.llm.protocol import ModelError, ModelEvent, ModelFault, ModelRequest, TextDelta
from signals import NeedTurn, ParsedResponse

log = structlog.get_logger(__name__)

_CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})

_left_behind: set["asyncio.Task[ModelFault | None]"] = set()
"""Streams that have not ended yet; asyncio itself holds tasks weakly."""


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


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a control asks for.

    Args:
        visible: false for work that is not the main chain's: not streamed, not saved, without tools.
        tools: false where the model may not call tools in this turn; a provider that takes no changes of tools in
            mid-conversation finds nothing in its cache then.
        hint: an instruction for this turn.
        model: the provider's model that answers; `None`: the query's.
        retries: as in `ModelRequest`.
    """

    visible: bool = True
    tools: bool = True
    hint: str = ""
    model: str | None = None
    retries: bool = True


_PLAIN = TurnRequest()


class OpenTurn:
    """A turn between its request and its outcome.

    Args:
        run: the query.
        wanted: what the control asks for.
        lost: the same turn as a process has left it that died; its request is sent once more as it was, and its cost
            counts with that of this one.
    """

    def __init__(self, run: AgentRun, wanted: TurnRequest = _PLAIN, *, lost: LostTurn | None = None) -> None:
        visible = wanted.visible
        self._before = _goes_on_from(run) if visible else ""
        if run.rules is not None and not (self._before and run.turn.fault is None):  # else the lost turn has begun it
            run.rules.turn(visible=visible)
        self._run, self._wanted, self._lost = run, wanted, lost
        self._plan = plan = run.plan(wanted.model) if lost is None else _plan_of(run, lost.request)
        self._notes = notes_for(run, plan, visible=visible, hint=wanted.hint) if lost is None else _notes_of(lost)
        self._asked = _asked_with(run, self._notes)
        output = run.output if visible else Output(emit=lambda _chunk: None, timestamp=run.equipment.timestamp)
        self._reservation = reservation = run.cost.reserve(plan)

        def reserve(characters: int) -> int:
            return reservation.cover(characters, tokens_left=run.state.tokens_left)

        now, is_taken, last = run.equipment.clock.now, run.transcript.has_call, run.turn.outcome
        # After tool calls the model may repeat itself, because it knows more.
        can_repeat = last is not None and last.is_finished and not (last.calls or last.server_tools)
        echo = Echo(output.answer if can_repeat else "")
        self.response = Response(output, reserve, reservation.characters, plan.input_tokens, is_taken, now, echo)
        output.begin_turn()
        has_schema = visible and run.query.output_schema is not None
        self._check = run.equipment.hooks.check_answer if has_schema else None
        if self._check is not None:  # the answer is shown once it is valid
            self.response.show, self.response.echo = lambda _text: None, Echo("")
        self._started_s = now()

    def request(self) -> ModelRequest:
        """What is sent to the provider: system prompt, tools and messages begin with those of the previous request."""
        run, plan, asked, wanted = self._run, self._plan, self._asked, self._wanted
        tools = wanted.visible and wanted.tools
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
            model=wanted.model or run.query.model,
            output_schema=run.query.output_schema if wanted.visible else None,
            time_left_s=max(0.0, run.state.time_limit_s - (run.equipment.clock.now() - run.state.start_time)),
            previous_message=run.turn.outcome.message_id if run.turn.outcome else "",
            retries=wanted.retries,
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
            hint=self._wanted.hint,
            messages=len(request.messages),
            new_messages=len(request.messages) - run.transcript.sent_messages,
            max_tokens=request.max_tokens,
            thinking_tokens=request.thinking_tokens,
            wrap_up=request.wrap_up,
            is_side=not self._wanted.visible,
            digest=digest,
            blocks=blocks,
            note="\n\n".join(self._notes),
        )

    def play(self, events: Iterable[ModelEvent]) -> None:
        """Take the events of a response that is there already, up to the one that exceeds the budget."""
        for event in events:
            if isinstance(event, TextDelta):
                self.response.take_text(event.text)
            else:
                self.response.take(event)
            if self.response.is_enough():
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
        response = self.response
        ended = response.ended
        is_whole = not interrupted and fault is None and ended is not None and ended.stop_reason not in _CUT_OFF
        parsed = response.reader.close(cut_off=not is_whole)
        response.think()
        if parsed.remainder:
            response.show(parsed.remainder)
        is_last = is_whole and not isinstance(parsed.signal, NeedTurn)
        repeats, rest = response.echo.end(parsed.text, is_whole=is_last)
        response.show(rest)
        response.show = response.output.say  # no reference of its own to the turn, which would be a cycle
        first_s = response.first_text_s
        outcome = outcome_of(
            response,
            parsed,
            plan=self._plan,
            fault=fault,
            interrupted=interrupted,
            duration_ms=self._since_start_ms(response.now()),
            first_text_ms=None if first_s is None else self._since_start_ms(first_s),
            notes=self._notes,
            without_tools=not (self._wanted.visible and self._wanted.tools),
            is_side=not self._wanted.visible,
            repeats=response.goes_round or (repeats and not response.calls),
        )
        if self._before:
            outcome = replace(outcome, goes_on_from=self._before)
        if self._check is not None:
            outcome = self._check(self._run, outcome)
            response.output.say(outcome.text)
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


async def run_turn(run: AgentRun, wanted: TurnRequest = _PLAIN, *, step: str) -> TurnOutcome:
    """Run one turn; raises only on errors in our own code. A cancelled turn returns its text so far.

    Args:
        run: the query.
        wanted: what the control asks for.
        step: the key of the outcome, under which the request is recorded.
    """
    lost = run.lost.turns.pop(step, None) if run.lost is not None else None
    turn = OpenTurn(run, wanted, lost=lost)
    try:
        request = turn.request()
        run.journal.request(turn.record(request, step=step), prompt=request.system)
        asked_model, number = request.model or run.equipment.model.name, run.state.turn + 1
        with run.trace.turn(request, model=asked_model, number=number, visible=wanted.visible) as note_end:
            fault, interrupted = await _stream(run, request, turn.response)
            outcome = turn.end(fault, interrupted=interrupted)
            note_end(outcome, turn.response.usage)
            return outcome
    finally:
        turn.release()


async def _stream(run: AgentRun, request: ModelRequest, response: Response) -> tuple[ModelFault | None, bool]:
    """Read the response to its end, or until this is cancelled: what went wrong, and whether it was cancelled."""
    ended = asyncio.get_running_loop().create_future()
    reading = asyncio.create_task(_read(run.equipment, request, response, ended), name="model")
    interrupted = False
    try:
        await ended
    except asyncio.CancelledError:
        interrupted = True
        await _stop(reading, grace_s=run.cancel_grace_s())
    response.is_over = True
    if not reading.done() or reading.cancelled():
        return None, True
    return reading.result(), interrupted


async def _read(
    equipment: Equipment, request: ModelRequest, response: Response, ended: "asyncio.Future[None]"
) -> ModelFault | None:
    """Take each event; returns what went wrong at the provider.

    `ended` is set within the task: a callback on the task would run one iteration of the event loop later.
    """
    try:
        if equipment.hooks.complete is not None:
            request = await equipment.hooks.complete(request)
        async with aclosing(equipment.model.stream(request)) as events:
            async for event in events:
                if response.is_over:
                    break
                if type(event) is TextDelta:
                    response.take_text(event.text)
                else:
                    response.take(event)
                is_near = response.goes_round or response.characters > response.characters_reserved
                if is_near and response.is_enough():
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
