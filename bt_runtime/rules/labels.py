"""The labels of the host's actions: what they read, and where they write.

```yaml
labels:
  read_inbox: { reads: [private, untrusted] }
  "mail.*": { reads: untrusted, writes: outward }
rules:
  - name: nothing_leaks
    text: After untrusted text was read, nothing is sent without an approval.
    no_flow: { from: untrusted, to: outward, unless: approved }
    enforce: refuse
```

Which words there are is for the types of events to say (`EventType.labels`), each with its opposite. A label and its
opposite contradict each other, whoever gives them. An action of which nobody says anything counts as having them all.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from bt_runtime.language.reading.header import Header
from bt_runtime.language.registry import Registry
from bt_runtime.language.rule import ACTION_LABELS, EventPattern, EventType
from bt_runtime.text import Mistake, Place, brief, did_you_mean, listing
from bt_runtime.text.yaml_reader import YamlNode

Labelled = tuple[str, frozenset[str]]
"""The pattern of the names of actions, and their labels."""
MOST_PATTERNS = 200
"""Of all files of a tree."""
_LONGEST_PATTERN = 200
_EXAMPLE = "for example: labels: { send_mail: { writes: outward } }"
_FORM = "no_flow: { from: untrusted, to: outward, unless: approved }"


def contradiction(words: Iterable[str], opposites: Mapping[str, str]) -> tuple[str, str] | None:
    """A label and its opposite that are both among the words; `None` if there are none."""
    found = frozenset(words)
    return next(((label, no) for label, no in opposites.items() if label in found and no in found), None)


def read_labels(headers: Iterable[Header], *, registry: Registry, mistakes: list[Mistake]) -> tuple[Labelled, ...]:
    """The labels that some files declare.

    Args:
        headers: of the files.
        registry: the types of events, with the words; the host's actions, with their own labels.
        mistakes: gets the mistakes.
    """
    reader = _LabelReader(registry, mistakes)
    for header in headers:
        if header.labels is not None and header.labels.data is not None:
            reader.read(header.labels)
    return tuple((pattern, words) for pattern, words, _ in reader.found)


class _LabelReader:
    def __init__(self, registry: Registry, mistakes: list[Mistake]) -> None:
        self._types = {event.verb: event for event in registry.events.values() if event.verb}
        self._opposites = {label: no for event in self._types.values() for label, no in event.labels.items()}
        self._actions = registry.actions or {}
        self._mistakes = mistakes
        self.found: list[tuple[str, frozenset[str], Place]] = []

    def _report(self, place: Place, message: str, hint: str | None = None) -> None:
        self._mistakes.append(Mistake(place, message, hint))

    def read(self, node: YamlNode) -> None:
        if not isinstance(node.data, dict):
            self._report(node.place, f"'labels' must be a mapping, not {node.shape}", _EXAMPLE)
            return
        if len(self.found) + len(node.data) > MOST_PATTERNS:
            message = f"a tree labels at most {MOST_PATTERNS} names, those of its subtrees among them"
            self._report(node.place, message, "use patterns, such as 'mail.*'")
            return
        for pattern, entry in node.data.items():
            if len(pattern) > _LONGEST_PATTERN:
                self._report(entry.place, f"a name has at most {_LONGEST_PATTERN} characters")
            elif (words := self._words(entry.node)) is not None:
                self._check(pattern, words, entry.place)
                self.found.append((pattern, words, entry.place))

    def _words(self, node: YamlNode) -> frozenset[str] | None:
        """The labels of an entry; `None` if it has mistakes."""
        before = len(self._mistakes)
        if not isinstance(node.data, dict):
            self._report(node.place, f"labels are a mapping, not {node.shape}", _EXAMPLE)
            return None
        found: list[str] = []
        for verb, entry in node.data.items():
            event = self._types.get(verb)
            if event is None:
                hint = did_you_mean(verb, self._types) or f"there are: {listing(self._types)}"
                self._report(entry.place, f"labels have no {brief(verb)}", hint)
                continue
            items = entry.node.data if isinstance(entry.node.data, tuple) else (entry.node,)
            found += [word for item in items if (word := self._word(event, item)) is not None]
        if (pair := contradiction(found, self._opposites)) is not None:
            self._report(node.place, f"{pair[0]!r} and {pair[1]!r} contradict each other", "keep one of them")
        return frozenset(found) if len(self._mistakes) == before else None

    def _word(self, event: EventType, node: YamlNode) -> str | None:
        words = [*event.labels, *event.labels.values()]
        if isinstance(node.data, str) and node.data in words:
            return node.data
        hint = did_you_mean(node.plain(), words) or f"one of: {', '.join(words)}"
        self._report(node.place, f"{brief(node.plain())} is no label of what a tool {event.verb}", hint)
        return None

    def _check(self, pattern: str, words: frozenset[str], place: Place) -> None:
        """Report what contradicts the action's own labels, or those of another entry that is about the same action."""
        is_name = not set("*?[").intersection(pattern)
        if is_name and self._actions and pattern not in self._actions:
            hint = did_you_mean(pattern, self._actions) or "write its name, or a pattern such as 'mail.*'"
            self._report(place, f"there is no action {brief(pattern)}", hint)
        for name, action in self._actions.items():
            if action.labels and fnmatchcase(name, pattern):
                pair = contradiction(action.labels | words, self._opposites)
                if pair is not None:
                    own, here = pair if pair[0] in action.labels else pair[::-1]
                    message = f"{brief(name)} is labelled {own!r} where it is defined, and {here!r} here"
                    self._report(place, message, "remove one of the two")
                    break
        for other, given, elsewhere in self.found:
            pair = contradiction(given | words, self._opposites)
            if pair is not None and self._overlap(pattern, other):
                message = f"{brief(pattern)} and {brief(other)} mean the same tool, and say {pair[0]!r} and {pair[1]!r}"
                self._report(place, message, f"the other one is at {elsewhere}")

    def _overlap(self, one: str, other: str) -> bool:
        """Whether two patterns can mean the same action, as far as that is known."""
        names = (one, other, *self._actions)
        return any(fnmatchcase(name, one) and fnmatchcase(name, other) for name in names)


