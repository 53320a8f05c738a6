"""Monitors: whether the events of a run keep to its rules, event by event.

A monitor is the immutable, compiled form of a rule; how far a run has come is one small number, its state. So states
can be stored, compared and merged, and one monitor serves all runs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from bt_runtime.errors import ExpressionError
from bt_runtime.rule import Event, EventPattern, Rule
from bt_runtime.rules.automaton import BOTH, FIRST, NEITHER, THEN
from bt_runtime.rules.matching import Matcher, Report
from bt_runtime.rules.templates import automaton_of

Verdict = Literal["violated", "pending", "satisfied"]
"""`violated`: whatever follows; `pending`: the rule holds only if something still happens; `satisfied`: it holds if the
run ends here."""

State = int
"""How far a run has come with one rule."""
States = tuple[State, ...]
"""How far a run has come with each of its rules."""

UNOPENED: State = -1
"""The state of a rule with a scope, before that begins."""


RuleReport = Callable[[Rule, EventPattern, ExpressionError], None]
"""Gets the rule and the pattern whose condition could not be evaluated, and why."""


def _ignore(*_problem: object) -> None:
    pass


class Monitor:
    """The compiled form of one rule.

    Args:
        rule: the rule.
        report: gets the errors of conditions that cannot be evaluated; they count as not fulfilled.

    Raises:
        ExpressionError: a condition is no expression.
    """

    __slots__ = ("_after", "_automaton", "_first", "_then", "_violated", "rule", "start", "types")

    def __init__(self, rule: Rule, report: Report = _ignore) -> None:
        self.rule = rule
        self._automaton = automaton_of(rule.template, rule.times)
        self._violated = self._automaton.violated
        self._first = Matcher(rule.events[0], report)
        self._then = Matcher(rule.events[1], report) if len(rule.events) > 1 else None
        self._after = Matcher(rule.after, report) if rule.after is not None else None
        self.start: State = 0 if rule.after is None else UNOPENED
        counted = frozenset(pattern.type for pattern in rule.events)
        self.types: frozenset[str] = counted if rule.after is None else counted | {rule.after.type}

    def step(self, state: State, event: Event) -> State:
        """The state after the event; an event that the rule is not about changes nothing."""
        if state == UNOPENED:
            after = self._after
            return 0 if after is not None and event.type == after.pattern.type and after.matches(event) else state
        letter = self.letter(event)
        return state if letter is None else self._automaton.rows[state][letter]

    def letter(self, event: Event) -> int | None:
        """Which of the rule's events this is; `None` if it is of none of their types."""
        first, then = self._first, self._then
        is_known, letter = False, NEITHER
        if event.type == first.pattern.type:
            is_known = True
            if first.matches(event):
                letter = FIRST
        if then is not None and event.type == then.pattern.type:
            is_known = True
            if then.matches(event):
                letter |= THEN
        return letter if is_known else None

    def concerns(self, event: Event) -> bool:
        """Whether this is one of the rule's events, or the one that begins its scope."""
        after = self._after
        if after is not None and event.type == after.pattern.type and after.matches(event):
            return True
        return bool(self.letter(event))

    def verdict(self, state: State, *, ended: bool = False) -> Verdict:
        """Whether the rule holds.

        Args:
            state: after the events so far.
            ended: no event follows; then the verdict is never `pending`.
        """
        if state == UNOPENED or state in self._automaton.accepting:
            return "satisfied"
        return "violated" if ended or state in self._violated else "pending"

    def is_violated(self, state: State) -> bool:
        """Whether nothing that follows can make the rule hold."""
        return state in self._violated

    def is_settled(self, state: State) -> bool:
        """Whether nothing that follows can change the verdict."""
        return state in self._violated or state in self._automaton.settled

    def would_violate(self, state: State, event: Event) -> bool:
        """Whether the event breaks the rule for good; not if it is broken already."""
        return state not in self._violated and self.step(state, event) in self._violated

    def breaking(self) -> frozenset[str]:
        """The types of the events that can break the rule for good."""
        types: set[str] = set()
        for state, row in enumerate(self._automaton.rows):
            if state not in self._violated:
                types.update(name for letter, name in self._letters() if row[letter] in self._violated)
        return frozenset(types)

    def _letters(self) -> Iterator[tuple[int, str]]:
        """Each letter that an event can be, with each type that the event can have."""
        first, *others = (pattern.type for pattern in self.rule.events)
        yield from ((NEITHER, name) for name in (first, *others))
        yield FIRST, first
        for then in others:
            yield THEN, then
            yield from ((BOTH, name) for name in {first} & {then})


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that an event has broken, or the end of the run (`event` is `None` then)."""

    rule: Rule
    event: Event | None


class Monitors:
    """The monitors of all rules of a run.

    Args:
        rules: in the order of the file.
        report: gets each condition that cannot be evaluated; it counts as not fulfilled.

    Raises:
        ExpressionError: a condition is no expression.
    """

    __slots__ = ("_by_type", "monitors", "start", "types")

    def __init__(self, rules: Iterable[Rule], report: RuleReport = _ignore) -> None:
        self.monitors: tuple[Monitor, ...] = tuple(Monitor(rule, partial(report, rule)) for rule in rules)
        self.start: States = tuple(monitor.start for monitor in self.monitors)
        self._by_type: Mapping[str, Sequence[tuple[int, Monitor]]] = _by_type(self.monitors)
        self.types: frozenset[str] = frozenset(self._by_type)

    def __len__(self) -> int:
        return len(self.monitors)

    def step(self, states: States, event: Event) -> States:
        """The states after the event; the same object if it changes none."""
        changed: list[State] | None = None
        for index, monitor in self._by_type.get(event.type, ()):
            before = states[index]
            after = monitor.step(before, event)
            if after != before:
                changed = changed if changed is not None else list(states)
                changed[index] = after
        return states if changed is None else tuple(changed)

    def would_violate(self, states: States, event: Event) -> Iterator[Rule]:
        """The rules that the event breaks for good, in order; those that are broken already are left out."""
        for index, monitor in self._by_type.get(event.type, ()):
            if monitor.would_violate(states[index], event):
                yield monitor.rule

    def broken(self, before: States, after: States) -> Iterator[Rule]:
        """The rules that are broken for good in the states `after`, and were not in the states `before`."""
        for monitor, was, state in zip(self.monitors, before, after, strict=True):
            if monitor.is_violated(state) and not monitor.is_violated(was):
                yield monitor.rule

    def violated(self, states: States, *, ended: bool = False) -> Iterator[Rule]:
        """The rules that are broken, in order."""
        for monitor, state in zip(self.monitors, states, strict=True):
            if monitor.verdict(state, ended=ended) == "violated":
                yield monitor.rule


def judge(monitors: Monitors, events: Iterable[Event]) -> tuple[Violation, ...]:
    """Judge a whole run; the rules that it breaks, each once, in the order in which it breaks them."""
    states, found = monitors.start, []
    for event in events:
        before, states = states, monitors.step(states, event)
        if states is not before:
            found += [Violation(rule, event) for rule in monitors.broken(before, states)]
    known = {violation.rule.name for violation in found}
    found += [Violation(rule, None) for rule in monitors.violated(states, ended=True) if rule.name not in known]
    return tuple(found)


def _by_type(monitors: Sequence[Monitor]) -> dict[str, list[tuple[int, Monitor]]]:
    found: dict[str, list[tuple[int, Monitor]]] = {}
    for index, monitor in enumerate(monitors):
        for name in monitor.types:
            found.setdefault(name, []).append((index, monitor))
    return found
