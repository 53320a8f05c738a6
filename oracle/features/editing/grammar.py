"""What belongs to a place of a tree file, found from the keys above it.

The same steps are taken by the tolerant scanner's paths and by the values of a file that can be read.

A kind tells what its settings refer to (expressions, keys, trees, tools, parameters) only for settings with values
(`NodeSettings.uses`). So settings are made from a unique word, and the use that contains this word tells the role of
the setting. This holds for kinds of every package.
"""

import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin

from bt_runtime.drawing.grammar import ROOT, Part
from bt_runtime.language.kind import (
    ActionUse,
    DeliveryUse,
    ExpressionUse,
    KeyUse,
    Kind,
    Location,
    NodeSettings,
    Slot,
    TreeUse,
    Use,
)
from bt_runtime.language.reading.settings import mapping_target, own_names, slot_named, takes_mapping
from bt_runtime.language.registry import Registry
from bt_runtime.text.data import dataclass

Role = Literal[
    "expression",
    "read-key",
    "write-key",
    "delivery-key",
    "template",
    "tree",
    "action",
    "tree-arguments",
    "tree-outputs",
    "action-arguments",
]
EACH = "*"
"""Stands for every key of a mapping and every item of a list in a location."""

_WORD = "zz_any_word"
_KEY = "zz_any_key"
"""Stands for the keys of mappings."""
_TEMPLATE = f"{{{_WORD}}}"


@lru_cache(maxsize=256)
def roles_of(settings: type[NodeSettings]) -> Mapping[Location, frozenset[Role]]:
    """The roles of a kind's settings by location; a location that ends in `KEYS` means the keys of a mapping."""
    found: dict[Location, set[Role]] = {}
    for use in _uses(settings, _WORD):
        for at, role in _roles(use, settings):
            found.setdefault(at, set()).add(role)
    for use in _uses(settings, _TEMPLATE):
        if isinstance(use, KeyUse) and use.key == _WORD:
            found.setdefault(_general(use.at), set()).add("template")
    return {at: frozenset(roles) for at, roles in found.items()}


KEYS = "<keys>"
"""The last part of a location that means the keys of a mapping, not its values."""


def _roles(use: Use, settings: type[NodeSettings]) -> list[tuple[Location, Role]]:
    if isinstance(use, ExpressionUse):
        return [(_general(use.at), "expression")] if use.text == _WORD else []
    if isinstance(use, KeyUse):
        role: Role = "write-key" if use.access == "write" else "read-key"
        if use.key == _KEY:
            return [((*_general(use.at[:-1]), KEYS), role)]
        return [(_general(use.at), role)] if use.key == _WORD else []
    if isinstance(use, DeliveryUse):
        return [(_general(use.at), "delivery-key")]
    if isinstance(use, TreeUse):
        outputs: list[tuple[Location, Role]] = [((*use.outputs_at, KEYS), "tree-outputs")] if use.outputs_at else []
        mappings = [name for name, field in _fields(settings) if _is_mapping(field) and (name,) != use.outputs_at]
        arguments: list[tuple[Location, Role]] = [((name, KEYS), "tree-arguments") for name in mappings]
        return [(_general(use.at), "tree"), *outputs, *arguments]
    if isinstance(use, ActionUse):
        return [(_general(use.at), "action")]
    return [(_general(use.at), "action"), ((*_general(use.arguments_at), KEYS), "action-arguments")]


def _general(at: Location) -> Location:
    return tuple(EACH if isinstance(part, int) or part in {_WORD, _KEY, _TEMPLATE} else part for part in at)


def _uses(settings: type[NodeSettings], word: str) -> list[Use]:
    values = {name: _filled(annotation, word) for name, annotation in _fields(settings)}
    try:
        made = settings.model_construct(**{name: value for name, value in values.items() if value is not None})
        return list(made.uses())
    except Exception:  # noqa: BLE001  a kind of another package may expect settings that are valid
        return []


def _fields(settings: type[NodeSettings]) -> list[tuple[str, Any]]:
    return [(field.alias or name, field.annotation) for name, field in settings.model_fields.items()]


def _filled(annotation: Any, word: str) -> Any:  # noqa: ANN401  any annotation
    """A value of the annotated type with the word in it; `None` where it has no place for one."""
    for part in _parts(annotation):
        if part is str or part is Any or getattr(part, "__supertype__", None) is str:
            return word
        if _is_mapping(part):
            inner = _filled((get_args(part) or (str, Any))[1], word)
            return {_KEY: word if inner is None else inner}
        origin = get_origin(part)
        if isinstance(origin, type) and issubclass(origin, Sequence):
            inner = _filled(get_args(part)[0], word)
            return None if inner is None else (inner,)
    return None


def _parts(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """The members of a union, texts first; else the annotation itself."""
    if get_origin(annotation) in {types.UnionType, Union}:
        return tuple(sorted(get_args(annotation), key=lambda part: part is not str))
    return (annotation,)


def _is_mapping(annotation: Any) -> bool:  # noqa: ANN401
    origin = get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Mapping)


def below(annotation: Any, step: str | int) -> Any:  # noqa: ANN401
    """The annotation of an entry or item of a value; `None` if it has none."""
    for part in _parts(annotation):
        origin, arguments = get_origin(part), get_args(part)
        if isinstance(step, str) and _is_mapping(part):
            return arguments[1] if len(arguments) > 1 else Any
        if isinstance(step, int) and isinstance(origin, type) and issubclass(origin, Sequence):
            return arguments[0] if arguments else Any
        fields = getattr(part, "model_fields", None)
        if isinstance(step, str) and fields is not None:
            return next((each.annotation for name, each in fields.items() if step in {name, each.alias}), None)
    return None


def choices(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """The values that an annotation lists; true and false for a bool; none for others."""
    found: list[Any] = []
    for part in _parts(annotation):
        if part is bool:
            found += [True, False]
        elif get_origin(part) is Literal:
            found += get_args(part)
        elif hasattr(part, "__metadata__"):
            found += choices(get_args(part)[0])
    return tuple(found)


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


ItemKind = Literal[
    "field",
    "node",
    "setting",
    "slot",
    "value",
    "type",
    "key",
    "parameter",
    "function",
    "word",
    "tree",
    "tool",
    "argument",
    "code",
]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be typed.

    Args:
        label: the text that lists show.
        kind: the kind of thing, which an editor shows as an icon.
        insert: the text, if it is not the label.
        snippet: the text with tab stops, if it has any.
        order: lower ones come first.
        typed: what of it is typed already, if that is not the whole scalar.
        is_key: it is the key of a mapping; where the colon is there, only its name is inserted.
    """

    label: str
    kind: ItemKind
    detail: str = ""
    doc: str = ""
    insert: str = ""
    snippet: str | None = None
    order: int = 0
    typed: str | None = None
    is_key: bool = False


def items_of(part: Part, present: Collection[str], *, is_key: bool, is_value: bool) -> Iterator[Item]:
    """What can be typed in a value above the nodes.

    Args:
        part: the value.
        present: the keys that are there.
        is_key: only a key of it can be typed.
        is_value: only a value on the line of its key can be typed.
    """
    for name, word in part.with_keys(present).keys.items() if not is_value else ():
        if name not in present:
            snippet = word.snippet or None
            yield Item(
                name, word.kind, doc=word.doc, insert=f"{name}: ", snippet=snippet, order=word.order, is_key=True
            )
    for name, word in part.words.items() if not is_key else ():
        yield Item(name, word.kind, doc=word.doc, order=word.order)
