"""Rules about runs, compiled: each rule of a tree file becomes a small automaton over the events of a run.

`Monitors(tree.rules)` judges all rules of a tree at once: begin with `start`, and `advance` with each event, which
returns the new states and the rules that the event breaks for good. The end of the run breaks those that are
`pending`.

A monitor is the immutable, compiled form of a rule; how far a run has come is one small number, its state. So states
can be stored, compared and merged, and one monitor serves all runs.

The automata decide on finite traces of letters. A letter says which of a sentence's two events one event of the trace
is: neither, the first, the second, or both.

Each DECLARE template has one, with the semantics of linear temporal logic on finite traces (LTLf).

The definitions are those of Pesic and van der Aalst (DECLARE) and of De Giacomo and Vardi (LTLf), with three
refinements, because the events of a run are not activities of one kind:

- An event may be both of a template's events, such as `tool: any` and `tool: vault_write`. "Before" and "after" are
  strict: an event neither precedes nor follows itself.
- "Directly", "first of all" and "last of all" count only events of the types that the rule names: `chain_response` over
  two tool calls means the next tool call, whatever else happens between them.
- A run without any event of these types satisfies `init` and `last`.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property, lru_cache, partial
from typing import Literal

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.compiler import AnyName, Expression, compile_expression
from bt_runtime.language.rule import Event, EventPattern, Rule, Template
from bt_runtime.text.data import dataclass

Report = Callable[[EventPattern, ExpressionError], None]
"""Gets the pattern whose condition could not be evaluated, and why; the message has values of the event."""


class EventMatcher:
    """Decides for one pattern.

    Args:
        report: gets the error of a condition that fails; such a condition counts as not fulfilled.

    Raises:
        ExpressionError: the condition is no expression.
    """

    __slots__ = ("_choices", "_ends", "_names", "_report", "_where", "pattern", "type")

    def __init__(self, pattern: EventPattern, report: Report) -> None:
        self.pattern = pattern
        self.type = pattern.type
        self._names = None if pattern.names is None else frozenset(pattern.names)
        self._ends = tuple(f"/{name}" for name in pattern.names or ()) if pattern.type == "node" else ()
        self._choices = pattern.choices
        self._where = condition_of(pattern) if pattern.where else None
        self._report = report

    def depends_on_fields(self, name: str) -> bool:
        """Whether the decision about events of this name depends on their fields."""
        return self.matches_name(name) and (bool(self._choices) or self._where is not None)

    def matches_name(self, name: str) -> bool:
        """Whether the pattern can be about an event of this name."""
        names = self._names
        return names is None or name in names or bool(self._ends and name.endswith(self._ends))

    def matches(self, event: Event) -> bool:
        """Whether the event, which is of the pattern's type, is one of these."""
        if not self.matches_name(event.name):
            return False
        for name, value in self._choices:
            if event.fields.get(name) != value:
                return False
        return self._where is None or self._holds(self._where, event)

    def _holds(self, where: Expression, event: Event) -> bool:
        try:
            return bool(where.evaluate(event.fields.get))
        except ExpressionError as error:
            self._report(self.pattern, error)
            return False


def condition_of(pattern: EventPattern) -> Expression:
    """The compiled condition of a pattern.

    Raises:
        ExpressionError: it is no expression, or uses a name that the events do not have.
    """
    return compile_expression(pattern.where, names=AnyName() if pattern.fields is None else pattern.fields)


NEITHER, FIRST, THEN, BOTH = range(4)
"""The letters."""

Row = tuple[int, int, int, int]
"""The next state for each letter."""


@dataclass(frozen=True)
class Automaton:
    """A deterministic finite automaton; its states are numbers, and 0 is the first.

    Args:
        rows: for each state, the next state for each letter.
        accepting: the states in which the sentence holds if the trace ends.
    """

    rows: tuple[Row, ...]
    accepting: frozenset[int] = field(default_factory=frozenset)

    @cached_property
    def violated(self) -> frozenset[int]:
        """The states from which no continuation of the trace makes the sentence hold."""
        return frozenset(range(len(self.rows))) - self._reaching(self.accepting)

    def _reaching(self, targets: frozenset[int]) -> frozenset[int]:
        """The states from which one of the targets can be reached, the targets among them."""
        found = set(targets)
        while True:
            more = {state for state, row in enumerate(self.rows) if state not in found and found.intersection(row)}
            if not more:
                return frozenset(found)
            found |= more


