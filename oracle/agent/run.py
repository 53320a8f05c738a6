"""`AgentRun`: one query under way. The tree's nodes and the plain loop both work on it, by the same few steps.

It holds the state (immutable, replaced by each transition), the transcript for the provider, and the output for the
user. Steps that wait (`turn`, `tool_calls`) return an outcome and change nothing but the output; what an outcome means
for the state is applied by `apply_turn` and `apply_tools`, which never wait. So a run can be repeated from its
outcomes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bt_runtime import Clock
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
from oracle.models.protocol import Model, ModelFault
from oracle.prompts import ComposedPrompt, SegmentLibrary
from oracle.signals import NeedTurn, ParsedResponse, Signal, SignalAudit
from oracle.tools import ToolRegistry

TOOL_ERROR_HINT = (
    "A tool call failed; its result says why. Change the call or take another way; do not repeat it as it was."
)
"""For the request after tools have failed (decision 25)."""


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
        hints: instructions for the next request alone.
        fault: what went wrong in the last turn; `None` if nothing did.
        last_turn: how the last turn ended.
        last_tools: how its tools ended.
        intent: what the fallback has made of the last turn; `None` if it was not consulted.
        blocker: what was in the way when the query got stuck.
        node_errors: exceptions in the tree's nodes, as `path: Type: message`.
        is_explained: the user has been told why the query stopped.
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
    hints: list[str] = field(default_factory=list)
    fault: ModelFault | None = None
    last_turn: TurnOutcome | None = None
    last_tools: ToolsOutcome | None = None
    intent: ResponseIntent | None = None
    blocker: str = ""
    node_errors: list[str] = field(default_factory=list)
    is_explained: bool = False
    _answered_by: str = ""
    _unaudited: TurnOutcome | None = None
    _sent_messages: int = 0
    _input_tokens: int = 0
    _caches: bool = False

    def seconds_since_start(self) -> float:
        """Of this query, by the clock."""
        return self.equipment.clock.now() - self.state.start_time

    def stop(self, reason: TerminationReason) -> None:
        """Write the reason down; the first one counts."""
        if self.state.termination_reason is None:
            self.state = replace(self.state, termination_reason=reason)
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
        self.hints.append(notice.message)

    def plan(self) -> planning.TurnPlan:
        """Limits of the next turn."""
        return planning.plan_turn(
            self.state,
            input_tokens=self.estimated_input(),
            max_output_tokens=self.equipment.max_output_tokens,
            thinking_tokens=self.equipment.thinking_tokens,
        )

    def estimated_input(self) -> int:
        """Input tokens of the next request as the budget will count them.

        What the provider has reported for the earlier messages is taken from its report (nothing where it caches them);
        the rest is estimated from characters.
        """
        new = planning.message_characters(self.transcript.messages[self._sent_messages :])
        if self._sent_messages:
            return (0 if self._caches else self._input_tokens) + planning.estimate_tokens(new)
        system = len(self.prompt.text) if self.prompt else 0
        return planning.estimate_tokens(new + system)

    def apply_turn(self, outcome: TurnOutcome) -> None:
        """A turn has ended, well or not."""
        self.last_turn, self.intent = outcome, None
        if outcome.fault is not None or outcome.interrupted:
            self.state = self.state.after_broken_turn(tokens=outcome.tokens, estimated=outcome.estimated)
            self.output.close_calls("Not run: the turn was interrupted.")
            self._take_fault(outcome.fault)
            self._audit_beside(outcome, action="error" if outcome.fault else "interrupted")
            return
        self._take_fault(None)
        self._answered_by = outcome.model
        self._unaudited = outcome
        self._sent_messages, self._input_tokens = len(self.transcript), outcome.input_tokens
        self._caches = self._caches or outcome.caches
        self.transcript.add_turn(outcome.content)
        self.signal.note(outcome)
        self.state = self.state.after_turn(
            tokens=outcome.tokens,
            estimated=outcome.estimated,
            answered=outcome.is_answer and not isinstance(outcome.signal, NeedTurn),
            signal=outcome.signal.type if outcome.signal else None,
            budget_cut=outcome.budget_cut or (outcome.is_last_paid and bool(outcome.calls)),
        )
        if outcome.server_tools:
            tools = [tool for name in outcome.server_tools if (tool := self.equipment.tools.get(name))]
            self.state = self.state.after_server_tools(outcome.server_tools, sources=[tool.group for tool in tools])

    def _take_fault(self, fault: ModelFault | None) -> None:
        """What the last turn says of the provider; the fault that has ended the query stays."""
        if self.state.termination_reason != "error":
            self.fault = fault

    def apply_side_turn(self, outcome: TurnOutcome) -> None:
        """A turn beside the answer has ended: it counts, and leaves no trace in transcript and signals."""
        self._take_fault(outcome.fault)
        self._audit_beside(outcome, action="beside_the_answer")
        if outcome.fault is not None or outcome.interrupted:
            self.state = self.state.after_broken_turn(tokens=outcome.tokens, estimated=outcome.estimated)
        else:
            self.state = self.state.after_turn(
                tokens=outcome.tokens,
                estimated=outcome.estimated,
                answered=self.state.answered,
                budget_cut=outcome.budget_cut,
            )

    def apply_tools(self, outcome: ToolsOutcome, *, judge: Judge | None = None) -> None:
        """The tool calls of a turn have ended, were refused, or were cancelled.

        Args:
            outcome: how.
            judge: what a result means for the state; the shared transition by default.
        """
        self.last_tools = outcome
        self._audit("tools")
        judge = judge or _judge
        for result in outcome.results:
            if result.counts:
                self.state = judge(self.state, result)
        if any(result.counts and result.is_error for result in outcome.results):
            self.hints.append(TOOL_ERROR_HINT)
        self.transcript.add_tool_results(CallText(each.call, each.text, each.is_error) for each in outcome.results)

    def ask_again(self, hint: str = "") -> None:
        """Grant another turn: an ephemeral user message asks the model to go on (decision 8).

        If the token budget does not pay for it, this is where it has been reached (decision 13).
        """
        self._audit("another_turn")
        if self.last_turn is not None and self.last_turn.is_last_paid:
            self.state = replace(self.state, budget_cut=True)
        self.transcript.add_user_text(f"Continue. {hint}".strip())

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

    def take_hints(self) -> str | None:
        """The hints for the next request alone."""
        hints, self.hints = self.hints, []
        return "\n".join(hints) or None
