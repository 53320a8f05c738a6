"""Makes the history of a run from the events of its log, one after the other; so it works while the run is under way.

Each recorded tick is repeated on the version of the tree that ran, with a trace. What cannot be repeated (the version
cannot be read any more, its texts were deleted, the log is damaged) is in the history without reasons. No event makes
it fail: one that cannot be read is left out, and the history's problem says so.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

import structlog

from bt_runtime import Outcome, Registry, TickRecord, TreeDefinition
from oracle.agent.journal import RequestRecord, RuleBreach
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.core import chunks
from oracle.replay.histories.calls import Calls, NumberedCalls
from oracle.replay.histories.endings import ending
from oracle.replay.histories.headlines import headline
from oracle.replay.histories.model import (
    DELETED,
    BreachFacts,
    DecisionFacts,
    History,
    InterruptFacts,
    NoticeFacts,
    TextFacts,
    TickFacts,
    run_facts,
)
from oracle.replay.histories.nodes import read_version
from oracle.replay.histories.people import debug_facts, seam_facts, take_decision, withdraw_pending
from oracle.replay.histories.repetition import Reasons, RepeatedRun, Work, WorkKind
from oracle.replay.histories.ticks import ReadTexts, Ticks
from oracle.replay.histories.turns import Turns, signal_action
from oracle.replay.histories.view import reasons_of, with_end_shown
from oracle.replay.recorded import UnreplayableError, rebuild_query
from oracle.runs.record import events
from oracle.runs.record.debug import Debugged
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.trees import TreeVersion
from signals import SignalRecord

log = structlog.get_logger(__name__)

_MOST_PROBLEMS: Final = 5
"""How many problems the text of a history lists."""
_KIND_OF_WORK: Final[Mapping[str, WorkKind]] = {"llm_turn": "turn", "run_tools": "tools", "action": "call"}


class Explainer:
    """The history of one run, as far as its events have been fed.

    Args:
        record: its row, as it is now; `ended` replaces it.
        version: of the tree; `None`: it is not in the store, or no tree drove the run.
        registry: the node kinds of today.
        ticks: those whose reasons are wanted; the run is repeated as far as the last of them. `None`: all. With none
            no tick is repeated. With a part of a long run the memory that is used depends on this part, beside the
            figures of each tick.
    """

    def __init__(
        self, record: RunRecord, version: TreeVersion | None, *, registry: Registry, ticks: range | None = None
    ) -> None:
        self._history = History(run_facts(record))
        self._record = record
        self._registry = registry
        self._wanted = ticks
        self._decoder = events.LogDecoder(has_ticks=record.tree_sha is not None)
        self._sources: dict[int, tuple[chunks.Source, ...]] = {}
        self._stops: dict[int, RuleBreach] = {}
        self._opened: events.Opened | None = None
        self._start_at = record.created_at
        self._problems: list[str] = []
        self._repetition: RepeatedRun | None = None
        self._has_begun = False
        self._definition: TreeDefinition | None = None
        self._nodes: Mapping[str, int] = {}
        has_texts = record.kept == "whole"
        self._numbered = None if has_texts else NumberedCalls()
        self._turns = Turns(self._history.turns, self._since_start, has_texts=has_texts)
        self._calls = Calls(self._history.calls, self._since_start, has_texts=has_texts)
        self._texts = ReadTexts(self._history.texts)
        self._read_tree(version)
        self._ticks = Ticks(
            self._history.ticks,
            self._history.tree.nodes if self._history.tree else (),
            headline=partial(headline, self._history),
            why=partial(reasons_of, self._history),
        )

    @property
    def history(self) -> History:
        """What is known so far."""
        self._texts.flush()
        return self._history

    def feed_all(self, entries: Iterable[LogEntry]) -> None:
        """Take the next entries of the log."""
        for entry in entries:
            self.feed(entry)

    def feed(self, entry: LogEntry) -> TickFacts | None:
        """Take the next entry of the log; returns the tick, if it is one.

        One that cannot be read is noted as the history's problem and skipped.
        """
        try:
            event = self._decoder.decode(entry)
            return None if event is None else self._take(event, at=entry.at)
        except Exception as error:  # noqa: BLE001  the log may have any damage
            log.debug("event.not_understood", run_id=entry.run_id, seq=entry.seq, error=repr(error)[:500])
            kind = type(error.__cause__ or error).__name__
            self._note(f"event {entry.seq} of the log ({entry.kind}) is damaged: {kind}")
            return None

    def ended(self, record: RunRecord) -> None:
        """Take the row of the run as it is after its end."""
        self._record = record
        self._history.run = run_facts(record)
        if record.status == "finished":
            all_began = (record.error or {}).get("error_type") in ("interrupted", "not_continued")
            self._turns.close(all_began=all_began)
            withdraw_pending(self._history, tick=self._next)
            end = ending(self._history, record.termination_reason or "error", error=record.error)
            self._history.end = with_end_shown(self._history, end)

    def _take(self, event: events.LogEvent, *, at: float) -> TickFacts | None:  # noqa: C901  one case for each kind
        match event:
            case events.Opened():
                self._opened, self._start_at = event, at
                self._calls.labels = {
                    tool.name: tuple(sorted(tool.labels)) for tool in event.tools if tool.labels is not None
                }
                self._begin(event)
            case events.TurnFinished(outcome) | events.ToolFinished(outcome):
                self._take_outcome(outcome)
            case events.RuleBroken(breach):
                self._take_breach(breach)
            case events.SignalRead(signal):
                self._take_signal(signal)
            case events.ChunkSent(chunk):
                self._take_chunk(chunk, at=at)
            case Debugged():
                done = debug_facts(event, tick=self._next, at_s=round(at - self._start_at, 6))
                self._history.debug += [done] if done else []
            case events.Ticked(tick):
                return self._take_tick(tick, at=at)
            case events.TurnRequested(request):
                self._take_request(request, at=at)
            case events.Resumed():
                at_s = self._since_start(event.clock_s)
                self._start_at = at - at_s  # of what follows: the run's clock has not gone on as that on the wall
                self._history.seams.append(seam_facts(event, tick=self._next, at_s=at_s))
            case events.ClosingBegun() | events.Intended() | events.RunEnded():
                pass  # the sentence says it, the call, and the row
        return None

    # The tree

    def _read_tree(self, version: TreeVersion | None) -> None:
        kept = self._record.kept
        if kept in DELETED:
            self._note(DELETED[kept])
        read = read_version(version, registry=self._registry)
        if read.problem:
            self._note(read.problem if self._record.tree_sha else "no YAML tree drove it, so it has no ticks")
        self._history.tree = read.facts
        self._definition = read.definition if kept == "whole" else None
        self._nodes = {node.path: node.index for node in read.facts.nodes} if read.facts else {}

    def _begin(self, opened: events.Opened) -> None:
        """Build the query anew, before its first tick."""
        if self._definition is None or self._has_begun:
            return
        self._has_begun = True
        rebuild = partial(rebuild_query, self._record, opened, self._definition, registry=self._registry)
        try:
            self._repetition = RepeatedRun(self._definition, partial(rebuild, sources=self._sources, stops=self._stops))
        except UnreplayableError as error:
            self._note(str(error))
        else:
            self._history.keys = self._repetition.keys

    def _note(self, problem: str) -> None:
        """Add a problem to those of the history."""
        self._problems.append(problem)
        shown, more = self._problems[:_MOST_PROBLEMS], len(self._problems) - _MOST_PROBLEMS
        self._history.problem = "; ".join(shown) + (f"; and {more:,} more" if more > 0 else "")

    # Ticks

    @property
    def _next(self) -> int:
        """The number of the next tick; 0 if no tree drives the run."""
        return self._ticks.last + 1 if self._record.tree_sha else 0

    def _take_tick(self, recorded: TickRecord, *, at: float) -> TickFacts:
        self._ticks.check(recorded, len(self._history.tree.nodes) if self._history.tree else None)
        if self._opened is None:  # the event of its beginning is damaged
            self._opened = events.Opened(recorded.at_s)
            self._begin(self._opened)
        taken = 0
        for outcome in recorded.outcomes:
            node = self._node_of(outcome.key)
            taken = self._turns.taken(node, tick=recorded.tick, at_s=outcome.at_s) or taken
            self._calls.ended(node, tick=recorded.tick)
        at_s = self._since_start(recorded.at_s)
        reasons = self._reasons(recorded)
        shown = reasons if self._wanted is None or recorded.tick in self._wanted else None
        if reasons is not None:
            for work in reasons.work:
                self._take_work(work, tick=recorded.tick, at_s=at_s, at=at)
        else:
            self._guess_work(recorded, at_s=at_s, at=at)
        self._sources.pop(recorded.tick, None)
        self._stops.pop(recorded.tick, None)
        return self._ticks.add(recorded, at_s=at_s, turn=taken or self._turns.current, reasons=shown)

    def _reasons(self, recorded: TickRecord) -> Reasons | None:
        """What the repetition adds."""
        wanted = self._wanted
        if wanted is not None and recorded.tick >= wanted.stop:
            self._repetition = None
            return None
        if self._repetition is not None:
            try:
                return self._repetition.play(recorded, is_traced=wanted is None or recorded.tick in wanted)
            except UnreplayableError as error:
                self._repetition = None
                self._note(f"{error}; no reasons from there on")
        if self._history.unexplained_from is None:
            self._history.unexplained_from = recorded.tick
        return None

    def _take_work(self, work: Work, *, tick: int, at_s: float, at: float) -> None:
        if work.kind == "turn":
            self._turns.begin(work.node, tick=tick, at_s=at_s, at=at, visible=work.visible, request=work.request)
        elif work.kind == "tools":
            self._calls.began(work.node, tick=tick, at_s=at_s)
        else:
            self._calls.expect(work.node, tick=tick, at_s=at_s)

    def _guess_work(self, recorded: TickRecord, *, at_s: float, at: float) -> None:
        """What the tick has asked for, by the kinds of the nodes that began to run."""
        tree = self._history.tree
        for index, status in recorded.changes if tree else ():
            kind = _KIND_OF_WORK.get(tree.nodes[index].kind) if tree else None
            if kind is not None and status.name == "RUNNING":
                self._take_work(Work(kind, index), tick=recorded.tick, at_s=at_s, at=at)

    # Everything else

    def _since_start(self, at_s: float) -> float:
        return round(at_s - self._opened.start_s, 6) if self._opened else at_s

    def _node_of(self, key: str) -> int | None:
        return self._nodes.get(key.rpartition("@")[0])

    def _take_outcome(self, outcome: Outcome) -> None:
        node, value = self._node_of(outcome.key), outcome.value
        if self._numbered is not None:
            value = self._numbered.with_ids(value)
        if isinstance(value, TurnOutcome):
            began = self._ticks.began(node)
            self._turns.end(node, value, at_s=outcome.at_s, began_tick=began)
            if self._record.tree_sha is None:
                self._turns.release(node)
            if self._numbered is not None:
                for call in value.calls:
                    self._calls.asked(
                        chunks.ToolCall(call.id, call.name, {}),
                        turn=self._turns.current,
                        tick=self._next,
                        at_s=self._since_start(outcome.at_s),
                    )
            self._calls.take_turn(value)
        elif isinstance(value, ToolsOutcome):
            self._calls.take_results(value.results, self._since_start(outcome.at_s))

    def _take_request(self, request: RequestRecord, *, at: float) -> None:
        node, at_s = self._node_of(request.step), round(at - self._start_at, 6)
        if not self._turns.is_open(node):
            self._turns.begin(node, tick=self._ticks.last, at_s=at_s, at=at)
        self._turns.sent(node, request)

    def _take_signal(self, signal: SignalRecord) -> None:
        fields = signal.to_json()
        if self._numbered is not None:
            self._turns.left(fields)
        done = signal_action(fields)
        if done is not None:
            self._turns.acted(*done)

    def _take_breach(self, breach: RuleBreach) -> None:
        if breach.enforcement == "stop":
            self._stops.setdefault(self._next, breach)
        self._history.breaches.append(BreachFacts(tick=self._next, **breach.to_json() | {"turn": self._turns.current}))

    def _take_chunk(self, chunk: chunks.Chunk, *, at: float) -> None:
        at_s, tick = round(at - self._start_at, 6), self._next
        turn = self._turns.current
        match chunk:
            case chunks.SourceFound(source):
                self._sources[tick] = (*self._sources.get(tick, ()), source)
                self._texts.say(TextFacts("source", tick, turn, at_s, source.path), is_whole=True)
            case chunks.SystemNotice():
                notice = NoticeFacts(tick, turn, at_s, chunk.system_type, chunk.severity, chunk.system_message)
                self._history.notices.append(notice)
            case chunks.Content(text) | chunks.Thinking(text):
                is_of_turn = isinstance(chunk, chunks.Content) and not isinstance(chunk, chunks.Closing)
                if is_of_turn and not text.isspace():  # a paragraph may end before the closing sentence
                    self._turns.showed_text(at=at)
                self._texts.say(TextFacts(chunk.type, tick, turn, at_s, text))
            case chunks.ApprovalRequested(interrupt) | chunks.QuestionAsked(interrupt):
                self._history.interrupts.append(InterruptFacts(tick, turn, at_s, interrupt))
            case chunks.Answered(interrupt):
                given = chunk.answer, chunk.arguments, chunk.comment
                take_decision(self._history, DecisionFacts(tick, at_s, interrupt, *given))
            case chunks.Failed():
                self._texts.say(TextFacts("error", tick, turn, at_s, chunk.error), is_whole=True)
            case chunks.ToolCalled(call):
                self._calls.asked(call, turn=turn, tick=tick, at_s=at_s)
            case chunks.ToolReturned():
                self._calls.returned(chunk, tick=tick, at_s=at_s)
