"""The description of a node kind: its settings, its children, the blackboard keys that it uses, and its flow.

A `Kind` has three readers: the reader of tree files (which settings and children may a node have?), the builder (which
class makes it?) and the palette in the documentation (what does it do?). It depends on neither YAML nor py_trees.

Its `flow` says how it ends and what it changes then; the checker and the verifier read it. A leaf lists its cases:

    @node("stop", flow=leaf(Case("success", stops=True)))
    @node("offer_more", flow=leaf(Case("success", facts={"offered": "all"}), Case("failure")))

If that takes code, as with children or expressions, the flow is a function (`bt_runtime.analysis.host.Transfer`). The
checker has the functions of the runtime's own kinds, by their names. A kind without a flow may have any result and
change anything, so trees with it get no false warnings.
"""

import inspect
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, Literal, NewType, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict

from bt_runtime.text.data import dataclass

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def keys_in(template: str) -> tuple[str, ...]:
    """The blackboard keys that a text shows, each once, in their order."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(template)))


def filled(template: str, values: Mapping[str, object], *, show: Callable[[object], str] = str) -> str:
    """The text with the values in place.

    Args:
        show: how a value is written in place of its name.
        template: the author's text; braces around anything but a name stay as they are.
        values: by key; every key of `keys_in` is there.
    """
    return _PLACEHOLDER.sub(lambda match: show(values[match[1]]), template)


Possible = Any
"""What a key may hold: a tuple of values, a `Key` whose values those are, or `None` for any value of the key's type.

The checker itself also gives a `bt_runtime.analysis.expressions.domains.Domain`.
"""
HERE = "here"
"""The value of a fact that stands for the path of the node."""


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a leaf can end.

    Args:
        result: `waiting`: what is known while it waits, and after a halt.
        writes: the keys that it has written then, each with what it may hold.
        adds: what it has added to keys that are counters.
        facts: the facts of the host that it has changed; `None`: any value.
        when: the case is possible only if each of these keys holds one of these values.
        when_facts: the case is possible only if these facts have one of these values.
        stops: it has written the reason to stop, if there was none.
        fault: it fails because something outside of the tree has failed, or by an error: not an ordinary result.
    """

    result: Literal["success", "failure", "waiting"]
    writes: Mapping[str, Possible] = field(default_factory=dict)
    adds: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str | None] = field(default_factory=dict)
    when: Mapping[str, Possible] = field(default_factory=dict)
    when_facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stops: bool = False
    fault: bool = False


@dataclass(frozen=True, slots=True)
class LeafFlow:
    """The flow of a leaf.

    Args:
        cases: its cases, given its settings.
    """

    cases: Callable[[Any], Sequence[Case]]


def leaf(*cases: Case) -> LeafFlow:
    """The flow of a leaf that has the same cases whatever its settings."""
    return LeafFlow(lambda _settings: cases)


@dataclass(frozen=True, slots=True)
class GuardFlow:
    """The flow of a guard that compares something with a limit.

    It cannot trip where one with the same limit, or a lower one, has passed in the same tick.

    Args:
        fact: the fact of the host that says which limit was found unreached.
        writes: the keys that it has written when it has passed or tripped, as in `Case`.
        limit: its setting that is a limit of its own: a number, an expression, of which nothing is known, or null for
            the one that the host has; `None`: it has no such setting.
        counter: the key that is below its own limit where it has passed.
    """

    fact: str
    writes: Mapping[str, Possible] = field(default_factory=dict)
    limit: str | None = None
    counter: str | None = None


Category = Literal["composite", "decorator", "condition", "guard", "action"]
KeyType = Literal["int", "float", "str", "bool", "list", "map", "any"]
Value: TypeAlias = Any
"""JSON data: null, true, false, a number, text, a list, or a map with text keys."""
KEY_TYPES: tuple[KeyType, ...] = get_args(KeyType)
ExpressionText = NewType("ExpressionText", str)
"""A setting that is an expression over the blackboard; where a number may stand as well, a text is one."""
_TEMPLATE = "template"
TemplateText = Annotated[str, _TEMPLATE]
"""A setting that is a text in which `{key}` stands for a blackboard value."""
Location = tuple[str | int, ...]
"""The path of a value within a node's settings: `("when",)`, `("values", "hint")`."""


_WORDS: Mapping[KeyType, str] = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "list": "a list",
    "map": "a mapping",
    "any": "a value",
}


_ARGUMENT = re.compile(r"(\w+): (.*)")


