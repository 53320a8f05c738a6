"""Monitors: whether the events of a run keep to its rules, event by event.

A monitor is the immutable, compiled form of a rule; how far a run has come is one small number, its state. So states
can be stored, compared and merged, and one monitor serves all runs.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.rule import Event, EventPattern, Rule
from bt_runtime.language.rules.automata import BOTH, FIRST, NEITHER, THEN, Row, automaton_of
from bt_runtime.language.rules.matching import EventMatcher, Report

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
        self._first = EventMatcher(rule.events[0], report)
        self._then = EventMatcher(rule.events[1], report) if len(rule.events) > 1 else None
        self._after = EventMatcher(rule.after, report) if rule.after is not None else None
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
        if event.type == first.type:
            is_known = True
            if first.matches(event):
                letter = FIRST
        if then is not None and event.type == then.type:
            is_known = True
            if then.matches(event):
                letter |= THEN
        return letter if is_known else None

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the rule's automaton."""
        return self._automaton.rows

    def constant_letter(self, event: Event) -> int | None:
        """The letter of all events of this type and name; `None` if it depends on their fields."""
        matchers = [each for each in (self._first, self._then) if each is not None and each.type == event.type]
        if any(matcher.depends_on_fields(event.name) for matcher in matchers):
            return None
        return self.letter(event)

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


_Move = tuple[int, Monitor, tuple[Row, ...] | None, int | None]
"""What an event of one type and name does to one rule: the rule's index, the rows of its automaton (`None` where it has
a scope) and the letter (`None` where that depends on the event's fields)."""
_MOST_MOVES = 4_096


class Monitors:
    """The monitors of all rules of a run.

    Args:
        rules: in the order of the file.
        report: gets each condition that cannot be evaluated; it counts as not fulfilled.

    Raises:
        ExpressionError: a condition is no expression.
    """

    __slots__ = ("_moves", "monitors", "start", "types")

    def __init__(self, rules: Iterable[Rule], report: RuleReport = _ignore) -> None:
        self.monitors: tuple[Monitor, ...] = tuple(Monitor(rule, partial(report, rule)) for rule in rules)
        self.start: States = tuple(monitor.start for monitor in self.monitors)
        self.types: frozenset[str] = frozenset().union(*(monitor.types for monitor in self.monitors))
        self._moves: dict[tuple[str, str], tuple[_Move, ...]] = {}

    def __len__(self) -> int:
        return len(self.monitors)

    def advance(self, states: States, event: Event) -> tuple[States, tuple[Rule, ...]]:
        """The states after the event (the same object if it changes none), and the rules that it breaks for good."""
        moves = self._moves.get((event.type, event.name))
        if moves is None:
            moves = self._find_moves(event)
        changed: list[State] | None = None
        broken: tuple[Rule, ...] = ()
        for index, monitor, rows, letter in moves:
            before = states[index]
            if rows is None:
                after = monitor.step(before, event)
            else:
                after = rows[before][monitor.letter(event) or NEITHER if letter is None else letter]
            if after != before:
                changed = changed if changed is not None else list(states)
                changed[index] = after
                if monitor.is_violated(after) and not monitor.is_violated(before):
                    broken += (monitor.rule,)
        return (states if changed is None else tuple(changed)), broken

    def pending(self, states: States) -> Iterator[Rule]:
        """The rules that the end of the run would break, in order."""
        for monitor, state in zip(self.monitors, states, strict=True):
            if monitor.verdict(state) == "pending":
                yield monitor.rule

    def broken_by(self, events: Iterable[Event]) -> tuple[Rule, ...]:
        """The rules that a whole run breaks, by an event or by its end, in that order."""
        states, found = self.start, list[Rule]()
        for event in events:
            states, broken = self.advance(states, event)
            found += broken
        return (*found, *self.pending(states))

    def _find_moves(self, event: Event) -> tuple[_Move, ...]:
        """What such an event does, without the rules that it never changes."""
        found: list[_Move] = []
        for index, monitor in enumerate(self.monitors):
            if event.type in monitor.types:
                if monitor.rule.after is not None:
                    found.append((index, monitor, None, None))
                    continue
                letter = monitor.constant_letter(event)
                if letter is None or any(row[letter] != state for state, row in enumerate(monitor.rows)):
                    found.append((index, monitor, monitor.rows, letter))
        if len(self._moves) >= _MOST_MOVES:  # names may come from outside
            self._moves.clear()
        moves = self._moves[event.type, event.name] = tuple(found)
        return moves
