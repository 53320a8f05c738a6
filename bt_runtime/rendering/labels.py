"""The labels of nodes in pictures: name, kind, and settings that differ from their defaults."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bt_runtime.definition import NodeDefinition
from bt_runtime.kind import NodeSettings, Value
from bt_runtime.text import visible

Statuses = Mapping[str, str]
"""SUCCESS, FAILURE, RUNNING or INVALID by node path."""

SYMBOLS: Mapping[str, str] = {"SUCCESS": "✓", "FAILURE": "✗", "RUNNING": "*", "INVALID": "-"}
COMPOSITES: Mapping[str, str] = {"sequence": "→", "selector": "?", "parallel": "⇉"}


@dataclass(frozen=True, slots=True)
class Label:
    """The two parts of a node's label, on one line each, without control characters.

    Args:
        title: name and kind: `again = retry`.
        detail: settings that differ from their defaults: `attempts=3`; may be empty.
    """

    title: str
    detail: str

    @property
    def line(self) -> str:
        """Both parts in one: `again = retry (attempts=3)`."""
        return f"{self.title} ({self.detail})" if self.detail else self.title


def label_of(node: NodeDefinition, *, longest_detail: int = 80) -> Label:
    """The label of a node; a longer detail is cut and ends in `…`."""
    title = f"{node.name} = {node.kind}" if node.name else node.kind
    detail = ", ".join(_settings(node.settings))
    if len(detail) > longest_detail:
        detail = detail[: longest_detail - 1] + "…"
    return Label(visible(title), visible(detail))


def status_of(node: NodeDefinition, statuses: Statuses | None) -> str | None:
    """The status of a node; `None` if the picture shows no statuses."""
    if statuses is None:
        return None
    status = statuses.get(node.path, "INVALID")
    return status if status in SYMBOLS else "INVALID"


def children_of(node: NodeDefinition) -> Iterator[tuple[str, NodeDefinition]]:
    """The children, each with its slot; the slot is empty where there is only one."""
    only = len(node.children) == 1
    for slot, children in node.children.items():
        for child in children:
            yield ("" if only else visible(slot)), child


def _settings(settings: NodeSettings) -> Iterator[str]:
    """`setting=value` for each that is not at its default; a single required one without its name."""
    values = settings.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    fields = {field.alias or name: field for name, field in type(settings).model_fields.items()}
    for name, value in values.items():
        if len(values) == 1 and fields[name].is_required() and isinstance(value, str | dict):
            yield _short(value).removeprefix("{").removesuffix("}") if isinstance(value, dict) else value
        else:
            yield f"{name}={_short(value)}"


def _short(value: Value) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={_short(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_short, value)) + "]"
    return value if isinstance(value, str) else json.dumps(value)
