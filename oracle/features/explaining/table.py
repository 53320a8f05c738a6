"""The rows of a tree, and what differs between those of two.

A row has all situations with the same outcome. Rows stand in the order of how much happens, the shortest first.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from bt_runtime import Event, Monitor, Monitors, NodeDefinition, Registry, TreeDefinition
from bt_runtime.rules.monitors import State
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import joined
from oracle.core.errors import UserError
from oracle.features.explaining.situations import SUBJECTS, Situation, situations
from oracle.features.explaining.staging import Performance, Stage
from oracle.features.explaining.telling import Told, own_words_of, told_of
from oracle.features.rules.recorded import events_of
from oracle.features.scenarios.playing import EndlessError
from oracle.features.verifier.reads import reads_of

MOST_ROWS: Final = 40
"""A page."""
DEFAULT_SECONDS: Final = 20.0
MOST_UNREACHED: Final = 12


@dataclass(frozen=True, slots=True)
class Case:
    """A situation and what came of it.

    Args:
        events: what the rules of the tree may speak of, in order.
        broken: the names of the rules that it breaks.
    """

    situation: Situation
    told: Told
    events: tuple[Event, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def tools(self) -> str:
        """The tools of the first turn, where the situation is about the question; else empty."""
        is_plain = self.situation.asks and self.situation.moves == ("answer",)
        return self.told.facts["tools"] if is_plain else ""


@dataclass(frozen=True, slots=True)
class Row:
    """Situations with the same outcome."""

    cases: tuple[Case, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The stable names of its situations."""
        return tuple(case.situation.id for case in self.cases)

    @property
    def when(self) -> str:
        """The situations, to follow the word "When"; what they say of the same subject is joined."""
        found: dict[str, list[str]] = {}
        for case in self.cases:
            subject = next((each for each in SUBJECTS if case.situation.when.startswith(each)), "")
            found.setdefault(subject, []).append(case.situation.when.removeprefix(subject))
        return "; ".join(subject + joined(said, last="or") for subject, said in found.items())

    @property
    def told(self) -> Told:
        """What came of them."""
        return self.cases[0].told

    def to_json(self) -> dict[str, Any]:
        """The row as a JSON object; `lines` are those of the visited nodes, by file."""
        told = self.told
        decided = told.decided_by
        return {
            "ids": list(self.ids),
            "when": self.when,
            "does": told.does,
            "sees": told.sees,
            "ends": told.ends,
            "decided_by": None if decided is None else _place(decided),
            "broken_rules": sorted({rule for case in self.cases for rule in case.broken}),
        }


@dataclass(frozen=True, slots=True)
class Table:
    """What a tree does.

    Args:
        cases: in the order in which they are played.
        unreached: the nodes that no situation has visited, without those below them.
        left_out: the ids of situations for which there was no time.
    """

    tree: TreeDefinition
    cases: tuple[Case, ...]
    unreached: tuple[NodeDefinition, ...]
    left_out: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The cases by outcome, the shortest way first."""
        found: dict[tuple[str, str, str], list[Case]] = {}
        for case in self.cases:
            found.setdefault(case.told.outcome, []).append(case)
        return tuple(Row(tuple(cases)) for cases in sorted(found.values(), key=lambda each: len(each[0].told.steps)))

    @property
    def page(self) -> tuple[Row, ...]:
        """The rows for which a page has room: of minor situations alone, only if they fit."""
        kept = sorted(self.rows, key=lambda row: all(case.situation.is_minor for case in row.cases))[:MOST_ROWS]
        return tuple(row for row in self.rows if row in kept)

    @property
    def offered(self) -> str:
        """The tools of the first turn, by the type of the question."""
        found: dict[str, list[str]] = {}
        for case in self.cases:
            if case.tools:
                found.setdefault(case.tools, []).append(case.situation.asks)
        return "; ".join(f"{joined(kinds)}: {tools}" for tools, kinds in found.items())

    def to_json(self) -> dict[str, Any]:
        """The table as a JSON object."""
        return {
            "tree": self.tree.name,
            "offered": self.offered,
            "rows": [row.to_json() for row in self.rows],
            "unreached": [_place(node) for node in self.unreached],
            "left_out": list(self.left_out),
        }


def _place(node: NodeDefinition) -> dict[str, Any]:
    return {"file": node.place.file, "line": node.place.line, "path": node.path}


def table_of(tree: TreeDefinition, registry: Registry, *, seconds: float = DEFAULT_SECONDS) -> Table:
    """Play all situations that a tree can meet. Logs; see `oracle.features.verifier.parts.quiet`.

    Args:
        tree: a whole, checked tree.
        registry: the kinds that it was read with.
        seconds: real seconds after which no further situation is begun.

    Raises:
        UserError: it is a part of other trees.
    """
    if tree.internal or tree.required:
        raise UserError(f"{tree.name!r} is a part of other trees, and only whole trees run; explain those")
    stage, words = Stage(tree, registry), own_words_of(tree)
    monitors = monitors_of(tree)
    until_s = time.monotonic() + seconds
    cases: list[Case] = []
    left_out: list[str] = []
    for situation in situations(tree, reads_of(tree), stage.domain):
        try:
            performance = stage.play(situation, until_s=until_s)
        except EndlessError:
            left_out.append(situation.id)
            continue
        if performance is not None:
            cases.append(_case(performance, tree, words, monitors))
    visited = frozenset[str]().union(*(case.told.visited for case in cases))
    return Table(tree, tuple(cases), tuple(_unreached(tree.root, visited)), tuple(left_out))


def _case(performance: Performance, tree: TreeDefinition, words: Sequence[str], monitors: Sequence[Monitor]) -> Case:
    told = told_of(performance, tree, words)
    events = tuple(each.event for each in events_of(performance.played.facts, tree.paths, performance.labels))
    broken = tuple(
        each.rule.name for each in monitors if each.verdict(course_of(each, events)[-1], ended=True) == "violated"
    )
    return Case(performance.situation, told, events, broken)


def course_of(monitor: Monitor, events: Sequence[Event]) -> list[State]:
    """The states through which the events lead a rule."""
    course = [monitor.start]
    for event in events:
        state = monitor.step(course[-1], event) if event.type in monitor.types else course[-1]
        course += [state] if state != course[-1] else []
    return course


def monitors_of(tree: TreeDefinition) -> Sequence[Monitor]:
    """The rules of a tree; a condition that cannot be evaluated counts as not fulfilled."""
    return Monitors(tree.rules, lambda *_: None).monitors


def _unreached(node: NodeDefinition, visited: frozenset[str]) -> Iterator[NodeDefinition]:
    if node.path not in visited:
        yield node
        return
    for nodes in node.children.values():
        for child in nodes:
            yield from _unreached(child, visited)
