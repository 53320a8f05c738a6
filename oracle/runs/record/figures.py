"""Reduces a run's events when its texts are deleted, to figures, times, and words of closed vocabularies.

Rules:

- Numbers, booleans and null stay; a text becomes `{"characters": n}`, a list `{"items": n}`, an object
  `{"entries": n}`.
- Words of a closed vocabulary stay: statuses, causes, reasons, types of signals, kinds of errors, names of tools that
  exist. A word that the model or a user has made up is not one of them.
- Names in the tree stay: nodes, blackboard keys, rules. They are the tree author's.
- An event without any of these, of an unknown kind, or that cannot be read, is deleted.
- Reducing an event twice changes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from bt_runtime import NodeError, Outcome, TickRecord
from bt_runtime.record.recording import forced_path, forced_status
from bt_runtime.text import size_of
from oracle.agent.nodes.board import AGENT_KEYS
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.core.chunks import TerminationReason
from oracle.decision import ToolAction
from oracle.llm.protocol import ModelFault, ToolUse
from oracle.runs.record import events
from oracle.runs.record.debug import Debugged
from oracle.runs.storage.records import LogEntry
from signals import SignalType

UNKNOWN: Final = "unknown"

_SIGNAL_TYPES: Final = frozenset(get_args(SignalType))
_WORDS: Final[Mapping[str, frozenset[Any]]] = {
    "termination_reason": frozenset(get_args(TerminationReason)),
    **{key.name: frozenset(key.values) for key in AGENT_KEYS if key.values},
}
"""The closed vocabularies of blackboard keys."""


class LogFigures:
    """Reduces the events of one run, which are to be given in their order."""

    def __init__(self) -> None:
        self._tools: frozenset[str] = frozenset()
        self._decoder = events.LogDecoder(has_texts=False)

    def __call__(self, entry: LogEntry) -> bytes | None:
        """The figures of the next event; `None` if it has none."""
        try:
            event = self._decoder.decode(entry)
            reduced = None if event is None else self._reduced(event)
            return None if reduced is None else events.encode(reduced)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None  # its texts cannot be told from its figures

    def _reduced(self, event: events.LogEvent) -> events.LogEvent | None:  # noqa: C901, PLR0911  one case for each kind
        match event:
            case events.Opened():
                self._tools = frozenset(tool.name for tool in event.tools)
                return event
            case events.TurnRequested(request):
                return events.TurnRequested(replace(request, hint="", note=""))
            case events.TurnFinished(outcome) | events.ToolFinished(outcome):
                return replace(event, outcome=self._outcome(outcome))
            case events.Ticked(tick):
                return events.Ticked(self._tick(tick))
            case events.SignalRead(signal):
                known = signal.type if signal.type in _SIGNAL_TYPES else signal.type and UNKNOWN
                return events.SignalRead(
                    signal.model_copy(update={"type": known, "fields": {}, "raw_xml": None, "warnings": ()})
                )
            case events.RuleBroken(breach):
                after = breach.after if breach.after in self._tools else ""
                return events.RuleBroken(replace(breach, event="", call_id="", after=after))
            case Debugged(more=more):
                return replace(event, more=_debugged(more))
            case events.Intended(tool=tool):
                return replace(event, call_id="", tool=tool if tool in self._tools else UNKNOWN)
            case events.Resumed(under_way=under_way):
                return replace(event, under_way=tuple(map(self._under_way, under_way)))
            case events.ClosingBegun() | events.RunEnded():
                return event
            case events.ChunkSent():
                return None

    def _under_way(self, each: events.UnderWay) -> events.UnderWay:
        return each._replace(name=UNKNOWN) if each.what == "tool" and each.name not in self._tools else each

    def _outcome(self, outcome: Outcome) -> Outcome:
        error = None if outcome.error is None else _type_of(outcome.error)
        return replace(outcome, value=self._value(outcome.value), error=error)

    def _value(self, value: object) -> object:
        if isinstance(value, TurnOutcome):
            return replace(
                value,
                parsed=None,
                goes_on_from="",
                content=(),
                calls=tuple(self._call(call) for call in value.calls),
                fault=value.fault and ModelFault(value.fault.error_type, "", narrower=value.fault.narrower),
                notes=(),
                request_ids=(),
                message_id="",
            )
        if isinstance(value, ToolsOutcome):
            return ToolsOutcome(tuple(self._result(result) for result in value.results))
        return size_of(value)

    def _call(self, call: ToolUse) -> ToolUse:
        name = call.name if call.name in self._tools else UNKNOWN
        return ToolUse("", name, {}, None if call.malformed is None else "")

    def _result(self, result: CallResult) -> CallResult:
        call = self._call(result.call)
        action = ToolAction.from_call(call.name, {}, is_error=result.is_error, result_digest="")
        return replace(result, call=call, text="", action=action, sources=())

    def _tick(self, tick: TickRecord) -> TickRecord:
        return replace(
            tick,
            outcomes=tuple(map(self._outcome, tick.outcomes)),
            deliveries=_sizes_of(tick.deliveries),
            writes=_sizes_of(tick.writes),
            errors=tuple(NodeError(error.path, _type_of(error.error)) for error in tick.errors),
        )


def _debugged(more: Mapping[str, Any]) -> Mapping[str, Any]:
    reduced = dict(more)
    if "value" in reduced:
        reduced["value"] = size_of(reduced["value"])
    if reduced.get("hit"):  # an expression may compare with a word of the user's
        reduced["hit"] |= {"expression": None, "error": None}
    return reduced


def _sizes_of(values: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    return tuple((key, value if _is_word(key, value) else size_of(value)) for key, value in values)


def _is_word(key: str, value: object) -> bool:
    if forced_path(key) is not None:
        return forced_status(value) is not None
    return isinstance(value, str) and value in _WORDS.get(key, ())


def _type_of(error: str) -> str:
    """The type of an error that is described as `Type: message`."""
    name = error.partition(":")[0]
    return name if name.isidentifier() else UNKNOWN
