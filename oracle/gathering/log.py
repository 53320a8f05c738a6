"""What one query has gathered, judged: verdicts, and the calls that are held back by them."""

from collections.abc import Sequence
from dataclasses import field

import structlog

from bt_runtime.text.data import dataclass
from oracle.agent.gathering import Gathering
from oracle.agent.outcomes import CallResult
from oracle.decision import AgentState
from oracle.gathering.gathered import Gathered, GatheredResult
from oracle.gathering.sufficiency import ANSWERED, HeuristicSufficiency, SufficiencyJudge, why_needless
from oracle.llm.protocol import ToolUse
from oracle.tools import ToolRegistry
from signals import Signal

log = structlog.get_logger(__name__)

FURTHER_CALLS = 1
"""Calls that are run after the sources have answered: one thing may be missing. With `need_turn` twice as many."""
SIDE_BY_SIDE = 2
"""Calls of a turn that are run once several have found something: the next ones depend on what these bring."""
ANSWER_DUE = "Not run: each source that this question needs has brought something, and the further call is used. {}"
ONE_BY_ONE = (
    "Not run: several looks have found something, so of this turn's calls to sources that were asked before only "
    f"{SIDE_BY_SIDE} are run. Answer from their results if they suffice."
)
BELIEVED_FROM = 0.5
"""The confidence from which on the model's word counts that it has what it needs."""


def says_enough(signal: Signal | None) -> bool:
    """Whether the model says credibly that it has what it needs."""
    return signal is not None and signal.type == "context_sufficient" and signal.confidence >= BELIEVED_FROM


@dataclass(slots=True)
class GatheringLog(Gathering):
    """The gathering of one query, judged.

    Args:
        by: says whether what was gathered suffices.
        answered_at: how many calls had been run when the sources had answered; `None`: they have not.
    """

    gathered: Gathered = field(default_factory=Gathered)
    by: SufficiencyJudge = field(default_factory=HeuristicSufficiency)
    answered_at: int | None = None

    def begin_turn(self, question: str) -> None:
        """A turn of the answer has ended: its calls are other ones than those before."""
        Gathering.begin_turn(self, question)
        if not (self.gathered.question or self.gathered.tried):  # a question may have no word that counts
            self.gathered = Gathered.of(question)

    def take(self, results: Sequence[CallResult], tools: ToolRegistry, *, turn: int, signal: Signal | None) -> None:
        """Add what the calls that were run have brought."""
        refused = sum(result.call.id in self.held_back for result in results)
        if refused:
            log.info("gathering.refused", turn=turn, calls=refused, reason=self.verdict.reason)
        ran = [_found(result, tools) for result in results if result.counts]
        self.gathered = self.gathered.after(ran, turn=turn, said_sufficient=says_enough(signal))
        is_new = bool(ran) and not self.gathered.dry_turns
        self.refused_calls = refused if is_new else self.refused_calls + refused

    def judge(self, *, turn: int) -> None:
        """Ask whether what was gathered suffices; if the judge fails, the heuristic answers."""
        try:
            verdict = self.by.judge(self.gathered)
        except Exception:
            log.exception("sufficiency.failed", judge=self.by.name)
            verdict = HeuristicSufficiency().judge(self.gathered)
        if verdict != self.verdict:
            gathered = self.gathered
            log.info(
                "context.judged",
                turn=turn,
                reason=verdict.reason,
                firm=verdict.is_firm,
                calls=len(gathered.tried),
                sources=len(gathered.sources),
                dry_turns=gathered.dry_turns,
            )
        self.verdict = verdict
        if verdict == ANSWERED and self.answered_at is None:
            self.answered_at = len(self.gathered.tried)

    def hold_back(
        self, calls: Sequence[ToolUse], tools: ToolRegistry, state: AgentState, *, signal: Signal | None, words: str
    ) -> None:
        """Hold back the calls that can only repeat what is known, and those that go on where enough was found.

        With the signal `need_turn` the model names what is missing, so that twice as many are run after enough.
        """
        names_it = signal is not None and signal.type == "need_turn"
        has_answered = self.answered_at is not None
        most, after = SIDE_BY_SIDE, 0
        if self.answered_at is not None:
            most, after = FURTHER_CALLS * (1 + names_it), len(self.gathered.tried) - self.answered_at
        is_bounded = has_answered or self.gathered.has_several
        for call in calls:
            tool = tools.get(call.name)
            if tool is None or call.malformed is not None:
                continue
            why = why_needless(
                self.gathered,
                self.verdict,
                tool=call.name,
                arguments=dict(call.arguments),
                writes=tool.writes,
                recent=state.recent_actions,
                is_first=not self.refused_calls,
            )
            if why:
                self.held_back[call.id] = f"Not run: {why}. {words}"
            elif is_bounded and not tool.writes and tool.group in self.gathered.groups_tried:
                after += 1
                if after > most:
                    self.held_back[call.id] = ANSWER_DUE.format(words) if has_answered else ONE_BY_ONE


def _found(result: CallResult, tools: ToolRegistry) -> GatheredResult:
    tool = tools.get(result.call.name)
    return GatheredResult(
        tool=result.call.name,
        arguments=dict(result.call.arguments),
        canonical=result.action.arguments,
        group=result.group or "",
        text=result.text,
        sources=result.sources,
        is_error=result.is_error,
        is_empty=result.is_empty,
        writes=tool is not None and tool.writes,
    )
