"""What the value of a node means where it does not name the kind's settings: the shorthand forms.

The reader of tree files and the editor's completion ask the same functions.
"""

from collections.abc import Collection, Mapping
from typing import get_origin

from bt_runtime.language.kind import Kind, Slot
from bt_runtime.language.registry import setting_names
from bt_runtime.text import closest


def slot_named(kind: Kind, name: str | None) -> Slot | None:
    """The kind's slot of that name."""
    return next((slot for slot in kind.slots if slot.name == name), None)


def own_names(kind: Kind) -> frozenset[str]:
    """Every key that a mapping of the kind's settings may have."""
    return frozenset({"name", *setting_names(kind), *(slot.name for slot in kind.slots)})


def mapping_target(kind: Kind, keys: Collection[str], kinds: Collection[str]) -> str | None:
    """The setting or slot that a whole mapping sets; `None` if its keys are settings.

    Args:
        kind: the kind of the node whose value is a mapping.
        keys: the keys of the mapping, in the order of the file.
        kinds: the names of all kinds.
    """
    own = own_names(kind)
    if not keys or not own.isdisjoint(keys):
        return None
    if takes_mapping(kind, kind.shorthand):
        return kind.shorthand
    slots = [slot.name for slot in kind.slots if not slot.many]
    child = kind.shorthand if slot_named(kind, kind.shorthand) else (slots[0] if len(slots) == 1 else None)
    first = next(iter(keys))
    is_kind = first in kinds or (closest(first, own) is None and closest(first, kinds))
    return child if len(keys) == 1 and is_kind else None


def takes_mapping(kind: Kind, setting: str | None) -> bool:
    """Whether the value of a setting is a mapping."""
    for name, info in kind.settings.model_fields.items():
        if setting is not None and setting == (info.alias or name):
            origin = get_origin(info.annotation) or info.annotation
            return isinstance(origin, type) and issubclass(origin, Mapping)
    return False
