"""What a node kind tells about itself: its settings, its children, the blackboard keys that it uses.

A `Kind` is read by three parties that do not know each other: the reader of tree files (which settings and children may
a node have?), the builder (which class makes it?) and the palette in the documentation (what does it do?).
It knows neither YAML nor py_trees.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict

Category = Literal["composite", "decorator", "condition", "guard", "action"]
KeyType = Literal["int", "float", "str", "bool", "list", "map", "any"]
Value: TypeAlias = Any
"""JSON data: null, true, false, a number, text, a list, or a map with text keys."""
KEY_TYPES: tuple[KeyType, ...] = get_args(KeyType)
Location = tuple[str | int, ...]
"""Where a value lies below a node's settings: `("when",)`, `("values", "hint")`."""


_WORDS: Mapping[KeyType, str] = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "list": "a list",
    "map": "a mapping",
    "any": "a value",
}


class NodeSettings(BaseModel):
    """Base of the typed settings of a node kind: unknown names are refused, values not coerced, nothing is mutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def uses(self) -> "Iterator[Use]":
        """What the settings refer to (expressions, blackboard keys, other trees), so that the reader can check it."""
        return iter(())


@dataclass(frozen=True, slots=True)
class ExpressionUse:
    """A setting that is an expression over the blackboard."""

    at: Location
    text: str


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A setting that names a blackboard key."""

    at: Location
    key: str
    access: Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class TreeUse:
    """A setting that names another tree, which is put in this node's place with these arguments."""

    at: Location
    tree: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallUse:
    """A setting that names an action of the host, which is called with arguments of these names."""

    at: Location
    action: str
    arguments_at: Location
    arguments: tuple[str, ...]


Use = ExpressionUse | KeyUse | TreeUse | CallUse


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for children among a node's settings.

    Args:
        name: the setting's name in YAML.
        many: a list of nodes rather than one.
        required: at least one child.
    """

    name: str
    many: bool
    required: bool = True


@dataclass(frozen=True, slots=True)
class Key:
    """A blackboard key: its type, its first value, and what it means.

    Args:
        name: an identifier.
        type: the JSON type of its values.
        default: the value at the start of a run; `None` is allowed for every type and means "nothing yet".
        description: one sentence for authors.
        read_only: written by the host's nodes alone; `set` in a tree file is refused.
    """

    name: str
    type: KeyType
    default: Any = None
    description: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class HostAction:
    """What the checker knows of an action of the host.

    Args:
        arguments: the names that it takes; `None`: any.
        required: those that it cannot do without.
    """

    arguments: tuple[str, ...] | None
    required: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Kind:
    """A node kind.

    Args:
        name: as written in tree files.
        category: what it is in the field's terms; it decides the picture, and what the checker allows.
        settings: its typed settings, children apart.
        slots: where its children stand; empty for a leaf.
        shorthand: the setting or slot that a bare value fills: `sequence: [..]` fills `children`, and
            `condition: "turn > 3"` fills `when`. `None`: a bare value is an error.
        waits: may answer RUNNING of itself, not only because a child does.
        acts: has an effect that must not be repeated unasked (everything that posts a request or writes).
        doc: the class's docstring.
        factory: the class; opaque here.
    """

    name: str
    category: Category
    settings: type[NodeSettings]
    slots: tuple[Slot, ...] = ()
    shorthand: str | None = None
    waits: bool = False
    acts: bool = False
    doc: str = ""
    factory: Any = field(default=None, compare=False, repr=False)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.strip().split("\n", 1)[0]


def in_words(key_type: KeyType) -> str:
    """The type as an author would say it: `a whole number`."""
    return _WORDS[key_type]


def has_type(value: object, key_type: KeyType) -> bool:
    """Whether a blackboard key of this type may hold the value.

    An `int` is also a `float`, a `bool` is neither. Lists may be tuples and maps any `Mapping`, because values are
    frozen where they are shared. `None` has every type: it means "nothing yet".
    """
    if value is None or key_type == "any":
        return True
    if key_type == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    if key_type == "float":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if key_type == "str":
        return isinstance(value, str)
    if key_type == "bool":
        return isinstance(value, bool)
    return isinstance(value, list | tuple) if key_type == "list" else isinstance(value, Mapping)
