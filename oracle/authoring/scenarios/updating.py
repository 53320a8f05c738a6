"""Rewrites the statements of failing scenarios to what happened; the rest of the file stays, comments included."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import yaml

from bt_runtime.text.yaml_reader import LOADER
from oracle.authoring.scenarios.expectations import EXPECTATIONS
from oracle.authoring.scenarios.judging import ScenarioVerdict
from oracle.authoring.scenarios.model import Json
from oracle.authoring.scenarios.writing import dump


@dataclass(frozen=True, slots=True)
class _Change:
    """A part of the text, from `start` to before `end`, and what takes its place."""

    start: int
    end: int
    text: str


def updated(text: str, verdicts: Iterable[ScenarioVerdict]) -> str:
    """The text of a scenario file with the statements that do not hold replaced by what happened.

    Only what differs is replaced, as deep inside a statement as its shape stays the same. What holds for every query
    cannot be stated, and so is not updated.

    Args:
        text: the whole text of a file without mistakes.
        verdicts: on its scenarios.
    """
    text = text.removeprefix("\ufeff")
    root = yaml.compose(text, Loader=LOADER)
    items = cast("yaml.SequenceNode", _entry(root, "scenarios")).value
    scenarios = {_entry(item, "name").value: item for item in items}
    changes: list[_Change] = []
    for verdict in verdicts:
        if verdict.passed:
            continue
        expect = _entry(scenarios[verdict.scenario.name], "expect")
        for name, stated in verdict.scenario.expect.items():
            actual = EXPECTATIONS[name].actual(stated, verdict.played)
            changes += _replaced(_entry(expect, name), stated, actual)
    for change in sorted(changes, key=lambda each: each.start, reverse=True):
        text = text[: change.start] + change.text + text[change.end :]
    return text


def _entry(node: yaml.Node | None, name: str) -> yaml.Node:
    pairs: Sequence[tuple[yaml.Node, yaml.Node]] = cast("yaml.MappingNode", node).value
    return next(value for key, value in pairs if key.value == name)


def _replaced(node: yaml.Node, stated: Json, actual: Json) -> Iterator[_Change]:
    """The changes that make a value of the file the actual one."""
    if stated == actual:
        return
    if isinstance(node, yaml.MappingNode) and isinstance(actual, dict) and list(stated) == list(actual):
        for key, value in node.value:
            yield from _replaced(value, stated[key.value], actual[key.value])
    elif isinstance(node, yaml.SequenceNode) and isinstance(actual, list) and len(stated) == len(actual):
        for item, before, after in zip(node.value, stated, actual, strict=True):
            yield from _replaced(item, before, after)
    else:
        yield _Change(node.start_mark.index, _end(node), _written(node, actual))


def _end(node: yaml.Node) -> int:
    """Behind the last character of a value; a block ends with its last part, before the comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index) - (isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"))


def _written(node: yaml.Node, value: Json) -> str:
    """The value as YAML at the place of the node: on one line, or as a block that is indented like it."""
    is_block = isinstance(node, yaml.CollectionNode) and not node.flow_style and isinstance(value, dict | list)
    if not (is_block and value):
        return _on_one_line(value)
    column = int(node.start_mark.column)
    lines = [_on_one_line(item) for item in value] if isinstance(value, list) else _pairs(value)
    mark = "- " if isinstance(value, list) else ""
    return f"\n{' ' * column}".join(mark + line for line in lines)


def _pairs(value: dict[str, Json]) -> list[str]:
    return [f"{_on_one_line(name)}: {_on_one_line(each)}" for name, each in value.items()]


def _on_one_line(value: Json) -> str:
    """The value in flow style."""
    return dump(value, on_one_line=True)
