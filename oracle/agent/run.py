"""`AgentRun`: one query in progress, which the tree's nodes and the plain loop work on by the same verbs.

It combines parts with one purpose each: the immutable state, the transcript for the provider, the output for the user,
the latest turn, the signals, what people are asked, the cost of requests, and what is known of the end. Steps that wait
(`turn`, `tool_calls`) return an outcome and change nothing but the output; `apply_turn` and `apply_tools`, which never
wait, apply an outcome to the state. So a run can be repeated from its outcomes.
"""

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, TypeVar

from bt_runtime.text import CHARACTERS_PER_TOKEN, estimate_tokens
from bt_runtime.text.data import dataclass
from oracle.agent import notices
from oracle.agent.ending import CancelGrace, QueryEnd
from oracle.agent.equipment import Equipment
from oracle.agent.gathering import Gathering
from oracle.agent.journal import NoJournal, QueryJournal, RuleGate
from oracle.agent.last_turn import LastTurn, LostWork
from oracle.agent.notes import EMPTY_TURN, REPEATED_TEXT, TOOL_ERROR, WRITTEN_CALL, Note, Strength, stronger
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.agent.output import Output
from oracle.agent.planning import InputEstimate, RequestCost, TurnPlan, fitted, plan_turn, results_room, thinking_room
from oracle.agent.query import Query
from oracle.agent.signals import SignalLog
from oracle.agent.tracing import NOT_TRACED, RunTrace
from oracle.agent.transcript import CallText, Transcript
from oracle.classify.types import QueryClassification
from oracle.core.chunks import TerminationReason, TokenUsage
from oracle.decision import AgentState, rules
from oracle.llm.protocol import ModelFault
from prompts import ComposedPrompt
from signals import NeedTurn

LOST_CALL = "Not run: the turn that asked for it was lost, and did not ask for it again."
"""The result of a call whose turn was restarted in another process."""

P = TypeVar("P")
Judge = Callable[[AgentState, CallResult], AgentState]
"""What a tool result means for the state."""


def _judge(state: AgentState, result: CallResult) -> AgentState:
    return state.after_tool_result(result.action, error=result.text, source=result.group)


