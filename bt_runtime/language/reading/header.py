"""The header of a tree file: name, description, blackboard keys and parameters, without the nodes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bt_runtime.language.kind import KEY_TYPES, Key, KeyType, Value, has_type, in_words
from bt_runtime.language.registry import NAME, RESERVED, Registry
from bt_runtime.text import Mistake, Place, brief, did_you_mean, listing
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import Document, Entry, YamlNode

TREE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")
"""The names of trees; a file of the library is called `NAME.yaml`."""

_FIELDS = ("tree", "description", "internal", "blackboard", "parameters", "labels", "rules", "root")
_OF_PARAMETERS = ("type", "default", "description")
_OF_KEYS = (*_OF_PARAMETERS, "from", "private")
_SAMPLES: Mapping[KeyType, Value] = {
    "int": 1,
    "float": 1.0,
    "str": "sample",
    "bool": True,
    "list": [],
    "map": {},
    "any": "sample",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that a tree takes from the tree that includes it.

    Args:
        key: name, type, default and description, as for a blackboard key.
        place: where it is declared.
    """

    key: Key
    required: bool
    place: Place

    @property
    def sample(self) -> Value:
        """Its default, or some value of its type."""
        return _SAMPLES[self.key.type] if self.required else self.key.default


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a tree file, with its mistakes.

    Args:
        name: as declared; empty if it is invalid.
        internal: it is a part of other trees, and is not run by itself.
        keys: the blackboard keys that the file's nodes may use: the host's, and its own.
        declared: the names of the keys that the file declares.
        parameters: by name, in the order of the file.
        rules: the rules, not read yet; `None` if there are none.
        labels: those of the host's actions, not read yet; `None` if there are none.
        places: of the names of the declared keys and parameters.
        root: the topmost node, not read yet.
        mistakes: the mistakes of its YAML and of the header.
    """

    document: Document
    name: str
    name_place: Place
    description: str
    internal: bool
    keys: Mapping[str, Key]
    declared: frozenset[str]
    parameters: Mapping[str, Parameter]
    rules: YamlNode | None
    labels: YamlNode | None
    places: Mapping[str, Place]
    root: YamlNode | None
    mistakes: tuple[Mistake, ...]


def read_header(document: Document, *, registry: Registry) -> Header:
    """Read the header of a file; never raises."""
    return _HeaderReader(document, registry).read()


class _HeaderReader:
    def __init__(self, document: Document, registry: Registry) -> None:
        self._document = document
        self._registry = registry
        self._mistakes = list(document.mistakes)
        self._start = Place(document.file, 1, 1)
        self._places: dict[str, Place] = {}

    def _report(self, place: Place, message: str, hint: str | None = None) -> None:
        self._mistakes.append(Mistake(place, message, hint))

    def read(self) -> Header:
        fields = self._fields()
        declared = self._keys(fields.get("blackboard"))
        keys = {**self._registry.keys, **declared}
        parameters = self._parameters(fields.get("parameters"), keys)
        named = fields.get("tree")
        return Header(
            document=self._document,
            name=self._name(named),
            name_place=named.node.place if named else self._start,
            description=self._description(fields.get("description")),
            internal=self._flag(fields.get("internal"), "internal"),
            keys=keys,
            declared=frozenset(declared),
            parameters=parameters,
            rules=fields["rules"].node if "rules" in fields else None,
            labels=fields["labels"].node if "labels" in fields else None,
            places=self._places,
            root=fields["root"].node if "root" in fields else None,
            mistakes=tuple(self._mistakes),
        )

    def _fields(self) -> dict[str, Entry]:
        root = self._document.root
        if root is None:
            return {}
        if not isinstance(root.data, dict):
            self._report(root.place, f"a tree file is a mapping, not {root.shape}", "it begins with 'tree: NAME'")
            return {}
        for key, entry in root.data.items():
            if key not in _FIELDS:
                hint = did_you_mean(key, _FIELDS) or f"a tree file has: {', '.join(_FIELDS)}"
                self._report(entry.place, f"a tree file has no {brief(key)}", hint)
        for key, example in (("tree", "tree: NAME"), ("root", "root: {sequence: [...]}")):
            if key not in root.data:
                self._report(root.place, f"the tree file has no {key!r}", f"for example: {example}")
        return root.data

    def _name(self, entry: Entry | None) -> str:
        if entry is None:
            return ""
        name = entry.node.data
        if isinstance(name, str) and TREE_NAME.fullmatch(name):
            return name
        hint = "use at most 60 lower-case letters, digits, '-' and '_', beginning with a letter"
        self._report(entry.node.place, f"{brief(entry.node.plain())} cannot name a tree", hint)
        return ""

    def _description(self, entry: Entry | None) -> str:
        if entry is None or entry.node.data is None:
            return ""
        return self._text(entry.node, "description")

    def _flag(self, entry: Entry | None, name: str) -> bool:
        if entry is None or isinstance(entry.node.data, bool):
            return bool(entry and entry.node.data)
        self._report(entry.node.place, f"{name!r} must be true or false, not {brief(entry.node.plain())}")
        return False

    def _text(self, node: YamlNode, what: str) -> str:
        if isinstance(node.data, str):
            return node.data
        self._report(node.place, f"{what!r} must be text, not {brief(node.plain())}", "put quotes around it")
        return ""

    def _entries(self, entry: Entry | None, example: str) -> dict[str, Entry]:
        """The entries of an optional mapping."""
        if entry is None or entry.node.data is None:
            return {}
        if isinstance(entry.node.data, dict):
            return entry.node.data
        self._report(entry.node.place, f"{entry.key!r} must be a mapping, not {entry.node.shape}", example)
        return {}

    def _keys(self, entry: Entry | None) -> dict[str, Key]:
        """The declared blackboard keys; of a key of the host only the default can be changed."""
        keys: dict[str, Key] = {}
        for name, item in self._entries(entry, "for example: {count: {type: int, default: 0}}").items():
            key, _ = self._declaration(item, _OF_KEYS)
            if key is None:
                continue
            known = self._registry.keys.get(name)
            if known is not None and (key.private or key.deliverable):
                message = f"{name!r} is a key of the host, which cannot be declared private or delivered"
                self._report(item.node.place, message, "a tree can change the default of a host's key, nothing else")
            elif known is None:
                keys[name] = key
                # One that resembles a key of the host is probably misspelt, and its default is lost.
                hint = did_you_mean(name, self._registry.keys)
                if hint and len(re.findall(rf"\b{re.escape(name)}\b", self._document.text)) == 1:
                    self._report(item.place, f"{name!r} is declared, but nothing here uses it", hint)
            elif known.type != key.type:
                message = f"{name!r} is declared as {key.type}, but the host declares it as {known.type}"
                self._report(item.node.place, message, "a tree can change the default of a host's key, not its type")
            else:
                keys[name] = replace(known, default=key.default, description=key.description or known.description)
        return keys

    def _parameters(self, entry: Entry | None, keys: Mapping[str, Key]) -> dict[str, Parameter]:
        parameters: dict[str, Parameter] = {}
        for name, item in self._entries(entry, "for example: {attempts: {type: int, default: 3}}").items():
            key, has_default = self._declaration(item)
            if name in keys:
                self._report(
                    item.place, f"the parameter {name!r} has the name of a blackboard key", "rename one of them"
                )
            elif key is not None:
                parameters[name] = Parameter(key, not has_default, item.place)
        return parameters

    def _declaration(self, entry: Entry, fields: Sequence[str] = _OF_PARAMETERS) -> tuple[Key | None, bool]:
        """A key or parameter, and whether it has a default; `None` if it is invalid."""
        right = self._is_name(entry)
        self._places.setdefault(entry.key, entry.place)
        node = entry.node
        if not isinstance(node.data, dict):
            key_type = self._type(node)
            return (Key(entry.key, key_type) if right and key_type else None), False
        for field, given in node.data.items():
            if field not in fields:
                hint = did_you_mean(field, fields) or f"it has: {', '.join(fields)}"
                self._report(given.place, f"{brief(entry.key)} has no {brief(field)}", hint)
        if "type" not in node.data:
            self._report(entry.place, f"{brief(entry.key)} needs a type", f"one of: {', '.join(KEY_TYPES)}")
            return None, False
        key_type = self._type(node.data["type"].node)
        description = node.data.get("description")
        text = self._text(description.node, "description") if description else ""
        if not right or key_type is None:
            return None, False
        default = node.data.get("default")
        value = default.node.plain() if default else None
        if default and not has_type(value, key_type):
            message = f"the default of {entry.key!r} must be {in_words(key_type)}, not {brief(value)}"
            self._report(default.node.place, message)
            value = None
        delivered, private = self._is_delivered(node.data.get("from")), self._flag(node.data.get("private"), "private")
        key = Key(entry.key, key_type, value, text, deliverable=delivered, private=private)
        return key, default is not None

    def _is_delivered(self, entry: Entry | None) -> bool:
        if entry is None or entry.node.data == "delivery":
            return entry is not None
        message = f"'from' must be 'delivery', not {brief(entry.node.plain())}"
        self._report(entry.node.place, message, "leave it out for a key that the tree writes")
        return False

    def _is_name(self, entry: Entry) -> bool:
        name = entry.key
        if NAME.fullmatch(name) and name not in RESERVED:
            return True
        hint = "it is a word of expressions" if name in RESERVED else "use lower-case letters, digits and '_'"
        self._report(entry.place, f"{brief(name)} cannot be a name here", hint)
        return False

    def _type(self, node: YamlNode) -> KeyType | None:
        for key_type in KEY_TYPES:
            if node.data == key_type:
                return key_type
        value = node.plain()
        hint = did_you_mean(value, KEY_TYPES) or f"types: {listing(KEY_TYPES)}"
        self._report(node.place, f"{brief(value)} is not a type", hint)
        return None
