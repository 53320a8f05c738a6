"""The tree as JSON data, for consoles and other programs."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from bt_runtime.drawing.rendering.labels import Statuses, status_of
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.rule import Rule


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
