"""The node kinds and blackboard keys that tree files of one host may use."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.errors import KindError
from bt_runtime.language.kind import KEY_TYPES, HostAction, Key, Kind, has_type, in_words, is_in_range, range_in_words
from bt_runtime.language.rule import EventType
from bt_runtime.text import Mistake, brief, did_you_mean

NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
"""The spelling of kinds, keys and parameters."""
Rule = Callable[[NodeDefinition], Iterable[Mistake]]
"""Checks a whole tree, given its root."""
RESERVED = frozenset({"and", "or", "not", "in", "is", "if", "else", "true", "false", "null", "none"})
"""Words of expressions, which cannot name a key or parameter."""

COMMON_EVENTS: tuple[EventType, ...] = (
    EventType(
        "node",
        "A node has returned a result, or has begun to run.",
        source="nodes",
        choices={"result": ("success", "failure", "running")},
    ),
    EventType("key", "The value of a blackboard key has changed.", source="keys", fields={"value": "The new value."}),
    EventType(
        "delivery",
        "A value from outside was written to a blackboard key.",
        source="keys",
        fields={"value": "The value."},
    ),
    EventType("end", "The run has ended."),
)
"""The events of every tree; a host can declare one of these anew."""


class KindPlace(NamedTuple):
    """Where a kind is: its module is imported when a tree names the kind."""

    name: str
    module: str

    def load(self) -> Kind:
        """The kind: an object of its module, or the `kind` of a class there.

        Raises:
            KindError: there is none of this name.
        """
        for each in vars(import_module(self.module)).values():
            is_own = inspect.isclass(each) and each.__module__ == self.module
            found = vars(each).get("kind") if is_own else each
            if isinstance(found, Kind) and found.name == self.name:
                return found
        raise KindError(f"the module {self.module} has no node kind {self.name!r}")


def kind_places(package: str, modules: Sequence[tuple[str, str]]) -> tuple[KindPlace, ...]:
    """The places of the kinds of a package.

    Args:
        package: its name.
        modules: in the order of the palette, the name of a module and those of kinds in it, separated by spaces.
    """
    return tuple(KindPlace(name, f"{package}.{module}") for module, names in modules for name in names.split())


@cache
def load_kinds(places: tuple[KindPlace, ...]) -> tuple[Kind, ...]:
    """The kinds of these places."""
    return tuple(place.load() for place in places)


class _Kinds(Mapping[str, Kind]):
    """Kinds by name, which are loaded when they are asked for; the names alone load nothing."""

    def __init__(self, known: Mapping[str, Kind | KindPlace]) -> None:
        self.known = dict(known)

    def __getitem__(self, name: str) -> Kind:
        found = self.known[name]
        if isinstance(found, KindPlace):
            found = self.known[name] = found.load()
            _check_kind(found)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


class Registry:
    """Node kinds and blackboard keys by name; immutable.

    Args:
        kinds: every node kind, or where it is; the palette keeps their order.
        keys: the host's blackboard keys.
        actions: what `action` can call, by name; `None` if that is unknown, and not checked.
        rules: check a whole tree, all of whose nodes are valid.
        events: the host's types of events, for the rules of tree files; they replace common ones of the same name.
        unenforced: why `enforce` of a rule has no effect, and is a mistake; empty: rules are enforced.
        checks: the module whose `HOST` is what the checker knows of the host (`bt_runtime.analysis.host.HostChecks`);
            it is loaded when a tree is judged; `None`: nothing is known.
        host: data that the host keeps with its registry; the runtime does not use it.

    Raises:
        KindError: for a duplicate or invalid name, a slot or shorthand that contradicts the settings, or a default that
            is not of its key's type.
    """

    def __init__(
        self,
        kinds: Iterable[Kind | KindPlace],
        keys: Iterable[Key] = (),
        *,
        actions: Mapping[str, HostAction] | None = None,
        rules: Iterable[Rule] = (),
        events: Iterable[EventType] = (),
        unenforced: str = "",
        checks: str | None = None,
        host: object = None,
    ) -> None:
        self.checks = checks
        self.host = host
        self.unenforced = unenforced
        self.actions: Mapping[str, HostAction] | None = actions
        self.rules: tuple[Rule, ...] = tuple(rules)
        self.events: Mapping[str, EventType] = MappingProxyType(
            {event.name: event for event in (*COMMON_EVENTS, *events)}
        )
        known: dict[str, Kind | KindPlace] = {}
        for kind in kinds:
            if kind.name in known:
                raise KindError(f"the node kind {kind.name!r} is registered twice")
            if isinstance(kind, Kind):
                _check_kind(kind)
            known[kind.name] = kind
        self._kinds = _Kinds(known)
        self.keys: Mapping[str, Key] = MappingProxyType(_keys_by_name(keys))

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds by name; one whose module is not yet imported is loaded when it is asked for."""
        return self._kinds

    def kind(self, name: str) -> Kind:
        """The kind of that name.

        Raises:
            KindError: there is none; the message has the nearest name.
        """
        known = self._kinds.known.get(name)
        if isinstance(known, Kind):
            return known
        try:
            return self._kinds[name]
        except KeyError:
            hint = did_you_mean(name, self.kinds)
            raise KindError(f"there is no node kind {name!r}" + (f"; {hint}" if hint else "")) from None

    def extended(self, kinds: Iterable[Kind | KindPlace] = (), keys: Iterable[Key] = ()) -> "Registry":
        """A registry with further kinds and keys; a duplicate name is an error."""
        return self._with([*self._kinds.known.values(), *kinds], [*self.keys.values(), *keys], self.actions)

    def with_kind(self, kind: Kind) -> "Registry":
        """A registry in which this kind replaces the one of the same name."""
        return self._with(({**self._kinds.known, kind.name: kind}).values(), self.keys.values(), self.actions)

    def of_host(self, host: object, *, kind: Kind, key: Key) -> "Registry":
        """A registry with this data of the host, in which the kind and the key replace those of the same names."""
        kinds, keys = {**self._kinds.known, kind.name: kind}, {**self.keys, key.name: key}
        found = self._with(kinds.values(), keys.values(), self.actions)
        found.host = host
        return found

    def with_actions(self, actions: Mapping[str, HostAction]) -> "Registry":
        """A registry that checks calls against these actions of the host."""
        return self._with(self._kinds.known.values(), self.keys.values(), actions)

    def with_rules(self, rules: Iterable[Rule]) -> "Registry":
        """A registry with further rules for whole trees."""
        found = self._with(self._kinds.known.values(), self.keys.values(), self.actions)
        found.rules = (*self.rules, *rules)
        return found

    def without_enforcement(self, why: str) -> "Registry":
        """A registry whose trees cannot have rules with `enforce`; the mistake says why."""
        found = self._with(self._kinds.known.values(), self.keys.values(), self.actions)
        found.unenforced = why
        return found

    def _with(
        self, kinds: Iterable[Kind | KindPlace], keys: Iterable[Key], actions: Mapping[str, HostAction] | None
    ) -> "Registry":
        return Registry(
            kinds,
            keys,
            actions=actions,
            rules=self.rules,
            events=self.events.values(),
            unenforced=self.unenforced,
            checks=self.checks,
            host=self.host,
        )