@dataclass(slots=True)
class AgentRun:
    """One query in progress.

    Args:
        classification: of the question; `None` until it is made.
        grace: how long it waits for work that ignores its cancellation.
        offered: names of the tools that the model may call.
        look_first: names of the tools that questions of this type need first.
        withheld: names of the tools that are not offered in this query.
        prompt: the system prompt; `None` until it is composed.
        note: for the model, sent with its next turn: the strongest of those that were added; `None`: there is none.
        rules: judge what begins; `None` where the control has no rules.
        journal: where requests are kept.
        trace: what the query reports its steps to.
        now_s: the time of the tick, where a tree reads keys that depend on it.
        lost: unfinished work that another process has left; `None`: there is none.
        usage: the tokens of `state.tokens_used` by kind, with those that were read from the cache.
        call_notes: texts that precede the results of calls, by their ids.
        repairs: how many answers did not fit the schema of the query.
        unfinished: the text so far of an answer by a schema, from responses that were cut off.
        parts: what features keep of the query, by what has made it.
    """

    query: Query
    equipment: Equipment
    output: Output
    state: AgentState
    transcript: Transcript
    signals: SignalLog
    gathering: Gathering
    turn: LastTurn = field(default_factory=LastTurn)
    cost: RequestCost = field(default_factory=RequestCost)
    ending: QueryEnd = field(default_factory=QueryEnd)
    grace: CancelGrace = field(default_factory=CancelGrace)
    classification: QueryClassification | None = None
    offered: tuple[str, ...] = ()
    look_first: tuple[str, ...] = ()
    withheld: frozenset[str] = frozenset()
    prompt: ComposedPrompt | None = None
    note: Note | None = None
    rules: RuleGate | None = None
    journal: QueryJournal = field(default_factory=NoJournal)
    trace: RunTrace = NOT_TRACED
    now_s: float = 0.0
    lost: LostWork | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    call_notes: dict[str, str] = field(default_factory=dict)
    repairs: int = 0
    unfinished: str = ""
    parts: dict[Callable[["AgentRun"], object], Any] = field(default_factory=dict)

    def part(self, make: Callable[["AgentRun"], P]) -> P:
        """A feature's data about the query: `run.part(People.of)`; made on first use."""
        if make not in self.parts:
            self.parts[make] = make(self)
        part: P = self.parts[make]
        return part

    @property
    def model_used(self) -> str:
        """The model that answered last, or that would have."""
        return self.turn.model or self.query.model or self.equipment.model.name

    @property
    def fault(self) -> ModelFault | None:
        """The fault that the user sees if the run ends as an error."""
        return self.ending.fault or self.turn.fault

    def stop(self, reason: TerminationReason) -> None:
        """Stop for a reason; the first one counts."""
        self.state = self.state.stopped(reason)
        self.signals.settle(reason)

    def fail(self, fault: ModelFault) -> None:
        """Stop as an error that is not the provider's."""
        self.ending.fault = fault
        self.stop("error")

    def cancel_grace_s(self) -> float:
        """How long work that is cancelled now may take to end, in real seconds."""
        if self.equipment.clock.now() - self.state.start_time >= self.state.time_limit_s:
            self.grace.end()
        return self.grace.seconds()

    def notify_of_cut_history(self) -> None:
        """Notify the user if the model does not get the whole conversation."""
        omitted, shortened = self.query.omitted_messages, self.query.is_history_shortened
        if omitted or shortened:
            self.output.notify(notices.history_cut(omitted, is_shortened=shortened))

    def warn_near_limits(self) -> None:
        """Warn user and model, once for each limit, that it is near."""
        self.send_warnings(rules.mark_warnings(self.state))

    def send_warnings(self, marked: AgentState) -> None:
        """Send the warnings that are marked in `marked` and not in the state, and take `marked` over."""
        if marked.turn_warned and not self.state.turn_warned:
            self.warn(notices.iteration_warning(marked))
        if marked.token_warned and not self.state.token_warned:
            self.warn(notices.token_warning(marked))
        self.state = marked

    def warn(self, notice: notices.Notice) -> None:
        """Send a warning to user and model."""
        self.output.notify(notice)
        self.add_note(notice.message, "near_limit")

    def add_note(self, text: str, strength: Strength = "hint") -> None:
        """Have a note sent with the model's next turn, unless a stronger one is."""
        self.note = stronger(self.note, Note(text, strength))

    def plan(self, model: str | None = None) -> TurnPlan:
        """Limits of the next turn, next to those that are in progress.

        Args:
            model: that the turn names; `None`: the query's.
        """
        equipment = self.equipment
        return plan_turn(
            self.state,
            request=self.cost.estimate(
                unsent=self.transcript.unsent_characters,
                prompt=len(self.prompt.text) if self.prompt else 0,
                shape=self._shape(model),
                now_s=equipment.clock.now(),
            ),
            max_output_tokens=equipment.max_output_tokens,
            thinking_tokens=equipment.thinking_tokens,
            reserved_tokens=self.cost.reserved_tokens,
        )

    def usable(self, *, tools: bool) -> tuple[str, ...]:
        """The tools that the model may call in a turn: none in one without tools, and in one that repairs an answer."""
        can_call = tools and not self.repairs
        return tuple(name for name in self.offered if name not in self.withheld) if can_call else ()

    def _results_room(self) -> int:
        """The characters that the results of the last turn's tools may have; this does not depend on the time."""
        unsent, prompt = self.transcript.unsent_characters, len(self.prompt.text) if self.prompt else 0
        whole = self.cost.estimate(unsent=unsent, prompt=prompt, shape=object(), now_s=0.0).whole
        new = estimate_tokens(unsent) if self.turn.outcome is not None and self.turn.outcome.caches else whole
        room = results_room(self.state, InputEstimate(whole, new))
        if (window := self.equipment.context_tokens(self.query.model)) is not None:
            # A quarter is for what the model writes, and half of the rest for what it may look for next.
            room = min(room, max(0, window - window // 4 - whole) // 2)
        return CHARACTERS_PER_TOKEN * room

    def _shape(self, model: str | None) -> object:
        """The parts of the next request that void the provider's cache of its messages when they change."""
        left, most = self.state.tokens_left, self.equipment.max_output_tokens
        return model, self.offered, thinking_room(left, most=self.equipment.thinking_tokens, max_tokens=min(most, left))

    def apply_turn(self, outcome: TurnOutcome, *, halted: bool = False, model: str | None = None) -> None:
        """Apply the outcome of a turn of the answer.

        Args:
            outcome: text, calls, tokens and fault of the turn.
            halted: the control has halted it, so that an earlier fault stays.
            model: that the turn has named; `None`: the query's.
        """
        self._take_end(outcome, halted=halted)
        self.turn.end(outcome, model=model)
        classifier = self.equipment.classifier
        self.signals.take(outcome, turn=self.state.turn + 1, classifier=classifier)
        # Its notes stay in the transcript: taking them back would void the provider's cache.
        self.note = None
        self.transcript.add_notes(outcome.notes)
        self.transcript.offered = self.transcript.offers(self.offered, self.usable(tools=not outcome.without_tools))
        self.transcript.mark_sent()
        self.gathering.begin_turn(self.query.question)
        if outcome.is_broken:
            self.state = self.state.after_broken_turn(tokens=outcome.tokens, estimated=outcome.estimated)
            self.output.close_calls("Not run: the turn was interrupted.")
            self.output.goes_on &= not outcome.text
            return
        self.output.goes_on = outcome.is_lost
        if outcome.is_lost:
            self.transcript.add_turn(outcome.content)
            self.state = self.state.after_lost_turn(tokens=outcome.tokens)
            return
        self.output.drop_orphans(LOST_CALL)
        self.cost.note(outcome, shape=self._shape(model), now_s=self.equipment.clock.now())
        self.transcript.add_turn(outcome.content)
        self.state = self.state.after_turn(
            tokens=outcome.tokens,
            estimated=outcome.estimated,
            answered=outcome.answers(classifier),
            signal=outcome.signal.type if outcome.signal else None,
            budget_cut=outcome.budget_cut or (outcome.is_last_paid and bool(outcome.calls)),
            empty=outcome.is_empty,
            repeats=outcome.repeats,
        )
        if self.query.output_schema is not None:
            texts = [block["text"] for block in outcome.content if block["type"] == "text"]
            self.unfinished = self.unfinished + "".join(texts) if outcome.cut_off else ""
            if isinstance(outcome.signal, NeedTurn) and not outcome.signal.raw_xml:  # the model has not sent it
                self.repairs += 1
                self.add_note(outcome.signal.reason, "ending")
        if outcome.server_tools:
            tools = [tool for name in outcome.server_tools if (tool := self.equipment.tools.get(name))]
            self.state = self.state.after_server_tools(outcome.server_tools, sources=[tool.group for tool in tools])

    def take_up_failed(self, model: str | None) -> None:
        """Let another model's turn continue the text that a failed turn has shown, as it would for a lost turn.

        Args:
            model: that the turn names; `None`: the query's.
        """
        if (failed := self.turn.cut_off) is not None and model != self.turn.asked_model:
            self.turn.outcome = replace(failed, is_lost=True, interrupted=False, fault=None)
            self.transcript.add_turn(({"type": "text", "text": failed.text},) if failed.text.strip() else ())
            self.output.goes_on = True

    def apply_side_turn(self, outcome: TurnOutcome, *, halted: bool = False) -> None:
        """Apply the outcome of a turn that is not part of the answer: it counts, and is not in the transcript."""
        self._take_end(outcome, halted=halted)
        self.signals.record(outcome, turn=self.state.turn + 1, action="beside_the_answer")
        if outcome.is_broken:
            self.state = self.state.after_broken_turn(tokens=outcome.tokens, estimated=outcome.estimated)
        else:
            self.state = self.state.after_side_turn(
                tokens=outcome.tokens, estimated=outcome.estimated, budget_cut=outcome.budget_cut
            )

    def _take_end(self, outcome: TurnOutcome, *, halted: bool) -> None:
        """Record what the turn has cost and shown of the provider; the fault that has ended the query stays."""
        self.usage += outcome.usage
        if not halted and self.state.termination_reason != "error":
            self.turn.fault = outcome.fault

    def apply_tools(self, outcome: ToolsOutcome, *, judge: Judge = _judge) -> None:
        """Apply the results of tool calls that were run, refused or cancelled; each call gets one result.

        Args:
            outcome: the results; those of calls that have one already are ignored.
            judge: what a result means for the state; the shared transition by default.
        """
        results = fitted(self.turn.answer(outcome).results, characters=self._results_room())
        self.signals.settle("tools")
        ran = [result for result in results if result.counts]
        for result in ran:
            self.state = judge(self.state, result)
        for result in results:
            if result.is_unknown:  # it was tried, but its result is no reason to stop
                self.state = self.state.after_server_tools([result.call.name], sources=[result.group or ""])
        self.gathering.take(results, self.equipment.tools, turn=self.state.turn, signal=self.signals.latest)
        if any(result.is_error for result in ran):
            self.add_note(TOOL_ERROR)
        self.transcript.add_tool_results(CallText(each.call, each.text, each.is_error) for each in results)

    def ask_again(self, hint: str = "", *, strategy: str = "") -> None:
        """Grant another turn: the model is asked to continue.

        If the token budget does not pay for that turn, the budget counts as reached.

        Args:
            hint: a further instruction; after an empty turn the request for an answer is the default.
            strategy: the way that the fallback tries next; empty if it is not the fallback that grants the turn.
        """
        self.signals.settle(strategy or "another_turn")
        if self.turn.is_last_paid:
            self.state = self.state.after_budget_cut()
        self.transcript.ask_on()
        if self.state.repeated_turns:
            self.add_note(REPEATED_TEXT, "ending")
        elif self.turn.outcome is not None and self.turn.outcome.wrote_calls:
            self.add_note(WRITTEN_CALL)
        elif hint := hint or (EMPTY_TURN if self.state.empty_turns else ""):
            self.add_note(hint)

    def will_run_tools(self) -> bool:
        """Whether calls of the next turn are run, as far as that can be foreseen."""
        return not (self.gathering.answer_due or self.plan().wrap_up)

    def is_turn_left(self) -> bool:
        """Whether the limits leave a turn after the last one."""
        state = self.state
        is_unpaid = rules.tokens_are_used_up(state) or self.turn.is_last_paid
        return not (is_unpaid or rules.turns_are_used_up(state))
