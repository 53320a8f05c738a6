"""Completion and hover below `rules:`: templates, events, their names and conditions."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from bt_runtime.registry import Registry
from bt_runtime.rule import COUNTED, ENFORCEMENTS, SYMMETRIC, TEMPLATES, UNARY, EventType
from oracle.editing.items import Item

RuleStep = Literal["rules", "rule", "event", "pair", "both", "names", "choice", "where", "enforce", "text", "times"]

_FIELDS: Final[Mapping[str, str]] = {
    "name": "The name of the rule, unique among the rules of a run.",
    "text": "The sentence for people.",
    "after": "The rule holds for what comes after the first of these events.",
    "enforce": "What happens when it is broken while a query runs: `refuse`, `stop` or `notify`.",
}
_ENFORCED: Final[Mapping[str, str]] = {
    "refuse": "The event is refused before it has an effect.",
    "stop": "The run is stopped.",
    "notify": "The user gets a notification.",
}
_TEMPLATES: Final[Mapping[str, str]] = {
    "absence": "The event never happens.",
    "existence": "The event happens at least `times` times.",
    "exactly": "The event happens exactly `times` times.",
    "at_most": "The event happens at most `times` times.",
    "init": "The event is the first one.",
    "last": "The event is the last one.",
    "responded_existence": "If the first event happens, the second one happens too, before or after it.",
    "co_existence": "If one of them happens, the other one does too.",
    "not_co_existence": "The two never happen in one run.",
    "choice": "At least one of them happens.",
    "exclusive_choice": "Exactly one of them happens.",
    "response": "After each first event the second one follows at some time.",
    "precedence": "The second event happens only after the first one.",
    "succession": "Response and precedence.",
    "alternate_response": "After each first event the second one follows before the first one happens again.",
    "alternate_precedence": "Before each second event the first one has happened since the last second one.",
    "alternate_succession": "Alternate response and alternate precedence.",
    "chain_response": "The second event follows the first one at once.",
    "chain_precedence": "Directly before the second event there is the first one.",
    "chain_succession": "The two follow each other at once, and never stand alone.",
    "not_succession": "After the first event the second one never happens.",
    "not_chain_succession": "The second event never follows the first one at once.",
}


@dataclass(frozen=True, slots=True)
class RuleValue:
    """A part of the rules.

    Args:
        is_a: which part: the list, one rule, an event, `first` and `then`, a list of two events, the names of a type,
            the value of a choice, a condition, `enforce`, a text, `times`.
        of: the type of the event for its names and its condition; the template for an event that is counted.
        values: of a choice.
    """

    is_a: RuleStep
    of: str = ""
    values: tuple[str, ...] = ()


def rule_step(value: RuleValue, part: str | int, siblings: Collection[str], registry: Registry) -> RuleValue | None:
    """What belongs one step below a part of the rules; `None` if nothing is known of it."""
    if isinstance(part, int):
        if value.is_a == "names":
            return value
        below: Mapping[str, RuleStep] = {"rules": "rule", "both": "event"}
        return RuleValue(below[value.is_a]) if value.is_a in below else None
    if value.is_a == "rule":
        return _of_rule(part)
    if value.is_a == "pair":
        return RuleValue("event") if part in {"first", "then"} else None
    return _of_event(part, siblings, registry) if value.is_a == "event" else None


def _of_rule(part: str) -> RuleValue | None:
    if part in TEMPLATES:
        if part in UNARY:
            return RuleValue("event", part if part in COUNTED else "")
        return RuleValue("both" if part in SYMMETRIC else "pair")
    fields: Mapping[str, RuleStep] = {"name": "text", "text": "text", "after": "event", "enforce": "enforce"}
    return RuleValue(fields[part]) if part in fields else None


def _of_event(part: str, siblings: Collection[str], registry: Registry) -> RuleValue | None:
    event = next((registry.events[name] for name in siblings if name in registry.events), None)
    if part in registry.events:
        return RuleValue("names", part)
    if part == "times":
        return RuleValue("times")
    if part == "where":
        return RuleValue("where", event.name if event is not None else "")
    if event is not None and part in event.choices:
        return RuleValue("choice", event.name, event.choices[part])
    return None


def rule_items(
    value: RuleValue, *, present: Collection[str], registry: Registry, keys: Collection[str], is_key: bool
) -> Iterator[Item]:
    """What can be typed in a part of the rules.

    Args:
        value: the part.
        present: the keys that are there.
        registry: the events and actions.
        keys: the blackboard keys of the file.
        is_key: only keys can be typed, not a bare value.
    """
    if value.is_a == "rule":
        yield from _rule_keys(present)
    elif value.is_a == "pair":
        yield from (_key(name, "field", "An event.", order=0) for name in ("first", "then") if name not in present)
    elif value.is_a == "event":
        yield from _event_keys(value, present, registry)
        if not is_key:
            yield from (Item(each.name, "type", doc=each.description, order=3) for each in registry.events.values())
    elif value.is_a == "names" and not is_key:
        yield Item("any", "word", doc="All of them.", order=1)
        yield from (Item(name, "value") for name in _names(registry.events[value.of], registry, keys))
    elif value.is_a == "choice":
        yield from (Item(name, "value") for name in value.values)
    elif value.is_a == "enforce":
        yield from (Item(name, "value", doc=_ENFORCED[name]) for name in ENFORCEMENTS)
    elif value.is_a == "where" and value.of in registry.events:
        event = registry.events[value.of]
        yield from (Item(name, "key", doc=doc) for name, doc in event.fields.items())


def _rule_keys(present: Collection[str]) -> Iterator[Item]:
    for number, (name, doc) in enumerate(_FIELDS.items()):
        if name not in present:
            yield _key(name, "field", doc, order=0 if number < 2 else 2)
    if not any(name in present for name in TEMPLATES):
        yield from (_key(name, "node", _TEMPLATES[name], order=1) for name in TEMPLATES)


def _event_keys(value: RuleValue, present: Collection[str], registry: Registry) -> Iterator[Item]:
    event = next((registry.events[name] for name in present if name in registry.events), None)
    if event is None:
        yield from (_key(each.name, "type", each.description, order=0) for each in registry.events.values())
        return
    yield from (_key(name, "field", ", ".join(values), order=1) for name, values in event.choices.items())
    yield _key("where", "field", "A condition over what the event brings.", order=1)
    if value.of:
        yield _key("times", "field", "How often.", order=0)


def _names(event: EventType, registry: Registry, keys: Collection[str]) -> Collection[str]:
    if event.source == "actions":
        return [name for name, action in (registry.actions or {}).items() if action.is_callable]
    return keys if event.source == "keys" else event.names or ()


def _key(name: str, kind: Literal["field", "node", "type"], doc: str, *, order: int) -> Item:
    return Item(name, kind, doc=doc, insert=f"{name}: ", order=order, is_key=True)


def rule_word(value: RuleValue, word: str, registry: Registry) -> str | None:
    """The description of a word in the rules; `None` if there is nothing to say about it."""
    if value.is_a == "rule":
        return _TEMPLATES.get(word) or _FIELDS.get(word)
    if value.is_a in {"event", "both"} and word in registry.events:
        return registry.events[word].description
    if value.is_a == "where" and value.of in registry.events:
        return registry.events[value.of].fields.get(word)
    return _ENFORCED.get(word) if value.is_a == "enforce" else None