class NodeSettings(BaseModel):
    """Base of the typed settings of a node kind: strict, immutable, without unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def uses(self) -> "Iterator[Use]":
        """The expressions, blackboard keys and trees that the settings refer to, for the reader to check.

        Those of `ExpressionText` and `TemplateText` are known; a kind whose settings refer to others adds them.
        """
        for name, info in type(self).model_fields.items():
            value = getattr(self, name)
            if not isinstance(value, str):
                continue
            if ExpressionText in (info.annotation, *get_args(info.annotation)):
                yield ExpressionUse((name,), value)
            elif _TEMPLATE in info.metadata:
                yield from (KeyUse((name,), key, "read") for key in keys_in(value))


@dataclass(frozen=True, slots=True)
class ExpressionUse:
    """A setting that is an expression over the blackboard."""

    at: Location
    text: str


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A setting that names a blackboard key.

    Args:
        type: of the values that are written there; `None` if that is not known.
    """

    at: Location
    key: str
    access: Literal["read", "write"]
    type: KeyType | None = None


@dataclass(frozen=True, slots=True)
class DeliveryUse:
    """A setting that names a blackboard key whose value comes from outside while the tree runs."""

    at: Location
    key: str


@dataclass(frozen=True, slots=True)
class TreeUse:
    """A setting that names another tree, which is included here with these arguments.

    Args:
        outputs: the keys that get the values of its private keys when it ends, by their names in that tree.
        outputs_at: the setting that has them.
    """

    at: Location
    tree: str
    arguments: Mapping[str, Any]
    outputs: Mapping[str, str] = field(default_factory=dict)
    outputs_at: Location = ()


@dataclass(frozen=True, slots=True)
class CallUse:
    """A setting that names an action of the host, which is called with arguments of these names."""

    at: Location
    action: str
    arguments_at: Location
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ActionUse:
    """A setting that names an action of the host without calling it."""

    at: Location
    action: str


Use = ExpressionUse | KeyUse | DeliveryUse | TreeUse | CallUse | ActionUse


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for children among a node's settings.

    Args:
        many: a list of nodes rather than one.
        keyed: a mapping from a text to a node rather than a list; then each child has a slot of its own in the
            definition, called as `keyed_slot` says.
    """

    name: str
    many: bool
    required: bool = True
    keyed: bool = False


_CONSTANTS = frozenset({"true", "false", "null"})
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,199})(\.[0-9]{1,99})?")


def is_literal(case: str) -> bool:
    """Whether the text of a case also stands for another value: a number, `true`, `false` or `null` of expressions."""
    return case in _CONSTANTS or _NUMBER.fullmatch(case) is not None


def keyed_slot(slot: str, key: str) -> str:
    """The name of one child's slot in a keyed slot: `cases.code`."""
    return f"{slot}.{key}"


@dataclass(frozen=True, slots=True)
class Key:
    """A blackboard key: its type, its first value, and what it means.

    Args:
        type: the JSON type of its values.
        default: the value at the start of a run; `None` is allowed for every type and means "no value yet".
        description: one sentence for authors.
        read_only: only the host's nodes may write it; `set` in a tree file is refused.
        private: each inclusion of the tree that declares it has a copy of its own, invisible elsewhere.
        deliverable: its value may come from outside while the tree runs, so a tree that waits for it is not stuck.
        values: all values that it can have, besides null; `None`: not known. For the checker, which judges conditions
            by it, as by the next two.
        least: no number that it holds is smaller.
        most: no number that it holds is larger.
    """

    name: str
    type: KeyType
    default: Any = None
    description: str = ""
    read_only: bool = False
    deliverable: bool = False
    values: tuple[str | int | float | bool, ...] | None = None
    least: float | None = None
    most: float | None = None
    private: bool = False


@dataclass(frozen=True, slots=True)
class HostAction:
    """An action of the host, as the checker sees it.

    Args:
        arguments: the names that it accepts; `None`: any.
        required: those that must be given.
        result: the type of what it returns; `None` if that is not known.
        is_callable: a tree can call it; `False`: it can only be named, because something else runs it.
        labels: what it reads and where it writes (`EventType.labels`); `None`: nobody has said.
    """

    arguments: tuple[str, ...] | None
    required: frozenset[str] = frozenset()
    result: KeyType | None = None
    is_callable: bool = True
    labels: frozenset[str] | None = None


