"""The fields above the nodes of a tree file, each with its meaning: header, declarations and rules.

The JSON Schema, and the completion and descriptions of editors, are made from this table.
"""

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal, Self

from bt_runtime.language.reading.header import TREE_NAME
from bt_runtime.language.registry import NAME, Registry
from bt_runtime.language.rule import COUNTED, ENFORCEMENTS, SYMMETRIC, TEMPLATES, UNARY, EventType, Template
from bt_runtime.rules.labels import MOST_PATTERNS
from bt_runtime.rules.reading import MOST_RULES, MOST_TIMES, NO_FLOW
from bt_runtime.text.data import dataclass

WordKind = Literal["field", "node", "value", "type", "key", "word"]


@dataclass(frozen=True, slots=True)
class Part:
    """A value above the nodes.

    Args:
        keys: the keys that it can have, if it is a mapping.
        words: the scalars that it can be.
        item: each of its items, if it is a list.
        variants: what it is once it has one of these keys.
        declares: what its keys name, if authors choose them.
        declaration: the value of each of these keys.
        is_open: the words are proposals; any text will do.
        required: the keys that it must have.
        form: further JSON Schema of the value; all of its schema if it has no keys and items.
        shared: its name among the definitions of a schema, if it stands in many places.
    """

    keys: Mapping[str, "PartWord"] = field(default_factory=dict)
    words: Mapping[str, "PartWord"] = field(default_factory=dict)
    item: "Part | None" = None
    variants: Mapping[str, "Part"] = field(default_factory=dict)
    declares: Literal["", "key", "parameter"] = ""
    declaration: "Part | None" = None
    is_open: bool = False
    required: tuple[str, ...] = ()
    form: Mapping[str, Any] = field(default_factory=dict)
    shared: str = ""

    def step(self, part: str | int, siblings: Collection[str]) -> "Part | None":
        """What is one step below; `None` if nothing is known of it."""
        if isinstance(part, int):
            return self.item
        if self.declares:
            return self.declaration
        word = self.with_keys(siblings).keys.get(part)
        return word.below if word is not None else None

    def meaning(self, name: str) -> str | None:
        """The description of one of its keys or words; `None` if there is nothing to say about it."""
        word = self.keys.get(name) or self.words.get(name)
        return word.doc or None if word is not None else None

    def with_keys(self, keys: Collection[str]) -> "Part":
        """What it is once it has these keys."""
        return next((self.variants[key] for key in keys if key in self.variants), self)


@dataclass(frozen=True, slots=True)
class PartWord:
    """A key or a value of a part.

    Args:
        doc: its meaning.
        below: the value behind it, if it is a key.
        kind: what it is for a list of proposals.
        order: its place in such a list.
        snippet: the key with tab stops; empty if it is inserted with its colon alone.
    """

    doc: str = ""
    below: Part | None = None
    kind: WordKind = "value"
    order: int = 0
    snippet: str = ""

    @classmethod
    def field(cls, doc: str, below: Part | None = None, *, order: int = 0, snippet: str = "") -> Self:
        """A field of a mapping."""
        return cls(doc, below or Part(), "field", order, snippet)


_TEXT: Final = Part(form={"type": "string"})
NAME_OF_TREE: Final = Part(form={"type": "string", "pattern": f"^{TREE_NAME.pattern}$"})
"""The name of the tree."""
ROOT: Final = Part(form={"$ref": "#/$defs/node"})
"""The topmost node."""
_NAME: Final = Part(form={"type": "string", "pattern": f"^{NAME.pattern}$"})
_TIMES: Final = Part(form={"type": "integer", "minimum": 1, "maximum": MOST_TIMES})
DEFAULT: Final = Part()
"""The default of a declared name."""
FLAG: Final = Part(words={"true": PartWord(), "false": PartWord()}, form={"type": "boolean"})
TYPES: Final[Mapping[str, str]] = {
    "int": "A whole number.",
    "float": "A number.",
    "str": "Text.",
    "bool": "`true` or `false`.",
    "list": "A list.",
    "map": "A mapping.",
    "any": "A value of any type.",
}

