"""From the text of a scenario file to scenarios, or to all of its mistakes.

```yaml
tree: oracle                      # the tree of these scenarios, unless one names another; optional
scenarios:
  - name: The iteration limit ends the query
    limits: { max_iterations: 1 }
    model:
      - text: Half of it.
        signal: need_turn
    expect:
      reason: max_iterations
```
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast, get_args

from bt_runtime.text import Mistake, Place, format_mistakes, in_order
from bt_runtime.text.yaml_reader import YamlNode, read_yaml
from oracle.authoring.scenarios.expectations import EXPECTATIONS
from oracle.authoring.scenarios.model import (
    DEFAULT_CONFIDENCE,
    DEFAULT_USAGE,
    GROUPS,
    SIGNAL_FIELDS,
    USAGE,
    Action,
    Earlier,
    Moment,
    MomentKind,
    OutsideEvent,
    PersonDecides,
    PersonsDecision,
    Scenario,
    SignalLine,
    ToolAnswer,
    ToolScript,
    Turn,
)
from oracle.classify import QueryType
from oracle.core.chunks import ErrorType, SourceType, Topic
from oracle.core.errors import TreeAuthorError
from oracle.core.yaml_records import Read, Reader, file_text
from oracle.decision import AgentConfig, ConfigError
from oracle.llm.protocol import ModelFault, Usage
from oracle.llm.script import STOP_REASONS, ScriptedCall, ScriptedSearch
from signals import SIGNAL_MODELS

_ERROR_TYPES: Final = get_args(ErrorType)
_MOST_TIMES: Final = 1_000


class ScenarioFileError(TreeAuthorError):
    """A scenario file with mistakes.

    Args:
        mistakes: all of them.
        text: the whole text of the file.
    """

    def __init__(self, mistakes: tuple[Mistake, ...], text: str) -> None:
        super().__init__(format_mistakes(mistakes, {mistakes[0].place.file: text}))
        self.mistakes = mistakes


def read_scenario_file(path: Path) -> tuple[Scenario, ...]:
    """The scenarios of a file.

    Raises:
        ScenarioFileError: it cannot be read, or has mistakes.
    """
    return from_yaml(read_scenario_text(path), file=str(path))


def read_scenario_text(path: Path) -> bytes:
    """The bytes of a scenario file, up to the largest size that is read.

    Raises:
        ScenarioFileError: it cannot be read, or is no file.
    """
    place = Place(str(path))
    return file_text(
        path, error=lambda why: ScenarioFileError((Mistake(place, f"the file cannot be read: {why}"),), "")
    )


def from_yaml(text: str | bytes, *, file: str = "<scenarios>") -> tuple[Scenario, ...]:
    """The scenarios of a text.

    Raises:
        ScenarioFileError: it has mistakes.
    """
    document = read_yaml(text, file=file)
    reader = Reader(code="scenario")
    scenarios: tuple[Scenario, ...] = ()
    if document.root is not None:
        scenarios = _File(reader).read(document.root)
    mistakes = in_order((*document.mistakes, *reader.mistakes))
    if mistakes:
        raise ScenarioFileError(mistakes, document.text)
    return scenarios


class _File:
    """Reads one file; what is wrong goes to the reader."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._defaults: dict[str, str] = {}

    def read(self, root: YamlNode) -> tuple[Scenario, ...]:
        reader = self._reader
        fields = reader.fields(root, ("about", "tree", "question", "scenarios"), what="a scenario file")
        self._defaults = {
            name: reader.text(fields[name].node, what=repr(name)) for name in ("tree", "question") if name in fields
        }
        if "scenarios" not in fields:
            if isinstance(root.data, dict):
                reader.report(root, "the file has no 'scenarios'", "a list of scenarios")
            return ()
        scenarios = []
        lines: dict[str, int] = {}
        for node in reader.items(fields["scenarios"].node, what="'scenarios'"):
            scenario = self._scenario(node)
            if scenario.name in lines:
                message = f"the name {scenario.name!r} is used on line {lines[scenario.name]} already"
                reader.report(node, message, "names are unique in a file")
            lines.setdefault(scenario.name, node.place.line)
            scenarios.append(scenario)
        return tuple(scenarios)

    def _scenario(self, node: YamlNode) -> Scenario:
        reader = self._reader
        places: dict[tuple[str | int, ...], Place] = {}
        reads: dict[str, Read] = {
            "name": reader.text,
            "shows": reader.many(reader.text, of="an id"),
            "tree": reader.text,
            "question": reader.text,
            "limits": self._limits,
            "history": reader.many(self._earlier, of="an earlier query"),
            "model": reader.many(self._turn, of="a turn"),
            "tools": self._tools,
            "available": reader.many(partial(reader.one_of, known=GROUPS), of="a group of tools"),
            "encoded": partial(self._shares, labels=get_args(QueryType)),
            "events": self._events,
            "people": reader.many(self._decides, of="a decision"),
            "expect": partial(self._expect, places=places),
        }
        values = reader.record(node, reads, what="a scenario", required=("name", "expect"))
        return Scenario(**{"name": "", **self._defaults, **values}, place=node.place, places=places)

    def _limits(self, node: YamlNode, *, what: str) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for name, entry in self._reader.fields(node, tuple(AgentConfig.model_fields), what=what).items():
            value = entry.node.plain()
            try:
                AgentConfig().with_limits({name: value})
            except ConfigError as error:
                self._reader.report(entry.node, str(error))
            else:
                found[name] = value
        return found

    def _shares(self, node: YamlNode, *, what: str, labels: tuple[str, ...]) -> dict[str, float]:
        return self._reader.record(node, dict.fromkeys(labels, self._reader.share), what=what)

    def _earlier(self, node: YamlNode, *, what: str) -> Earlier:
        reader = self._reader
        reads: dict[str, Read] = {
            "question": reader.text,
            "answer": reader.text,
            "tool_errors": reader.flag,
            "query_type": partial(reader.one_of, known=get_args(QueryType)),
        }
        values = reader.record(node, reads, what=what, required=("question", "answer"))
        return Earlier(**{"question": "", "answer": "", **values})

    # The model

    def _turn(self, node: YamlNode, *, what: str) -> Turn:
        reader = self._reader
        if isinstance(node.data, str):
            return Turn(text=node.data)
        reads: dict[str, Read] = {
            "text": self._pieces,
            "thinking": reader.text,
            "signal": self._signal,
            "calls": self._calls,
            "searches": reader.many(self._search, of="a search"),
            "tokens": self._usage,
            "stop_reason": partial(reader.one_of, known=STOP_REASONS),
            "fault": self._fault,
            "hang": reader.flag,
            "delay_s": reader.number,
            "model": reader.text,
            "times": self._times,
            "encoded": partial(self._shares, labels=tuple(SIGNAL_FIELDS)),
        }
        values = reader.record(node, reads, what=what)
        return Turn(**{"usage" if name == "tokens" else name: value for name, value in values.items()})

    def _pieces(self, node: YamlNode, *, what: str) -> str | tuple[str, ...]:
        if isinstance(node.data, tuple):
            return tuple(self._reader.text(each, what="a piece of text") for each in node.data)
        return self._reader.text(node, what=what)

    def _times(self, node: YamlNode, *, what: str) -> int:
        times = self._reader.whole(node, what=what, least=1)
        if times > _MOST_TIMES:
            self._reader.report(node, f"{what} is {times:,}; at most {_MOST_TIMES:,} are played")
        return min(times, _MOST_TIMES)

    def _signal(self, node: YamlNode, *, what: str) -> SignalLine | None:
        reader = self._reader
        if not isinstance(node.data, dict):
            return SignalLine(type=reader.one_of(node, known=tuple(SIGNAL_FIELDS), what="the signal"))
        pair = reader.single(node, what=what)
        if pair is None or not reader.known(pair[0], SIGNAL_FIELDS, what="signal"):
            return None
        entry, inner = pair
        model = SIGNAL_MODELS[entry.key]
        known = [name for name in model.model_fields if name not in ("type", "raw_xml", "timestamp")]
        fields = {name: each.node.plain() for name, each in reader.fields(inner, known, what=entry.key).items()}
        confidence = fields.pop("confidence", DEFAULT_CONFIDENCE)
        if confidence is not None and (isinstance(confidence, bool) or not isinstance(confidence, int | float)):
            reader.report(inner, f"the confidence must be a number or null, not {confidence!r}")
            confidence = None
        return SignalLine(type=entry.key, fields=fields, confidence=confidence)

    def _calls(self, node: YamlNode, *, what: str) -> tuple[ScriptedCall, ...]:
        calls = []
        for item in self._reader.items(node, what=what):
            if isinstance(item.data, str):
                calls.append(ScriptedCall(item.data))
            elif (pair := self._reader.single(item, what="a call")) is not None:
                entry, arguments = pair
                plain = arguments.plain()  # text stands for arguments that are no JSON object
                if not isinstance(plain, dict | str):
                    self._reader.report(arguments, f"arguments must be a mapping, not {arguments.shape}")
                    plain = {}
                calls.append(ScriptedCall(entry.key, plain))
        return tuple(calls)

    def _search(self, node: YamlNode, *, what: str) -> ScriptedSearch:
        reader = self._reader
        reads: dict[str, Read] = {"query": reader.text, "results": self._search_results, "error": reader.text}
        return ScriptedSearch(**{"query": "", "results": (), "error": "", **reader.record(node, reads, what=what)})

    def _search_results(self, node: YamlNode, *, what: str) -> tuple[tuple[str, str], ...]:
        items = self._reader.items(node, what=what)
        pairs = [self._reader.single(item, what="a search result, `address: title`,") for item in items]
        return tuple((pair[0].key, self._reader.text(pair[1], what="a title")) for pair in pairs if pair is not None)

    def _usage(self, node: YamlNode, *, what: str) -> Usage | None:
        reader = self._reader
        if node.data == "unreported":
            return None
        if isinstance(node.data, dict):
            counts = reader.record(node, dict.fromkeys(USAGE, reader.whole), what=what)
            return Usage(**{"input_tokens": 0, "output_tokens": 0, **{USAGE[name]: counts[name] for name in counts}})
        if isinstance(node.data, str):
            reader.report(node, f"{what} is {node.data!r}", "a number, {input: 40, output: 10}, or unreported")
            return DEFAULT_USAGE
        return Usage(input_tokens=0, output_tokens=reader.whole(node, what=what))

    def _fault(self, node: YamlNode, *, what: str) -> ModelFault:
        reader, message = self._reader, "The provider failed."
        if not isinstance(node.data, dict):
            return ModelFault(cast("ErrorType", reader.one_of(node, _ERROR_TYPES, what="the fault")), message)
        pair = reader.single(node, what=what)
        if pair is None or not reader.known(pair[0], _ERROR_TYPES, what="type of error"):
            return ModelFault("provider_failed", message)
        return ModelFault(cast("ErrorType", pair[0].key), reader.text(pair[1], what="the message"))

    # Tools and events

    def _tools(self, node: YamlNode, *, what: str) -> Mapping[str, ToolScript]:
        if not isinstance(node.data, dict):
            self._reader.report(node, f"{what} must be a mapping, not {node.shape}")
            return {}
        return {name: self._tool(entry.node) for name, entry in node.data.items()}

    def _tool(self, node: YamlNode) -> ToolScript:
        reader = self._reader
        reads: dict[str, Read] = {
            "group": reader.text,
            "writes": reader.flag,
            "answers": reader.many(self._answer, of="a tool's answer"),
        }
        if isinstance(node.data, dict) and set(node.data) & set(reads):
            return ToolScript(**reader.record(node, reads, what="a tool"))
        items = node.data if isinstance(node.data, tuple) else (node,)
        return ToolScript(answers=tuple(self._answer(item, what="a tool's answer") for item in items))

    def _answer(self, node: YamlNode, *, what: str) -> ToolAnswer:
        reader = self._reader
        if isinstance(node.data, str):
            return ToolAnswer(result=node.data)
        reads: dict[str, Read] = {
            "result": reader.text,
            "error": reader.text,
            "empty": reader.flag,
            "sources": self._sources,
            "delay_s": reader.number,
            "hang": reader.flag,
            "when": reader.mapping,
        }
        return ToolAnswer(**reader.record(node, reads, what=what))

    def _sources(self, node: YamlNode, *, what: str) -> tuple[tuple[SourceType, str], ...]:
        reader = self._reader
        items = reader.items(node, what=what)
        pairs = [reader.single(item, what="a source, such as `code: src/auth.py`,") for item in items]
        known = [each for each in pairs if each and reader.known(each[0], get_args(SourceType), what="type of source")]
        return tuple((cast("SourceType", entry.key), reader.text(path, what="a path")) for entry, path in known)

    def _events(self, node: YamlNode, *, what: str) -> tuple[OutsideEvent, ...]:
        return tuple(event for each in self._reader.items(node, what=what) if (event := self._event(each)) is not None)

    def _event(self, node: YamlNode) -> OutsideEvent | None:
        pair = self._reader.single(node, what="an event, such as `cancel: {at_s: 3}`,")
        if pair is None or not self._reader.known(pair[0], get_args(Action), what="event"):
            return None
        if pair[0].key == "delivery":
            return self._delivery(pair[1])
        moment = self._moment(pair[1])
        return None if moment is None else OutsideEvent(action=cast("Action", pair[0].key), moment=moment)

    def _delivery(self, node: YamlNode) -> OutsideEvent | None:
        reader = self._reader
        fields = reader.fields(node, ("key", "value", *get_args(MomentKind)), what="a delivery")
        for needed in ("key", "value"):
            if needed not in fields and isinstance(node.data, dict):
                reader.report(node, f"the delivery has no {needed!r}", "such as {key: approved, value: true, at_s: 3}")
        if not {"key", "value"} <= fields.keys():
            return None
        key, value = reader.text(fields["key"].node, what="'key'"), fields["value"].node.plain()
        rest = {name: entry for name, entry in fields.items() if name not in ("key", "value")}
        moment = self._moment(replace(node, data=rest))
        return None if moment is None else OutsideEvent(action="delivery", moment=moment, key=key, value=value)

    def _moment(self, node: YamlNode) -> Moment | None:
        reader = self._reader
        pair = reader.single(node, what="a moment, such as `{at_s: 3}`,")
        if pair is None or not reader.known(pair[0], get_args(MomentKind), what="moment"):
            return None
        reads: Mapping[str, Read] = {
            "at_s": reader.number,
            "request": partial(reader.whole, least=1),
            "said": reader.text,
            "call": reader.text,
            "notice": partial(reader.one_of, known=get_args(Topic)),
        }
        kind = cast("MomentKind", pair[0].key)
        return Moment(kind=kind, value=reads[kind](pair[1], what=repr(kind)))

    def _decides(self, node: YamlNode, *, what: str) -> PersonDecides:
        reader, known = self._reader, get_args(PersonsDecision)
        if not isinstance(node.data, dict):
            return PersonDecides(decision=cast("PersonsDecision", reader.one_of(node, known, what=what)))
        fields = reader.fields(node, (*known, "after_s"), what=what)
        after_s = reader.number(fields["after_s"].node, what="'after_s'") if "after_s" in fields else 0.0
        made = {name: entry.node.plain() for name, entry in fields.items() if name != "after_s"}
        if len(made) != 1:
            reader.report(node, f"{what} is one of {', '.join(known)}", "such as {refuse: Not there.}")
            made = {"expire": None}
        ((decision, value),) = made.items()
        return PersonDecides(decision=cast("PersonsDecision", decision), value=value, after_s=after_s)

    # What must happen

    def _expect(self, node: YamlNode, *, what: str, places: dict[tuple[str | int, ...], Place]) -> Mapping[str, Any]:
        fields = self._reader.fields(node, tuple(EXPECTATIONS), what=what)
        for name, entry in fields.items():
            EXPECTATIONS[name].check(entry.node, self._reader)
            places.update(_places((name,), entry.node))
        return {name: entry.node.plain() for name, entry in fields.items()}


def _places(path: tuple[str | int, ...], node: YamlNode) -> Mapping[tuple[str | int, ...], Place]:
    """The places of a value and its parts."""
    found = {path: node.place}
    if isinstance(node.data, dict):
        for name, entry in node.data.items():
            found |= {**_places((*path, name), entry.node), (*path, name): entry.place}
    elif isinstance(node.data, tuple):
        for index, item in enumerate(node.data):
            found |= _places((*path, index), item)
    return found
