"""The rules of tree files: what a file declares under `rules:`, checked against the whole tree.

```yaml
rules:
  - name: approval_before_writing
    text: A note is written only after an approval.
    precedence: { first: { delivery: approved }, then: { tool: vault_write } }
    enforce: refuse
```

A rule names exactly one template. An event is its type with a name (`tool: vault_write`), a list of names, or `any`;
`where` is a condition over what the event brings. A bare type, such as `turn`, is any event of that type.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bt_runtime.language.kind import Key
from bt_runtime.language.reading.header import Header
from bt_runtime.language.registry import NAME, Registry
from bt_runtime.language.rule import (
    COUNTED,
    ENFORCEMENTS,
    SYMMETRIC,
    TEMPLATES,
    UNARY,
    Enforcement,
    EventPattern,
    Rule,
    Template,
)
from bt_runtime.rules.monitors import Monitor
from bt_runtime.rules.patterns import PatternReader, RuleScope
from bt_runtime.text import Mistake, Place, brief, did_you_mean
from bt_runtime.text.yaml_reader import Entry, YamlNode

MOST_RULES = 200
"""Of one run, those of subtrees among them."""
MOST_TIMES = 1_000
_LONGEST_TEXT = 500
_FIELDS = ("name", "text", "after", "enforce")
NO_FLOW = "no_flow"
"""A template over the labels of actions (`bt_runtime.rules.labels`); it becomes a `not_succession`."""
_WRITTEN = (*TEMPLATES, NO_FLOW)
_EXAMPLE = "for example: '- {name: no_writing, text: Nothing is written., absence: {tool: vault_write}}'"


def read_rules(
    headers: Iterable[Header],
    *,
    registry: Registry,
    keys: Mapping[str, Key],
    paths: Sequence[str] | None,
    mistakes: list[Mistake],
) -> tuple[Rule, ...]:
    """The rules of some files, which hold together.

    Args:
        headers: of the files.
        registry: the types of events, and the host's actions.
        keys: the blackboard keys of the run.
        paths: of all nodes; `None` if they are not known, because nodes have mistakes.
        mistakes: gets the mistakes.
    """
    scope = RuleScope(registry, keys, None if paths is None else tuple(paths))
    rules: list[Rule] = []
    for header in headers:
        if header.rules is None or header.rules.data is None:
            continue
        if not isinstance(header.rules.data, tuple):
            message = f"'rules' must be a list, not {header.rules.shape}"
            mistakes.append(Mistake(header.rules.place, message, _EXAMPLE))
            continue
        if len(rules) + len(header.rules.data) > MOST_RULES:
            message = f"a tree has at most {MOST_RULES} rules, those of its subtrees among them"
            mistakes.append(Mistake(header.rules.place, message, "leave out those that others imply"))
            continue
        lines = header.document.text.splitlines()
        for item in header.rules.data:
            rule = _RuleReader(header.name, lines, scope, mistakes).read(item)
            if rule is not None and not any(_repeats(rule, other) for other in rules):
                mistakes += _against(rule, rules)
                rules.append(rule)
    return tuple(rules)


def _repeats(rule: Rule, other: Rule) -> bool:
    """Whether a rule says again what one of another tree says, as in a copy of a part of that tree."""
    return other.tree != rule.tree and replace(other, tree=rule.tree) == rule


def _against(rule: Rule, others: Iterable[Rule]) -> Iterable[Mistake]:
    """What makes a rule impossible together with the others."""
    for other in others:
        if other.name == rule.name:
            yield Mistake(rule.place, f"two rules are called {rule.name!r}", f"the other one is at {other.place}")
        if other.events[0] == rule.events[0] and other.after == rule.after:
            (least, most), (other_least, other_most) = _bounds(rule), _bounds(other)
            if least > other_most or other_least > most:
                message = f"the rules {other.name!r} and {rule.name!r} cannot both hold: "
                message += f"at least {max(least, other_least)} and at most {min(most, other_most)} of {rule.events[0]}"
                yield Mistake(rule.place, message, f"the other one is at {other.place}")


def _bounds(rule: Rule) -> tuple[int, int]:
    """How often the event of a rule must and may happen."""
    unlimited = MOST_TIMES + 1
    if rule.template == "absence":
        return 0, 0
    if rule.template not in COUNTED:
        return 0, unlimited
    return (
        0 if rule.template == "at_most" else rule.times,
        unlimited if rule.template == "existence" else rule.times,
    )


class _RuleReader:
    """Reads one rule."""

    def __init__(self, tree: str, lines: list[str], scope: RuleScope, mistakes: list[Mistake]) -> None:
        self._tree = tree
        self._event = PatternReader(scope, lines, mistakes).read
        self._scope = scope
        self._mistakes = mistakes

    def _report(self, place: Place, message: str, hint: str | None = None) -> None:
        self._mistakes.append(Mistake(place, message, hint))

    def read(self, node: YamlNode) -> Rule | None:
        before = len(self._mistakes)
        if not isinstance(node.data, dict):
            self._report(node.place, f"a rule is a mapping, not {node.shape}", _EXAMPLE)
            return None
        template = self._template(node, node.data)
        name, text = self._name(node, node.data), self._text(node, node.data)
        events, times = self._events(template, node.data) if template else ((), 1)
        after = self._event(node.data["after"].node) if "after" in node.data else None
        enforce = self._enforce(node.data.get("enforce"))
        if len(self._mistakes) > before or template is None:
            return None
        rule = Rule(name, text, template, events, times, after, enforce, node.place, self._tree)
        if enforce is not None:
            self._check_enforceable(rule, node.data["enforce"].node.place)
        return rule if len(self._mistakes) == before else None

    def _template(self, node: YamlNode, entries: Mapping[str, Entry]) -> Template | None:
        found = [name for name in _WRITTEN if name in entries]
        for name, entry in entries.items():
            if name not in _FIELDS and name not in found:
                known = (*_FIELDS, *_WRITTEN)
                hint = did_you_mean(name, known) or f"a rule has: {', '.join(_FIELDS)}, and one of the templates"
                self._report(entry.place, f"a rule has no {brief(name)}", hint)
        if len(found) > 1:
            both = " and ".join(map(repr, found[:2]))
            self._report(entries[found[1]].place, f"a rule has one template, not {both}", "write two rules")
        elif not found and all(name in _FIELDS for name in entries):
            self._report(node.place, "the rule has no template", f"one of: {', '.join(_WRITTEN)}")
        if len(found) != 1:
            return None
        return next((name for name in TEMPLATES if name == found[0]), "not_succession")

    def _name(self, node: YamlNode, entries: Mapping[str, Entry]) -> str:
        entry = entries.get("name")
        if entry is None:
            self._report(node.place, "the rule has no 'name'", "for example: name: approval_before_writing")
            return ""
        value = entry.node.data
        if isinstance(value, str) and NAME.fullmatch(value):
            return value
        hint = "use at most 60 lower-case letters, digits and '_', beginning with a letter"
        self._report(entry.node.place, f"{brief(entry.node.plain())} cannot name a rule", hint)
        return ""

    def _text(self, node: YamlNode, entries: Mapping[str, Entry]) -> str:
        entry = entries.get("text")
        if entry is None:
            self._report(node.place, "the rule has no 'text'", "say in one sentence what holds, for people")
            return ""
        value = entry.node.data
        if isinstance(value, str) and value.strip() and len(value) <= _LONGEST_TEXT:
            return value.strip()
        message = f"'text' must be a sentence of at most {_LONGEST_TEXT} characters, not {brief(entry.node.plain())}"
        self._report(entry.node.place, message)
        return ""

    def _enforce(self, entry: Entry | None) -> Enforcement | None:
        if entry is None:
            return None
        for enforce in ENFORCEMENTS:
            if entry.node.data == enforce:
                return enforce
        value = entry.node.plain()
        hint = did_you_mean(value, ENFORCEMENTS) or f"one of: {', '.join(ENFORCEMENTS)}"
        self._report(entry.node.place, f"{brief(value)} is no way to enforce a rule", hint)
        return None

    def _check_enforceable(self, rule: Rule, place: Place) -> None:
        if self._scope.registry.unenforced:
            message = f"the rule {rule.name!r} cannot be enforced: {self._scope.registry.unenforced}"
            self._report(place, message, "remove 'enforce': the rule can be verified and judged without")
            return
        breaking = Monitor(rule).breaking()
        refusable = {name for name, event in self._scope.registry.events.items() if event.refusable}
        if rule.enforce == "refuse" and not breaking & refusable:
            words = " and ".join(sorted(refusable)) or "none"
            message = f"nothing that can be refused breaks the rule {rule.name!r}"
            self._report(place, message, f"events that can be refused: {words}; write 'stop' or 'notify'")
        if rule.enforce == "stop" and not breaking - {"end"}:
            message = f"only the end of the run can break the rule {rule.name!r}, so it cannot stop the run"
            self._report(place, message, "write 'notify'")

    def _events(self, template: Template, entries: Mapping[str, Entry]) -> tuple[tuple[EventPattern, ...], int]:
        if NO_FLOW in entries:
            from bt_runtime.rules.labels import read_flow  # noqa: PLC0415  few trees have such a rule

            flow = read_flow(entries[NO_FLOW].node, registry=self._scope.registry, mistakes=self._mistakes)
            return flow, 1
        node = entries[template].node
        if template in UNARY:
            times = self._times(template, node)
            event = self._event(node, extra=("times",) if template in COUNTED else ())
            return (event,) if event else (), times
        if template in SYMMETRIC:
            items = node.data if isinstance(node.data, tuple) else ()
            if len(items) != 2:
                self._report(node.place, f"{template!r} needs a list of two events", f"{template}: [EVENT, EVENT]")
                return (), 1
            pair = [self._event(item) for item in items]
        else:
            pair = [self._event(item) for item in self._first_and_then(template, node)]
        return tuple(event for event in pair if event is not None), 1

    def _first_and_then(self, template: Template, node: YamlNode) -> tuple[YamlNode, ...]:
        form = f"{template}: {{first: EVENT, then: EVENT}}"
        if not isinstance(node.data, dict):
            self._report(node.place, f"{template!r} needs 'first' and 'then', not {node.shape}", form)
            return ()
        for name, entry in node.data.items():
            if name not in {"first", "then"}:
                self._report(entry.place, f"{template!r} has no {brief(name)}", form)
        for name in ("first", "then"):
            if name not in node.data:
                self._report(node.place, f"{template!r} needs {name!r}", form)
        return tuple(node.data[name].node for name in ("first", "then") if name in node.data)

    def _times(self, template: Template, node: YamlNode) -> int:
        entry = node.data.get("times") if isinstance(node.data, dict) else None
        if template not in COUNTED:
            return 1
        if entry is None:
            if template == "at_most" and isinstance(node.data, dict):
                self._report(node.place, "'at_most' needs 'times'", "for example: at_most: {tool: any, times: 3}")
            return 1
        value = entry.node.data
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_TIMES:
            return value
        message = f"'times' must be a whole number from 1 to {MOST_TIMES:,}, not {brief(entry.node.plain())}"
        self._report(entry.node.place, message, "for none at all, write 'absence'" if value == 0 else None)
        return 1
