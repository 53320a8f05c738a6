"""The figures of a pair: what each run needed, how alike the answers are, and the first decision that differs."""

from collections import Counter
from collections.abc import Callable
from itertools import zip_longest
from math import sqrt
from typing import Final, NamedTuple

from oracle.agent.outcomes import TurnOutcome
from oracle.core.search.words import IDENTIFIER, STOP_WORDS, keys, stem, tokens
from oracle.decision import canonical_arguments
from oracle.features.shadow.tools import Ledger
from oracle.runs.record.record import Record
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.shadow_pairs import Decision, DecisionKind, PairFigures, PairParting, SideFigures

ALIKE: Final = 0.7
"""From here on two answers are called similar."""

_MOST_NAMES: Final = 50


class _Step(NamedTuple):
    """A decision, and what it must have in common with another one to be the same."""

    decision: Decision
    likeness: tuple[object, ...]


Known = Callable[[str], bool]
"""Whether a tool has that name; any other name is the model's own words."""

OTHER: Final = "other"
"""In place of a name that the model has made up: figures hold no texts."""


def figures_of(
    primary: RunRecord, shadow: RunRecord, logs: tuple[Record, Record], ledger: Ledger, *, known: Known
) -> PairFigures:
    """The figures of two finished runs.

    Args:
        primary: the run that the user saw.
        shadow: the other one.
        logs: the records of both, the primary first.
        ledger: what became of the tool calls of the shadow.
        known: whether a tool has a name.
    """
    first, second = logs
    return PairFigures(
        primary=_side(primary, first),
        shadow=_side(shadow, second),
        similarity=similarity(primary.answer or "", shadow.answer or ""),
        parting=_parting(_steps(primary, first, known), _steps(shadow, second, known)),
        answered=ledger.answered,
        ran=ledger.ran,
        would_call=tuple(ledger.would_call[:_MOST_NAMES]),
    )


def _side(record: RunRecord, log: Record) -> SideFigures:
    return SideFigures(
        reason=record.termination_reason or "",
        turns=record.turns or 0,
        tools=record.summary.tools if record.summary is not None else 0,
        tokens=record.tokens_used or 0,
        model_ms=sum(turn.duration_ms for turn in log.answered_turns()),
        ms=max(0, round(((record.finished_at or record.created_at) - record.created_at) * 1000)),
        signals=tuple(log.signal_types()[:_MOST_NAMES]),
    )


def _steps(record: RunRecord, log: Record, known: Known) -> list[_Step]:
    """The decisions of a run, its end at last."""
    steps = [_step(n, turn, known) for n, turn in enumerate(log.answered_turns(), start=1)]
    turns = len(steps)
    if steps and steps[-1].decision.kind == "text":
        steps.pop()  # the answer itself: what ends the run is the decision
    reason = record.termination_reason or ""
    end = Decision(turns, "end", reason=reason)
    return [*steps, _Step(end, ("end", reason))]


def _step(n: int, turn: TurnOutcome, known: Known) -> _Step:
    calls = tuple((call.name, canonical_arguments(call.arguments)) for call in turn.calls)
    named = (*(call.name for call in turn.calls), *turn.server_tools)
    tools = tuple(name if known(name) else OTHER for name in named)
    kind: DecisionKind = "calls" if tools else "text"
    return _Step(Decision(n, kind, tools), (kind, calls, turn.server_tools))


def _parting(primary: list[_Step], shadow: list[_Step]) -> PairParting | None:
    for one, other in zip_longest(primary, shadow):
        if one is None or other is None or one.likeness != other.likeness:
            left, right = one and one.decision, other and other.decision
            both_call = left is not None and right is not None and left.kind == right.kind == "calls"
            same_tools = both_call and left is not None and right is not None and left.tools == right.tools
            return PairParting(left, right, same_tools=same_tools)
    return None


def similarity(one: str, other: str) -> float:
    """How alike two answers are, from 0 to 1: the cosine of the counts of their words, rounded to four places.

    Words are compared by their stems, without case, diacritics and stop words, as `oracle.core.search` indexes them.
    Two empty answers are alike, an empty one is like no other. Order and meaning do not count: an answer and its
    contradiction may be alike, and the same said in other words may be unlike.
    """
    if one == other:
        return 1.0
    left, right = _words(one), _words(other)
    if not left or not right:
        return 1.0 if left == right and one.split() == other.split() else 0.0
    common = sum(count * right[word] for word, count in left.items() if word in right)
    return round(min(1.0, common / (_length(left) * _length(right))), 4)


def _words(text: str) -> Counter[str]:
    words = (key for token in tokens(text) for key in keys(token) if not key.startswith(IDENTIFIER))
    return Counter(stem(word) for word in words if word not in STOP_WORDS)


def _length(counts: Counter[str]) -> float:
    return sqrt(sum(count * count for count in counts.values()))
