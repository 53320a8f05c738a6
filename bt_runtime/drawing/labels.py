"""The labels of nodes in pictures, and the whole tree as JSON data for other programs."""

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.kind import NodeSettings, Value
from bt_runtime.language.rule import Rule
from bt_runtime.text import visible
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated

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
        symbol: of a composite, for graphical formats; empty for other kinds.
    """

    title: str
    detail: str
    symbol: str

    @property
    def heading(self) -> str:
        """The title, after the symbol of a composite."""
        return f"{self.symbol} {self.title}" if self.symbol else self.title

    @property
    def line(self) -> str:
        """Both parts in one: `again = retry (attempts=3)`."""
        return f"{self.title} ({self.detail})" if self.detail else self.title


def label_of(node: NodeDefinition, *, longest_detail: int = 80) -> Label:
    """The label of a node; a longer detail is cut and ends in `…`."""
    title = f"{node.name} = {node.kind}" if node.name else node.kind
    detail = truncated(", ".join(_settings(node.settings)), longest_detail)
    return Label(visible(title), visible(detail), COMPOSITES.get(node.kind, ""))


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


def edges_of(tree: TreeDefinition) -> Iterator[tuple[int, str, int]]:
    """Each edge as the index of the parent, the slot as in `children_of`, and the index of the child."""
    nodes = tree.nodes()
    indices = {node.path: index for index, node in enumerate(nodes)}
    for parent, node in enumerate(nodes):
        for slot, child in children_of(node):
            yield parent, slot, indices[child.path]


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


def render_json(tree: TreeDefinition, statuses: Statuses | None = None) -> str:
    """`tree_data` as indented JSON."""
    return json.dumps(tree_data(tree, statuses), indent=2, ensure_ascii=False)


def tree_data(tree: TreeDefinition, statuses: Statuses | None = None) -> dict[str, Any]:
    """The tree as data: its head, its keys, its rules, and its nodes nested by slot.

    A node has `index` (as in tick records), `path`, `kind`, `name`, `label`, `file`, `line`, `column`, `settings` (with
    their defaults), `slots`, and with statuses a `status`.
    """
    return {
        "name": tree.name,
        "description": tree.description,
        "internal": tree.internal,
        "version": tree.sha,
        "file": tree.file,
        "subtrees": list(tree.subtrees),
        "keys": [
            {field: getattr(key, field) for field in ("name", "type", "default", "description", "read_only")}
            for key in tree.keys.values()
        ],
        "rules": [_rule(rule) for rule in tree.rules],
        "root": _node(tree.root, statuses, count()),
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "text": rule.text,
        "template": rule.template,
        "events": [str(event) for event in rule.events],
        "times": rule.times,
        "after": str(rule.after) if rule.after else None,
        "enforce": rule.enforce,
        "tree": rule.tree,
        "file": rule.place.file,
        "line": rule.place.line,
    }


def _node(node: NodeDefinition, statuses: Statuses | None, indices: Iterator[int]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "index": next(indices),
        "path": node.path,
        "kind": node.kind,
        "name": node.name,
        "label": node.label,
        "file": node.place.file,
        "line": node.place.line,
        "column": node.place.column,
        "settings": node.settings.model_dump(mode="json", by_alias=True),
    }
    status = status_of(node, statuses)
    if status is not None:
        data["status"] = status
    data["slots"] = {
        slot: [_node(child, statuses, indices) for child in children] for slot, children in node.children.items()
    }
    return data