_DECLARATION_FIELDS: Final[Mapping[str, PartWord]] = {
    "type": PartWord.field(
        "`int`, `float`, `str`, `bool`, `list`, `map` or `any`.",
        Part(words={name: PartWord(doc, kind="type") for name, doc in TYPES.items()}),
    ),
    "default": PartWord.field(
        "The value at the start of a run; `null` without it. A parameter without a default must be set.",
        DEFAULT,
        order=1,
    ),
    "description": PartWord.field("One sentence for authors.", _TEXT, order=2),
}
_KEY_FIELDS: Final[Mapping[str, PartWord]] = {
    "from": PartWord.field(
        "`delivery` for a key whose value comes from outside while the tree runs.",
        Part(words={"delivery": PartWord("The key's value comes from outside while the tree runs.")}),
        order=3,
    ),
    "private": PartWord.field(
        "`true` for a key that each inclusion of the tree has for itself, and that only its nodes see.", FLAG, order=4
    ),
}
_TYPE_WORDS: Final = {name: PartWord(doc, kind="type", order=5) for name, doc in TYPES.items()}
_ENFORCED: Final[Mapping[str, str]] = {
    "refuse": "The event is refused before it has an effect.",
    "stop": "The run is stopped.",
    "notify": "The user gets a notification.",
}
TEMPLATE_MEANINGS: Final[Mapping[Template, str]] = {
    "absence": "The event never happens.",
    "existence": "The event happens at least `times` times (default 1).",
    "exactly": "The event happens exactly `times` times (default 1).",
    "at_most": "The event happens at most `times` times (default 1).",
    "init": "The event is the first one.",
    "last": "The event is the last one.",
    "responded_existence": "If `first` happens, `then` happens too, before or after.",
    "co_existence": "Both events happen, or neither does.",
    "not_co_existence": "At most one of the two events happens.",
    "choice": "At least one of the two events happens.",
    "exclusive_choice": "Exactly one of the two events happens.",
    "response": "After each `first` there is a `then`.",
    "precedence": "Before each `then` there is a `first`.",
    "succession": "Both `response` and `precedence` hold.",
    "alternate_response": "After each `first` there is a `then` before the next `first`.",
    "alternate_precedence": "Before each `then` there is a `first` after the previous `then`.",
    "alternate_succession": "Both `alternate_response` and `alternate_precedence` hold.",
    "chain_response": "Directly after each `first` there is a `then`.",
    "chain_precedence": "Directly before each `then` there is a `first`.",
    "chain_succession": "Both `chain_response` and `chain_precedence` hold.",
    "not_succession": "After a `first` there is no `then`.",
    "not_chain_succession": "Directly after a `first` there is no `then`.",
}
NO_FLOW_MEANING: Final = "After a result of a tool that reads `from`, no tool that writes `to` begins."


def file_part(registry: Registry, keys: Collection[str] = ()) -> Part:
    """A whole tree file.

    Args:
        registry: the kinds, events and actions.
        keys: the blackboard keys that the file can use.
    """
    fields = (
        ("tree", "The name of the tree, equal to that of its file: `tree: oracle` is in `oracle.yaml`.", NAME_OF_TREE),
        ("description", "One sentence about the tree.", Part(form={"type": ["string", "null"]})),
        ("internal", "`true` for a tree that is only a part of others and is not run by itself.", FLAG),
        (
            "blackboard",
            "Keys that the nodes read and write, each with a type and a default.",
            _declares("key", {**_DECLARATION_FIELDS, **_KEY_FIELDS}),
        ),
        (
            "parameters",
            "Values that a tree which includes this one may set, each with a type; required without a default.",
            _declares("parameter", _DECLARATION_FIELDS),
        ),
        (
            "labels",
            "What tools read and where they write, by their names or patterns of names.",
            Part(
                form={
                    "type": ["object", "null"],
                    "maxProperties": MOST_PATTERNS,
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {
                            event.verb: {"anyOf": [_label(event), {"type": "array", "items": _label(event)}]}
                            for event in registry.events.values()
                            if event.verb
                        },
                    },
                }
            ),
        ),
        (
            "rules",
            "Rules over the events of a run, which are verified, judged on recorded runs, and enforced.",
            Part(item=_rule(registry, keys), form={"type": ["array", "null"], "maxItems": MOST_RULES}),
        ),
        ("root", "The topmost node.", ROOT),
    )
    snippets = {name: f"{name}:\n  $0" for name in ("blackboard", "parameters", "labels", "root")} | {
        "internal": "internal: true"
    }
    return Part(
        {
            name: PartWord.field(doc, below, order=number, snippet=snippets.get(name, f"{name}: $0"))
            for number, (name, doc, below) in enumerate(fields)
        },
        required=("tree", "root"),
    )


