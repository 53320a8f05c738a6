"""The mutants of a tree file: one change each, of the text, at a node, a setting or a declared key."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from benchmarks.tree_mutants import expressions
from benchmarks.tree_mutants.spans import Edit, YamlText, plain
from bt_runtime import NodeDefinition, TreeDefinition, TreeLibrary
from bt_runtime.language.kind import ExpressionUse
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.coverage import possible_results

SIGNALS: Final = (
    "need_turn",
    "context_sufficient",
    "stuck",
    "need_capability",
    "partial_answer",
    "delegation_recommended",
)
RINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "reason": ("completed", "stuck"),
    "topic": ("fallback", "stuck", "capability_gap", "delegation_recommended"),
    "severity": ("info", "warning"),
    "subtree": ("use_tools", "continue_answer", "follow_signal", "fallback"),
}
"""The words that take each other's place, by setting."""
_KINDS: Final = {"sequence": "selector", "selector": "sequence", "force_success": "force_failure"}
_SHORTHANDS: Final = {"stop": "reason", "subtree": "subtree"}
"""The setting that a bare value of a kind fills, where that has a ring."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file.

    Args:
        file: the name of the file, such as `fallback.yaml`.
        line: of the change, from 1.
        where: the path of the node within its file, or the declared key.
        operator: the kind of the change.
        before: the text that it replaces, on one line.
        after: the text that stands there instead.
        text: the whole file after the change.
    """

    file: str
    line: int
    where: str
    operator: str
    before: str
    after: str
    text: str

    @property
    def name(self) -> str:
        """Its name in lists, which does not depend on line numbers."""
        change = f"{self.before} -> {self.after}" if self.after else self.before
        return f"{self.file} {self.where} {self.operator}: {change}"

    @property
    def rank(self) -> bytes:
        """Its sort key in a sample: an edit elsewhere does not change it, and it cannot be chosen."""
        return hashlib.sha256(self.name.encode()).digest()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.operator} {self.name.partition(f' {self.operator}: ')[2]}"


@dataclass(frozen=True, slots=True)
class _Change:
    """What a mutant does, before it is described."""

    operator: str
    node: yaml.Node
    edit: Edit


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a tree file, in its order; those with the same text count once."""
    text = path.read_text(encoding="utf-8")
    tree = TreeLibrary([path.parent], registry=REGISTRY).preview(path.stem)
    yaml_text = YamlText(text)
    found: dict[str, Mutant] = {}
    for where, change in _all(yaml_text, tree, str(path)):
        after = change.edit.applied(text)
        if after not in found and after != text:
            found[after] = _described(path.name, where, change, text, after)
    return list(found.values())


def _all(text: YamlText, tree: TreeDefinition, file: str) -> Iterator[tuple[str, _Change]]:
    for key, declared in _declared(text):
        if isinstance(number := plain(declared), int) and not isinstance(number, bool):
            for other in (number + 1, number - 1):
                yield key, _Change("default", declared, text.replaced(declared, other))
    for node, results in possible_results(tree):
        if node.place.file == file:
            for change in _Node(text, node, results).changes():
                yield node.path, change


def _declared(text: YamlText) -> Iterator[tuple[str, yaml.Node]]:
    """The defaults of the file's keys."""
    for name, key in _entries(_entry(text.root, "blackboard")):
        default = _entry(key, "default")
        if default is not None:
            yield f"blackboard/{name}", default