def setting_names(kind: Kind) -> tuple[str, ...]:
    """The names of a kind's settings as in tree files, without slots."""
    return tuple(field.alias or name for name, field in kind.settings.model_fields.items())


def _check_kind(kind: Kind) -> None:
    if not NAME.fullmatch(kind.name):
        raise KindError(f"{kind.name!r} cannot name a node kind: use lower-case letters, digits and '_'")
    settings = setting_names(kind)
    taken = {"name", *settings}
    if "name" in settings:
        raise KindError(f"{kind.name!r} has a setting 'name', which every node has already")
    for slot in kind.slots:
        if slot.name in taken:
            raise KindError(f"{kind.name!r} has a slot {slot.name!r} beside a setting or slot of that name")
        taken.add(slot.name)
    if kind.shorthand is not None and kind.shorthand not in taken - {"name"}:
        raise KindError(f"the shorthand {kind.shorthand!r} of {kind.name!r} is not one of its settings and slots")


def _keys_by_name(keys: Iterable[Key]) -> dict[str, Key]:
    known: dict[str, Key] = {}
    for key in keys:
        if key.name in known:
            raise KindError(f"the blackboard key {key.name!r} is declared twice")
        if not NAME.fullmatch(key.name) or key.name in RESERVED:
            raise KindError(f"{key.name!r} cannot name a blackboard key: use lower-case letters, digits and '_'")
        if key.type not in KEY_TYPES:
            raise KindError(f"{key.name!r} has the unknown type {key.type!r}; types are {', '.join(KEY_TYPES)}")
        if not has_type(key.default, key.type):
            raise KindError(f"the default of {key.name!r} must be {in_words(key.type)}, not {brief(key.default)}")
        if not is_in_range(key.default, key):
            raise KindError(f"the default of {key.name!r} must be {range_in_words(key)}, not {brief(key.default)}")
        known[key.name] = key
    return known
