"""Recorded runs, judged by rules: how many kept to each, and how the first that did not broke it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from bt_runtime import Event, EventPattern, ExpressionError, Monitor, Monitors, Rule
from bt_runtime.text import brief, iso, visible
from bt_runtime.text.data import dataclass
from oracle.features.rules.recorded import Happening, events_of
from oracle.features.rules.stream import ask_labels
from oracle.runs.record.record import Record
from oracle.runs.repeating import stand_in
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord

MOST_VIOLATIONS = 3
"""Of one rule."""
_MOST_EVENTS = 6
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Violation:
    """How a run broke a rule.

    Args:
        at: when it began, ISO 8601 in UTC.
        question: what the user asked, in full.
        tick: in which tick the rule was broken; `None` if the end of the run broke it.
        events: (tick, event) of the events that the rule is about, the last of them; the one that broke it included.
        omitted: how many of them came before.
    """

    run_id: str
    at: str
    question: str
    tick: int | None
    events: tuple[tuple[int, str], ...]
    omitted: int = 0

    def to_json(self) -> dict[str, Any]:
        """The story as a JSON object."""
        events = [{"tick": tick, "event": event} for tick, event in self.events]
        fields = {"run_id": self.run_id, "at": self.at, "question": self.question, "tick": self.tick}
        return {**fields, "events": events, "omitted": self.omitted}


@dataclass(slots=True)
class Judgment:
    """What runs came to under one rule.

    Args:
        held: the runs that kept to it.
        violated: those that did not.
        undecided: those whose record is gone or damaged.
        refused: how many tool calls were refused for it while the runs went on.
        violations: the first ones.
    """

    rule: Rule
    held: int = 0
    violated: int = 0
    undecided: int = 0
    refused: int = 0
    violations: list[Violation] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The judgment as a JSON object."""
        return {
            "rule": self.rule.name,
            "text": self.rule.text,
            "tree": self.rule.tree,
            "held": self.held,
            "violated": self.violated,
            "undecided": self.undecided,
            "refused": self.refused,
            "stories": [story.to_json() for story in self.violations],
        }


class Judge:
    """Judges recorded runs by the rules of a tree, one run after the other.

    Args:
        rules: of the present tree; the runs may have had others.
        labels: that the tree gives to tools, besides those that a run has recorded.
    """

    def __init__(self, rules: Iterable[Rule], labels: Sequence[tuple[str, frozenset[str]]] = ()) -> None:
        rules = tuple(rules)
        self._labels = labels if ask_labels(rules) else None
        self.problems: dict[str, str] = {}
        """Conditions that could not be evaluated, with the first reason; they counted as not fulfilled."""
        self._monitors = Monitors(rules, self._note)
        self.judgments = tuple(Judgment(monitor.rule) for monitor in self._monitors.monitors)

    def _note(self, rule: Rule, pattern: EventPattern, error: ExpressionError) -> None:
        what = f"rule {rule.name!r}: the condition {pattern.where!r} cannot be evaluated"
        self.problems.setdefault(what, error.message)

    def skip(self) -> None:
        """Count a run whose record is gone."""
        for judgment in self.judgments:
            judgment.undecided += 1

    async def read(self, archive: Archive, record: RunRecord) -> None:
        """Judge a run by its log.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        version = await archive.tree(record.tree_sha) if record.tree_sha else None
        entries = await archive.events(record.id) if version is not None and record.kept == "whole" else []
        if version is None or not entries:
            self.skip()
            return
        try:
            log = Record.fold(entries, has_texts=False)
            before = () if log.opened is None else log.opened.read_before
            happenings = events_of(list(log.facts()), version.nodes, self._labels_in(log), before)
        except (ValueError, KeyError, TypeError, IndexError):  # a log of another version, or damaged
            self.skip()
            return
        self.judge(record, happenings)
        by_name = {judgment.rule.name: judgment for judgment in self.judgments}
        for _, breach in log.breaches():
            if breach.enforcement == "refuse" and breach.rule in by_name:
                by_name[breach.rule].refused += 1

    def _labels_in(self, log: Record) -> Mapping[str, tuple[str, ...]] | None:
        """What the tools of a run read and where they write, as it has recorded it; `None`: no rule asks."""
        if self._labels is None:
            return None
        tools = map(stand_in, log.opened.tools if log.opened is not None else ())
        return {tool.name: replace(tool, labels=tool.labels_with(self._labels)).flows for tool in tools}

    def judge(self, record: RunRecord, happenings: Sequence[Happening]) -> None:
        """Judge a run by its events."""
        for monitor, judgment in zip(self._monitors.monitors, self.judgments, strict=True):
            broken_by = _breaking(monitor, happenings)
            if broken_by is None:
                judgment.held += 1
                continue
            judgment.violated += 1
            if len(judgment.violations) < MOST_VIOLATIONS:
                judgment.violations.append(_violation(monitor, record, happenings, broken_by))


def _breaking(monitor: Monitor, happenings: Sequence[Happening]) -> int | None:
    """The index of the event that breaks the rule; that behind the last one for the end; `None` if it holds."""
    state = monitor.start
    for index, (_, event) in enumerate(happenings):
        if event.type in monitor.types:
            state = monitor.step(state, event)
            if monitor.is_violated(state):
                return index
    return len(happenings) if monitor.verdict(state, ended=True) == "violated" else None


def _violation(monitor: Monitor, record: RunRecord, happenings: Sequence[Happening], broken_by: int) -> Violation:
    at_end = broken_by == len(happenings)
    concerned = [
        happening
        for index, happening in enumerate(happenings[: broken_by + 1])
        if index == broken_by or monitor.concerns(happening.event)
    ]
    return Violation(
        run_id=record.id,
        at=iso(record.created_at),
        question=str(record.input.get("question", "")),
        tick=None if at_end else happenings[broken_by].tick,
        events=tuple((tick, shown(event)) for tick, event in concerned[-_MOST_EVENTS:]),
        omitted=max(0, len(concerned) - _MOST_EVENTS),
    )


def shown(event: Event) -> str:
    """An event for people: its type, its name, and its values in short."""
    values = ", ".join(f"{visible(name[:_LONGEST_NAME])}: {brief(value)}" for name, value in event.fields.items())
    return f"{event}({values})" if values else str(event)