CALLS_HOST = "calls the host"
"""The role of a kind that runs an action of the host by name."""
NOTIFIES = "notifies the user"
"""The role of a kind that sends the user a message of the author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a kind before a run and between its ticks, for checks and proofs.

    A kind that declares no facts has `UNDECLARED`: it may read everything and keep everything. Mistakes in a tree with
    it are found as in any other, but nothing is proven of that tree.

    Args:
        roles: what it does, in the terms of the runtime and its host (`oracle.agent.nodes.roles`): checks test for a
            role, never for a name, so that a plugin's kind is treated like a shipped one.
        reads: the blackboard keys that its code reads, in addition to those that its settings name; `None`: any.
        shows: the keys that its settings name are shown to a person, and decide nothing.
        keeps: its attributes that matter in the next tick while it is RUNNING; `None`: all of them, and always.
        remembers: its attributes that matter even where it is not RUNNING.
        repeats: it may begin a child again after that has ended, before it ends itself.
        compares: in a later tick it tests with which results its children have ended.
        is_storable: what it keeps can be stored and put back; false where it is in objects of other code.
    """

    roles: tuple[str, ...] = ()
    reads: tuple[str, ...] | None = ()
    shows: bool = False
    keeps: tuple[str, ...] | None = ()
    remembers: tuple[str, ...] = ()
    repeats: bool = False
    compares: bool = False
    is_storable: bool = True

    @property
    def are_declared(self) -> bool:
        """Whether the kind says what it reads and keeps."""
        return self.reads is not None and self.keeps is not None


UNDECLARED = Facts(reads=None, keeps=None, repeats=True, compares=True)
"""The facts of a kind that declares none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A node kind.

    Args:
        category: its category in standard terms; decides its shape in pictures and what the checker allows.
        settings: the type of its settings, without children.
        slots: the places for its children; empty for a leaf.
        shorthand: the setting or slot that a bare value fills: `sequence: [..]` fills `children`, and
            `condition: "turn > 3"` fills `when`. `None`: a bare value is an error.
        waits: may return RUNNING by itself, not only because a child does.
        acts: has an effect that must not be repeated unintentionally (it posts a request or writes).
        factory: the class; not used here.
        flow: how it ends, and what it changes: a `LeafFlow` or `GuardFlow` of `bt_runtime.language.kind`, or a function
            (`bt_runtime.analysis.host.Transfer`); `None`: the checker has it by the kind's name, or it is not known.
        facts: what else is known of it.
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
    flow: Any = field(default=None, compare=False, repr=False)
    facts: Facts = field(default=UNDECLARED, compare=False, repr=False)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.strip().split("\n", 1)[0]


def argument_meanings(settings: type) -> Mapping[str, str]:
    """The meaning of each setting, or other field, from the `Args` of its class, on one line."""
    meanings: dict[str, str] = {}
    _, _, arguments = inspect.cleandoc(settings.__doc__ or "").partition("Args:\n")
    name, depth = "", 0
    for line in arguments.splitlines():
        indent, text = len(line) - len(line.lstrip()), line.strip()
        if not text or not indent:
            break
        depth = depth or indent
        started = _ARGUMENT.fullmatch(text) if indent == depth else None
        if started is not None:
            name, text = started[1], started[2]
        meanings[name] = f"{meanings[name]} {text}" if name in meanings else text
    return {name: text[:1].upper() + text[1:] for name, text in meanings.items()}


def in_words(key_type: KeyType) -> str:
    """The type in an author's words: `a whole number`."""
    return _WORDS[key_type]


def has_type(value: object, key_type: KeyType) -> bool:
    """Whether a blackboard key of this type may hold the value.

    An `int` is also a `float`, a `bool` is neither. Lists may be tuples and maps any `Mapping`, because values are
    frozen where they are shared. `None` has every type: it means "no value yet".
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


def is_in_range(value: object, key: Key) -> bool:
    """Whether a value of a key's type is one that the key can have; null always is."""
    if value is None:
        return True
    if key.values is not None and not any(type(value) is type(other) and value == other for other in key.values):
        return False
    if not isinstance(value, int | float) or isinstance(value, bool):
        return True
    return (key.least is None or value >= key.least) and (key.most is None or value <= key.most)


def range_in_words(key: Key) -> str:
    """What a key can hold beyond its type: `at least 0`, `"a" or "b"`; empty if nothing is known."""
    if key.values is not None:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in key.values)
    bounds = ((key.least, "at least"), (key.most, "at most"))
    return ", ".join(f"{words} {bound:g}" for bound, words in bounds if bound is not None)
