"""What a node saw and did in a tick, in a few words behind its line or below it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.text.phrases import counted
from oracle.cli.run_view.spans import Span, safe
from oracle.cli.run_view.words import seconds, value_of, verdict
from oracle.histories import History
from oracle.histories.model import EvaluationFacts, TickFacts, TurnFacts, VisitFacts

_NO_VALUES = frozenset({"loop"})  # their condition says what the row of the loop says already


class Note(NamedTuple):
    """Words about a node.

    Args:
        words: may be shortened.
        verdict: that may not; `None` if there is none.
    """

    words: str
    verdict: Span | None = None


NOTHING = Note("")


def note_of(history: History, tick: TickFacts, visit: VisitFacts, kind: str, *, before: Mapping[str, Any]) -> Note:
    """The words about a node in a tick; empty if its mark says all.

    Args:
        history: of the run.
        tick: in which it was asked.
        visit: its step.
        kind: of the node.
        before: the values on the blackboard before the tick.
    """
    turn = _turn(history, tick, visit.node)
    if turn is not None:
        return Note(_turn_words(turn))
    if visit.evaluations and kind not in _NO_VALUES and not visit.writes:
        return evaluated(visit.evaluations[-1])
    if visit.text:
        return Note(safe(visit.text))
    return Note(" · ".join(_written(visit, before)))


def evaluated(evaluation: EvaluationFacts) -> Note:
    """What an expression read, and what it came to: `signal "stuck" → yes`."""
    if evaluation.error:
        return Note(safe(evaluation.error), Span("→ error", "err"))
    words = " · ".join(f"{safe(operand.name)} {value_of(operand.value)}" for operand in evaluation.operands)
    return Note(words, verdict(evaluation.value))


def refusal(visits: Mapping[int, VisitFacts], node: int) -> Note:
    """Why a node that failed has failed: what the one that decided this saw."""
    seen: set[int] = set()
    at: int | None = node
    found = visits.get(node)
    while at is not None and at in visits and at not in seen:
        seen.add(at)
        found = visits[at]
        at = found.decider
    if found is None:
        return Note("", Span("→ no", "fail"))
    if found.evaluations:
        return evaluated(found.evaluations[-1])
    return Note(safe(found.text), Span("→ no", "fail"))


def _written(visit: VisitFacts, before: Mapping[str, Any]) -> Sequence[str]:
    """The keys that it has changed: `strategies 0 → 1`."""
    values = dict(before)
    parts = []
    for key, value in visit.writes:
        if value != values.get(key):
            parts.append(f"{safe(key)} {value_of(values.get(key))} → {value_of(value)}")
        values[key] = value
    return parts


def _turn(history: History, tick: TickFacts, node: int) -> TurnFacts | None:
    """The turn of the model whose outcome the node got in the tick."""
    return next((turn for turn in history.turns if turn.ended_tick == tick.tick and turn.node == node), None)


def _turn_words(turn: TurnFacts) -> str:
    parts = [seconds((turn.ended_s or turn.began_s) - turn.began_s, places=2), counted(turn.tokens, "token")]
    if turn.error:
        parts.append(safe(turn.error))
    elif turn.calls:
        parts.append(counted(len(turn.calls), "call"))
    if turn.signal is not None:
        sure = "" if turn.signal.confidence is None else f" {turn.signal.confidence:g}"
        parts.append(f"signal {safe(turn.signal.type)}{sure}")
    if turn.cut_off:
        parts.append("cut off")
    if turn.interrupted:
        parts.append("interrupted")
    return " · ".join(parts)
