"""The events of rules as tree files name them: a type, one or more names, and a condition."""

from collections.abc import Iterable, Mapping, Sequence

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.kind import Key
from bt_runtime.language.reading.uses import column_of
from bt_runtime.language.registry import Registry
from bt_runtime.language.rule import EventPattern, EventType
from bt_runtime.rules.monitors import condition_of
from bt_runtime.text import Mistake, Place, brief, did_you_mean, listing
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import Entry, YamlNode


@dataclass(frozen=True, slots=True)
class RuleScope:
    """What rules can refer to.

    Args:
        registry: the types of events, and the host's actions.
        keys: the blackboard keys of the run.
        paths: of all nodes; `None` if they are not known, because nodes have mistakes.
    """

    registry: Registry
    keys: Mapping[str, Key]
    paths: tuple[str, ...] | None


class PatternReader:
    """Reads the events of the rules of one file.

    Args:
        mistakes: gets the mistakes.
    """

    def __init__(self, scope: RuleScope, lines: Sequence[str], mistakes: list[Mistake]) -> None:
        self._scope = scope
        self._lines = lines
        self._mistakes = mistakes

    def _report(self, place: Place, message: str, hint: str | None = None) -> None:
        self._mistakes.append(Mistake(place, message, hint))

    def read(self, node: YamlNode, extra: tuple[str, ...] = ()) -> EventPattern | None:
        """The pattern of an event; `None` if it has mistakes.

        Args:
            node: the event as the author wrote it in the file.
            extra: further settings that may stand next to the event.
        """
        before, types = len(self._mistakes), self._scope.registry.events
        if isinstance(node.data, str):
            event_type = self._type(node.data, node.place)
            return EventPattern(event_type.name, fields=self._fields(event_type, None)) if event_type else None
        if not isinstance(node.data, dict):
            self._report(node.place, f"an event is a type with a name, not {node.shape}", f"types: {listing(types)}")
            return None
        named = [entry for name, entry in node.data.items() if name in types]
        if len(named) != 1:
            self._report_type(node, named, extra)
            return None
        entry = named[0]
        event_type = types[entry.key]
        names = self._names(event_type, entry.node)
        choices = self._choices(event_type, node.data, extra)
        fields = self._fields(event_type, names)
        where = self._where(event_type, names, fields, node.data.get("where"))
        if len(self._mistakes) > before:
            return None
        return EventPattern(event_type.name, names, where, choices, fields)

    def _report_type(self, node: YamlNode, named: list[Entry], extra: tuple[str, ...]) -> None:
        """Report that an event has no type, or two."""
        types = self._scope.registry.events
        if named:
            both = " and ".join(repr(entry.key) for entry in named[:2])
            self._report(named[1].place, f"an event has one type, not {both}", "a rule is about one or two events")
            return
        entries = node.data if isinstance(node.data, dict) else {}
        unknown = next((entry for name, entry in entries.items() if name not in {"where", *extra}), None)
        if unknown is None:
            self._report(node.place, "the event has no type", f"types: {listing(types)}")
        else:
            self._type(unknown.key, unknown.place)

    def _type(self, name: str, place: Place) -> EventType | None:
        types = self._scope.registry.events
        if name not in types:
            hint = did_you_mean(name, types) or f"types: {listing(types)}"
            self._report(place, f"there is no type of events {brief(name)}", hint)
        return types.get(name)

    def _names(self, event_type: EventType, node: YamlNode) -> tuple[str, ...] | None:
        if node.data == "any":
            return None
        items = node.data if isinstance(node.data, tuple) else (node,)
        if not items:
            self._report(node.place, "the list of names is empty", "write 'any' for all")
        names = []
        for item in items:
            if isinstance(item.data, str) and item.data:
                self._check_name(event_type, item.data, item.place)
                names.append(item.data)
            else:
                message = f"{event_type.name!r} needs a name, a list of names, or 'any', not {item.shape}"
                self._report(item.place, message)
        return tuple(dict.fromkeys(names))

    def _check_name(self, event_type: EventType, name: str, place: Place) -> None:
        scope = self._scope
        if event_type.source == "nodes":
            self._check_node(name, place)
            return
        known: Iterable[str] | None = event_type.names
        what = event_type.name
        if event_type.source == "actions":
            actions = scope.registry.actions
            # What something else runs is no call of this process, so no rule can be about it.
            known = actions and [name for name, action in actions.items() if action.is_callable]
            what = "action"
        elif event_type.source == "keys":
            known, what = scope.keys, "blackboard key"
        if known is not None and name not in known:
            hint = did_you_mean(name, known) or f"there are: {listing(known, most=20)}"
            self._report(place, f"there is no {what} {brief(name)}", hint)

    def _check_node(self, name: str, place: Place) -> None:
        paths = self._scope.paths
        if paths is None or any(path == name or path.endswith(f"/{name}") for path in paths):
            return
        labels = dict.fromkeys(path.rpartition("/")[2] for path in paths)
        hint = did_you_mean(name, [*labels, *paths]) or "write the name of a node, or the last parts of its path"
        self._report(place, f"there is no node {brief(name)}", hint)

    def _choices(
        self, event_type: EventType, entries: Mapping[str, Entry], extra: tuple[str, ...]
    ) -> tuple[tuple[str, str], ...]:
        chosen = []
        for name, entry in entries.items():
            if name in {event_type.name, "where", *extra}:
                continue
            values = event_type.choices.get(name)
            value = entry.node.data
            if values is None:
                known = [*event_type.choices, "where", *extra]
                hint = did_you_mean(name, known) or f"it has: {', '.join(known)}"
                self._report(entry.place, f"the event {event_type.name!r} has no {brief(name)}", hint)
            elif isinstance(value, str) and value in values:
                chosen.append((name, value))
            else:
                hint = did_you_mean(value, values) or f"one of: {', '.join(values)}"
                self._report(entry.node.place, f"{brief(entry.node.plain())} is no {name!r}", hint)
        return tuple(chosen)

    def _fields(self, event_type: EventType, names: tuple[str, ...] | None) -> frozenset[str] | None:
        """The names that a condition may use; `None` for any."""
        fields = frozenset((*event_type.fields, *event_type.choices))
        if event_type.source != "actions":
            return fields
        actions = self._scope.registry.actions
        if actions is None:
            return None
        known = [action.arguments for name, action in actions.items() if names is None or name in names]
        if any(arguments is None for arguments in known):
            return None
        return fields.union(*(arguments or () for arguments in known))

    def _where(
        self,
        event_type: EventType,
        names: tuple[str, ...] | None,
        fields: frozenset[str] | None,
        entry: Entry | None,
    ) -> str:
        if entry is None:
            return ""
        text = entry.node.data
        if not isinstance(text, str):
            self._report(
                entry.node.place, f"'where' must be a condition, not {entry.node.shape}", "put quotes around it"
            )
            return ""
        try:
            condition_of(EventPattern(event_type.name, names, text, fields=fields))
        except ExpressionError as error:
            place = column_of(self._lines, entry.node, text, error.column)
            unknown = error.message.removeprefix("there is no blackboard key or parameter ")
            message = error.message if unknown == error.message else f"{event_type.name!r} events have no {unknown}"
            self._report(place, message, error.hint)
        return text
