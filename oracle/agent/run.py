"""`AgentRun`: one query under way. The tree's nodes and the plain loop both work on it, by the same few steps.

It holds the state (immutable, replaced by each transition), the transcript for the provider, and the output for the
user. Steps that wait (`turn`, `tool_calls`) return an outcome and change nothing but the output; what an outcome means
for the state is applied by `apply_turn` and `apply_tools`, which never wait. So a run can be repeated from its
outcomes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bt_runtime import Clock
from bt_runtime.text import estimate_tokens
from oracle.agent import notices, planning
from oracle.agent.journal import Journal, NoJournal
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.agent.output import Output
from oracle.agent.query import Query
from oracle.agent.signal_log import log_signal
from oracle.agent.transcript import CallText, Transcript
from oracle.chunks import TerminationReason
from oracle.classify import IntentClassifier, QueryClassification, ResponseIntent
from oracle.decision import AgentState, rules
from oracle.models.protocol import Model, ModelFault, ToolCall
from oracle.prompts import ComposedPrompt, SegmentLibrary
from oracle.signals import NeedTurn, ParsedResponse, Signal, SignalAudit
from oracle.tools import ToolRegistry

TOOL_ERROR_NOTE = (
    "A tool call failed; its result says why. Change the call or take another way; do not repeat it as it was."
)
"""For the request after tools have failed (decision 25)."""

EMPTY_TURN_NOTE = (
    "Your last response was empty. If the whole answer stands above, end with one short closing sentence; "
    "else write the answer now, from what you have."
)
"""For the request after a turn that brought nothing."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a query works with; shared by all queries of a process.

    Args:
        model: answers turns.
        tools: all that there are.
        segments: of the prompt.
        intents: reads a response that carries no clear signal.
        clock: monotonic time.
        timestamp: the time now, as ISO 8601 in UTC.
        max_output_tokens: the most that one turn may say.
        thinking_tokens: how much of it may be thinking; 0 turns thinking off.
        project: the project's name, for the prompt; empty: there is none.
        folders: its top-level folders, for the prompt.
    """

    model: Model
    tools: ToolRegistry
    segments: SegmentLibrary
    intents: IntentClassifier
    clock: Clock
    timestamp: Callable[[], str]
    max_output_tokens: int = 8192
    thinking_tokens: int = 0
    project: str = ""
    folders: tuple[str, ...] = ()


@dataclass(slots=True)
class SignalTrack:
    """What the model has said about itself so far.

    Args:
        latest: of the last turn; `None` if it had none that counts.
        malformed: the last turn had one that could not be read.
        turns_without: turns in a row without a signal.
        same_reason: how many times in a row `need_turn` gave the same reason.
    """

    latest: Signal | None = None
    malformed: bool = False
    turns_without: int = 0
    same_reason: int = 0
    _reason: str = ""

    def note(self, outcome: TurnOutcome) -> None:
        """A turn has finished."""
        self.latest, self.malformed = outcome.signal, outcome.malformed_signal
        self.turns_without = 0 if outcome.signal else self.turns_without + 1
        signal = outcome.signal
        reason = " ".join(signal.reason.casefold().split()) if isinstance(signal, NeedTurn) else ""
        self.same_reason = self.same_reason + 1 if reason and reason == self._reason else int(bool(reason))
        self._reason = reason


Judge = Callable[[AgentState, CallResult], AgentState]


def _judge(state: AgentState, result: CallResult) -> AgentState:
    return state.after_tool_result(result.action, error=result.text, source=result.group)


@dataclass(slots=True)
class AgentRun:
    """One query under way.

    Args:
        query: what was asked, and under which limits.
        equipment: what it works with.
        output: where it speaks.
        state: what the control knows.
        transcript: what goes to the provider.
        journal: where outcomes and signals are kept.
        audit: every signal of the query (020 FR-009).
        signal: what the model says about itself.
        classification: of the question, once it is made.
        offered: names of the tools that the model may call.
        prompt: the system prompt, once it is composed.
        notes: what the model is told with its next turn.
        provider_fault: what went wrong at the provider in the last turn; `None` if nothing did.
        own_fault: what else has ended the query as an error.
        last_turn: how the last turn ended.
        last_tools: how its tools ended.
        intent: what the fallback has made of the last turn; `None` if it was not consulted.
        blocker: what was in the way when the query got stuck.
        node_errors: exceptions in the tree's nodes, as `path: Type: message`.
        has_lost_control: the control could not go on, and its run was ended with an error.
        is_explained: the user has been told why the query stopped.
        open_calls: tool calls of the last turn that have no result yet.
        reserved_tokens: of the budget, for the turns that are under way.
    """

    query: Query
    equipment: Equipment
    output: Output
    state: AgentState
    transcript: Transcript
    journal: Journal = field(default_factory=NoJournal)
    audit: SignalAudit = field(default_factory=SignalAudit)
    signal: SignalTrack = field(default_factory=SignalTrack)
    classification: QueryClassification | None = None
    offered: tuple[str, ...] = ()
    prompt: ComposedPrompt | None = None
    notes: list[str] = field(default_factory=list)
    provider_fault: ModelFault | None = None
    own_fault: ModelFault | None = None
    last_turn: TurnOutcome | None = None
    last_tools: ToolsOutcome | None = None
    intent: ResponseIntent | None = None
    blocker: str = ""
    node_errors: list[str] = field(default_factory=list)
    has_lost_control: bool = False
    is_explained: bool = False
    open_calls: tuple[ToolCall, ...] = ()
    reserved_tokens: int = 0
    _answered_by: str = ""
    _unaudited: TurnOutcome | None = None
    _input_tokens: int | None = None
    _cached_shape: object = None
    _cached_until_s: float = 0.0

    def seconds_since_start(self) -> float:
        """Of this query, by the clock."""
        return self.equipment.clock.now() - self.state.start_time

    @property
    def fault(self) -> ModelFault | None:
        """What the user is told where the query ends as an error."""
        return self.own_fault or self.provider_fault

    def fail(self, fault: ModelFault) -> None:
        """The query cannot go on, and the provider is not to blame; a reason that is written already stays."""
        self.own_fault = fault
        self.stop("error")

    def stop(self, reason: TerminationReason) -> None:
        """Write the reason down; the first one counts."""
        self.state = self.state.stopped(reason)
        self._audit(reason)

    @property
    def model_used(self) -> str:
        """The model that answered last, or would have."""
        return self._answered_by or self.query.model or self.equipment.model.name

    def tell_of_cut_history(self) -> None:
        """Tell the user what of the conversation the model does not see; nothing is forgotten silently."""
        omitted, shortened = self.query.omitted_messages, self.query.is_history_shortened
        if omitted or shortened:
            self.output.notify(notices.history_cut(omitted, is_shortened=shortened))

    def warn_near_limits(self) -> None:
        """Tell user and model, once each, that a limit is near (decisions 4, 6, 24)."""
        self.send_warnings(rules.mark_warnings(self.state))

    def send_warnings(self, marked: AgentState) -> None:
        """Send the warnings that `marked` has and the state has not, and take it over."""
        if marked.turn_warned and not self.state.turn_warned:
            self._warn(notices.iteration_warning(marked))
        if marked.token_warned and not self.state.token_warned:
            self._warn(notices.token_warning(marked))
        self.state = marked

    def _warn(self, notice: notices.Notice) -> None:
        self.output.notify(notice)
        self.notes.append(notice.message)

    @property
    def unreserved_tokens(self) -> int:
        """What the budget leaves for a turn that begins beside those that are under way."""
        return max(0, self.state.tokens_left - self.reserved_tokens)

    def plan(self) -> planning.TurnPlan:
        """Limits of the next turn."""
        return planning.plan_turn(
            self.state,
            request=self.estimated_input(),
            reserved_tokens=self.reserved_tokens,
            max_output_tokens=self.equipment.max_output_tokens,
            thinking_tokens=self.equipment.thinking_tokens,
        )

    def estimated_input(self) -> planning.InputEstimate:
        """Input tokens of the next request.

        What the provider has reported for the earlier messages is taken from its report; it is expected to count them
        as nothing while it has them in its cache. The rest is estimated from characters.
        """
        new = estimate_tokens(self.transcript.unsent_characters)
        if self._input_tokens is None:
            whole = new + estimate_tokens(len(self.prompt.text) if self.prompt else 0)
            return planning.InputEstimate(whole, whole)
        whole = self._input_tokens + new
        is_cached = self._cached_shape == self._shape() and self.equipment.clock.now() < self._cached_until_s
        return planning.InputEstimate(whole, new if is_cached else whole)

    def apply_turn(self, outcome: TurnOutcome) -> None:
        """A turn has ended, well or not."""
        self.last_turn, self.intent = outcome, None
        self._take_notes(outcome.notes)
        if outcome.fault is not None or outcome.interrupted:
            self.state = self.state.after_broken_turn(tokens=outcome.tokens, estimated=outcome.estimated)
            self.output.close_calls("Not run: the turn was interrupted.")
            self._take_fault(outcome.fault)
            self._audit_beside(outcome, action="error" if outcome.fault else "interrupted")
            return
        self._take_fault(None)
        self.open_calls = outcome.calls
        self._answered_by = outcome.model
        self._unaudited = outcome
        self._note_cache(outcome)
        self.transcript.add_turn(outcome.content)
        self.signal.note(outcome)
        self.state = self.state.after_turn(
            tokens=outcome.tokens,
            estimated=outcome.estimated,
            answered=outcome.answers,
            signal=outcome.signal.type if outcome.signal else None,
            budget_cut=outcome.budget_cut or (outcome.is_last_paid and bool(outcome.calls)),
            empty=outcome.is_empty,
        )
        if outcome.server_tools:
            tools = [tool for name in outcome.server_tools if (tool := self.equipment.tools.get(name))]
            self.state = self.state.after_server_tools(outcome.server_tools, sources=[tool.group for tool in tools])

    def _take_notes(self, notes: Sequence[str]) -> None:
        """What a request has told the model stays in the transcript (decision 24)."""
        self.notes = [note for note in self.notes if note not in notes]
        if notes:
            self.transcript.add_note("\n".join(notes))
        self.transcript.mark_sent()

    def _note_cache(self, outcome: TurnOutcome) -> None:
        """What the provider now has in its cache, and until when."""
        self._input_tokens = outcome.input_tokens
        # A request whose `tool_choice` differs shares no messages with the others in the cache.
        keeps = outcome.caches and not outcome.without_tools
        asked_at_s = self.equipment.clock.now() - outcome.duration_ms / 1000
        self._cached_shape = self._shape()
        self._cached_until_s = asked_at_s + planning.CACHE_LIFETIME_S if keeps else 0.0

    def _shape(self) -> object:
        """What of the next request, its messages apart, voids the provider's cache of them when it changes."""
        left, most = self.state.tokens_left, self.equipment.max_output_tokens
        thinking = planning.thinking_room(left, most=self.equipment.thinking_tokens, max_tokens=min(most, left))
        return self.offered, thinking

    def _take_fault(self, fault: ModelFault | None) -> None:
        """What the last turn says of the provider; the fault that has ended the query stays."""
        if self.state.termination_reason != "error":
            self.provider_fault = fault

    def apply_side_turn(self, outcome: TurnOutcome) -> None:
        """A turn beside the answer has ended: it counts, and leaves no trace in transcript and signals."""
        self._take_fault(outcome.fault)
        self._audit_beside(outcome, action="beside_the_answer")
        if outcome.fault is not None or outcome.interrupted:
            self.state = self.state.after_broken_turn(tokens=outcome.tokens, estimated=outcome.estimated)
        else:
            self.state = self.state.after_side_turn(
                tokens=outcome.tokens, estimated=outcome.estimated, budget_cut=outcome.budget_cut
            )

    def apply_tools(self, outcome: ToolsOutcome, *, judge: Judge | None = None) -> None:
        """The tool calls of a turn have ended, were refused, or were cancelled; each of them has one result.

        Args:
            outcome: how; results of calls that have one already are left out.
            judge: what a result means for the state; the shared transition by default.
        """
        waiting = {call.id for call in self.open_calls}
        outcome = ToolsOutcome(tuple(each for each in outcome.results if each.call.id in waiting))
        answered = {each.call.id for each in outcome.results}
        self.open_calls = tuple(call for call in self.open_calls if call.id not in answered)
        self.last_tools = outcome
        self._audit("tools")
        judge = judge or _judge
        for result in outcome.results:
            if result.counts:
                self.state = judge(self.state, result)
        if any(result.counts and result.is_error for result in outcome.results):
            self.notes.append(TOOL_ERROR_NOTE)
        self.transcript.add_tool_results(CallText(each.call, each.text, each.is_error) for each in outcome.results)

    def ask_again(self, hint: str = "") -> None:
        """Grant another turn: a note asks the model to go on (decision 8).

        If the token budget does not pay for it, this is where it has been reached (decision 13).

        Args:
            hint: what else to say; after an empty turn a request for the answer stands in for none.
        """
        self._audit("another_turn")
        if self.last_turn is not None and self.last_turn.is_last_paid:
            self.state = self.state.after_budget_cut()
        hint = hint or (EMPTY_TURN_NOTE if self.state.empty_turns else "")
        self.transcript.add_note(f"Continue. {hint}".strip())

    def is_turn_left(self) -> bool:
        """Whether the limits leave a turn after the last one."""
        state, last = self.state, self.last_turn
        is_unpaid = rules.tokens_are_used_up(state) or (last is not None and last.is_last_paid)
        return not (is_unpaid or rules.turns_are_used_up(state))

    def _audit(self, action: str) -> None:
        """Record the signals of the last turn, and what the control did about them (020 FR-009)."""
        turn, self._unaudited = self._unaudited, None
        if turn is not None and turn.parsed is not None:
            told = action if self.intent is None else f"fallback: {action}"
            self._record(turn.parsed, turn=self.state.turn, action=told)

    def _audit_beside(self, outcome: TurnOutcome, *, action: str) -> None:
        """Record the signals of a turn that did not count; call it before the turn is counted."""
        if outcome.parsed is not None and outcome.parsed.readings:
            self._record(outcome.parsed, turn=self.state.turn + 1, action=action)

    def _record(self, parsed: ParsedResponse, *, turn: int, action: str) -> None:
        for record in self.audit.append_response(parsed, turn=turn, action=action):
            self.journal.signal(record)
            log_signal(record, run_id=self.query.run_id)
