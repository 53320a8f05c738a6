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

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast, get_args

from bt_runtime.text import Mistake, Place, closest, format_mistakes, in_order
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES, Entry, YamlNode, read_yaml
from oracle.chunks import SourceType, Topic
from oracle.classify import QueryType
from oracle.decision import AgentConfig, ConfigError
from oracle.errors import TreeAuthorError
from oracle.scenarios.expectations import EXPECTATIONS
from oracle.scenarios.mistakes import Reader
from oracle.scenarios.model import (
    DEFAULT_QUESTION,
    GROUPS,
    Action,
    Earlier,
    Moment,
    MomentKind,
    OutsideEvent,
    Scenario,
    ToolAnswer,
    ToolScript,
)
from oracle.scenarios.reading_turns import TurnReader
from oracle.tools import ToolGroup

_FILE: Final = ("about", "tree", "question", "scenarios")
_SCENARIO: Final = (
    "name", "shows", "tree", "question", "limits", "history", "model", "tools", "available", "encoded",
    "events", "expect",
)  # fmt: skip
_ANSWER: Final = ("result", "error", "empty", "sources", "delay_s", "hang", "when")
_TOOL: Final = ("group", "writes", "answers")


class ScenarioFileError(TreeAuthorError):
    """A scenario file with mistakes.

    Args:
        mistakes: all of them.
        text: of the file.
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
        ScenarioFileError: it cannot be read, or is no file: opening a pipe would wait for its writer.
    """
    try:
        if path.exists() and not path.is_file():
            raise ScenarioFileError((Mistake(Place(str(path)), "this is not a file"),), "")
        with path.open("rb") as file:
            return file.read(LARGEST_FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ScenarioFileError((Mistake(Place(str(path)), f"the file cannot be read: {reason}"),), "") from None


def from_yaml(text: str | bytes, *, file: str = "<scenarios>") -> tuple[Scenario, ...]:
    """The scenarios of a text.

    Raises:
        ScenarioFileError: it has mistakes.
    """
    document = read_yaml(text, file=file)
    reader = Reader()
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
        self._tree = "oracle"
        self._question = DEFAULT_QUESTION

    def read(self, root: YamlNode) -> tuple[Scenario, ...]:
        reader = self._reader
        fields = reader.fields(root, _FILE, what="a scenario file")
        if "tree" in fields:
            self._tree = reader.text(fields["tree"].node, what="'tree'")
        if "question" in fields:
            self._question = reader.text(fields["question"].node, what="'question'")
        if "scenarios" not in fields:
            if isinstance(root.data, dict):
                reader.report(root, "the file has no 'scenarios'", "a list of scenarios")
            return ()
        scenarios = []
        names: dict[str, int] = {}
        for node in reader.items(fields["scenarios"].node, what="'scenarios'"):
            scenario = self._scenario(node)
            if scenario.name in names:
                message = f"the name {scenario.name!r} is used on line {names[scenario.name]} already"
                reader.report(node, message, "names are unique in a file")
            names.setdefault(scenario.name, node.place.line)
            scenarios.append(scenario)
        return tuple(scenarios)

    def _scenario(self, node: YamlNode) -> Scenario:
        reader = self._reader
        fields = reader.fields(node, _SCENARIO, what="a scenario")
        for needed in ("name", "expect"):
            if needed not in fields and isinstance(node.data, dict):
                reader.report(node, f"the scenario has no {needed!r}")
        known = {name: entry.node for name, entry in fields.items()}
        places: dict[tuple[str | int, ...], Place] = {}
        name = reader.text(known["name"], what="'name'") if "name" in known else ""
        return Scenario(
            name=name,
            place=node.place,
            places=places,
            shows=tuple(reader.text(each, what="an id") for each in self._list(known, "shows")),
            tree=reader.text(known["tree"], what="'tree'") if "tree" in known else self._tree,
            question=reader.text(known["question"], what="'question'") if "question" in known else self._question,
            limits=self._limits(known["limits"]) if "limits" in known else {},
            history=tuple(map(self._earlier, self._list(known, "history"))),
            model=tuple(map(TurnReader(reader).read, self._list(known, "model"))),
            tools=self._tools(known["tools"]) if "tools" in known else {},
            available=self._groups(known["available"]) if "available" in known else GROUPS,
            events=tuple(event for each in self._list(known, "events") if (event := self._event(each)) is not None),
            encoded=reader.shares(known["encoded"], get_args(QueryType)) if "encoded" in known else None,
            expect=self._expect(known["expect"], places) if "expect" in known else {},
        )

    def _list(self, known: Mapping[str, YamlNode], name: str) -> tuple[YamlNode, ...]:
        return self._reader.items(known[name], what=repr(name)) if name in known else ()

    def _groups(self, node: YamlNode) -> tuple[ToolGroup, ...]:
        items = self._reader.items(node, what="'available'")
        return tuple(self._reader.one_of(each, GROUPS, what="a group of tools") for each in items)

    def _limits(self, node: YamlNode) -> Mapping[str, int]:
        fields = self._reader.fields(node, tuple(AgentConfig.model_fields), what="'limits'")
        found: dict[str, int] = {}
        for name, entry in fields.items():
            value = entry.node.plain()
            try:
                AgentConfig().with_limits({name: value})
            except ConfigError as error:
                self._reader.report(entry.node, str(error))
            else:
                found[name] = value
        return found

    def _earlier(self, node: YamlNode) -> Earlier:
        reader = self._reader
        fields = reader.fields(node, ("question", "answer", "tool_errors", "query_type"), what="an earlier query")
        for needed in ("question", "answer"):
            if needed not in fields and isinstance(node.data, dict):
                reader.report(node, f"the earlier query has no {needed!r}")
        return Earlier(
            question=reader.text(fields["question"].node, what="'question'") if "question" in fields else "",
            answer=reader.text(fields["answer"].node, what="'answer'") if "answer" in fields else "",
            tool_errors="tool_errors" in fields and reader.flag(fields["tool_errors"].node, what="'tool_errors'"),
            query_type=cast("QueryType", reader.one_of(fields["query_type"].node, get_args(QueryType), what="the type"))
            if "query_type" in fields
            else None,
        )

    # Tools and events

    def _tools(self, node: YamlNode) -> Mapping[str, ToolScript]:
        if not isinstance(node.data, dict):
            self._reader.report(node, f"'tools' must be a mapping, not {node.shape}")
            return {}
        return {name: self._tool(entry.node) for name, entry in node.data.items()}

    def _tool(self, node: YamlNode) -> ToolScript:
        reader = self._reader
        if isinstance(node.data, dict) and set(node.data) & set(_TOOL):
            fields = reader.fields(node, _TOOL, what="a tool")
            answers = reader.items(fields["answers"].node, what="'answers'") if "answers" in fields else ()
            group = reader.text(fields["group"].node, what="'group'") if "group" in fields else None
            return ToolScript(
                answers=tuple(map(self._answer, answers)),
                group=group,
                writes="writes" in fields and reader.flag(fields["writes"].node, what="'writes'"),
            )
        items = node.data if isinstance(node.data, tuple) else (node,)
        return ToolScript(answers=tuple(map(self._answer, items)))

    def _answer(self, node: YamlNode) -> ToolAnswer:
        reader = self._reader
        if isinstance(node.data, str):
            return ToolAnswer(result=node.data)
        given = {name: entry.node for name, entry in reader.fields(node, _ANSWER, what="a tool's answer").items()}
        readers: Mapping[str, Callable[[YamlNode], Any]] = {
            "result": lambda each: reader.text(each, what="'result'"),
            "error": lambda each: reader.text(each, what="'error'"),
            "empty": lambda each: reader.flag(each, what="'empty'"),
            "sources": self._sources,
            "delay_s": lambda each: reader.number(each, what="'delay_s'"),
            "hang": lambda each: reader.flag(each, what="'hang'"),
            "when": lambda each: reader.mapping(each, what="'when'"),
        }
        values: dict[str, Any] = {name: readers[name](each) for name, each in given.items()}
        return ToolAnswer(**values)

    def _sources(self, node: YamlNode) -> tuple[tuple[SourceType, str], ...]:
        found = []
        for item in self._reader.items(node, what="'sources'"):
            pair = self._reader.single(item, what="a source, such as `code: src/auth.py`,")
            if pair is None:
                continue
            if pair[0].key not in get_args(SourceType):
                hint = f"one of {', '.join(get_args(SourceType))}"
                self._reader.report(pair[0], f"there is no type of source {pair[0].key!r}", hint)
                continue
            found.append((cast("SourceType", pair[0].key), self._reader.text(pair[1], what="a path")))
        return tuple(found)

    def _event(self, node: YamlNode) -> OutsideEvent | None:
        reader = self._reader
        pair = reader.single(node, what="an event, such as `cancel: {at_s: 3}`,")
        if pair is None:
            return None
        action, inner = pair
        if not self._is_known(action, get_args(Action), what="event"):
            return None
        if action.key == "delivery":
            return self._delivery(inner)
        moment = self._moment(inner)
        return None if moment is None else OutsideEvent(action=cast("Action", action.key), moment=moment)

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
        moment = reader.single(node, what="a moment, such as `{at_s: 3}`,")
        if moment is None or not self._is_known(moment[0], get_args(MomentKind), what="moment"):
            return None
        kind, value = cast("MomentKind", moment[0].key), moment[1]
        read: Mapping[str, Any] = {
            "at_s": lambda: reader.number(value, what="'at_s'"),
            "request": lambda: reader.whole(value, what="'request'", least=1),
            "said": lambda: reader.text(value, what="'said'"),
            "call": lambda: reader.text(value, what="'call'"),
            "notice": lambda: reader.one_of(value, get_args(Topic), what="the notification"),
        }
        return Moment(kind=kind, value=read[kind]())

    def _is_known(self, entry: Entry, known: tuple[str, ...], *, what: str) -> bool:
        if entry.key in known:
            return True
        hint = closest(entry.key, known)
        hint = f"did you mean {hint!r}?" if hint else f"one of {', '.join(known)}"
        self._reader.report(entry, f"there is no {what} {entry.key!r}", hint)
        return False

    # What must happen

    def _expect(self, node: YamlNode, places: dict[tuple[str | int, ...], Place]) -> Mapping[str, Any]:
        fields = self._reader.fields(node, tuple(EXPECTATIONS), what="'expect'")
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
