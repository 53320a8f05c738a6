"""Which rows an edit changes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from bt_runtime import Monitor, NodeDefinition, Registry, TreeDefinition
from bt_runtime.text.data import dataclass
from oracle.cli.tree_compare import Differences
from oracle.core.logs import quiet
from oracle.features.explaining.steps import TOLD
from oracle.features.explaining.table import MOST_UNREACHED, Case, Row, Table, course_of, monitors_of, table_of
from oracle.features.explaining.telling import Told
from oracle.features.explaining.writing import in_cell, named

_MOST_RULES: Final = 3
_MOST_PARTS: Final = 2
_MOST_CASES: Final = 5
_BEFORE: Final = {"tools": "the model was offered"}


@dataclass(frozen=True, slots=True)
class Change:
    """Situations in which the new tree differs from the old one, and in the same way.

    Args:
        old: as the old tree had it; `None`: it could not come about. `told` is of the shortest one.
        new: the same of the new tree.
        in_short: what differs, as `was not written, now written`.
        rules: the names of the new tree's rules that are in another state because of the difference.
    """

    old: Row | None
    new: Row | None
    in_short: str
    rules: tuple[str, ...]

    @property
    def row(self) -> Row:
        """Names the situations."""
        return self.new or self.old or Row(())

    @property
    def when(self) -> str:
        """Some of the situations, to follow the word "When"."""
        cases = self.row.cases
        more = len(cases) - _MOST_CASES
        return Row(cases[:_MOST_CASES]).when + (f" (and in {more} more)" if more > 0 else "")

    def to_json(self) -> dict[str, Any]:
        """The change as a JSON object."""
        return {
            "ids": list(self.row.ids),
            "when": self.when,
            "change": self.in_short,
            "old": None if self.old is None else self.old.to_json(),
            "new": None if self.new is None else self.new.to_json(),
            "rules": list(self.rules),
        }


def changes_of(old: Table, new: Table) -> tuple[Change, ...]:
    """The situations with another outcome, the shortest first, but those that were not played."""
    before, now = _by_id(old), _by_id(new)
    monitors = monitors_of(new.tree)
    found: dict[tuple[str, tuple[str, ...], object], tuple[list[Case], list[Case]]] = {}
    for name in dict.fromkeys((*now, *before)):
        one, other = before.get(name), now.get(name)
        if name in old.left_out or name in new.left_out or _outcome(one) == _outcome(other):
            continue
        in_short, rules = _in_short(one, other), _speaking(monitors, one, other)
        olds, news = found.setdefault((in_short, rules, other and (other.broken if one else _outcome(other))), ([], []))
        olds += [one] if one else []
        news += [other] if other else []
    return tuple(
        Change(_row(olds), _row(news), in_short, rules) for (in_short, rules, _), (olds, news) in found.items()
    )


def _by_id(table: Table) -> Mapping[str, Case]:
    return {case.situation.id: case for case in sorted(table.cases, key=lambda case: len(case.told.steps))}


def _outcome(case: Case | None) -> object:
    return None if case is None else (case.told.outcome, case.tools)


def _row(cases: list[Case]) -> Row | None:
    return Row(tuple(cases)) if cases else None


def _in_short(one: Case | None, other: Case | None) -> str:
    """The figures that differ; where none does, the steps and what the user sees that only one of the two has."""
    if one is None or other is None:
        return "could not come about before" if one is None else "cannot come about any more"
    before, now = one.told, other.told
    facts = [name for name in now.facts if before.facts[name] != now.facts[name] and (name != "tools" or other.tools)]
    found = [f"{_BEFORE.get(name, 'was')} {before.facts[name] or 'nothing'}, now {now.facts[name]}" for name in facts]
    if not found:
        sides = _parts(before), _parts(now)
        gone, come = ([each for each in side if each not in than] for side, than in (sides, sides[::-1]))
        found += [f"no longer {_some(gone)}"] if gone else []
        found += [f"now {_some(come)}"] if come else []
    return "; ".join(found) or "goes another way"


def _parts(told: Told) -> Sequence[str]:
    """What the tree does and the user sees, each once; what the model is told apart from its turn."""
    parts = (each for step in told.steps for each in step.replace(TOLD, f"\n{TOLD}").split("\n"))
    return tuple(dict.fromkeys((*map(str.strip, parts), *told.shown)))


def _some(parts: Sequence[str]) -> str:
    return ", ".join(parts[:_MOST_PARTS]) + (" and more" if len(parts) > _MOST_PARTS else "")


def _speaking(monitors: Sequence[Monitor], one: Case | None, other: Case | None) -> tuple[str, ...]:
    """The names of the rules that the two plays lead through different states; of one play, of those that it breaks."""
    if one is None or other is None:
        return other.broken if other else ()
    return tuple(each.rule.name for each in monitors if course_of(each, one.events) != course_of(each, other.events))


def differences(old: TreeDefinition, new: TreeDefinition, registry: Registry) -> Differences:
    """What `oracle trees compare` says about two trees."""
    with quiet():
        tables = table_of(old, registry), table_of(new, registry)
    found = changes_of(*tables)
    return Differences(
        ids=tuple(name for change in found for name in change.row.ids),
        text="\n".join(
            [*_text(found, len({case.situation.id for table in tables for case in table.cases})), *nodes_of(*tables)]
        ),
        markdown="\n".join([*_markdown(found), *nodes_of(*tables)]),
        data=[change.to_json() for change in found],
    )


def _text(changes: tuple[Change, ...], situations: int) -> Iterator[str]:
    changed = sum(len(change.row.cases) for change in changes)
    yield (
        f"{changed} of {situations} situations end another way" if changed else f"{situations} situations: all the same"
    )
    for change in changes:
        yield f"- When {change.when}: {change.in_short}"
        for name, row in (("was", change.old), ("now", change.new)):
            if row is not None:
                yield f"    {name}: {row.told.sentence}"
        yield f"    rows: {', '.join(change.row.ids)}; {_rules(change)}"


def _markdown(changes: tuple[Change, ...]) -> Iterator[str]:
    if not changes:
        yield "No row of the tree's behaviour changes."
        return
    yield from ("| when | change | was | now | rows | rules |", "|---|---|---|---|---|---|")
    for change in changes:
        sides = ["" if row is None else row.told.sentence for row in (change.old, change.new)]
        ids = ", ".join(f"`{name}`" for name in change.row.ids)
        cells = (change.when, f"**{change.in_short}**", *sides, ids, _rules(change))
        yield "| " + " | ".join(map(in_cell, cells)) + " |"


def nodes_of(old: Table, new: Table) -> Iterator[str]:
    """The edited nodes and how many situations reach them, and the nodes that none reaches any more."""
    heads, known = {_head(node) for node in old.tree.nodes()}, set(_prints(old.tree.root).values())
    fresh = {path for path, number in _prints(new.tree.root).items() if number not in known}
    edited = [node for node in new.tree.nodes() if node.path in fresh and _is_edited(node, heads, fresh)]
    if edited:
        each = [f"{named(node)} in {_reaching(new, node)}" for node in edited[:MOST_UNREACHED]]
        yield f"\nEdited nodes, and how many situations reach them: {', '.join(each)}."
    if lost := [node for node in new.unreached if _reaching(old, node)]:
        yield f"\nNo situation reaches any more: {', '.join(map(named, lost[:MOST_UNREACHED]))}."


def _is_edited(node: NodeDefinition, heads: Collection[str], fresh: Collection[str]) -> bool:
    return _head(node) not in heads or not any(each.path in fresh for each in _below(node))


def _prints(root: NodeDefinition) -> Mapping[str, int]:
    """A number for each path; equal ones mean that the nodes and those below them are the same."""
    found: dict[str, int] = {}
    for node in reversed(list(root.walk())):
        found[node.path] = hash((_head(node), *(found[each.path] for each in _below(node))))
    return found


def _head(node: NodeDefinition) -> str:
    return repr((node.kind, node.name, node.settings, [each.title for each in _below(node)]))


def _below(node: NodeDefinition) -> Iterator[NodeDefinition]:
    return chain.from_iterable(node.children.values())


def _reaching(table: Table, node: NodeDefinition) -> int:
    return sum(node.path in case.told.visited for case in table.cases)


def _rules(change: Change) -> str:
    broken = {rule for case in change.row.cases for rule in case.broken}
    named = [f"{rule} (BROKEN)" if rule in broken else rule for rule in change.rules]
    more = f" and {len(named) - _MOST_RULES} more" if len(named) > _MOST_RULES else ""
    return f"rules: {', '.join(named[:_MOST_RULES])}{more}" if named else "no rule of the tree covers it"
