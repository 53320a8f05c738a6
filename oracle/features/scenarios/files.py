"""Scenario files: read to scenarios or to all of their mistakes, and written.

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

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Final, get_type_hints

import yaml
from pydantic import ConfigDict, create_model

from bt_runtime.language.kind import Kind, NodeSettings
from bt_runtime.language.reading.settings import read_settings
from bt_runtime.text import Mistake, Place, format_mistakes, in_order
from bt_runtime.text.yaml_reader import YamlNode, read_yaml, resolve
from oracle.core.errors import TreeAuthorError
from oracle.core.yaml_records import file_text
from oracle.features.scenarios.expectations import EXPECTATIONS
from oracle.features.scenarios.model import (
    DEFAULT_CONFIDENCE,
    SIGNAL_FIELDS,
    USAGE,
    Json,
    OutsideEvent,
    PersonDecides,
    Record,
    Scenario,
    SignalLine,
    ToolAnswer,
    ToolScript,
    Turn,
)
from oracle.llm.protocol import Usage
from oracle.llm.scripted import ScriptedSearch


class _Written(NodeSettings):
    """What is written; lists are read as tuples."""

    model_config = ConfigDict(strict=False)


class _File(_Written):
    scenarios: tuple[Any, ...]
    about: Any = None
    tree: str = ""
    question: str = ""


def _model() -> type[_Written]:
    types = get_type_hints(Scenario, include_extras=True)
    written: dict[str, Any] = {name: (types[name], None) for name in types if name not in ("place", "places")}
    stated: dict[str, Any] = {name: (each.form, None) for name, each in EXPECTATIONS.items()}
    own = {"name": (str, ...), "expect": (create_model("Expect", __base__=Record, **stated), ...)}
    return create_model("Scenario", __base__=_Written, **(written | own))


_SCENARIO: Final = _model()


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
    mistakes = list(document.mistakes)
    scenarios = () if document.root is None else tuple(_read(document.root, mistakes))
    if mistakes:
        raise ScenarioFileError(in_order(mistakes), document.text)
    return scenarios


def _read(root: YamlNode, mistakes: list[Mistake]) -> Iterator[Scenario]:
    """The scenarios of a file that have no mistakes."""
    file = _fields(_File, root, "a scenario file", mistakes)
    defaults = {name: getattr(file, name) for name in ("tree", "question") if file and name in file.model_fields_set}
    entry = root.data.get("scenarios") if isinstance(root.data, dict) else None
    items: Any = entry.node.data if entry is not None and isinstance(entry.node.data, tuple) else ()
    lines: dict[str, int] = {}
    for node in items:
        scenario = _fields(_SCENARIO, node, "a scenario", mistakes)
        if scenario is None:
            continue
        if scenario.name in lines:
            message = f"the name {scenario.name!r} is used on line {lines[scenario.name]} already"
            mistakes.append(Mistake(node.place, message, "names are unique in a file"))
        lines.setdefault(scenario.name, node.place.line)
        expect = node.data["expect"].node
        values = {name: getattr(scenario, name) for name in scenario.model_fields_set} | {"expect": expect.plain()}
        places = {at: place for name in expect.data for at, place in _places((name,), expect.data[name].node).items()}
        yield Scenario(**{**defaults, **values}, place=node.place, places=places)


def _fields(model: type[_Written], node: YamlNode, what: str, mistakes: list[Mistake]) -> Any:  # noqa: ANN401
    """What a mapping has, as the model; `None` if there are mistakes."""
    if not isinstance(node.data, dict):
        mistakes.append(Mistake(node.place, f"{what} must be a mapping, not {node.shape}"))
        return None
    kind = Kind("scenario", "action", model)
    return read_settings(
        kind, node.data, fill=YamlNode.plain, place=node.place, path="", mistakes=mistakes, subject=what
    )


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


_WIDTH: Final = 118


def to_yaml(scenarios: Iterable[Scenario], *, about: str = "") -> str:
    """The text of a scenario file.

    Args:
        scenarios: the scenarios of the file; their names differ.
        about: a sentence on the file; none if empty.
    """
    head = {"about": about} if about else {}
    return dump({**head, "scenarios": [_scenario(each) for each in scenarios]})


def dump(data: Json, *, on_one_line: bool = False) -> str:
    """JSON data as YAML.

    Args:
        data: the JSON data.
        on_one_line: without a line break, to stand inside other YAML; else short inner collections are on one line, and
            long texts are blocks.
    """
    if not on_one_line:
        return yaml.dump(
            data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=None
        )
    # In a list, because a bare value would end with a line of dots.
    text = yaml.dump(
        [data], Dumper=_LineDumper, sort_keys=False, allow_unicode=True, width=float("inf"), default_flow_style=True
    )
    return text.strip()[1:-1]


def _scenario(scenario: Scenario) -> dict[str, Json]:
    """A scenario as its file has it; what is as by default is left out, but for what must happen."""
    own = {
        "history": _each(_changed),
        "tools": lambda scripts: {name: _tool(script) for name, script in scripts.items()},
        "model": _each(_turn),
        "events": _each(_event),
        "people": _each(_decides),
    }
    return _changed(scenario, own, without=("place", "places")) | {"expect": dict(scenario.expect)}


def _changed(
    item: Any,  # noqa: ANN401  a part of a scenario
    own: Mapping[str, Callable[[Any], Json]] | None = None,
    *,
    without: Collection[str] = (),
) -> dict[str, Json]:
    """The fields of a dataclass that are not as by default, in their order.

    Args:
        item: the part of a scenario.
        own: how fields are written that are no plain data.
        without: the fields that are left out.
    """
    data: dict[str, Json] = {}
    for field in fields(item):
        value = getattr(item, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if field.name not in without and value != default:
            data[field.name] = (own or {}).get(field.name, _plain)(value)
    return data


def _plain(value: Any) -> Json:  # noqa: ANN401  JSON data
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _each(write: Callable[[Any], Json]) -> Callable[[Iterable[Any]], Json]:
    return lambda items: [write(item) for item in items]


def _event(event: OutsideEvent) -> Json:
    delivered = {"key": event.key, "value": event.value} if event.action == "delivery" else {}
    return {event.action: {**delivered, event.moment.kind: event.moment.value}}


def _decides(decides: PersonDecides) -> Json:
    if decides.value is None and not decides.after_s:
        return decides.decision
    return {decides.decision: decides.value, **({"after_s": decides.after_s} if decides.after_s else {})}


def _turn(turn: Turn) -> Json:
    own: dict[str, Callable[[Any], Json]] = {
        "signal": _signal,
        "calls": _each(lambda call: {call.name: _plain(call.arguments)} if call.arguments else call.name),
        "searches": _each(_search),
        "usage": _usage,
        "fault": lambda fault: {fault.narrower or fault.error_type: fault.message},
    }
    data = {"tokens" if name == "usage" else name: value for name, value in _changed(turn, own).items()}
    text = data.get("text", "")
    return text if set(data) <= {"text"} and isinstance(text, str) else data


def _signal(signal: SignalLine) -> Json:
    given = {name: value for name, value in signal.fields.items() if SIGNAL_FIELDS[signal.type].get(name) != value}
    if signal.confidence != DEFAULT_CONFIDENCE:
        given["confidence"] = signal.confidence
    return {signal.type: given} if given else signal.type


def _search(search: ScriptedSearch) -> Json:
    results = {"results": [{address: title} for address, title in search.results]} if search.results else {}
    return {"query": search.query, **results, **({"error": search.error} if search.error else {})}


def _usage(usage: Usage | None) -> Json:
    if usage is None:
        return "unreported"
    data = {name: count for name, field in USAGE.items() if (count := getattr(usage, field))}
    return data.get("output", 0) if set(data) <= {"output"} else data


def _tool(script: ToolScript) -> Json:
    if script.group is not None or script.writes or script.approve or script.labels is not None:
        return _changed(script, {"answers": _each(_answer)})
    answers = [_answer(each) for each in script.answers]
    return answers[0] if len(answers) == 1 else answers


def _answer(answer: ToolAnswer) -> Json:
    data = _changed(answer, {"sources": lambda sources: [{kind: path} for kind, path in sources]})
    return data["result"] if set(data) == {"result"} else data


class _Dumper(yaml.SafeDumper):
    """Writes text so that YAML 1.2 reads it back as the same text."""

    def ignore_aliases(self, data: object) -> bool:
        """Write everything out."""
        del data
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text.strip("\n") and not any(line.endswith(" ") for line in text.split("\n")):
        style = "|"
    elif _is_no_text(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_no_text(text: str) -> bool:
    try:
        return resolve(text) != text
    except ValueError:
        return True


def _represent_line(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if "\n" in text or _is_no_text(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


class _LineDumper(_Dumper):
    """Writes text without line breaks."""


_Dumper.add_representer(str, _represent_text)
_LineDumper.add_representer(str, _represent_line)