def conjunction(one: Automaton, other: Automaton) -> Automaton:
    """The automaton of two sentences that must both hold."""
    numbers: dict[tuple[int, int], int] = {(0, 0): 0}
    waiting, rows = deque(numbers), []
    while waiting:
        left, right = waiting.popleft()
        row = []
        for pair in zip(one.rows[left], other.rows[right], strict=True):
            if pair not in numbers:
                numbers[pair] = len(numbers)
                waiting.append(pair)
            row.append(numbers[pair])
        rows.append((row[0], row[1], row[2], row[3]))
    accepting = (
        number for (left, right), number in numbers.items() if left in one.accepting and right in other.accepting
    )
    return Automaton(tuple(rows), frozenset(accepting))


# --- the templates


def _automaton(*rows: Row, accepting: set[int]) -> Automaton:
    return Automaton(rows, frozenset(accepting))


def _at_most(times: int) -> Automaton:
    rows: list[Row] = [(count, count + 1, count, count + 1) for count in range(times + 1)]
    violated = times + 1
    return _automaton(*rows, (violated,) * 4, accepting=set(range(times + 1)))


def _at_least(times: int) -> Automaton:
    rows: list[Row] = [(count, count + 1, count, count + 1) for count in range(times)]
    return _automaton(*rows, (times,) * 4, accepting={times})


# The columns are the letters: neither event, the first one, the second one, both.
_RESPONSE = _automaton((0, 1, 0, 1), (1, 1, 0, 1), accepting={0})
_PRECEDENCE = _automaton((0, 1, 2, 2), (1, 1, 1, 1), (2, 2, 2, 2), accepting={0, 1})
_ALTERNATE_RESPONSE = _automaton((0, 1, 0, 1), (1, 2, 0, 1), (2, 2, 2, 2), accepting={0})
_ALTERNATE_PRECEDENCE = _automaton((0, 1, 2, 2), (1, 1, 0, 0), (2, 2, 2, 2), accepting={0, 1})
_CHAIN_RESPONSE = _automaton((0, 1, 0, 1), (2, 2, 0, 1), (2, 2, 2, 2), accepting={0})
_CHAIN_PRECEDENCE = _automaton((0, 1, 2, 2), (0, 1, 0, 1), (2, 2, 2, 2), accepting={0, 1})
_FIXED: Mapping[Template, Automaton] = {
    "init": _automaton((2, 1, 2, 1), (1, 1, 1, 1), (2, 2, 2, 2), accepting={0, 1}),
    "last": _automaton((1, 2, 1, 2), (1, 2, 1, 2), (1, 2, 1, 2), accepting={0, 2}),
    "responded_existence": _automaton((0, 1, 2, 2), (1, 1, 2, 2), (2, 2, 2, 2), accepting={0, 2}),
    "co_existence": _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={0, 3}),
    "not_co_existence": _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={0, 1, 2}),
    "choice": _automaton((0, 1, 1, 1), (1, 1, 1, 1), accepting={1}),
    "exclusive_choice": _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={1, 2}),
    "response": _RESPONSE,
    "precedence": _PRECEDENCE,
    "succession": conjunction(_RESPONSE, _PRECEDENCE),
    "alternate_response": _ALTERNATE_RESPONSE,
    "alternate_precedence": _ALTERNATE_PRECEDENCE,
    "alternate_succession": conjunction(_ALTERNATE_RESPONSE, _ALTERNATE_PRECEDENCE),
    "chain_response": _CHAIN_RESPONSE,
    "chain_precedence": _CHAIN_PRECEDENCE,
    "chain_succession": conjunction(_CHAIN_RESPONSE, _CHAIN_PRECEDENCE),
    "not_succession": _automaton((0, 1, 0, 1), (1, 1, 2, 2), (2, 2, 2, 2), accepting={0, 1}),
    "not_chain_succession": _automaton((0, 1, 0, 1), (0, 1, 2, 2), (2, 2, 2, 2), accepting={0, 1}),
}
_COUNTED: Mapping[Template, Callable[[int], Automaton]] = {
    "absence": lambda _times: _at_most(0),
    "existence": _at_least,
    "exactly": lambda times: Automaton(_at_most(times).rows, frozenset({times})),
    "at_most": _at_most,
}


@lru_cache(maxsize=256)
def automaton_of(template: Template, times: int = 1) -> Automaton:
    """The automaton of a template.

    Args:
        template: its name.
        times: how often its event happens, for the templates that count.
    """
    return _COUNTED[template](times) if template in _COUNTED else _FIXED[template]


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
