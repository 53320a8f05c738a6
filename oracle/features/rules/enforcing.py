"""The rules of a query's tree while it runs: what would break one is refused, stopped, or reported to the user.

Rules:

- A tool call that would break a rule with `enforce: refuse` or `stop` is answered with the rule's sentence and never
  begins; the states of the rules do not change, because nothing has happened.
- While a query runs only rules with `enforce` are watched; the others are verified, and judged on the record. Each rule
  that is broken is recorded once, and each refused call.
- The plain loop, and a tree without such rules, have none of this.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any

import structlog

from bt_runtime import Event, EventPattern, ExpressionError, Monitors, Outcome, Rule, TickRecord, TreeDefinition
from bt_runtime.text.data import dataclass
from oracle.agent.journal import Fact, QueryJournal, RequestRecord, RuleBreach
from oracle.agent.notices import Notice
from oracle.agent.run import AgentRun
from oracle.agent.tool_calls import NOT_RUN
from oracle.core.chunks import Chunk, Closing, Content, Done, Thinking
from oracle.features.rules.recorded import events_before
from oracle.features.rules.stream import EventStream, ask_labels
from oracle.llm.protocol import ModelFault
from signals import SignalRecord

log = structlog.get_logger(__name__)


def rules_of(
    run: AgentRun,
    definition: TreeDefinition,
    *,
    journal: QueryJournal,
    stop: Callable[[ModelFault], None],
    only_enforced: bool = False,
) -> "RunRules | None":
    """Put the rules of a tree in front of a run; `None` if there are none.

    The run's output passes them from now on, and the steps of the run ask them. The caller uses the result as the
    journal and as an observer of the run.

    Args:
        run: the query.
        definition: its tree.
        journal: records broken rules, and whatever else a journal gets.
        stop: ends the query as an error.
        only_enforced: leave out the rules that are not enforced; otherwise their states are kept, and nothing is done.
    """
    watched = tuple(rule for rule in definition.rules if rule.enforce is not None or not only_enforced)
    if not watched:
        return None
    monitors = _compiled(watched)
    labels = {tool.name: tool.flows for tool in run.equipment.tools.tools} if ask_labels(watched) else None
    stream = EventStream(definition.paths, monitors.types, _named_nodes(watched, definition.paths), labels)
    rules = RunRules(run, monitors, stream, journal, stop, run.output.emit, monitors.start)
    for event in stream.read_before(run.query.read_before):
        rules.advance(event)
    run.rules = rules
    run.output.emit = rules.emit
    return rules


@dataclass(slots=True)
class RunRules:
    """The rules of one run: its gate (`oracle.agent.journal`), its journal, an observer, and a part of its output.

    Args:
        run: the query.
        monitors: the compiled rules.
        stream: makes the events.
        journal: gets what this journal gets, and broken rules.
        stop: ends the query as an error.
        forward: gets the chunks.
        states: how far the run has come with each rule.
        causes: for a rule over labels, the tool whose result has brought it there.
    """

    run: AgentRun
    monitors: Monitors
    stream: EventStream
    journal: QueryJournal
    stop: Callable[[ModelFault], None]
    forward: Callable[[Chunk], None]
    states: tuple[int, ...]
    causes: dict[str, str] = field(default_factory=dict)

    def restore(self, facts: Sequence[Fact], *, untaken: Collection[str]) -> None:
        """Go on after what was recorded of the run; the arguments are those of `events_before`."""
        for event in events_before(facts, self.stream, untaken=untaken):
            self.advance(event)

    def advance(self, event: Event) -> tuple[Rule, ...]:
        """Take an event; returns the rules that it breaks."""
        before = self.states
        self.states, broken = self.monitors.advance(before, event)
        if self.stream.labels is not None and self.states is not before:
            for index, (old, new) in enumerate(zip(before, self.states, strict=True)):
                if old != new:
                    self.causes[self.monitors.monitors[index].rule.name] = event.name
        return broken

    # The gate

    def turn(self, *, visible: bool) -> None:
        """A turn of the model begins."""
        if "turn" in self.monitors.types:
            self._take((self.stream.turn(is_side=not visible),))

    def refusal(self, tool: str, arguments: Mapping[str, Any], *, call_id: str) -> str | None:
        """A tool is about to run: why it must not, or `None`; then it counts as begun."""
        if "tool" not in self.monitors.types:
            return None
        event = self.stream.tool(tool, arguments)
        states, broken = self.monitors.advance(self.states, event)
        for rule in broken:
            if rule.enforce in ("refuse", "stop"):
                self._act((rule,), event, call_id)
                return f"{NOT_RUN}{rule.text}"
        self.states = states
        if broken:
            self._act(broken, event, call_id)
        return None

    # What happens otherwise

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Outcomes, before the tree gets them (`bt_runtime.Journal`)."""
        await self.journal.keep(outcomes)
        for outcome in outcomes:
            self._take(self.stream.outcome(outcome))

    def begin_tick(self) -> None:
        """For the journal: what the rules say about a tick is durable with it."""
        self.journal.begin_tick()

    def end_tick(self) -> None:
        """For the journal; the rules have seen the tick, as observers."""
        self.journal.end_tick()

    async def flush(self) -> None:
        """For the journal."""
        await self.journal.flush()

    def request(self, record: RequestRecord, *, prompt: str) -> None:
        """The request of a turn, for the journal; `turn` has judged it."""
        self.journal.request(record, prompt=prompt)

    def with_end(self, work: Callable[[Any], object]) -> bool:
        """For the journal."""
        return self.journal.with_end(work)

    def intend(self, call_id: str, tool: str, *, step: str, at: str) -> None:
        """A writing call, for the journal; `refusal` has judged it."""
        self.journal.intend(call_id, tool, step=step, at=at)

    def signal(self, record: SignalRecord) -> None:
        """A signal's record, for the journal; the signal itself came with its turn."""
        self.journal.signal(record)

    def rule(self, breach: RuleBreach) -> None:
        """A broken rule, for the journal."""
        self.journal.rule(breach)

    def on_tick(self, record: TickRecord) -> None:
        """A tick has ended (`bt_runtime.Observer`)."""
        self._take(self.stream.tick(record))

    def emit(self, chunk: Chunk) -> None:
        """A chunk for the user; notifications about the end come before the last one."""
        if isinstance(chunk, Content | Thinking) and not isinstance(chunk, Closing):
            self.forward(chunk)  # nearly all; they are no events
            return
        events = self.stream.chunk(chunk)
        if isinstance(chunk, Done):
            self._take(events)
            # What was still owed is broken now.
            self._act(self.monitors.pending(self.states), None)
            self.forward(chunk)
            self.run.rules, self.run.output.emit = None, self.forward  # a reference cycle would outlive the run
        else:
            self.forward(chunk)
            self._take(events)

    def _take(self, events: Iterable[Event]) -> None:
        for event in events:
            broken = self.advance(event)
            if broken:
                self._act(broken, event)

    def _act(self, broken: Iterable[Rule], event: Event | None, call_id: str = "") -> None:
        """Do what the rules say that an event has broken; `None` is the end of the run."""
        for rule in broken:
            self._record(rule, event, call_id)
            if rule.enforce == "notify":
                self.run.output.notify(Notice("limit_warning", rule.text, "warning", {"rule": rule.name}))
            elif rule.enforce == "stop" and event is not None and not self.run.state.is_terminal:
                cause = f"the rule {rule.name!r} of the tree {rule.tree!r} was broken by {event}"
                self.stop(ModelFault("tree_failed", rule.text, cause, {"rule": rule.name}))

    def _record(self, rule: Rule, event: Event | None, call_id: str) -> None:
        if rule.enforce is None:
            return
        # The event's type only: its name and fields may be the model's words, which belong in the run's record.
        kind = event.type if event is not None else "end"
        log.warning(
            "rule.violated", run_id=self.run.query.run_id, rule=rule.name, enforcement=rule.enforce, event_type=kind
        )
        what = str(event) if event is not None else ""
        cause = self.causes.get(rule.name, "") if event is not None and ask_labels((rule,)) else ""
        what += f", after the result of {cause}" if cause else ""
        self.journal.rule(RuleBreach(rule.name, rule.text, rule.enforce, what, self.run.state.turn, call_id, cause))


@lru_cache(maxsize=64)
def _compiled(rules: tuple[Rule, ...]) -> Monitors:
    """The monitors of a version of a tree, shared by its runs; a condition that fails is logged once."""
    reported: set[tuple[str, str]] = set()

    def report(rule: Rule, pattern: EventPattern, _error: ExpressionError) -> None:
        if (rule.name, pattern.where) not in reported:
            reported.add((rule.name, pattern.where))
            # Not the error's message: it shows values, which may be the model's words.
            log.warning("rule.condition_failed", rule=rule.name, condition=pattern.where, event_type=pattern.type)

    return Monitors(rules, report)


@lru_cache(maxsize=64)
def _named_nodes(rules: tuple[Rule, ...], paths: tuple[str, ...]) -> frozenset[int] | None:
    """The indices of the nodes whose results the rules ask for; `None`: all."""
    patterns = [pattern for rule in rules for pattern in (*rule.events, *((rule.after,) if rule.after else ()))]
    names: list[str] = []
    for pattern in patterns:
        if pattern.type == "node":
            if pattern.names is None:
                return None
            names += pattern.names
    return frozenset(
        index for index, path in enumerate(paths) if any(path == name or path.endswith(f"/{name}") for name in names)
    )
