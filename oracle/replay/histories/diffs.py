"""Where two runs part: what came to them that differs, the first tick in which their nodes do something else, and what.

A run without ticks, because no tree drove it, is compared by its turns.
Nodes are matched by their paths, and ticks by their numbers; after the tick in which two runs part their ticks are
about different things, and what is listed of them says how far apart they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from bt_runtime import Change, Registry, difference
from bt_runtime.text import brief
from bt_runtime.text.data import dataclass
from oracle.core.encoding import to_json
from oracle.replay.histories.differences import (
    AnswerDifference,
    HistoryDifference,
    NodeDifference,
    RunParting,
    TickDifference,
    ValueDifference,
)
from oracle.replay.histories.model import History, StatusName, TickFacts, TreeFacts, TurnFacts, VisitFacts
from oracle.replay.histories.nodes import definition_of

_ASKS: Final = ("messages to the model", "tools offered to the model", "notes to the model")
"""The effects of a turn that began; their values are `None` where the messages are not known."""

MOST_TICKS: Final = 1_000
"""How many ticks with other statuses are listed."""


def diff_histories(old: History, new: History, *, registry: Registry | None = None) -> HistoryDifference:
    """Compare two runs.

    Args:
        old: the first.
        new: the second.
        registry: reads the versions of their trees; `None`: these are not compared.
    """
    is_one = old.run.tree_version == new.run.tree_version  # then the nodes of one are those of the other
    has_texts = old.run.kept == new.run.kept == "whole"
    before = _Side(old, old.tree or (new.tree if is_one else None), has_texts=has_texts)
    after = _Side(new, new.tree or (old.tree if is_one else None), has_texts=has_texts)
    came = _beginning(old, new, has_texts=has_texts)
    way: RunParting | None = None
    ticks: list[TickDifference] = []
    further = 0
    has_ticks = bool(old.ticks and new.ticks)
    if not has_ticks:
        way = _way_by_turns(old, new)
    for was, would_be in zip_longest(before.steps(), after.steps()) if has_ticks else ():
        if came is None and way is None and was and would_be:
            came = _outcome(before, after, was.tick, would_be.tick)
        if way is None:
            way = _way(before, after, was, would_be)
        unlike = _unlike(was.results if was else {}, would_be.results if would_be else {})
        if unlike:
            if len(ticks) < MOST_TICKS:
                ticks.append(TickDifference((was or would_be or _NONE).tick.tick, unlike))
            else:
                further += 1
    ends = (old.end.reason if old.end else "", new.end.reason if new.end else "")
    if way is None and ends[0] != ends[1]:
        way = RunParting("end", max(len(old.ticks), len(new.ticks)), old=ends[0], new=ends[1])
    tree = _tree(old.tree, new.tree, registry) if registry is not None else None
    return HistoryDifference(came, way, tuple(ticks), further, _answers(old, new), *ends, tree, has_texts)


@dataclass(frozen=True, slots=True)
class _Step:
    """A tick, with what each visited node returned."""

    tick: TickFacts
    results: Mapping[str, StatusName]
    leaves: tuple[str, ...] = ()


_NONE: Final = _Step(TickFacts(0, 0.0, 0.0, 0, "start", (), (), (), (), (), ()), {})


class _Side:
    """One of the two runs."""

    def __init__(self, history: History, tree: TreeFacts | None, *, has_texts: bool) -> None:
        self.history = history
        self._has_texts = has_texts
        nodes = tree.nodes if tree else ()
        self.indices = {node.path: node.index for node in nodes}
        self._paths = {node.index: node.path for node in nodes}
        self._inner = {node.parent for node in nodes}
        self._effects: dict[int, list[tuple[str, Any]]] = {}
        self._came: dict[int, list[tuple[str, Any]]] = {}
        self._collect()

    def steps(self) -> Iterator[_Step]:
        """The ticks in order."""
        statuses: dict[int, StatusName] = {}
        for tick in self.history.ticks:
            statuses.update(tick.changes)
            returned = {visit.node: visit.status for visit in tick.visits} or statuses
            results = {self.path(index): returned.get(index, "INVALID") for index in tick.visited}
            leaves = tuple(self.path(index) for index in tick.visited if index not in self._inner)
            yield _Step(tick, results, leaves)

    def path(self, index: int) -> str:
        """Of a node; of one that is not known, its number."""
        return self._paths.get(index, f"#{index}")

    def effects(self, tick: TickFacts) -> list[tuple[str, Any]]:
        """What the control did in a tick, by names."""
        if not self._has_texts:
            return []
        return [*((f"writes {key}", value) for key, value in tick.writes), *self._effects.get(tick.tick, ())]

    def came(self, tick: TickFacts) -> list[tuple[str, Any]]:
        """What came from outside before a tick, by names."""
        if not self._has_texts:
            return [("cause", tick.cause)]
        return [("cause", tick.cause), *tick.deliveries, *self._came.get(tick.tick, ())]

    def visit(self, tick: TickFacts, path: str) -> VisitFacts | None:
        """The visit of a node in a tick."""
        index = self.indices.get(path)
        return next((visit for visit in tick.visits if visit.node == index), None)

    def _collect(self) -> None:
        history = self.history
        for notice in history.notices:
            self._effects.setdefault(notice.tick, []).append((f"notifies {notice.type}", notice.text))
        for turn in history.turns:
            request = turn.request
            is_known = request is not None and bool(request.messages)
            asked = (map(_said, request.messages), request.tools, request.notes) if request and is_known else ((),) * 3
            self._effects.setdefault(turn.began_tick, []).extend(
                (name, list(values) if is_known else None) for name, values in zip(_ASKS, asked, strict=True)
            )
            if turn.ended_tick is not None:
                came = turn.answer if not turn.error else turn.error
                self._came.setdefault(turn.ended_tick, []).append(("the model", came))
        for call in history.calls:
            self._effects.setdefault(call.began_tick, []).append((f"runs {call.name}", call.arguments))
            if call.ended_tick is not None and call.ran:
                self._came.setdefault(call.ended_tick, []).append((call.name, call.result))


def _beginning(old: History, new: History, *, has_texts: bool) -> RunParting | None:
    """What differed before the first tick."""
    was, now = (
        {"question": each.run.question, **each.run.limits, **{key.name: key.value for key in each.keys}}
        if has_texts
        else dict(each.run.limits)
        for each in (old, new)
    )
    shared = [name for name in was if name in now]
    values = tuple(ValueDifference(name, was[name], now[name]) for name in shared if was[name] != now[name])
    if not values:
        return None
    return RunParting("beginning", 0, old=brief(values[0].old), new=brief(values[0].new), values=values)


def _outcome(before: _Side, after: _Side, was: TickFacts, would_be: TickFacts) -> RunParting | None:
    values = _values(before.came(was), after.came(would_be))
    if not values:
        return None
    first = values[0]
    return RunParting(
        "outcome", was.tick, old=_came(first.name, first.old), new=_came(first.name, first.new), values=values
    )


def _way(before: _Side, after: _Side, was: _Step | None, would_be: _Step | None) -> RunParting | None:
    """The first node of a tick that does something else; `None` if none does."""
    if was is None or would_be is None:
        step, side = (was, before) if was else (would_be, after)
        if step is None:
            return None
        return RunParting(
            "end",
            step.tick.tick,
            old=_headline(side, step) if was else "has ended",
            new=_headline(side, step) if would_be else "has ended",
        )
    path = _first_unlike(was, would_be)
    if path:
        visits = before.visit(was.tick, path), after.visit(would_be.tick, path)
        return RunParting(
            "way",
            was.tick.tick,
            path,
            before.indices.get(path),
            after.indices.get(path),
            _did(visits[0], was.results.get(path)),
            _did(visits[1], would_be.results.get(path)),
            _values(_seen(visits[0]), _seen(visits[1])),
        )
    unlike = _values(before.effects(was.tick), after.effects(would_be.tick))
    values = tuple(each for each in unlike if each.name not in _ASKS or None not in (each.old, each.new))
    if not values:
        return None
    first = values[0]
    node = _writer(before, was.tick, first.name)
    return RunParting(
        "effect",
        was.tick.tick,
        node,
        before.indices.get(node),
        after.indices.get(node),
        _came(first.name, first.old),
        _came(first.name, first.new),
        values,
    )


def _first_unlike(was: _Step, would_be: _Step) -> str:
    """The first leaf that only one visits or that returns something else; else the first other node."""
    for old, new in zip_longest(was.leaves, would_be.leaves):
        if old != new:
            shared = [path for path in (new, old) if path is not None]
            return next((path for path in shared if path in was.results or path in would_be.results), shared[0])
        if was.results[old] != would_be.results[old]:
            return str(old)
    return next((each.path for each in _unlike(was.results, would_be.results)), "")


def _unlike(old: Mapping[str, StatusName], new: Mapping[str, StatusName]) -> tuple[NodeDifference, ...]:
    if old == new:
        return ()
    return tuple(
        NodeDifference(path, old.get(path), new.get(path))
        for path in dict.fromkeys((*old, *new))
        if old.get(path) != new.get(path)
    )


def _seen(visit: VisitFacts | None) -> list[tuple[str, Any]]:
    """The values that a node has looked at."""
    if visit is None:
        return []
    limits = [(f"limit of {each.name}", each.limit) for each in visit.figures if each.limit is not None]
    figures = [*((each.name, each.value) for each in visit.figures), *limits]
    return [*figures, *((each.name, each.value) for evaluation in visit.evaluations for each in evaluation.operands)]


def _values(old: Sequence[tuple[str, Any]], new: Sequence[tuple[str, Any]]) -> tuple[ValueDifference, ...]:
    """The named values that differ; of those of one name, the first with the first and so on."""
    was, now = _numbered(old), _numbered(new)
    return tuple(
        ValueDifference(name, was.get((name, nth)), now.get((name, nth)))
        for name, nth in dict.fromkeys((*was, *now))
        if ((name, nth) in was) != ((name, nth) in now) or was[name, nth] != now[name, nth]
    )


def _numbered(pairs: Sequence[tuple[str, Any]]) -> dict[tuple[str, int], Any]:
    found: dict[tuple[str, int], Any] = {}
    counts: dict[str, int] = {}
    for name, value in pairs:
        nth = counts[name] = counts.get(name, 0) + 1
        found[name, nth] = value
    return found


def _writer(side: _Side, tick: TickFacts, effect: str) -> str:
    """The path of the node that made an effect; empty if that is not known."""
    key = effect.removeprefix("writes ")
    found = next((visit for visit in tick.visits if any(name == key for name, _ in visit.writes)), None)
    return side.path(found.node) if found else ""


def _did(visit: VisitFacts | None, status: StatusName | None) -> str:
    if status is None:
        return "not asked"
    said = (visit.sentence or visit.text) if visit else ""
    return said or status


def _headline(side: _Side, step: _Step) -> str:
    tick = step.tick
    return tick.headline or (side.path(tick.decision) if tick.decision is not None else tick.cause)


def _came(name: str, value: Any) -> str:  # noqa: ANN401  JSON data
    return "" if value is None else f"{name}: {brief(value)}"


def _said(message: Any) -> str:  # noqa: ANN401  JSON data
    """A message to the model as text: its texts as they are, all else as JSON."""
    content = message.get("content", "") if isinstance(message, Mapping) else message
    blocks = content if isinstance(content, list) else [content]
    return "\n".join(
        block if isinstance(block, str) else str(text) if (text := _text_of(block)) else to_json(block).decode()
        for block in blocks
    )


def _text_of(block: Any) -> Any:  # noqa: ANN401  JSON data
    return (block.get("text") or block.get("content")) if isinstance(block, Mapping) else None


def _answers(old: History, new: History) -> tuple[AnswerDifference, ...]:
    pairs = zip_longest(old.turns, new.turns)
    return tuple(
        AnswerDifference(n, was.answer if was else None, now.answer if now else None)
        for n, (was, now) in enumerate(pairs, start=1)
    )


def _tree(old: TreeFacts | None, new: TreeFacts | None, registry: Registry) -> tuple[Change, ...] | None:
    """What differs between two versions."""
    if old is None or new is None:
        return None
    if old.version == new.version:
        return ()
    versions = [definition_of(tree, registry=registry) for tree in (old, new)]
    readable = [each for each in versions if each is not None]
    return difference(*readable).changes if len(readable) == len(versions) else None


def _way_by_turns(old: History, new: History) -> RunParting | None:
    """The first visible turn that calls other tools, or with other arguments; `None` if all do the same.

    Its tick is that of the run which has ticks, 0 if neither has any. Arguments that were deleted are not compared.
    """
    turns = zip_longest(*([turn for turn in each.turns if turn.visible] for each in (old, new)))
    for n, (was, now) in enumerate(turns, start=1):
        if was is None or now is None or _calls_of(old, was) != _calls_of(new, now):
            tick = (was.began_tick if was else 0) or (now.began_tick if now else 0)
            return RunParting("effect", tick, old=_did_in(n, old, was), new=_did_in(n, new, now))
    return None


def _calls_of(history: History, turn: TurnFacts) -> list[tuple[str, Any]]:
    asked = set(turn.calls)
    made = [(call.name, call.arguments) for call in history.calls if call.id in asked and call.turn == turn.n]
    return [*made, *((name, None) for name in turn.server_tools)]


def _did_in(n: int, history: History, turn: TurnFacts | None) -> str:
    if turn is None:
        return "had ended"
    names = ", ".join(name for name, _ in _calls_of(history, turn))
    return f"turn {n} calls {names}" if names else f"turn {n} calls nothing"