class _FlowReader:
    """Reads one `no_flow`.

    Args:
        mistakes: gets the mistakes.
    """

    def __init__(self, registry: Registry, mistakes: list[Mistake]) -> None:
        self._types = [event for event in registry.events.values() if event.verb]
        self._mistakes = mistakes

    def _report(self, place: Place, message: str, hint: str = _FORM) -> None:
        self._mistakes.append(Mistake(place, message, hint))

    def read(self, node: YamlNode) -> tuple[EventPattern, ...]:
        before = len(self._mistakes)
        if not isinstance(node.data, dict):
            self._report(node.place, f"'no_flow' needs 'from' and 'to', not {node.shape}")
            return ()
        for name, entry in node.data.items():
            if name not in ("from", "to", "unless"):
                self._report(entry.place, f"'no_flow' has no {brief(name)}")
        found = [self._side(name, node.data[name].node) for name in ("from", "to") if name in node.data]
        for name in ("from", "to"):
            if name not in node.data:
                self._report(node.place, f"'no_flow' needs {name!r}")
        if len(self._mistakes) > before:
            return ()
        (source, condition), (target, of_target) = found
        if "unless" in node.data:
            of_target = f"({of_target}){self._excuse(target, node.data['unless'].node)}"
        return _pattern(source, condition), _pattern(target, of_target)

    def _side(self, name: str, node: YamlNode) -> tuple[EventType, str]:
        """The type of events that has these labels, and the condition that one of them is there."""
        # What can be refused is where something would leave; the other type is that of what has come in.
        known = {label: event for event in self._types if event.refusable is (name == "to") for label in event.labels}
        items = node.data if isinstance(node.data, tuple) and node.data else (node,)
        for item in items:
            if not (isinstance(item.data, str) and item.data in known):
                hint = did_you_mean(item.plain(), known) or f"one of: {', '.join(known) or 'none'}"
                self._report(item.place, f"{brief(item.plain())} is no label that something flows {name}", hint)
                return self._types[0], ""
        labels = dict.fromkeys(str(item.data) for item in items)
        return known[next(iter(labels))], " or ".join(f"'{label}' in {ACTION_LABELS}" for label in labels)

    def _excuse(self, target: EventType, node: YamlNode) -> str:
        words = [name.removeprefix("is_") for name in target.fields if name.startswith("is_")]
        if node.data not in words:
            self._report(node.place, f"{brief(node.plain())} excuses no call", f"one of: {', '.join(words)}")
        return f" and not is_{node.data}"


def read_flow(node: YamlNode, *, registry: Registry, mistakes: list[Mistake]) -> tuple[EventPattern, ...]:
    """The two events of a `no_flow`, of which the second one must not follow the first; none if it has mistakes."""
    if not any(event.verb for event in registry.events.values()):
        mistakes.append(Mistake(node.place, "the host's actions have no labels, so nothing is known of what flows"))
        return ()
    return _FlowReader(registry, mistakes).read(node)


def _pattern(event: EventType, where: str) -> EventPattern:
    return EventPattern(event.name, None, where, fields=frozenset(event.fields))
