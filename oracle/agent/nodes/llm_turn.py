"""The `llm_turn` kind, and how a turn of the model ended, in a sentence."""

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import structlog
from pydantic import Field

from bt_runtime import Facts, Figure, KeyUse, NodeSettings, Status, Stepped, Use, Words, node
from bt_runtime.language.kind import LeafFlow, TemplateText
from bt_runtime.text.phrases import clipped, counted, listed, seconds
from oracle.agent.nodes.base import AgentAction
from oracle.agent.nodes.flows import turn_cases
from oracle.agent.nodes.granting import filled_hint
from oracle.agent.nodes.roles import ASKS_MODEL
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.run import AgentRun
from oracle.agent.tool_calls import CANCELLED, refuse_open
from oracle.agent.transcript import NOT_RUN
from oracle.agent.turn import TurnRequest, run_turn
from oracle.llm.protocol import ModelFault


async def with_encoding(run: AgentRun, outcome: TurnOutcome) -> TurnOutcome:
    """The outcome with how the encoder reads it, where the fallback may ask for that.

    The encoder is asked only where the host has no classifier of responses of its own, which would decide alone. A
    turn that is halted meanwhile has ended all the same, and stays as it is.
    """
    if outcome.is_side or not outcome.is_unclear or run.equipment.intents is not None:
        return outcome
    try:
        encoded = await run.equipment.encoder.intent_shares(outcome.whole_text)
    except asyncio.CancelledError:
        return outcome
    return outcome if encoded is None else replace(outcome, encoded=encoded)


_SAYS: Mapping[str, str] = {
    "need_turn": "asks for another turn",
    "context_sufficient": "says that it has what it needs",
    "stuck": "says it is stuck",
    "need_capability": "says that it lacks a capability",
    "delegation_recommended": "recommends that another agent does this",
    "partial_answer": "gives a part of the answer",
}


def turn_sentence(
    name: str,
    *,
    calls: Sequence[str] = (),
    signal: str = "",
    is_malformed: bool = False,
    is_empty: bool = False,
    is_cut_off: bool = False,
    is_interrupted: bool = False,
    error: str = "",
) -> str:
    """What a turn brought, as in `Turn 5 says it is stuck.`.

    Args:
        is_cut_off: its bound on tokens has ended it early.
        name: what the sentence is about, with a capital: `Turn 5`.
        calls: the names of the tools that it called.
        signal: its type; empty if there is none that counts.
        is_malformed: it had a signal that cannot be read.
        is_empty: it had neither text nor tool calls nor a signal to act on.
        is_interrupted: the control has halted it.
        error: the provider's failure, as users read it; empty if there was none.
    """
    if error:
        return f"{name} did not end: {clipped(error, 160).rstrip('.')}."
    if is_interrupted:
        return f"{name} was interrupted."
    said = [_SAYS.get(signal, f"signals {clipped(signal)}")] if signal else []
    if calls:
        several = (
            f"calls {counted(len(calls), 'tool')}: {listed(calls)}" if len(calls) > 1 else f"calls {listed(calls)}"
        )
        return f"{name} {' and '.join([several, *said])}."
    if is_cut_off:
        return f"{name} was cut off by its bound on tokens."
    if said:
        return f"{name} {said[0]}."
    if is_empty:
        return f"{name} brought nothing: no text, no tool calls, no signal."
    return f"{name} answers{', with a signal that cannot be read' if is_malformed else ' without a signal'}."


log = structlog.get_logger(__name__)


class LlmTurnSettings(NodeSettings):
    """Settings of `llm_turn`.

    Args:
        hint: an instruction for this turn; `{key}` shows a blackboard value.
        prompt: the id of a prompt segment to add to this turn as a note.
        model: another model for this turn, one that the operator allows.
        timeout_s: how long the turn may take.
        tools: whether the model may call tools.
        visible: if false, the turn has no tools and its text is neither shown nor saved.
        into: the blackboard key for the text of the turn.
    """

    hint: TemplateText = ""
    prompt: str | None = Field(default=None, min_length=1)
    model: str | None = Field(default=None, min_length=1)
    timeout_s: float | None = Field(default=None, gt=0)
    tools: bool = True
    visible: bool = True
    into: str | None = None

    def uses(self) -> Iterator[Use]:
        yield from super().uses()
        if self.into is not None:
            yield KeyUse(("into",), self.into, "write", "str")


