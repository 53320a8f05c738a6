"""Checks what the settings of a node refer to: expressions, blackboard keys, actions, arguments.

`${name}` in the settings of a subtree is the argument of that name:

- A setting that consists of `${name}` becomes the argument itself, whatever its type; inside a longer text the argument
  becomes text. An expression names the parameter instead.
- `$${` stands for `${`. Keys of mappings, names and kinds of nodes are never replaced.
- The size of the result is bounded, because arguments can be passed on and multiplied from tree to tree.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bt_runtime.language.definition import PlacedUse
from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.compiler import compile_expression
from bt_runtime.language.kind import ActionUse, CallUse, DeliveryUse, ExpressionUse, HostAction, Key, KeyUse, Use, Value
from bt_runtime.language.reading.settings import locate
from bt_runtime.text import Mistake, Place, Suggestion, brief, did_you_mean, listing
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import Entry, YamlNode

_WHOLE = re.compile(r"\$\{([^{}]*)\}")
_ANY = re.compile(r"\$\$\{|\$\{([^{}]*)\}")
_MOST_CHARACTERS = 100_000


def placeholder_in(text: str) -> re.Match[str] | None:
    """The first `${name}` of a text as written in the file, with the name as its group; `None` if there is none."""
    return next((match for match in _ANY.finditer(text) if match[1] is not None), None)


class Filler:
    """Fills the placeholders in the settings of one node."""

    def __init__(
        self, arguments: Mapping[str, Value], *, samples: frozenset[str], mistakes: list[Mistake], path: str
    ) -> None:
        self.sampled: set[Place] = set()
        """The places with a sample value; what is wrong there may be right with a real argument."""
        self.used: set[str] = set()
        """The names of the arguments that were inserted."""
        self._arguments = arguments
        self._samples = samples
        self._mistakes = mistakes
        self._path = path
        self._left = _MOST_CHARACTERS

    def fill(self, node: YamlNode) -> Value:
        """The plain value of a setting, with arguments inserted."""
        if isinstance(node.data, dict):
            return {key: self.fill(entry.node) for key, entry in node.data.items()}
        if isinstance(node.data, tuple):
            return [self.fill(item) for item in node.data]
        if isinstance(node.data, str) and "${" in node.data:
            whole = _WHOLE.fullmatch(node.data)
            if whole:
                value = self._argument(whole[1], node.place)
                self._spend(value if isinstance(value, str) else json.dumps(value), node.place)
                return value if self._left > 0 else None
            return _ANY.sub(lambda match: self._part(match, node.place), node.data)
        return node.data

    def _part(self, match: re.Match[str], place: Place) -> str:
        if match[1] is None:
            return "${"
        value = self._argument(match[1], place)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self._spend(text, place)
        return text if self._left > 0 else ""

    def _argument(self, name: str, place: Place) -> Value:
        if name not in self._arguments:
            known = f"parameters: {listing(self._arguments)}" if self._arguments else "the file declares no parameters"
            hint = did_you_mean(name, self._arguments) or f"{known}; '$${{' stands for '${{'"
            self._mistakes.append(
                Mistake(place, f"there is no parameter {brief(name)}", hint, self._path, "unknown-parameter")
            )
            return ""
        self.used.add(name)
        if name in self._samples:
            self.sampled.add(place)
        return self._arguments[name]

    def _spend(self, text: str, place: Place) -> None:
        if self._left > 0:
            self._left -= len(text)
            if self._left <= 0:
                message = f"with its arguments inserted, this has more than {_MOST_CHARACTERS:,} characters"
                self._mistakes.append(Mistake(place, message, None, self._path))


LeafUse = ExpressionUse | KeyUse | DeliveryUse | CallUse | ActionUse


@dataclass(frozen=True, slots=True)
class UseScope:
    """What the nodes of one file can refer to.

    Args:
        names: the names for expressions: the keys, and the file's parameters.
        written: the file's arguments as written in the including file.
        actions: the actions of the host; `None` if they are unknown.
    """

    lines: Sequence[str]
    keys: Mapping[str, Key]
    names: frozenset[str]
    written: Mapping[str, Entry]
    actions: Mapping[str, HostAction] | None


class UseChecker:
    """Checks what one node refers to."""

    def __init__(self, scope: UseScope, entries: Mapping[str, Entry], *, place: Place, path: str) -> None:
        self._scope = scope
        self._entries = entries
        self._place = place
        self._path = path

    def certain(self, use: LeafUse) -> Iterator[Mistake]:
        """Mistakes that do not depend on the values of parameters.

        That is a placeholder inside the text of an expression, whose meaning would depend on the argument.
        """
        node, found = self._placeholder_of(use)
        if node is None or found is None or found[0] == found.string or not isinstance(use, ExpressionUse):
            return
        at = column_of(self._scope.lines, node, found.string, found.start() + 1)
        message = f"an expression takes a parameter by its name, not as {found[0]!r} in its text"
        hint = f"write {found[1]}, outside of quotes; texts are joined by '+': 'Remember: ' + {found[1]}"
        yield Mistake(at, message, hint, self._path, "wrong-expression")

    def mistakes(self, use: LeafUse) -> Iterable[Mistake]:
        """All other mistakes; a real argument may remove those at the place of a sample value."""
        if isinstance(use, ExpressionUse):
            return self._expression_mistakes(use)
        if isinstance(use, DeliveryUse):
            return self._delivery_mistakes(use)
        if isinstance(use, ActionUse):
            _, named = locate(self._entries, use.at)
            return self._unknown_action(use.action, named.place if named else self._place)
        return self._call_mistakes(use) if isinstance(use, CallUse) else self._key_mistakes(use)

    def placed(self, use: Use) -> PlacedUse:
        """The use with its place."""
        entry, node = locate(self._entries, use.at)
        if node is None:
            return PlacedUse(use, self._place)
        if isinstance(use, KeyUse):
            if entry is not None and entry.key == use.key:
                return PlacedUse(use, entry.place)
            return PlacedUse(use, self._place_in_text(use.key, node))
        if not isinstance(use, ExpressionUse):
            return PlacedUse(use, node.place)
        at = start_of(self._scope.lines, node, use.text)
        return PlacedUse(use, node.place if at is None else at, is_verbatim=at is not None)

    def _place_in_text(self, key: str, node: YamlNode) -> Place:
        """Where a text shows a key as `{key}`; its beginning if it does not, or is not in the file as it is."""
        text = node.data if isinstance(node.data, str) else ""
        at = text.find(f"{{{key}}}")
        return column_of(self._scope.lines, node, text, at + 2) if at >= 0 else node.place

    def _placeholder_of(self, use: LeafUse) -> tuple[YamlNode | None, re.Match[str] | None]:
        """What a setting is as written, and the first placeholder in it."""
        _, node = locate(self._entries, use.at)
        return node, placeholder_in(node.data) if node is not None and isinstance(node.data, str) else None

    def _expression_mistakes(self, use: ExpressionUse) -> list[Mistake]:
        node, found = self._placeholder_of(use)
        if found is not None and found[0] != found.string:
            return []  # reported by `certain`
        try:
            compile_expression(use.text, names=self._scope.names)
        except ExpressionError as error:
            argument = self._scope.written.get(found[1]) if found is not None else None
            if argument is not None and node is not None:
                hint = error.hint or f"it is used as an expression at {node.place}"
                return [Mistake(argument.node.place, error.message, hint, self._path, "wrong-expression")]
            at = column_of(self._scope.lines, node, use.text, error.column) if node else self._place
            return [Mistake(at, error.message, error.hint, self._path, "wrong-expression")]
        return []

    def _call_mistakes(self, use: CallUse) -> Iterator[Mistake]:
        """An unknown action of the host, or wrong arguments for one; nothing if the actions are unknown."""
        known = self._scope.actions
        entry, named = locate(self._entries, use.at)
        at = named.place if named else self._place
        is_short = entry is not None and entry.place == at
        if known is None:
            return
        action = known.get(use.action)
        if action is None:
            yield from self._unknown_action(use.action, at)
            return
        if not action.is_callable:
            message = f"a tree cannot call {brief(use.action)}: the provider runs it within a turn"
            yield Mistake(at, message, "offer it to the model instead", self._path, "unknown-action")
            return
        given, _ = locate(self._entries, use.arguments_at)
        if action.arguments is None:
            return
        for name in use.arguments:
            if name not in action.arguments:
                argument, _ = locate(self._entries, (*use.arguments_at, name))
                hint = did_you_mean(name, action.arguments) or f"it takes: {listing(action.arguments) or 'none'}"
                message = f"{use.action!r} has no argument {brief(name)}"
                yield Mistake(argument.place if argument else at, message, hint, self._path, "wrong-argument")
        for name in sorted(action.required.difference(use.arguments)):
            message = f"{use.action!r} needs the argument {name!r}"
            hint = f"write 'with: {{{name}: ...}}'"
            value = f"""{name}: "''\""""
            right = Suggestion(hint, written="with: {", instead=f"with: {{ {value},")
            if given is None and is_short:
                instead = f"{{ call: {use.action}, with: {{ {value} }} }}"
                right = Suggestion(hint, written=use.action, instead=instead)
            yield Mistake(given.place if given else at, message, right, self._path, "wrong-argument")

    def _unknown_action(self, name: str, at: Place) -> Iterator[Mistake]:
        """An action that the host does not have; nothing if the actions are unknown."""
        known = self._scope.actions
        if known is not None and name not in known:
            hint = did_you_mean(name, known) or f"there are: {listing(known, most=20)}"
            yield Mistake(at, f"there is no action {brief(name)}", hint, self._path, "unknown-action")

    def _delivery_mistakes(self, use: DeliveryUse) -> list[Mistake]:
        key = self._scope.keys.get(use.key)
        if key is None:
            return self._key_mistakes(KeyUse(use.at, use.key, "read"))
        _, node = locate(self._entries, use.at)
        at = node.place if node else self._place
        if not key.deliverable:
            message = f"nothing from outside writes the blackboard key {use.key!r}"
            hint = f"declare it as '{use.key}: {{type: {key.type}, from: delivery}}', or write 'until: ...'"
            return [Mistake(at, message, hint, self._path)]
        if key.default is None:
            return []
        message = f"{use.key!r} has a value from the start, {brief(key.default)}, so this would not wait"
        return [Mistake(at, message, "leave out its default, or write 'until: ...'", self._path)]

    def _key_mistakes(self, use: KeyUse) -> list[Mistake]:
        key = self._scope.keys.get(use.key)
        if key is not None and not (key.read_only and use.access == "write"):
            return []
        entry, node = locate(self._entries, use.at)
        at = entry.place if entry and entry.key == use.key else (node.place if node else self._place)
        if key is not None:
            message = f"the blackboard key {use.key!r} can only be read: the host writes it"
            return [Mistake(at, message, "declare a key of your own under 'blackboard:'", self._path, "read-only-key")]
        hint = did_you_mean(use.key, self._scope.keys) or "declare it under 'blackboard:'"
        return [Mistake(at, f"there is no blackboard key {brief(use.key)}", hint, self._path, "unknown-key")]


def column_of(lines: Sequence[str], node: YamlNode, text: str, column: int) -> Place:
    """The place of a column of a scalar's text; its beginning if the text is folded, escaped or filled in."""
    start = start_of(lines, node, text)
    return node.place if start is None else Place(start.file, start.line, start.column + column - 1)


def start_of(lines: Sequence[str], node: YamlNode, text: str) -> Place | None:
    """Where the file has a scalar's text as it is; `None` if it is folded, escaped or filled in."""
    place = node.place
    start = place.column + (1 if node.quoted else 0)
    if not lines[place.line - 1].startswith(text, start - 1):
        return None
    return Place(place.file, place.line, start)