class _Node:
    """One node of the file.

    Args:
        results: what it can return.
    """

    def __init__(self, text: YamlText, node: NodeDefinition, results: frozenset[str]) -> None:
        self.text = text
        self.results = results
        self.node = node
        self.word: yaml.Node = text.scalars[node.place.line, node.place.column]
        above = text.parents[id(self.word)]
        self.whole, self.value = self.word, None
        if isinstance(above, yaml.MappingNode) and above.value[0][0] is self.word and len(above.value) == 1:
            self.whole, self.value = above, above.value[0][1]
        self.above = text.parents[id(self.whole)]
        self.expressions = {
            (use.place.line, use.place.column) for use in node.uses if isinstance(use.use, ExpressionUse)
        }

    def changes(self) -> Iterator[_Change]:
        yield from self._in_list()
        yield from self._around()
        if self.value is not None:
            setting = _SHORTHANDS.get(self.node.kind, "")
            yield from self._settings(self.value, setting)

    def _in_list(self) -> Iterator[_Change]:
        """Removed, or swapped with the next one."""
        if not isinstance(self.above, yaml.SequenceNode):
            return
        items = self.above.value
        if len(items) > 1:
            yield _Change("remove", self.whole, self.text.without_item(self.above, self.whole))
        index = next(index for index, item in enumerate(items) if item is self.whole)
        if index + 1 < len(items):
            yield _Change("swap", self.whole, self.text.swapped(self.whole, items[index + 1]))

    def _around(self) -> Iterator[_Change]:
        """Another kind, the child alone, or the opposite result."""
        data = plain(self.whole)
        if (other := _KINDS.get(self.node.kind)) is not None:
            yield _Change("kind", self.word, self.text.replaced(self.word, other))
        single = [nodes[0] for nodes in self.node.children.values() if len(nodes) == 1]
        if self.node.kind != "subtree" and single and isinstance(self.value, yaml.MappingNode):
            child = _entry(self.value, "child")
            yield _Change("unwrap", self.whole, self.text.replaced(self.whole, plain(child or self.value)))
        if self.node.kind == "condition":
            return  # its expression is negated
        yield _Change("invert", self.whole, self.text.replaced(self.whole, {"inverter": data}))
        if self._is_leaf and "FAILURE" in self.results:
            yield _Change("succeed", self.whole, self.text.replaced(self.whole, {"force_success": data}))

    def _settings(self, value: yaml.Node, setting: str) -> Iterator[_Change]:
        if isinstance(value, yaml.ScalarNode):
            if self._is_leaf or self._is_expression(value):
                yield from self._scalar(value, setting)
        elif isinstance(value, yaml.MappingNode) and self._is_leaf:
            for key, inner in value.value:
                if key.value != "name":
                    yield _Change("drop-setting", key, self.text.without_entry(value, key, inner))
                    yield from self._settings(inner, key.value)
        elif isinstance(value, yaml.MappingNode):
            for key, inner in value.value:
                if key.value in ("until", "guards", "then"):
                    yield _Change("drop-setting", key, self.text.without_entry(value, key, inner))
                if isinstance(inner, yaml.ScalarNode) and self._is_expression(inner):
                    yield from self._settings(inner, key.value)

    def _scalar(self, node: yaml.ScalarNode, setting: str) -> Iterator[_Change]:
        value = plain(node)
        if self._is_expression(node):
            yield from self._expression(node, node.value)
        elif setting in RINGS:
            if other := expressions.after(str(value), RINGS[setting]):
                yield _Change(setting, node, self.text.replaced(node, other))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            for number in (value + 1, value - 1):
                yield _Change("number", node, self.text.replaced(node, number))
        elif isinstance(value, str):
            yield _Change("text", node, self.text.replaced(node, "Something else."))

    def _expression(self, node: yaml.ScalarNode, text: str) -> Iterator[_Change]:
        for operator, other in expressions.changed(text, words=SIGNALS):
            yield _Change(operator, node, self.text.replaced(node, other))
        if self.node.kind == "condition":
            yield _Change("negate", node, self.text.replaced(node, f"not ({text})"))
            yield _Change("never", node, self.text.replaced(node, f"false and ({text})"))
            yield _Change("always", node, self.text.replaced(node, f"true or ({text})"))
        elif text.startswith(("'", '"')):
            yield _Change("text", node, self.text.replaced(node, "'Something else.'"))

    def _is_expression(self, node: yaml.Node) -> bool:
        mark = node.start_mark
        return any((mark.line + 1, mark.column + 1 + quoted) in self.expressions for quoted in (0, 1))

    @property
    def _is_leaf(self) -> bool:
        """Whether the node has no children in this file."""
        return not self.node.children or self.node.kind == "subtree"


def _described(file: str, where: str, change: _Change, text: str, after: str) -> Mutant:
    first, last = change.edit.span
    line = text.count("\n", 0, first) + 1
    if change.operator in ("remove", "drop-setting", "swap", "unwrap", "invert", "succeed"):
        shown = _label(change.node)
        return Mutant(file, line, where, change.operator, shown, "", after)
    return Mutant(file, line, where, change.operator, _line(text[first:last]), _line(change.edit.text), after)


def _label(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return str(node.value[0][0].value)
    return str(node.value)


def _line(text: str) -> str:
    """A value on one line, without its quotes."""
    return " ".join(str(json.loads(text) if text.startswith('"') else text).split())


def _entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        yield from ((key.value, value) for key, value in node.value)


def _entry(node: yaml.Node | None, key: str) -> yaml.Node | None:
    return next((value for name, value in _entries(node) if name == key), None)
