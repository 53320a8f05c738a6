"""What remains of a run's events when its texts are dropped: figures, times, and words of closed vocabularies.

Rules:

- Numbers, booleans and null stay; a text becomes `{"characters": n}`, a list `{"items": n}`, an object
  `{"entries": n}`.
- Words of a closed vocabulary stay: statuses, causes, reasons, types of signals, kinds of errors, names of tools that
  exist. A word that the model or a user has made up is not one of them.
- Names in the tree stay: nodes, blackboard keys, rules. They are the tree author's.
- An event that has nothing of that, is of an unknown kind, or cannot be read, is deleted.
- What was reduced before is not changed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from bt_runtime import NodeError, Outcome
from bt_runtime.recording import forced_path, forced_status
from bt_runtime.text import size_of
from oracle.agent.outcome_json import decode_outcome, encode_outcome
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.chunks import TerminationReason
from oracle.decision import Action
from oracle.encoding import from_json, to_json
from oracle.models.protocol import ModelFault, ToolCall
from oracle.nodes.board import AGENT_KEYS
from oracle.runs.opened import Opened
from oracle.runs.tick_json import decode_tick, encode_tick
from oracle.storage import Event, EventKind
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
        self._outcomes: dict[str, Outcome] = {}
        self._of_kind: Mapping[EventKind, Callable[[Event], bytes]] = {
            "opened": self._opened,
            "request": self._request,
            "turn_end": self._outcome,
            "tool_end": self._outcome,
            "closing": lambda event: to_json({"reason": from_json(event.data)["reason"]}),
            "tick": self._tick,
            "signal": self._signal,
            "rule": self._rule,
            "debug": self._debug,
            "final": lambda event: event.data,
        }

    def __call__(self, event: Event) -> bytes | None:
        """The figures of the next event; `None` if it has none."""
        reduce = self._of_kind.get(event.kind)
        try:
            return None if reduce is None else reduce(event)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None  # its texts cannot be told from its figures

    def _opened(self, event: Event) -> bytes:
        opened = Opened.from_json(event.data)
        self._tools = frozenset(tool.name for tool in opened.tools)
        return opened.to_json()

    def _request(self, event: Event) -> bytes:
        return to_json(from_json(event.data) | {"hint": ""})

    def _outcome(self, event: Event) -> bytes:
        outcome = decode_outcome(event.data)
        self._outcomes[outcome.key] = outcome
        error = None if outcome.error is None else _type_of(outcome.error)
        return encode_outcome(replace(outcome, value=self._value(outcome.value), error=error))

    def _value(self, value: object) -> object:
        if isinstance(value, TurnOutcome):
            return replace(
                value,
                parsed=None,
                content=(),
                calls=tuple(self._call(call) for call in value.calls),
                fault=value.fault and ModelFault(value.fault.error_type, ""),
                notes=(),
                request_ids=(),
            )
        if isinstance(value, ToolsOutcome):
            return ToolsOutcome(tuple(self._result(result) for result in value.results))
        return size_of(value)

    def _call(self, call: ToolCall) -> ToolCall:
        name = call.name if call.name in self._tools else UNKNOWN
        return ToolCall("", name, {}, None if call.malformed is None else "")

    def _result(self, result: CallResult) -> CallResult:
        call = self._call(result.call)
        action = Action.from_call(call.name, {}, is_error=result.is_error, result_digest="")
        return replace(result, call=call, text="", action=action, sources=())

    def _tick(self, event: Event) -> bytes:
        tick = decode_tick(event.data, self._outcomes)
        self._outcomes.clear()  # an outcome precedes the tick that it causes
        outcomes = tuple(
            replace(each, value=self._value(each.value), error=each.error and _type_of(each.error))
            for each in tick.outcomes
        )
        return encode_tick(
            replace(
                tick,
                outcomes=outcomes,
                deliveries=_sizes_of(tick.deliveries),
                writes=_sizes_of(tick.writes),
                errors=tuple(NodeError(error.path, _type_of(error.error)) for error in tick.errors),
            )
        )

    def _signal(self, event: Event) -> bytes:
        record = from_json(event.data)
        known = record["type"] if record["type"] in _SIGNAL_TYPES else record["type"] and UNKNOWN
        return to_json(record | {"type": known, "fields": {}, "raw_xml": None, "warnings": []})

    def _rule(self, event: Event) -> bytes:
        return to_json(from_json(event.data) | {"event": ""})

    def _debug(self, event: Event) -> bytes:
        fields = from_json(event.data)
        if "value" in fields:
            fields["value"] = size_of(fields["value"])
        if fields.get("hit"):  # an expression may compare with a word of the user's
            fields["hit"] |= {"expression": None, "error": None}
        return to_json(fields)


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
