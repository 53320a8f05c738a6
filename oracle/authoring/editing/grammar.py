"""What belongs to a place of a tree file, found from the keys above it.

The same steps are taken by the tolerant scanner's paths and by the values of a file that can be read.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from bt_runtime.language.kind import Kind, Location, Slot
from bt_runtime.language.reading.shorthand import mapping_target, own_names, slot_named, takes_mapping
from bt_runtime.language.registry import Registry
from oracle.authoring.editing.header import ROOT, Part
from oracle.authoring.editing.roles import EACH, KEYS, Role, below, roles_of

Step = str | int
_GUARDS = "guards"
"""The slot whose nodes are asked at every tick."""


@dataclass(frozen=True, slots=True)
class NodeValue:
    """A node; among guards, one that is asked at every tick."""

    is_guard: bool = False


@dataclass(frozen=True, slots=True)
class NodesValue:
    """A list of nodes, or of guards."""

    are_guards: bool = False


@dataclass(frozen=True, slots=True)
class KeyedNodes:
    """A mapping from texts to nodes."""


@dataclass(frozen=True, slots=True)
class NameValue:
    """The name of a node."""


@dataclass(frozen=True, slots=True)
class KindValue:
    """What stands behind a kind: its settings, or the value of its shorthand."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A setting, or a part of one.

    Args:
        kind: the node's.
        at: the setting and the steps below it.
        annotation: the type of the value; `None` if nothing is known of it.
    """

    kind: Kind
    at: Location
    annotation: Any

    @property
    def roles(self) -> frozenset[Role]:
        """What the value is."""
        return _roles_at(self.kind, self.at)

    @property
    def key_roles(self) -> frozenset[Role]:
        """What the keys of the value are, if it is a mapping."""
        return _roles_at(self.kind, (*self.at, KEYS))


Expected = Part | NodeValue | NodesValue | KeyedNodes | NameValue | KindValue | SettingValue


def _roles_at(kind: Kind, at: Location) -> frozenset[Role]:
    """The roles of a location, in which every part below the setting may stand for any other."""
    known = roles_of(kind.settings)
    general = tuple(part if number == 0 or part == KEYS else EACH for number, part in enumerate(at))
    return known.get(at) or known.get(general) or frozenset()


def setting_value(kind: Kind, name: str) -> SettingValue | None:
    """A setting of a kind; `None` if it has none of that name."""
    for field_name, info in kind.settings.model_fields.items():
        if name == (info.alias or field_name):
            return SettingValue(kind, (name,), info.annotation)
    return None


def step(expected: Expected, part: Step, siblings: Collection[str], registry: Registry) -> Expected | None:
    """What belongs one step below.

    Args:
        expected: the value that belongs here.
        part: a key or the number of an item.
        siblings: all keys of the mapping, as far as they are known.
        registry: the kinds.

    Returns:
        `None` if nothing is known of it.
    """
    if isinstance(expected, Part):
        inner = expected.step(part, siblings)
        return NodeValue() if inner is ROOT else inner
    if isinstance(expected, NodesValue):
        return NodeValue(expected.are_guards) if isinstance(part, int) else None
    if isinstance(expected, KeyedNodes):
        return None if isinstance(part, int) else NodeValue()
    if isinstance(expected, NodeValue):
        kind = registry.kinds.get(part) if isinstance(part, str) else None
        return KindValue(kind) if kind else None
    if isinstance(expected, KindValue):
        return _below_kind(expected.kind, part, siblings, registry)
    if isinstance(expected, SettingValue):
        return SettingValue(expected.kind, (*expected.at, part), below(expected.annotation, part))
    return None


def _below_kind(kind: Kind, part: Step, siblings: Collection[str], registry: Registry) -> Expected | None:
    if isinstance(part, int):
        slot = slot_named(kind, kind.shorthand)
        if slot is not None:
            return NodeValue() if slot.many else None
        return _item_of_shorthand(kind, part)
    if part == "name":
        return NameValue()
    if part in own_names(kind):
        slot = slot_named(kind, part)
        return _of_slot(slot) if slot is not None else setting_value(kind, part)
    target = mapping_target(kind, siblings or [part], registry.kinds)
    if target is None:
        return None
    if takes_mapping(kind, target):
        return _item_of_shorthand(kind, part)
    return step(NodeValue(), part, siblings, registry)


def _of_slot(slot: Slot) -> Expected:
    if slot.keyed:
        return KeyedNodes()
    return NodesValue(are_guards=slot.name == _GUARDS) if slot.many else NodeValue()


def _item_of_shorthand(kind: Kind, part: Step) -> Expected | None:
    whole = setting_value(kind, kind.shorthand) if kind.shorthand else None
    return SettingValue(kind, (*whole.at, part), below(whole.annotation, part)) if whole else None


def shorthand_value(kind: Kind) -> Expected | None:
    """What a bare value behind a kind is."""
    if kind.shorthand is None:
        return None
    slot = slot_named(kind, kind.shorthand)
    return _of_slot(slot) if slot is not None else setting_value(kind, kind.shorthand)


def only_child(kind: Kind) -> bool:
    """Whether a mapping behind the kind may be its one child."""
    shorthand = slot_named(kind, kind.shorthand)
    if shorthand is not None:
        return not shorthand.many
    return sum(not slot.many for slot in kind.slots) == 1 and not takes_mapping(kind, kind.shorthand)