def _label(event: EventType) -> dict[str, Any]:
    return {"type": "string", "enum": [*event.labels, *event.labels.values()]}


def _declares(what: Literal["key", "parameter"], fields: Mapping[str, PartWord]) -> Part:
    declaration = Part(fields, _TYPE_WORDS, required=("type",))
    form = {"type": ["object", "null"], "propertyNames": {"pattern": f"^{NAME.pattern}$"}}
    return Part(declares=what, declaration=declaration, form=form)


def _rule(registry: Registry, keys: Collection[str]) -> Part:
    event, counted = (_event(registry, keys, is_counted=is_counted) for is_counted in (False, True))
    enforced = Part(words={name: PartWord(_ENFORCED[name]) for name in ENFORCEMENTS})
    fields = {
        "name": PartWord.field("The name of the rule, unique among the rules of a run.", _NAME),
        "text": PartWord.field("The sentence for people.", Part(form={"type": "string", "minLength": 1})),
        "after": PartWord.field("The rule holds for what comes after the first of these events.", event, order=2),
        "enforce": PartWord.field(
            "What happens when it is broken during a run: `refuse`, `stop` or `notify`.", enforced, order=2
        ),
    }
    pair = Part({name: PartWord.field("An event.", event) for name in ("first", "then")}, required=("first", "then"))
    two = Part(item=event, form={"minItems": 2, "maxItems": 2})
    templates: dict[str, PartWord] = {}
    for name in TEMPLATES:
        below = counted if name in COUNTED else event if name in UNARY else pair
        templates[name] = PartWord(TEMPLATE_MEANINGS[name], two if name in SYMMETRIC else below, kind="node", order=1)
    templates[NO_FLOW] = PartWord(NO_FLOW_MEANING, _flow(registry), kind="node", order=1)
    variants = {name: Part({**fields, name: word}) for name, word in templates.items()}
    return Part({**fields, **templates}, variants=variants, required=("name", "text"), shared="rule")


def _flow(registry: Registry) -> Part:
    labels = {
        is_target: [name for event in registry.events.values() if event.refusable is is_target for name in event.labels]
        for is_target in (False, True)
    }
    fields = {
        "from": PartWord.field("A label of what was read, or a list of them.", _words_of(labels[False])),
        "to": PartWord.field("A label of where a call writes, or a list of them.", _words_of(labels[True])),
        "unless": PartWord.field("`approved`: a person has approved the call.", _words_of(["approved"])),
    }
    return Part(fields, required=("from", "to"))


def _words_of(names: Collection[str]) -> Part:
    one = Part(words=dict.fromkeys(names, PartWord()))
    return replace(one, item=one)


def _event(registry: Registry, keys: Collection[str], *, is_counted: bool) -> Part:
    variants = {}
    for event in registry.events.values():
        words = {"any": PartWord("All of them.", kind="word", order=1)}
        words |= dict.fromkeys(_names(event, registry, keys), PartWord())
        names = Part(words=words, is_open=event.names is None)
        fields = {
            event.name: PartWord(event.description, replace(names, item=names, form={"minItems": 1}), kind="type"),
            **{
                name: PartWord.field(", ".join(values), Part(words=dict.fromkeys(values, PartWord())), order=1)
                for name, values in event.choices.items()
            },
            "where": PartWord.field(
                "A condition over what the event brings.",
                Part(words={name: PartWord(doc, kind="key") for name, doc in event.fields.items()}, is_open=True),
                order=1,
            ),
        }
        fields |= {"times": PartWord.field("How often.", _TIMES)} if is_counted else {}
        variants[event.name] = Part(fields, required=(event.name,))
    types = {name: variant.keys[name] for name, variant in variants.items()}
    bare = {name: PartWord(word.doc, kind="type", order=3) for name, word in types.items()}
    return Part(types, bare, variants=variants, shared="event.counted" if is_counted else "event")


def _names(event: EventType, registry: Registry, keys: Collection[str]) -> Collection[str]:
    if event.source == "actions":
        return [name for name, action in (registry.actions or {}).items() if action.is_callable]
    return keys if event.source == "keys" else event.names or ()
