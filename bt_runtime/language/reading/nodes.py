"""The nodes of a tree file: kinds, children, names and paths.

A node is a mapping with one key, its kind; the value is its settings, the value of its shorthand, or nothing. A kind
without required settings may be a bare word. The reader continues after a mistake, also into the children of a node
whose kind is misspelt, so that all mistakes of a file are reported together.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field

from bt_runtime.language.definition import NodeDefinition, PlacedUse
from bt_runtime.language.kind import ActionUse, CallUse, Kind, NodeSettings, Slot, TreeUse, Use, Value, keyed_slot
from bt_runtime.language.reading.header import Header
from bt_runtime.language.reading.settings import broken_kind, locate, mapping_target, read_settings, slot_named
from bt_runtime.language.reading.uses import Filler, UseChecker, UseScope
from bt_runtime.language.registry import Registry, setting_names
from bt_runtime.text import Mistake, Place, brief, closest, did_you_mean, listing
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import Entry, YamlNode

MOST_NODES = 2_000
DEEPEST_NODES = 64
LONGEST_NAME = 80

_NAME = re.compile(rf"[^/#]{{1,{LONGEST_NAME}}}")
_NODE_HINT = "a node is a kind, alone or with its settings: 'finish', or 'condition: \"turn > 3\"'"


Include = Callable[[TreeUse, Mapping[str, Entry], Mapping[str, Entry], Place, str, int], NodeDefinition | None]
"""Reads another tree, given its arguments and outputs as written, where it is named, the path of the node that includes
it, and how many nodes are above its root; `None` if it has mistakes, which are reported then."""


@dataclass(frozen=True, slots=True)
class Given:
    """The inputs for reading a file where it is included; for the tree that is loaded itself, those of the caller.

    Args:
        arguments: the value of each of its parameters.
        samples: the parameters whose value is only a sample.
        written: its arguments as the including file has them.
        private: the names of its private keys on the blackboard, by those in the file.
    """

    arguments: Mapping[str, Value]
    samples: frozenset[str]
    written: Mapping[str, Entry]
    private: Mapping[str, str]


@dataclass(slots=True)
class NodeBudget:
    """The number of nodes that a tree may still have, subtrees included."""

    nodes: int = MOST_NODES


@dataclass(slots=True)
class _Siblings:
    """Assigns labels to the children of a node."""

    path: str
    lines: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def label(self, kind: str, name: str | None) -> str:
        if name is not None:
            return name
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return kind if self.counts[kind] == 1 else f"{kind}#{self.counts[kind]}"

    def below(self, label: str) -> str:
        return f"{self.path}/{label}" if self.path else label


class NodeReader:
    """Reads the nodes of one file."""

    def __init__(
        self,
        header: Header,
        *,
        registry: Registry,
        given: Given,
        include: Include,
        budget: NodeBudget,
        mistakes: list[Mistake],
    ) -> None:
        self._registry = registry
        self._given = given
        self._include = include
        self._budget = budget
        self._mistakes = mistakes
        lines = header.document.text.splitlines()
        names = frozenset({*header.keys, *header.parameters})
        self._scope = UseScope(lines, header.keys, names, given.written, registry.actions)
        self.broken = False
        """Some settings could not be read and have their defaults; such a tree is checked, never run."""
        self.inserted: set[str] = set()
        """The parameters that were used as `${name}`."""

    def read(self, node: YamlNode, *, path: str = "", depth: int = 0) -> NodeDefinition | None:
        """The definition of a file's root; `None` if it cannot be read.

        If there are mistakes, or `broken` is set, it may lack nodes and settings.
        """
        return self._node(node, _Siblings(path), depth)

    def _report(
        self, place: Place, message: str, hint: str | None = None, path: str | None = None, *, code: str = "invalid"
    ) -> None:
        self._mistakes.append(Mistake(place, message, hint, path, code))

    def _node(self, node: YamlNode, siblings: _Siblings, depth: int) -> NodeDefinition | None:
        self._budget.nodes -= 1
        if self._budget.nodes < 0:
            if self._budget.nodes == -1:
                self._report(node.place, f"the tree has more than {MOST_NODES:,} nodes, its subtrees included")
            return None
        if depth >= DEEPEST_NODES:
            self._report(node.place, f"the tree is more than {DEEPEST_NODES} nodes deep", "make it flatter")
            return None
        head = self._head(node)
        if head is None:
            return None
        written, kind = head
        entries = self._entries(kind, written)
        name = self._name(entries.pop("name", None))
        label = siblings.label(kind.name, name)
        path = siblings.below(label)
        # Labels must be unique among siblings, because paths consist of them.
        if label in siblings.lines:
            message = f"a sibling is called {brief(label)} already, on line {siblings.lines[label]}"
            self._report(written.place, message, "give one of them another 'name'", path, code="duplicate-name")
        siblings.lines.setdefault(label, written.place.line)
        children = self._children(kind, entries, written.place, path, depth)
        settings, included, uses = self._settings(kind, entries, written.place, path, depth)
        if settings is None:
            self.broken = True
            settings = kind.settings.model_construct()
        constants, private = dict(self._given.arguments), self._given.private
        below = {**children, **included}
        return NodeDefinition(
            kind.name, name, path, settings, below, written.place, constants, uses, private, kind.facts
        )

    def _head(self, node: YamlNode) -> tuple[Entry, Kind] | None:
        """The kind of a node, and the value as written."""
        data = node.data
        if isinstance(data, str):
            written = Entry(data, node.place, YamlNode(None, node.place))
        elif not isinstance(data, dict):
            missing = "a node is missing here" if data is None else f"a node cannot be {node.shape}"
            hint = "put the nodes into a sequence" if isinstance(data, tuple) else _NODE_HINT
            self._report(node.place, missing, hint)
            return None
        elif not data:
            self._report(node.place, "a node is missing here", _NODE_HINT)
            return None
        else:
            written = self._only_kind(data)
        kind = self._registry.kinds.get(written.key)
        if kind is None:
            nearest = closest(written.key, self._registry.kinds)
            meant = did_you_mean(written.key, self._registry.kinds)
            hint = meant or f"kinds: {listing(self._registry.kinds, most=20)}"
            self._report(written.place, f"there is no node kind {brief(written.key)}", hint, code="unknown-kind")
            # Continue with the kind that was probably meant, to find the mistakes in it; the tree is refused anyway.
            kind = self._registry.kinds[nearest] if nearest else None
        return (written, kind) if kind is not None else None

    def _only_kind(self, data: Mapping[str, Entry]) -> Entry:
        """The one entry of a node; further entries are mistakes."""
        entries = list(data.values())
        chosen = next((entry for entry in entries if entry.key in self._registry.kinds), entries[0])
        for entry in entries:
            if entry is not chosen:
                message = f"a node has one key, its kind; found {brief(entry.key)} beside {brief(chosen.key)}"
                hint = f"begin a node of its own with '- ', or indent it below {brief(chosen.key)}"
                self._report(entry.place, message, hint)
        return chosen

    def _entries(self, kind: Kind, written: Entry) -> dict[str, Entry]:
        """Settings and children by name, with shorthands resolved."""
        value = written.node
        own = {"name", *setting_names(kind), *(slot.name for slot in kind.slots)}
        if value.data is None:
            return {}
        if isinstance(value.data, dict):
            target = mapping_target(kind, value.data, self._registry.kinds)
            return {target: Entry(target, value.place, value)} if target else dict(value.data)
        target = kind.shorthand
        slot = slot_named(kind, target)
        if isinstance(value.data, tuple) and slot is not None and not slot.many:
            if not value.data:
                return {}
            self._report(value.place, f"{kind.name!r} takes one child, not a list", "put the nodes into a sequence")
            return {slot.name: Entry(slot.name, value.place, value.data[0])}
        if target is not None:
            return {target: Entry(target, value.place, value)}
        known = sorted(own - {"name"})
        hint = f"write its settings by name: {listing(known)}" if known else "write its kind alone"
        self._report(value.place, f"{kind.name!r} takes no bare value such as {value.shape}", hint)
        return {}

    def _name(self, entry: Entry | None) -> str | None:
        if entry is None:
            return None
        name = entry.node.data
        if isinstance(name, str) and _NAME.fullmatch(name) and name.isprintable() and name == name.strip():
            return name
        hint = f"use at most {LONGEST_NAME} printable characters, and neither '/' nor '#'"
        self._report(entry.node.place, f"{brief(entry.node.plain())} cannot name a node", hint)
        return None

    def _children(
        self, kind: Kind, entries: dict[str, Entry], place: Place, path: str, depth: int
    ) -> dict[str, tuple[NodeDefinition, ...]]:
        """Move the children out of the entries; children that cannot be read are left out."""
        siblings = _Siblings(path)
        slots = {slot.name: slot for slot in kind.slots}
        children: dict[str, tuple[NodeDefinition, ...]] = {}
        written: set[str] = set()
        for name in [name for name in entries if name in slots]:
            slot, entry = slots[name], entries.pop(name)
            written.add(name)
            for into, nodes in self._slots(kind, slot, entry, path):
                definitions = [self._node(node, siblings, depth + 1) for node in nodes]
                children[into] = tuple(filter(None, definitions))
        for slot in slots.values():
            if slot.required and slot.name not in written:
                wanted = "children" if slot.many else "a child"
                self._report(
                    place,
                    f"{kind.name!r} needs {wanted}",
                    f"write it below '{slot.name}:'",
                    path,
                    code="missing-setting",
                )
        return children

    def _slots(self, kind: Kind, slot: Slot, entry: Entry, path: str) -> Iterator[tuple[str, tuple[YamlNode, ...]]]:
        """The nodes of a slot as written, by their slots in the definition."""
        if not slot.keyed:
            yield slot.name, self._slot_nodes(kind, slot, entry, path)
        elif isinstance(entry.node.data, dict) and entry.node.data:
            for each in entry.node.data.values():
                yield keyed_slot(slot.name, each.key), (each.node,)
        else:
            message = f"{slot.name!r} must be a mapping of nodes, not {entry.node.shape}"
            if isinstance(entry.node.data, dict):
                message = f"{kind.name!r} needs at least one node below {slot.name!r}"
            self._report(entry.node.place, message, f"for example: {slot.name}: {{code: finish}}", path)

    def _slot_nodes(self, kind: Kind, slot: Slot, entry: Entry, path: str) -> tuple[YamlNode, ...]:
        """The nodes of a slot, as written."""
        node = entry.node
        if not slot.many:
            return (node,)
        if isinstance(node.data, tuple):
            if not node.data and slot.required:
                self._report(node.place, f"{kind.name!r} needs at least one child", None, path)
            return node.data
        if node.data is None and not slot.required:
            return ()
        message = f"{slot.name!r} must be a list of nodes, not {node.shape}"
        self._report(node.place, message, "begin each with '- '", path)
        return ()

    def _settings(
        self, kind: Kind, entries: dict[str, Entry], place: Place, path: str, depth: int
    ) -> tuple[NodeSettings | None, dict[str, tuple[NodeDefinition, ...]], tuple[PlacedUse, ...]]:
        """The validated settings, the root of an included tree, and what the settings refer to."""
        mistakes: list[Mistake] = []
        filler = Filler(self._given.arguments, samples=self._given.samples, mistakes=mistakes, path=path)
        settings = read_settings(kind, entries, fill=filler.fill, place=place, path=path, mistakes=mistakes)
        included: dict[str, tuple[NodeDefinition, ...]] = {}
        checker = UseChecker(self._scope, entries, place=place, path=path)
        uses: tuple[Use, ...] = ()
        try:
            uses = tuple(settings.uses()) if settings is not None else ()
        except Exception as error:  # noqa: BLE001  as in `read_settings`
            mistakes.append(broken_kind(kind, error, place, path))
        self.inserted |= filler.used
        for use in uses:
            if isinstance(use, TreeUse | CallUse | ActionUse) and filler.sampled:
                # The tree or action and its arguments are known only in an including tree.
                self.broken = self.broken or isinstance(use, TreeUse)
            elif isinstance(use, TreeUse):
                _, named = locate(entries, use.at)
                at, written = named.place if named else place, _named_in(entries, use.arguments)
                outputs, _ = locate(entries, use.outputs_at)
                found = outputs.node.data if outputs is not None and isinstance(outputs.node.data, dict) else {}
                root = self._include(use, written, found, at, path, depth + 1)
                included = {"root": (root,)} if root is not None else {}
            else:
                self._mistakes += checker.certain(use)
                mistakes += checker.mistakes(use)
        # What is wrong with a sample may be right with a real argument.
        self._mistakes += [mistake for mistake in mistakes if mistake.place not in filler.sampled]
        return settings, included, tuple(map(checker.placed, uses))


def _named_in(entries: Mapping[str, Entry], names: Collection[str]) -> dict[str, Entry]:
    """The entries of those names in the mappings among the settings."""
    mappings = [setting.node.data for setting in entries.values() if isinstance(setting.node.data, dict)]
    return {key: entry for mapping in mappings for key, entry in mapping.items() if key in names}
