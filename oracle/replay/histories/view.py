"""How a run is shown: marks, values and reasons as plain data, made once for the terminal, the console and exports.

`layout` says which lines there are, `steps` words why a tick went as it did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from oracle.replay.histories.layout import source_rows
from oracle.replay.histories.model import (
    ClauseFacts,
    EndFacts,
    EvaluationFacts,
    History,
    NodeFacts,
    StatusName,
    StepFacts,
    TickFacts,
    Tone,
)
from oracle.replay.histories.naming import shown_value
from oracle.replay.histories.steps import steps_of

NOT_ASKED: Final = "."
_CARRIED, _HALTED, _RAISED, _GUARD = "=/!o"
_CODES: Final[Mapping[StatusName, str]] = {"SUCCESS": "+", "FAILURE": "-", "RUNNING": ">", "INVALID": NOT_ASKED}
_LONGEST_VALUE: Final = 40
_LONGEST_VERDICT: Final = 24


class Marks:
    """Makes the marks of each tick, one tick after the other."""

    def __init__(self, nodes: Sequence[NodeFacts]) -> None:
        self._indices = {node.path: node.index for node in nodes}
        self._is_guard = [node.slot == "guards" for node in nodes]
        self._latest = bytearray(NOT_ASKED.encode() * len(nodes))
        self._running: set[int] = set()

    def take(self, tick: TickFacts) -> str:
        """The marks of the next tick, as `TickFacts.marks` has them."""
        size = len(self._latest)
        marks = bytearray(NOT_ASKED.encode() * size)
        for node, status in tick.changes:
            if node >= size:
                continue
            if status == "INVALID" and node in self._running:
                marks[node] = ord(_HALTED)
            self._latest[node] = ord(_CODES[status])
            if status == "RUNNING":
                self._running.add(node)
            else:
                self._running.discard(node)
        for node in self._running:
            marks[node] = ord(_CARRIED)
        for node in tick.visited:
            if node < size:
                code = self._latest[node]
                marks[node] = ord(_GUARD) if self._is_guard[node] and code == ord("+") else code
        for path, _ in tick.errors:
            if path in self._indices:
                marks[self._indices[path]] = ord(_RAISED)
        return marks.decode().rstrip(NOT_ASKED)


def reasons_of(history: History, tick: TickFacts, *, decision: int | None = None) -> tuple[StepFacts, ...]:
    """The steps to the decision of the latest tick; to another node, if one is given."""
    nodes = history.tree.nodes if history.tree else ()
    return steps_of(nodes, tick, tick.decision if decision is None else decision, history.turns[-100:])


def with_end_shown(history: History, end: EndFacts) -> EndFacts:
    """The end of a run, with the headline and the steps of the tick that decided it."""
    tick = next((each for each in reversed(history.ticks) if each.tick == end.tick), None)
    said = tick.headline if tick else ""
    why: tuple[StepFacts, ...] = ()
    if tick is not None and end.node not in (None, tick.decision) and history.tree is not None:
        why = steps_of(history.tree.nodes, tick, end.node, history.turns)
    return replace(end, headline=said if end.sentence in said else end.sentence, why=why)


def add_view(history: History) -> None:
    """Make all that is shown of a history anew: rows, marks, values and reasons."""
    nodes = history.tree.nodes if history.tree else ()
    if history.tree is not None:
        history.tree = replace(history.tree, rows=source_rows(nodes, history.tree.files))
    marks = Marks(nodes)
    ended: dict[int, list[Any]] = {}
    for turn in history.turns:
        ended.setdefault(turn.ended_tick or 0, []).append(turn)
    for at, tick in enumerate(history.ticks):
        visits = (replace(visit, evaluations=tuple(map(with_verdict, visit.evaluations))) for visit in tick.visits)
        shown = replace(tick, marks=marks.take(tick), visits=tuple(visits))
        why = steps_of(nodes, shown, shown.decision, ended.get(tick.tick, ()))
        history.ticks[at] = replace(shown, why=why)
    if history.end is not None:
        history.end = with_end_shown(history, history.end)


def with_verdict(evaluation: EvaluationFacts) -> EvaluationFacts:
    """The evaluation, with its values as they are shown."""
    error = evaluation.error
    verdict, tone = _verdict(evaluation)
    return replace(
        evaluation,
        verdict=verdict,
        tone=tone,
        clauses=tuple(replace(each, tone=_tone(each, error)) for each in evaluation.clauses),
        operands=tuple(replace(each, text=shown_value(each.value, _LONGEST_VALUE)) for each in evaluation.operands),
    )


def _verdict(evaluation: EvaluationFacts) -> tuple[str, Tone]:
    value = evaluation.value
    if evaluation.error:
        return "error", "error"
    if evaluation.setting == "until":
        return ("stops", "no") if value else ("goes on", "none")
    if evaluation.setting == "when" or isinstance(value, bool):
        return ("yes", "yes") if value else ("no", "no")
    return shown_value(value, _LONGEST_VERDICT) if evaluation.operands else "", "none"


def _tone(clause: ClauseFacts, error: str) -> Tone:
    if not clause.asked:
        return "none"
    if error and clause.value is None:
        return "error"
    return "yes" if clause.value else "no"
