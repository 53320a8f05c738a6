"""Writes scenarios as a file that `reading` reads."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from bt_runtime.text.yaml_scalars import resolve
from oracle.models.protocol import Usage
from oracle.models.script import ScriptedCall, ScriptedSearch
from oracle.scenarios.model import (
    DEFAULT_QUESTION,
    DEFAULT_USAGE,
    GROUPS,
    SIGNAL_FIELDS,
    Earlier,
    Json,
    OutsideEvent,
    Scenario,
    SignalLine,
    ToolAnswer,
    ToolScript,
    Turn,
)

_WIDTH: Final = 118


def to_yaml(scenarios: Iterable[Scenario], *, about: str = "") -> str:
    """The text of a scenario file.

    Args:
        scenarios: with different names.
        about: a sentence on the file; none if empty.
    """
    head = {"about": about} if about else {}
    return dump({**head, "scenarios": [scenario_data(each) for each in scenarios]})


def dump(data: Json, *, on_one_line: bool = False) -> str:
    """JSON data as YAML.

    Args:
        data: what is written.
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


def scenario_data(scenario: Scenario) -> dict[str, Any]:
    """A scenario as its file has it; what is as by default is left out."""
    data: dict[str, Any] = {"name": scenario.name}
    if scenario.shows:
        data["shows"] = list(scenario.shows)
    if scenario.tree != "oracle":
        data["tree"] = scenario.tree
    if scenario.question != DEFAULT_QUESTION:
        data["question"] = scenario.question
    optional: dict[str, Json] = {
        "limits": dict(scenario.limits),
        "available": list(scenario.available) if scenario.available != GROUPS else None,
        "history": [_earlier(each) for each in scenario.history],
        "encoded": dict(scenario.encoded or {}),
        "tools": {name: _tool(script) for name, script in scenario.tools.items()},
        "model": [_turn(turn) for turn in scenario.model],
        "events": [{each.action: _event(each)} for each in scenario.events],
    }
    # No group at all is another thing than all of them, which stand for themselves.
    data |= {name: value for name, value in optional.items() if value or (name == "available" and value is not None)}
    data["expect"] = dict(scenario.expect)
    return data


def _earlier(earlier: Earlier) -> dict[str, Json]:
    data: dict[str, Json] = {"question": earlier.question, "answer": earlier.answer}
    if earlier.tool_errors:
        data["tool_errors"] = True
    return data if earlier.query_type is None else data | {"query_type": earlier.query_type}


def _event(event: OutsideEvent) -> dict[str, Json]:
    delivered = {"key": event.key, "value": event.value} if event.action == "delivery" else {}
    return {**delivered, event.moment.kind: event.moment.value}


def _turn(turn: Turn) -> Json:
    optional: dict[str, Json] = {
        "text": turn.text if isinstance(turn.text, str) else list(turn.text),
        "thinking": turn.thinking,
        "signal": turn.signal and _signal(turn.signal),
        "calls": [_call(each) for each in turn.calls],
        "searches": [_search(each) for each in turn.searches],
        "stop_reason": turn.stop_reason,
        "fault": turn.fault and {turn.fault.error_type: turn.fault.message},
        "hang": turn.hang,
        "delay_s": turn.delay_s,
        "model": turn.model,
        "encoded": dict(turn.encoded or {}),
    }
    data = {name: value for name, value in optional.items() if value}
    if turn.usage != DEFAULT_USAGE:
        data["tokens"] = _usage(turn.usage)
    if turn.times != 1:
        data["times"] = turn.times
    text = data.get("text", "")
    return text if set(data) <= {"text"} and isinstance(text, str) else data


def _signal(signal: SignalLine) -> Json:
    fields = {name: value for name, value in signal.fields.items() if SIGNAL_FIELDS[signal.type].get(name) != value}
    if signal.confidence != 0.9:
        fields["confidence"] = signal.confidence
    return {signal.type: fields} if fields else signal.type


def _call(call: ScriptedCall) -> Json:
    if isinstance(call.arguments, str):
        return {call.name: call.arguments}
    return {call.name: dict(call.arguments)} if call.arguments else call.name


def _search(search: ScriptedSearch) -> Mapping[str, Any]:
    data: dict[str, Any] = {"query": search.query}
    if search.results:
        data["results"] = [{address: title} for address, title in search.results]
    return data | ({"error": search.error} if search.error else {})


def _usage(usage: Usage | None) -> Json:
    if usage is None:
        return "unreported"
    data = {
        "input": usage.input_tokens,
        "cache_creation": usage.cache_creation_tokens,
        "cache_read": usage.cache_read_tokens,
        "output": usage.output_tokens,
    }
    data = {name: value for name, value in data.items() if value}
    return data.get("output", 0) if set(data) <= {"output"} else data


def _tool(script: ToolScript) -> Json:
    answers = [_answer(each) for each in script.answers]
    if script.group is not None or script.writes:
        data: dict[str, Any] = {} if script.group is None else {"group": script.group}
        return data | ({"writes": True} if script.writes else {}) | ({"answers": answers} if answers else {})
    return answers[0] if len(answers) == 1 else answers


def _answer(answer: ToolAnswer) -> Json:
    data: dict[str, Any] = {"when": dict(answer.when)} if answer.when else {}
    for name in ("result", "error"):
        if (text := getattr(answer, name)) is not None:
            data[name] = text
    for name in ("empty", "delay_s", "hang"):
        if value := getattr(answer, name):
            data[name] = value
    if answer.sources:
        data["sources"] = [{kind: path} for kind, path in answer.sources]
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
