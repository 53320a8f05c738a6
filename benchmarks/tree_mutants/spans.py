"""A YAML text with the span of each of its values, for edits that leave everything else as it is."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from bt_runtime.text.yaml_reader import LOADER, resolve

Span = tuple[int, int]
"""Start and end in the text, in characters."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a text and what stands there instead."""

    span: Span
    text: str

    def applied(self, whole: str) -> str:
        first, last = self.span
        return whole[:first] + self.text + whole[last:]


@dataclass
class YamlText:
    """A text and its values.

    Args:
        text: valid YAML, one document of plain data.
    """

    text: str
    root: yaml.Node = field(init=False)
    parents: dict[int, yaml.Node] = field(init=False, default_factory=dict)
    scalars: dict[tuple[int, int], yaml.ScalarNode] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.root = yaml.compose(self.text, Loader=LOADER)
        for parent, node in _walk(self.root):
            self.parents[id(node)] = parent
            if isinstance(node, yaml.ScalarNode):
                self.scalars[node.start_mark.line + 1, node.start_mark.column + 1] = node

    def span(self, node: yaml.Node) -> Span:
        """Where a value stands, without what follows it: comments, empty lines."""
        first, last = node.start_mark.index, node.end_mark.index
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            value = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
            return first, self.span(value)[1]
        return first, first + len(self.text[first:last].rstrip())

    def of(self, node: yaml.Node) -> str:
        """The text of a value."""
        first, last = self.span(node)
        return self.text[first:last]

    def replaced(self, node: yaml.Node, value: object) -> Edit:
        """Another value in the place of this one."""
        return Edit(self.span(node), as_flow(value))

    def swapped(self, one: yaml.Node, other: yaml.Node) -> Edit:
        """Two values of a list, the earlier one first, in each other's place."""
        first, second = self.span(one), self.span(other)
        between = self.text[first[1] : second[0]]
        return Edit((first[0], second[1]), self.of(other) + between + self.of(one))

    def without_item(self, items: yaml.SequenceNode, item: yaml.Node) -> Edit:
        """A list without one of its items."""
        first, last = self.span(item)
        if items.flow_style:
            return self._without_comma(first, last)
        return Edit((self.text.rindex("-", 0, first), last), "")

    def without_entry(self, entries: yaml.MappingNode, key: yaml.Node, value: yaml.Node) -> Edit:
        """A mapping without one of its entries."""
        first, last = self.span(key)[0], self.span(value)[1]
        if len(entries.value) == 1:
            return Edit(self.span(entries), "{}")
        return self._without_comma(first, last) if entries.flow_style else Edit((first, last), "")

    def _without_comma(self, first: int, last: int) -> Edit:
        behind = self.text[last:]
        rest = behind.lstrip()
        if rest.startswith(","):
            return Edit((first, last + len(behind) - len(rest) + 1), "")
        before = self.text[:first].rstrip()
        return Edit((len(before) - 1 if before.endswith(",") else first, last), "")


def plain(node: yaml.Node) -> object:
    """The value as data."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: plain(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain(item) for item in node.value]
    return node.value if node.style else resolve(node.value)


def as_flow(value: object) -> str:
    """A value as YAML of one line."""
    return json.dumps(value, ensure_ascii=False)


def _walk(node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        children = [each for entry in node.value for each in entry]
    else:
        children = node.value if isinstance(node, yaml.SequenceNode) else []
    for child in children:
        yield node, child
        yield from _walk(child)
