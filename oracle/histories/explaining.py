"""Makes the history of a run from the events of its log, one after the other; so it works while the run is under way.

Each recorded tick is repeated on the version of the tree that ran, with a trace. What cannot be repeated (the version
cannot be read any more, its texts were deleted, the log is damaged) is in the history without reasons.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bt_runtime import (
    BTError,
    Outcome,
    Registry,
    Replaying,
    Status,
    TickRecord,
    Trace,
    TreeDefinition,
    TreeFileError,
    TreeNotFoundError,
    deciding,
    did_the_same,
)
from bt_runtime.library import read_sources
from oracle.agent.outcome_json import decode_outcome
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.agent.rule_gate import RuleBreach
from oracle.chunks import (
    Chunk,
    Content,
    Failed,
    Source,
    SourceFound,
    SystemNotice,
    Thinking,
    ToolCalled,
    ToolReturned,
    read_chunk,
)
from oracle.encoding import from_json
from oracle.histories.model import (
    CallFacts,
    EndFacts,
    FigureFacts,
    History,
    Kept,
    NoticeFacts,
    RunFacts,
    SignalFacts,
    StatusName,
    TextFacts,
    TickFacts,
    TurnFacts,
    VisitFacts,
)
from oracle.histories.nodes import evaluation_facts, key_facts, tree_facts
from oracle.logs import quiet
from oracle.replays import RebuiltRun, rebuild_query
from oracle.runs.opened import Opened
from oracle.runs.tick_json import decode_tick
from oracle.storage import Event, RunRecord, TreeVersion

_NAMES: Mapping[Status, StatusName] = {
    Status.SUCCESS: "SUCCESS",
    Status.FAILURE: "FAILURE",
    Status.RUNNING: "RUNNING",
    Status.INVALID: "INVALID",
}


class Explainer:
    """The history of one run, as far as its events have been fed.

    Args:
        record: its row, as it is now; `ended` replaces it.
        version: of the tree; `None`: it is not in the store, or no tree drove the run.
        registry: the node kinds of today.

    Attributes:
        history: what is known so far.
    """

    def __init__(self, record: RunRecord, version: TreeVersion | None, *, registry: Registry) -> None:
        self.history = History(run_facts(record))
        self._record = record
        self._registry = registry
        self._kept: dict[str, Outcome] = {}
        self._sources: dict[int, tuple[Source, ...]] = {}
        self._stops: dict[int, RuleBreach] = {}
        self._trace = Trace()
        self._opened: Opened | None = None
        self._rebuilt: RebuiltRun | None = None
        self._replaying: Replaying | None = None
        self._definition: TreeDefinition | None = None
        self._start_at = record.created_at
        self._read_tree(version)

    def feed(self, event: Event) -> TickFacts | None:
        """Take the next event of the log; returns the tick, if it is one.

        An event that cannot be read is noted as the history's problem and skipped.
        """
        try:
            return self._feed(event)
        except (ValueError, KeyError, TypeError) as error:
            self._give_up(f"event {event.seq} of the log is damaged: {type(error).__name__}")
            return None

    def ended(self, record: RunRecord) -> None:
        """Take the row of the run as it is after its end."""
        self._record = record
        self.history.run = run_facts(record)
        if record.status == "finished":
            self.history.end = self._end(record)

    def _feed(self, event: Event) -> TickFacts | None:
        match event.kind:
            case "opened":
                self._opened = Opened.from_json(event.data)
                self._start_at = event.at
            case "turn_end" | "tool_end":
                self._take_outcome(decode_outcome(event.data))
            case "rule":
                breach = RuleBreach(**from_json(event.data))
                if breach.enforcement == "stop":
                    self._stops.setdefault(len(self.history.ticks) + 1, breach)
            case "chunk":
                self._take_chunk(read_chunk(event.data), at=event.at)
            case "tick":
                return self._take_tick(decode_tick(event.data, self._kept))
        return None

    @property
    def _next(self) -> int:
        """The number of the next tick."""
        return len(self.history.ticks) + 1

    @property
    def _turn(self) -> int:
        return len(self.history.turns)

    def _read_tree(self, version: TreeVersion | None) -> None:
        if version is None:
            self._give_up(
                "its version of the tree is not in the store any more"
                if self._record.tree_sha
                else "no YAML tree drove it"
            )
            return
        try:
            definition = read_sources(version.source, name=version.name, registry=self._registry)
        except (TreeFileError, TreeNotFoundError) as error:
            first = str(error).partition("\n")[0]
            self._give_up(f"its version of the tree cannot be read any more: {first}")
            return
        self._definition = definition
        self.history.tree = tree_facts(definition, registry=self._registry)

    def _give_up(self, problem: str) -> None:
        """Explain no further ticks."""
        self.history.problem = self.history.problem or problem
        self._replaying = self._rebuilt = None

    def _begin(self, first: TickRecord) -> None:
        """Build the query anew, before its first tick."""
        if self._definition is None or self.history.problem:
            return
        opened = self._opened or Opened(first.at_s)
        with quiet():
            self._rebuilt = rebuild_query(
                self._record,
                opened,
                self._definition,
                registry=self._registry,
                sources=self._sources,
                stops=self._stops,
                trace=self._trace,
            )
        self._opened = opened
        self._replaying = Replaying(self._rebuilt.tree, before_outcome=self._rebuilt.speak)
        self.history.keys = key_facts(self._definition, self._rebuilt.tree.blackboard)

    def _take_tick(self, recorded: TickRecord) -> TickFacts:
        if not self.history.ticks:
            self._begin(recorded)
        for outcome in recorded.outcomes:
            self._end_turn(outcome, recorded)
        facts = replace(self._plain(recorded), **self._reasons(recorded))
        self.history.ticks.append(facts)
        return facts

    def _plain(self, recorded: TickRecord) -> TickFacts:
        return TickFacts(
            tick=recorded.tick,
            at_s=self._since_start(recorded.at_s),
            took_ms=getattr(recorded, "took_ms", 0.0),
            turn=self._turn,
            cause=recorded.cause,
            causes=recorded.causes,
            deliveries=recorded.deliveries,
            visited=recorded.visited,
            changes=tuple((index, _NAMES[status]) for index, status in recorded.changes),
            writes=recorded.writes,
            errors=tuple((error.path, error.error) for error in recorded.errors),
        )

    def _reasons(self, recorded: TickRecord) -> Mapping[str, Any]:
        """What the repetition adds."""
        if self._replaying is None or self._rebuilt is None or self._definition is None:
            return {}
        try:
            with quiet():
                self._rebuilt.prepare(recorded)
                record = self._replaying.play(recorded)
        except BTError as error:
            self._give_up(f"tick {recorded.tick} cannot be repeated: {error}")
            return {}
        visits = self._trace.take()
        paths = self._definition.paths
        if record is None or not did_the_same(record, recorded, paths, paths):
            self._give_up(f"tick {recorded.tick} was not repeated as it was recorded")
            return {}
        decision = deciding(visits)
        nodes = self._definition.nodes()
        return {
            "decision": None if decision is None else decision.index,
            "headline": "" if decision is None else decision.words.sentence or decision.words.text,
            "visits": tuple(
                VisitFacts(
                    visit.index,
                    _NAMES[visit.status],
                    visit.parent,
                    visit.decider,
                    visit.words.text,
                    visit.words.sentence,
                    tuple(FigureFacts(*figure) for figure in visit.words.figures),
                    tuple(evaluation_facts(nodes[visit.index], each) for each in visit.evaluations),
                    visit.writes,
                    tuple(each.error for each in visit.errors),
                )
                for visit in visits
            ),
        }

    def _since_start(self, at_s: float) -> float:
        return round(at_s - self._opened.start_s, 6) if self._opened else at_s

    def _take_outcome(self, outcome: Outcome) -> None:
        self._kept[outcome.key] = outcome

    def _end_turn(self, outcome: Outcome, tick: TickRecord) -> None:
        value = outcome.value
        if isinstance(value, TurnOutcome):
            ended_s = self._since_start(outcome.at_s)
            signal = value.signal
            self.history.turns.append(
                TurnFacts(
                    n=self._turn + 1,
                    node=self._node_of(outcome.key),
                    began_tick=self._began(outcome.key, tick),
                    ended_tick=tick.tick,
                    began_s=ended_s - value.duration_ms / 1000,
                    ended_s=ended_s,
                    input_tokens=value.input_tokens,
                    tokens=value.tokens,
                    estimated=value.estimated,
                    model=value.model,
                    visible=not value.is_side,
                    cut_off=value.cut_off,
                    interrupted=value.interrupted,
                    error=value.fault.message if value.fault else "",
                    calls=tuple(call.id for call in value.calls),
                    signal=None if signal is None else SignalFacts(signal.type, signal.confidence),
                    answer=value.text,
                )
            )
        elif isinstance(value, ToolsOutcome):
            for result in value.results:
                self._return_call(result.call.id, result.text, is_error=result.is_error, tick=tick.tick)

    def _began(self, key: str, tick: TickRecord) -> int:
        """The tick that made the request: the last one before in which its node was ticked."""
        node = self._node_of(key)
        for facts in reversed(self.history.ticks):
            if (node, "RUNNING") in facts.changes:
                return facts.tick
        return max(1, tick.tick - 1)

    def _node_of(self, key: str) -> int | None:
        path = key.rpartition("@")[0]
        if self._definition is None or path not in self._definition.paths:
            return None
        return self._definition.paths.index(path)

    def _take_chunk(self, chunk: Chunk, *, at: float) -> None:
        at_s, history = round(at - self._start_at, 6), self.history
        match chunk:
            case SourceFound(source):
                self._sources[self._next] = (*self._sources.get(self._next, ()), source)
                self._say("source", source.path, at_s)
            case SystemNotice():
                history.notices.append(
                    NoticeFacts(self._next, self._turn, at_s, chunk.system_type, chunk.severity, chunk.system_message)
                )
            case Content(text):
                self._say("content", text, at_s)
            case Thinking(text):
                self._say("thinking", text, at_s)
            case Failed():
                self._say("error", chunk.error, at_s)
            case ToolCalled(call):
                history.calls.append(
                    CallFacts(
                        call.id,
                        call.name,
                        self._turn + 1,
                        self._next,
                        None,
                        at_s,
                        None,
                        arguments=call.arguments,
                    )
                )
            case ToolReturned():
                self._return_call(chunk.tool_call_id, chunk.tool_result, is_error=chunk.is_error, ended_s=at_s)

    def _say(self, kind: str, text: str, at_s: float) -> None:
        texts = self.history.texts
        last = texts[-1] if texts else None
        if last and (last.type, last.tick) == (kind, self._next) and kind != "source":
            texts[-1] = replace(last, text=last.text + text)
        else:
            texts.append(TextFacts(kind, self._next, self._turn + 1, at_s, text))

    def _return_call(
        self, call_id: str, text: str, *, is_error: bool, ended_s: float | None = None, tick: int | None = None
    ) -> None:
        calls = self.history.calls
        for at in range(len(calls) - 1, -1, -1):
            if calls[at].id == call_id:
                known = calls[at]
                calls[at] = replace(
                    known,
                    ended_s=ended_s if ended_s is not None else known.ended_s,
                    ended_tick=tick or known.ended_tick,
                    is_error=is_error,
                    result=text,
                )
                return

    def _end(self, record: RunRecord) -> EndFacts:
        """Why it ended: the node that wrote the reason first, else the one that decided the last tick."""
        reason = record.termination_reason or "error"
        for tick in self.history.ticks:
            if any(key == "termination_reason" and value for key, value in tick.writes):
                writer = _writer(tick)
                return EndFacts(reason, tick.tick, None if writer is None else writer.node, _sentence(writer, tick))
        return EndFacts(reason, None, None, record.error["error"] if record.error else "")


def run_facts(record: RunRecord) -> RunFacts:
    """The facts of a run's row."""
    error = record.error or {}
    kept: Kept = "gone" if record.forgotten_at is not None else "whole"
    return RunFacts(
        id=record.id,
        user_id=record.user_id,
        context_id=record.context_id,
        question=str(record.input.get("question", "")),
        status=record.status,
        created_at=record.created_at,
        finished_at=record.finished_at,
        tree=record.tree,
        tree_version=record.tree_sha,
        model=record.model_used,
        turns=record.turns or 0,
        tokens_used=record.tokens_used or 0,
        tokens_estimated=bool(record.tokens_estimated),
        termination_reason=record.termination_reason,
        error=error.get("error"),
        limits=dict(record.limits),
        kept=kept,
    )


def _writer(tick: TickFacts) -> VisitFacts | None:
    """The node that wrote the reason."""
    return next(
        (visit for visit in tick.visits if any(key == "termination_reason" and value for key, value in visit.writes)),
        None,
    )


def _sentence(writer: VisitFacts | None, tick: TickFacts) -> str:
    return (writer and (writer.sentence or writer.text)) or tick.headline