@node(
    "llm_turn",
    settings=LlmTurnSettings,
    shorthand="hint",
    facts=Facts(roles=(ASKS_MODEL,), shows=True, keeps=("_is_late", "_deadline_s")),
    flow=LeafFlow(turn_cases),
)
class LlmTurn(AgentAction[LlmTurnSettings]):
    """Runs one turn: streams the response to the user and writes its signal and tool calls to the blackboard.

    RUNNING while the model responds; SUCCESS when the response is complete; FAILURE if the provider fails
    (`model_fault` says why) or `timeout_s` is over. A halt keeps the text so far. Another `model` has its own cache,
    so its first turn costs the whole conversation. As a later child of a `selector` it continues a response that
    broke off.

    ```yaml
    llm_turn: {timeout_s: 120}
    ```
    """

    _deadline_s = 0.0
    _is_late = False

    def initialise(self) -> None:
        self._is_late = False
        self._deadline_s = self.run.now_s + (self.settings.timeout_s or 0)
        if self.settings.visible:
            refuse_open(self.agent, NOT_RUN)
            self.agent.take_up_failed(self.settings.model)
            if self.agent.transcript.ends_with_model:  # the tree has put one turn directly after another
                self.agent.ask_again()

    def start(self) -> Coroutine[Any, Any, TurnOutcome]:
        """Run the turn."""
        return self._run(self.request())

    async def _run(self, request: TurnRequest) -> TurnOutcome:
        outcome = await run_turn(self.agent, request, step=self.request_key)
        return await with_encoding(self.agent, outcome)

    def request(self) -> TurnRequest:
        """What to ask the model for; the node may have waited for another turn, which has ended since."""
        if self.settings.visible:
            refuse_open(self.agent, NOT_RUN)
        tools = self.settings.tools and not (self.settings.visible and self.agent.gathering.answer_due)
        last = self.agent.turn.outcome
        is_lost = last is not None and last.is_lost and not last.is_broken
        goes_on = self.settings.visible and is_lost and self.agent.turn.fault is None
        return TurnRequest(
            visible=self.settings.visible,
            tools=tools,
            hint="" if goes_on else self._instructions(),  # which the lost turn had
            model=self.settings.model,
            retries=not self._has_stand_in,
        )

    @cached_property
    def _has_stand_in(self) -> bool:
        """Whether another model's turn follows where this one fails, in a selector around both."""
        above, own = self.run.root().definition, self.settings
        while above is not self.definition:
            children = [child for nodes in above.children.values() for child in nodes]
            at = next(at for at, child in enumerate(children) if f"{self.path}/".startswith(f"{child.path}/"))
            behind = children[at + 1 :] if above.kind == "selector" else ()
            turns = (each.settings for child in behind for each in child.walk() if each.has(ASKS_MODEL))
            if any(other.visible == own.visible and other.model != own.model for other in turns):
                return True
            above = children[at]
        return False

    def _instructions(self) -> str:
        """The segment and the hint of this turn."""
        wanted = self.settings.prompt
        segment = self.agent.equipment.segments.get(wanted) if wanted is not None else None
        if wanted is not None and segment is None:  # a tree that names no segment is not loaded where they are known
            log.warning("prompt.segment_missing", segment=wanted, node=self.path)
        return "\n\n".join(each for each in (segment.text if segment else "", self.hint()) if each)

    def hint(self) -> str:
        """The note of the blackboard and the instruction of the settings, for this turn."""
        own = filled_hint(self.settings.hint, self.board)
        return "\n".join(each for each in (self.board["hint"], own) if each)

    def update(self) -> Status:
        if self._is_late:
            return Status.FAILURE
        status = super().update()
        if status is Status.RUNNING and not self.request_key:  # a lost turn has been applied: ask for its rest
            status = super().update()
        if status is not Status.RUNNING or self.settings.timeout_s is None:
            return status
        if self.run.now_s >= self._deadline_s:
            self._give_up(self.settings.timeout_s)
        else:
            self.run.wake_at(self.index, self._deadline_s)
        return status

    def _give_up(self, timeout_s: float) -> None:
        """Halt the turn; the node fails a tick later, when the text so far has been applied."""
        self._is_late = True
        super().terminate(Status.INVALID)
        late = f"The language model took longer than {timeout_s:g} s. Please ask again."
        self.agent.turn.fault = ModelFault("provider_failed", late, narrower="timeout")
        self.publish()
        self.run.tick_again(self.path)

    def terminate(self, new_status: Status) -> None:
        self.run.forget_deadline(self.index)
        super().terminate(new_status)

    def finish(self, value: TurnOutcome) -> Status:
        """Apply the outcome, before its text is written to a key that may refuse it."""
        agent = self.agent
        self.board.set("hint", "")
        if self.settings.visible:
            refuse_open(agent, NOT_RUN)  # as at the start, which a replay leaves out
            agent.apply_turn(value, model=self.settings.model)
            if value.is_lost:
                agent.ask_again()
                self.publish()
                return Status.RUNNING
        else:
            agent.apply_side_turn(value)
        self.publish()
        if self.settings.into is not None:
            self.board.set(self.settings.into, value.whole_text)
        return Status.SUCCESS if agent.turn.fault is None else Status.FAILURE

    def interrupted(self, value: TurnOutcome | None) -> None:
        """Apply the part of the turn before the halt; an earlier fault stays."""
        if value is None:
            return
        agent = self.agent
        if self.settings.visible:
            agent.apply_turn(value, halted=True, model=self.settings.model)
            # A turn that ended just before the halt may have called tools.
            refuse_open(agent, CANCELLED)
        else:
            agent.apply_side_turn(value, halted=True)
        self.publish()

    def words(self, step: Stepped) -> Words:
        turn, number, status = self.agent.turn, self.agent.state.turn, self.status
        if status is Status.RUNNING:
            began = f"turn {number + 1:,} {'begins' if step.began else 'is under way'}"
            return Words(began, f"T{began[1:]}.")
        if self._is_late:
            late = f"it took longer than {self.settings.timeout_s:g} s"
            return Words(late, f"Turn {number + 1:,} was halted: {late}.")
        if not self.settings.visible:
            fault = f": {clipped(turn.fault.message, 120)}" if turn.fault else ""
            return Words(f"turn {number:,}, beside the answer{fault}", f"A turn beside the answer has ended{fault}.")
        return _ended(turn.outcome, number) if turn.outcome is not None else Words()


def _ended(turn: TurnOutcome, number: int) -> Words:
    """A turn of the answer; `number` counts those that have finished."""
    signal = turn.signal
    parts = [seconds(turn.duration_ms / 1000), counted(turn.tokens, "token")]
    if turn.fault is not None:
        parts.append(clipped(turn.fault.message, 120))
    elif turn.interrupted:
        parts.append("interrupted")
    elif signal is not None:
        parts.append(f"signal {signal.type} {signal.confidence:.3g}")
    sentence = turn_sentence(
        f"Turn {number + turn.is_broken:,}",
        calls=[call.name for call in turn.calls],
        signal=signal.type if signal else "",
        is_malformed=turn.malformed_signal,
        is_empty=turn.is_empty,
        is_cut_off=turn.cut_off,
        is_interrupted=turn.interrupted,
        error=turn.fault.message if turn.fault else "",
    )
    figures = (Figure("time", turn.duration_ms / 1000, unit="s"), Figure("tokens", turn.tokens))
    return Words(" · ".join(parts), sentence, figures)
