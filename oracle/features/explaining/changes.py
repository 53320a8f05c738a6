"""Which rows an edit changes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bt_runtime import Monitor, Registry, TreeDefinition
from bt_runtime.text.data import dataclass
from oracle.cli.tree_compare import Differences
from oracle.core.logs import quiet
from oracle.features.explaining.table import MOST_UNREACHED, Case, Row, Table, monitors_of, table_of
from oracle.features.explaining.writing import in_cell, named

_MOST_RULES: Final = 3
_BEFORE: Final = {"tools": "the model was offered"}


@dataclass(frozen=True, slots=True)
class Change:
    """Situations in which the new tree differs from the old one, and in the same way.

    Args:
        old: as the old tree had it; `None`: it could not come about.
        new: the same of the new tree.
        rules: the names of the new tree's rules that speak of what differs.
    """

    old: Row | None
    new: Row | None
    rules: tuple[str, ...]

    @property
    def row(self) -> Row:
        """Names the situations."""
        row = self.new or self.old
        assert row is not None  # noqa: S101  one of the two
        return row

    @property
    def in_short(self) -> str:
        """The figures that differ, as `was not written, now written`."""
        if self.old is None:
            return "could not come about before"
        if self.new is None:
            return "cannot come about any more"
        before, now = self.old.told.facts, self.new.told.facts
        differing = [name for name in now if before[name] != now[name] and (name != "tools" or self.row.cases[0].tools)]
        found = [f"{_BEFORE.get(name, 'was')} {before[name] or 'nothing'}, now {now[name]}" for name in differing]
        return "; ".join(found) or "goes another way"

    def to_json(self) -> dict[str, Any]:
        """The change as a JSON object."""
        return {
            "ids": list(self.row.ids),
            "when": self.row.when,
            "change": self.in_short,
            "old": None if self.old is None else self.old.to_json(),
            "new": None if self.new is None else self.new.to_json(),
            "rules": list(self.rules),
        }


def changes_of(old: Table, new: Table) -> tuple[Change, ...]:
    """The situations with another outcome, those with the same difference together, but those that were not played."""
    before, now = _by_id(old), _by_id(new)
    found: dict[object, tuple[list[Case], list[Case]]] = {}
    for name in dict.fromkeys((*now, *before)):
        if name in old.left_out or name in new.left_out:
            continue
        one, other = before.get(name), now.get(name)
        outcomes = (one and (one.told.outcome, one.tools), other and (other.told.outcome, other.tools))
        if outcomes[0] != outcomes[1]:
            cases = found.setdefault(outcomes, ([], []))
            cases[0].extend([one] if one else [])
            cases[1].extend([other] if other else [])
    monitors = monitors_of(new.tree)
    return tuple(Change(_row(olds), _row(news), _speaking(monitors, olds, news)) for olds, news in found.values())


def _speaking(monitors: Sequence[Monitor], olds: Sequence[Case], news: Sequence[Case]) -> tuple[str, ...]:
    """The names of the rules that are about an event that only one of two plays has."""
    sides = [cases[0].events if cases else () for cases in (olds, news)]
    events = {repr(event): event for side in sides for event in side}
    before, now = (Counter(map(repr, side)) for side in sides)
    differing = [events[name] for name in (before - now) + (now - before)]
    return tuple(each.rule.name for each in monitors if any(map(each.concerns, differing)))


def _by_id(table: Table) -> Mapping[str, Case]:
    return {case.situation.id: case for case in table.cases}


def _row(cases: list[Case]) -> Row | None:
    return Row(tuple(cases)) if cases else None


def differences(old: TreeDefinition, new: TreeDefinition, registry: Registry) -> Differences:
    """What `oracle trees compare` says about two trees."""
    with quiet():
        tables = table_of(old, registry), table_of(new, registry)
    found = changes_of(*tables)
    return Differences(
        ids=tuple(name for change in found for name in change.row.ids),
        text="\n".join(
            [*_text(found, len({case.situation.id for table in tables for case in table.cases})), *_lost(*tables)]
        ),
        markdown="\n".join([*_markdown(found), *_lost(*tables)]),
        data=[change.to_json() for change in found],
    )


def _text(changes: tuple[Change, ...], situations: int) -> Iterator[str]:
    changed = sum(len(change.row.cases) for change in changes)
    yield (
        f"{changed} of {situations} situations end another way" if changed else f"{situations} situations: all the same"
    )
    for change in changes:
        yield f"- When {change.row.when}: {change.in_short}"
        for name, row in (("was", change.old), ("now", change.new)):
            if row is not None:
                told = row.told
                yield f"    {name}: {told.does}. The user sees {told.sees}. Ends as {told.ends}."
        yield f"    rows: {', '.join(change.row.ids)}; {_rules(change)}"


def _markdown(changes: tuple[Change, ...]) -> Iterator[str]:
    if not changes:
        yield "No row of the tree's behaviour changes."
        return
    yield from ("| when | change | was | now | rows | rules |", "|---|---|---|---|---|---|")
    for change in changes:
        sides = [
            "" if row is None else f"{row.told.does}; the user sees {row.told.sees}; {row.told.ends}"
            for row in (change.old, change.new)
        ]
        ids = ", ".join(f"`{name}`" for name in change.row.ids)
        cells = (change.row.when, f"**{change.in_short}**", *sides, ids, _rules(change))
        yield "| " + " | ".join(map(in_cell, cells)) + " |"


def _lost(old: Table, new: Table) -> Iterator[str]:
    """The nodes that a situation has reached and none reaches any more."""
    reached = frozenset[str]().union(*(case.told.visited for case in old.cases))
    if lost := [named(node) for node in new.unreached if node.path in reached]:
        yield ""
        yield f"No situation reaches any more: {', '.join(lost[:MOST_UNREACHED])}."


def _rules(change: Change) -> str:
    broken = {rule for case in change.row.cases for rule in case.broken}
    named = [f"{rule} (BROKEN)" if rule in broken else rule for rule in change.rules]
    more = f" and {len(named) - _MOST_RULES} more" if len(named) > _MOST_RULES else ""
    return f"rules: {', '.join(named[:_MOST_RULES])}{more}" if named else "no rule of the tree covers it"
