"""Rules about the behaviour of a tree, as its file declares them: sentences over the events of a run.

A rule fills one of the DECLARE templates with events. It has three uses: it is verified before the tree runs, judged on
recorded runs, and enforced while a query runs. All three compile it to the same automaton
(`bt_runtime.rules.monitors`).
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeVar, dataclass_transform, get_args

from bt_runtime.text import Place
from bt_runtime.text.data import dataclass

_T = TypeVar("_T")

Template = Literal[
    "absence",
    "existence",
    "exactly",
    "at_most",
    "init",
    "last",
    "responded_existence",
    "co_existence",
    "not_co_existence",
    "choice",
    "exclusive_choice",
    "response",
    "precedence",
    "succession",
    "alternate_response",
    "alternate_precedence",
    "alternate_succession",
    "chain_response",
    "chain_precedence",
    "chain_succession",
    "not_succession",
    "not_chain_succession",
]
"""The templates of the DECLARE language, by their usual names."""

Enforcement = Literal["refuse", "stop", "notify"]
"""What happens when an event of a run breaks a rule: the event is refused before it has an effect, the run is stopped,
or the user gets a notification."""

NameSource = Literal["listed", "actions", "keys", "nodes"]
"""Where the names of an event type come from: its own list, the host's actions, the blackboard, the nodes."""

TEMPLATES: tuple[Template, ...] = get_args(Template)
ENFORCEMENTS: tuple[Enforcement, ...] = get_args(Enforcement)
COUNTED: frozenset[Template] = frozenset({"existence", "exactly", "at_most"})
"""The templates that count an event; `times` says how often."""
UNARY: frozenset[Template] = COUNTED | {"absence", "init", "last"}
"""The templates about one event."""
SYMMETRIC: frozenset[Template] = frozenset({"co_existence", "not_co_existence", "choice", "exclusive_choice"})
"""The templates about two events whose order makes no difference; they take a list of two."""


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of events that rules can name.

    Args:
        description: what happened, as a sentence for authors.
        source: where its names come from.
        names: the names that there are, if they are `listed`; `None` if any name will do.
        fields: the names that conditions about it may use, each with a description. Those of `actions` are the
            arguments of the action.
        choices: fields that can be given next to the name, with the values that they can have.
        refusable: the host can refuse such an event before it has an effect.
        verb: what `labels` of an action say, `reads` or `writes`; empty if such events have no labels.
        labels: the labels that they can have, each with its opposite.
    """

    name: str
    description: str
    source: NameSource = "listed"
    names: tuple[str, ...] | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refusable: bool = False
    verb: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


ACTION_LABELS = "tool_labels"
"""The field of an event with the labels of its action."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def _event(cls: type[_T]) -> type[_T]:
    """A dataclass that is frozen only for type checkers; freezing it at run time makes creation four times slower."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@_event
class Event:
    """Something that happened in a run.

    Args:
        type: the name of its `EventType`.
        name: which one: the tool, the key, the path of the node.
        fields: the values that conditions can use; one that is missing is null.
    """

    type: str
    name: str
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(frozen=True, slots=True)
class EventPattern:
    """Which events a rule is about.

    Args:
        type: the name of their `EventType`.
        names: of which one of these names; `None` for all. A node is named by the last parts of its path.
        where: a condition over the event's fields; empty if there is none.
        choices: (field, value) of each field that must have one value.
        fields: the names that the condition may use; `None` for any.
    """

    type: str
    names: tuple[str, ...] | None = None
    where: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    fields: frozenset[str] | None = frozenset()

    def __str__(self) -> str:
        names = "any" if self.names is None else ", ".join(self.names)
        parts = [f"{self.type}: {names}", *(f"{name}: {value}" for name, value in self.choices)]
        if self.where:
            parts.append(f"where: {self.where}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Args:
        name: unique among the rules of a run.
        text: the sentence for people.
        template: what it says about its events.
        events: one for a template about one event, else two: `first` and `then`, or the two of a list.
        times: how often, for the templates that count.
        after: the rule holds for what comes after the first of these events; `None` for the whole run.
        enforce: what happens when it is broken while a query runs; `None` for nothing.
        place: where the file declares it.
        tree: the tree that declares it.
    """

    name: str
    text: str
    template: Template
    events: tuple[EventPattern, ...]
    times: int = 1
    after: EventPattern | None = None
    enforce: Enforcement | None = None
    place: Place = field(default=Place(""), compare=False)
    tree: str = ""
