"""Reads the turns of a scenario: what the model answers."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from bt_runtime.text import closest
from bt_runtime.text.yaml_reader import YamlNode
from oracle.chunks import ErrorType
from oracle.models.protocol import ModelFault, Usage
from oracle.models.script import STOP_REASONS, ScriptedCall, ScriptedSearch
from oracle.scenarios.mistakes import Reader
from oracle.scenarios.model import DEFAULT_USAGE, ERROR_TYPES, SIGNAL_FIELDS, SignalLine, Turn
from signals import SIGNAL_MODELS

_TURN: Final = (
    "text", "thinking", "signal", "calls", "searches", "tokens", "stop_reason", "fault", "hang", "delay_s", "model",
    "times", "encoded",
)  # fmt: skip
_USAGE: Final = {
    "input": "input_tokens",
    "cache_creation": "cache_creation_tokens",
    "cache_read": "cache_read_tokens",
    "output": "output_tokens",
}
_MOST_TIMES: Final = 1_000


class TurnReader:
    """Reads turns; what is wrong goes to the reader."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def read(self, node: YamlNode) -> Turn:
        """A turn; what is wrong is reported."""
        reader = self._reader
        if isinstance(node.data, str):
            return Turn(text=node.data)
        given = {name: entry.node for name, entry in reader.fields(node, _TURN, what="a turn").items()}
        values: dict[str, Any] = {}
        readers: Mapping[str, Callable[[YamlNode], Any]] = {
            "text": self._pieces,
            "thinking": lambda each: reader.text(each, what="'thinking'"),
            "signal": self._signal,
            "calls": self._calls,
            "searches": self._searches,
            "tokens": self._usage,
            "stop_reason": lambda each: reader.one_of(each, STOP_REASONS, what="'stop_reason'"),
            "fault": self._fault,
            "hang": lambda each: reader.flag(each, what="'hang'"),
            "delay_s": lambda each: reader.number(each, what="'delay_s'"),
            "model": lambda each: reader.text(each, what="'model'"),
            "times": self._times,
            "encoded": lambda each: reader.shares(each, tuple(SIGNAL_FIELDS)),
        }
        for name, each in given.items():
            values["usage" if name == "tokens" else name] = readers[name](each)
        return Turn(**values)

    def _times(self, node: YamlNode) -> int:
        times = self._reader.whole(node, what="'times'", least=1)
        if times > _MOST_TIMES:
            self._reader.report(node, f"'times' is {times:,}; at most {_MOST_TIMES:,} are played")
        return min(times, _MOST_TIMES)

    def _pieces(self, node: YamlNode) -> str | tuple[str, ...]:
        if isinstance(node.data, tuple):
            return tuple(self._reader.text(each, what="a piece of text") for each in node.data)
        return self._reader.text(node, what="'text'")

    def _signal(self, node: YamlNode) -> SignalLine | None:
        reader = self._reader
        if not isinstance(node.data, dict):
            return SignalLine(type=reader.one_of(node, tuple(SIGNAL_FIELDS), what="the signal"))
        pair = reader.single(node, what="a signal with fields")
        if pair is None:
            return None
        entry, inner = pair
        if entry.key not in SIGNAL_FIELDS:
            hint = closest(entry.key, SIGNAL_FIELDS) or ", ".join(SIGNAL_FIELDS)
            reader.report(entry, f"there is no signal {entry.key!r}", f"did you mean {hint}?")
            return None
        model = SIGNAL_MODELS[entry.key]
        known = [name for name in model.model_fields if name not in ("type", "raw_xml", "timestamp")]
        fields = {name: each.node.plain() for name, each in reader.fields(inner, known, what=entry.key).items()}
        confidence = fields.pop("confidence", 0.9)
        if confidence is not None and (isinstance(confidence, bool) or not isinstance(confidence, int | float)):
            reader.report(inner, f"the confidence must be a number or null, not {confidence!r}")
            confidence = None
        return SignalLine(type=entry.key, fields=fields, confidence=confidence)

    def _calls(self, node: YamlNode) -> tuple[ScriptedCall, ...]:
        calls = []
        for item in self._reader.items(node, what="'calls'"):
            if isinstance(item.data, str):
                calls.append(ScriptedCall(item.data))
            elif (pair := self._reader.single(item, what="a call")) is not None:
                entry, arguments = pair
                # Text stands for arguments that are no JSON object.
                plain = arguments.plain()
                if not isinstance(plain, dict | str):
                    self._reader.report(arguments, f"arguments must be a mapping, not {arguments.shape}")
                    plain = {}
                calls.append(ScriptedCall(entry.key, plain))
        return tuple(calls)

    def _searches(self, node: YamlNode) -> tuple[ScriptedSearch, ...]:
        reader, found = self._reader, []
        for item in reader.items(node, what="'searches'"):
            fields = reader.fields(item, ("query", "results", "error"), what="a search")
            results = []
            for each in reader.items(fields["results"].node, what="'results'") if "results" in fields else ():
                pair = reader.single(each, what="a search result, `address: title`,")
                if pair is not None:
                    results.append((pair[0].key, reader.text(pair[1], what="a title")))
            query = reader.text(fields["query"].node, what="'query'") if "query" in fields else ""
            error = reader.text(fields["error"].node, what="'error'") if "error" in fields else ""
            found.append(ScriptedSearch(query, tuple(results), error))
        return tuple(found)

    def _usage(self, node: YamlNode) -> Usage | None:
        reader = self._reader
        if node.data == "unreported":
            return None
        if isinstance(node.data, dict):
            fields = reader.fields(node, tuple(_USAGE), what="'tokens'")
            values = {_USAGE[name]: reader.whole(each.node, what=repr(name)) for name, each in fields.items()}
            return Usage(**{"input_tokens": 0, "output_tokens": 0, **values})
        if isinstance(node.data, str):
            reader.report(node, f"'tokens' is {node.data!r}", "a number, {input: 40, output: 10}, or unreported")
            return DEFAULT_USAGE
        return Usage(input_tokens=0, output_tokens=reader.whole(node, what="'tokens'"))

    def _fault(self, node: YamlNode) -> ModelFault:
        reader = self._reader
        message = "The provider failed."
        if isinstance(node.data, dict):
            pair = reader.single(node, what="a fault with a message")
            if pair is None:
                return ModelFault("provider_failed", message)
            entry, inner = pair
            error_type, message = entry.key, reader.text(inner, what="the message")
            if error_type not in ERROR_TYPES:
                hint = closest(error_type, ERROR_TYPES) or ", ".join(ERROR_TYPES)
                reader.report(entry, f"there is no type of error {error_type!r}", f"did you mean {hint}?")
                error_type = "provider_failed"
        else:
            error_type = reader.one_of(node, ERROR_TYPES, what="the fault")
        return ModelFault(cast("ErrorType", error_type), message)
