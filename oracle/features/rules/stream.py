"""The events of one run, from what happens in it: outcomes, chunks, ticks, and the beginnings of turns and tools.

One order for all uses, whether a run is verified, judged from its record, or watched while it goes on. Between two tick
records the events are:

1. what ended: turns with their signals, results of tools;
2. what the tick wrote: deliveries, blackboard changes, results of nodes;
3. what the user got: notifications, approvals, and the sentence that gives the reason for the end;
4. what began: turns and tools, in the order of their calls.

The end is the last event: what happens after `Done` is not an event.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from bt_runtime import Event, Outcome, Status, TickRecord, forced_path
from bt_runtime.language.rule import ACTION_LABELS, Rule
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.events import ANSWER, IS_APPROVED, SIDE
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.agent.tool_calls import OWN_CALL
from oracle.core.chunks import (
    Answered,
    Chunk,
    Closing,
    Done,
    Interrupt,
    QuestionAsked,
    SystemNotice,
    ToolCalled,
    ToolReturned,
)
from oracle.decision import canonical_arguments
from oracle.tools.protocol import READS, WRITES

_RESULTS = {Status.SUCCESS: "success", Status.FAILURE: "failure"}


def ask_labels(rules: Iterable[Rule]) -> bool:
    """Whether a rule asks what tools read and where they write."""
    return any(
        ACTION_LABELS in pattern.where for rule in rules for pattern in (*rule.events, *filter(None, [rule.after]))
    )


@dataclass(slots=True)
class EventStream:
    """Turns facts of one run into events; what comes is to be given in the order in which it happened.

    Args:
        paths: of the tree's nodes, by index.
        types: the types of events that are wanted; others may be left out. `None`: all.
        nodes: the indices of the nodes whose results are wanted; `None`: all.
        labels: what tools read and where they write, by their names; of one that is not among them anything is
            assumed. `None`: no rule asks.
    """

    paths: Sequence[str]
    types: Collection[str] | None = None
    nodes: Collection[int] | None = None
    labels: Mapping[str, tuple[str, ...]] | None = None
    turns: int = 0
    is_over: bool = False
    remarks: tuple[Event, ...] = ()
    _statuses: dict[int, Status] = field(default_factory=dict)
    _own_calls: dict[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    _approved: frozenset[tuple[str, str | None]] = frozenset()
    """What was approved and has not begun: tools with their arguments; `None`: with any, of the tree's own call."""

    def read_before(self, names: Iterable[str]) -> Iterator[Event]:
        """What was read before the run began, if a rule asks for labels."""
        for name in names if self.labels is not None else ():
            yield self._result(name, {}, text="", is_error=False)

    def turn(self, *, is_side: bool) -> Event:
        """A turn of the model begins."""
        return Event("turn", SIDE if is_side else ANSWER, {"number": self.turns + 1})

    def tool(self, name: str, arguments: Mapping[str, Any]) -> Event:
        """A tool begins; an approval is good for one call."""
        granted = self._approved & {(name, canonical_arguments(arguments)), (name, None)} if self._approved else ()
        self._approved -= frozenset(granted)
        return Event("tool", name, {**arguments, IS_APPROVED: bool(granted), **self._labels(name)})

    def _labels(self, name: str) -> Mapping[str, Any]:
        return {} if self.labels is None else {ACTION_LABELS: self.labels.get(name, (*READS, *WRITES))}

    def _result(self, name: str, arguments: Mapping[str, Any], *, text: str, is_error: bool) -> Event:
        fields = {**arguments, "result": text, "is_error": is_error, **self._labels(name)}
        return Event("tool_result", name, fields)

    def outcome(self, outcome: Outcome) -> Iterator[Event]:
        """A turn or the tools of a turn have ended; other outcomes are no events."""
        if self.is_over:
            return
        yield from self.take_remarks()
        if isinstance(outcome.value, TurnOutcome):
            yield from self._turn_end(outcome.value)
        elif isinstance(outcome.value, ToolsOutcome):
            for result in outcome.value.results:
                if result.began and not result.is_asked:
                    call = result.call
                    yield self._result(call.name, call.arguments, text=result.text, is_error=result.is_error)

    def _turn_end(self, turn: TurnOutcome) -> Iterator[Event]:
        if self.labels is not None:  # else what the provider runs within a turn is no event
            for name in turn.server_tools:
                yield self.tool(name, {})
                yield self._result(name, {}, text="", is_error=False)
        if turn.is_lost and not turn.is_broken:
            return  # it ends with the turn that goes on with it
        signal = turn.signal
        number = self.turns + 1
        if turn.is_finished:
            self.turns = number
        fields = {
            "number": number,
            "tool_calls": len(turn.calls),
            "signal": signal.type if signal else "",
            "failed": turn.fault is not None,
            "interrupted": turn.interrupted,
            "cut_off": turn.cut_off,
        }
        yield Event("turn_end", SIDE if turn.is_side else ANSWER, fields)
        if signal is not None and not turn.is_side:
            reason = getattr(signal, "reason", None)
            yield Event("signal", signal.type, {"confidence": signal.confidence, "reason": reason})

    def chunk(self, chunk: Chunk) -> Iterator[Event]:
        """The user got a chunk; notifications become events with the next tick record, or at the end."""
        match chunk:
            case SystemNotice("paused" | "queued" | "recovered"):
                pass  # an operator's or the service's, not the tree's
            case SystemNotice(kind, message, severity):
                self.remarks += (Event("notify", kind, {"severity": severity, "message": message}),)
            case Closing():
                self.remarks += (Event("explained", chunk.reason),)
            case Answered(interrupt) if interrupt.tool_name and interrupt.status in ("approved", "edited"):
                self._approve(interrupt, chunk.arguments or interrupt.arguments or {})
            case ToolCalled(call) if call.id.startswith(OWN_CALL):
                self._own_calls[call.id] = (call.name, call.arguments)
            case QuestionAsked(interrupt) if interrupt.tool_call_id:  # of the client, which runs the call
                self._own_calls[interrupt.tool_call_id] = (str(interrupt.tool_name), interrupt.arguments or {})
            case ToolReturned(call_id, text) if call_id in self._own_calls:
                name, arguments = self._own_calls.pop(call_id)
                yield self._result(name, arguments, text=text, is_error=chunk.is_error)
            case Done():
                yield from self.take_remarks()
                self.is_over = True
                fields = {"turns": chunk.turns, "tokens": chunk.tokens_used}
                yield Event("end", chunk.termination_reason, fields)

    def _approve(self, interrupt: Interrupt, arguments: Mapping[str, Any]) -> None:
        name = str(interrupt.tool_name)
        self._approved |= {(name, None if interrupt.tool_call_id is None else canonical_arguments(arguments))}
        self.remarks += (Event("approval", name, {**arguments, "is_edited": interrupt.status == "edited"}),)

    def forget(self, call_id: str) -> None:
        """A call of the tree itself was refused."""
        self._own_calls.pop(call_id, None)

    def take_remarks(self) -> tuple[Event, ...]:
        """Take the notifications that have not become events yet."""
        remarks, self.remarks = self.remarks, ()
        return remarks

    def tick(self, record: TickRecord) -> Iterator[Event]:
        """A tick has ended."""
        if self.is_over:
            return
        for key, value in record.deliveries:
            if forced_path(key) is not None:
                continue  # an operator's, like the node's result below
            yield Event("delivery", key, {"value": value})
        if self.types is None or "key" in self.types:
            for key, value in record.writes:
                yield Event("key", key, {"value": value})
        if self.types is None or "node" in self.types:
            yield from self._results(record)
        yield from self.take_remarks()

    def _results(self, record: TickRecord) -> Iterator[Event]:
        """The results of the nodes that were visited; RUNNING only where a node has begun to run."""
        wanted = self.nodes
        begun = set()
        for index, status in record.changes:
            if wanted is None or index in wanted:
                self._statuses[index] = status
                begun.add(index)
        for index in dict.fromkeys(record.visited):
            if wanted is not None and index not in wanted:
                continue
            status = self._statuses.get(index, Status.INVALID)
            result = _RESULTS.get(status)
            if result is None and status is Status.RUNNING and index in begun:
                result = "running"
            if result is not None:
                yield Event("node", self.paths[index], {"result": result})
