"""The report on shadow runs: whether two controls agree, and what one costs more than the other.

Rules:

- Pairs with different controls, or versions of a tree, are never mixed: each combination is a group.
- A pair in which a run ended in an error is counted, and left out of the means: its figures are those of the failure.
- A difference is that of the shadow less the primary: negative means that the shadow's control needs less.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean
from typing import Final, Literal, get_args

from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.features.shadow.figures import ALIKE, Interval, mean_of, share_of
from oracle.features.shadow.pairs import PairFigures, PairParting, ShadowPair, ShadowPairs, SideFigures
from oracle.runs.storage.records import Rating
from oracle.runs.storage.store import Store

MOST_PAIRS: Final = 10_000
"""The newest ones are reported on."""
MOST_GROUPS: Final = 20
MOST_WORST: Final = 10
METHOD: Final = (
    "differences: mean over pairs, shadow less primary, with Student's t interval (95 %); shares: Wilson's interval "
    f"(95 %); answers are similar from a cosine of word counts of {ALIKE}"
)

MeasureName = Literal["tool_calls", "turns", "tokens", "model_seconds"]
ShareName = Literal["agreement", "same_end", "similar_answer", "same_decisions", "same_tools"]

_MEASURES: Final[dict[MeasureName, Callable[[SideFigures], float]]] = {
    "tool_calls": lambda side: side.tools,
    "turns": lambda side: side.turns,
    "tokens": lambda side: side.tokens,
    "model_seconds": lambda side: side.model_ms / 1000,
}
_SHARES: Final[dict[ShareName, Callable[[PairFigures], bool]]] = {
    "agreement": lambda pair: pair.same_end and pair.similarity >= ALIKE,
    "same_end": lambda pair: pair.same_end,
    "similar_answer": lambda pair: pair.similarity >= ALIKE,
    "same_decisions": lambda pair: pair.parting is None,
    "same_tools": lambda pair: pair.parting is None or pair.parting.same_tools,
}


@dataclass(frozen=True, slots=True)
class PairFacts:
    """A finished pair, as it is shown.

    Args:
        primary_run_id: the run that the user saw.
        shadow_run_id: the same question under the other control.
        question: its first 300 characters; empty if it was deleted.
        at: when the pair was made, ISO 8601 in UTC.
        disagreement: from 0 to 2: how unlike the answers are, and one more if the runs ended for different reasons.
        rating: the user's, of the primary's answer; `None`: nothing was said, or it was deleted.
    """

    primary_run_id: str
    shadow_run_id: str
    question: str
    tree: str
    primary_control: str
    shadow_control: str
    at: str
    disagreement: float
    similarity: float
    same_end: bool
    primary: SideFigures
    shadow: SideFigures
    parting: PairParting | None
    answered: int
    ran: int
    would_call: tuple[str, ...]
    rating: Rating | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """What both controls needed for the same questions.

    Args:
        name: what is counted, such as `tool_calls`.
        primary: the mean over the runs that users saw.
        shadow: the mean over their shadows.
        difference: shadow less primary, the mean over the pairs.
        relative: the difference as a share of the primary's mean; `None` if that is 0.
    """

    name: MeasureName
    primary: float
    shadow: float
    difference: Interval
    relative: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many pairs agree in something, of those that were compared."""

    name: ShareName
    count: int
    share: Interval


@dataclass(frozen=True, slots=True)
class EndCount:
    """How many pairs ended so."""

    primary: str
    shadow: str
    count: int


@dataclass(frozen=True, slots=True)
class RatingCount:
    """How many of the primary's answers their users have rated so.

    Args:
        count: the number of finished pairs with the rating.
        similar: those of them to which the shadow's answer is similar.
    """

    rating: Rating
    count: int
    similar: int


@dataclass(frozen=True, slots=True)
class ControlPair:
    """The pairs of two controls.

    Args:
        primary: the control of the runs that users saw.
        shadow: the other one.
        pairs: finished ones.
        compared: those in which no run ended in an error.
        first_at: when the first pair was made, ISO 8601 in UTC.
        last_at: the latest one.
        similarity: of the answers, the mean; `None` if none was compared.
        ends: of all finished pairs, the most frequent first.
        measures: of the compared ones; empty if there are none.
        would_call: how many writing calls the shadows would have made.
        worst: the pairs that are farthest apart.
        ratings: of the primary's answers, `up` first; those that nobody has given are left out.
    """

    primary: str
    shadow: str
    pairs: int
    compared: int
    first_at: str
    last_at: str
    similarity: float | None
    agreement: tuple[Agreement, ...]
    measures: tuple[Measure, ...]
    ends: tuple[EndCount, ...]
    would_call: int
    worst: tuple[PairFacts, ...]
    ratings: tuple[RatingCount, ...] = ()


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """What recorded pairs say about their controls.

    Args:
        pairs: all that were sampled and looked at, whatever became of them.
        running: not finished yet.
        dropped: never begun, by reason.
        failed: begun and without figures, by reason.
        groups: the latest first.
        further_groups: the number of groups that are left out.
        is_complete: all pairs were looked at, not the newest alone.
        method: a sentence on how intervals and similarity are made.
    """

    pairs: int
    running: int
    dropped: dict[str, int]
    failed: dict[str, int]
    groups: tuple[ControlPair, ...]
    further_groups: int
    is_complete: bool
    method: str = METHOD


def pairs_of(store: Store) -> ShadowPairs:
    """The pairs in a store."""
    return ShadowPairs(store.database, writer=store.writer)


def report_of(pairs: Sequence[ShadowPair]) -> ShadowReport:
    """The report on some pairs, newest first; one more than `MOST_PAIRS` shows that there are more."""
    is_complete, pairs = len(pairs) <= MOST_PAIRS, pairs[:MOST_PAIRS]
    groups: dict[tuple[str, str], list[ShadowPair]] = {}
    for pair in pairs:
        if pair.state == "finished" and pair.figures is not None:
            groups.setdefault((pair.primary_control, pair.shadow_control), []).append(pair)
    chosen = list(groups.values())[:MOST_GROUPS]
    return ShadowReport(
        pairs=len(pairs),
        running=sum(pair.state == "running" for pair in pairs),
        dropped=_why(pairs, "dropped"),
        failed=_why(pairs, "failed"),
        groups=tuple(_group(group) for group in chosen),
        further_groups=len(groups) - len(chosen),
        is_complete=is_complete,
    )


def facts_of(pair: ShadowPair) -> PairFacts:
    """A finished pair, as it is shown."""
    figures = pair.figures
    assert figures is not None, "only finished pairs are shown"  # noqa: S101
    return PairFacts(
        primary_run_id=pair.primary_id,
        shadow_run_id=pair.shadow_id or "",
        question=pair.question[:300],
        tree=pair.tree,
        primary_control=pair.primary_control,
        shadow_control=pair.shadow_control,
        at=iso(pair.at),
        disagreement=figures.disagreement,
        similarity=figures.similarity,
        same_end=figures.same_end,
        primary=figures.primary,
        shadow=figures.shadow,
        parting=figures.parting,
        answered=figures.answered,
        ran=figures.ran,
        would_call=figures.would_call,
        rating=pair.rating,
    )


def _why(pairs: Sequence[ShadowPair], state: str) -> dict[str, int]:
    return dict(Counter(pair.why for pair in pairs if pair.state == state).most_common())


def _group(pairs: Sequence[ShadowPair]) -> ControlPair:
    found = [pair.figures for pair in pairs if pair.figures is not None]
    compared = [figures for figures in found if not figures.has_failed]
    ends = Counter((figures.primary.reason, figures.shadow.reason) for figures in found).most_common()
    worst = sorted((facts_of(pair) for pair in pairs), key=lambda facts: (-facts.disagreement, facts.primary_run_id))
    return ControlPair(
        primary=pairs[0].primary_control,
        shadow=pairs[0].shadow_control,
        pairs=len(found),
        compared=len(compared),
        first_at=iso(pairs[-1].at),
        last_at=iso(pairs[0].at),
        similarity=round(sum(each.similarity for each in compared) / len(compared), 4) if compared else None,
        agreement=tuple(_agreement(name, compared) for name in _SHARES) if compared else (),
        measures=tuple(_measure(name, compared) for name in _MEASURES) if compared else (),
        ends=tuple(EndCount(primary, shadow, count) for (primary, shadow), count in ends),
        would_call=sum(len(figures.would_call) for figures in found),
        worst=tuple(each for each in worst[:MOST_WORST] if each.disagreement > 0),
        ratings=tuple(_ratings(pairs)),
    )


def _ratings(pairs: Sequence[ShadowPair]) -> Iterator[RatingCount]:
    for rating in get_args(Rating):
        alike = [pair.figures.similarity >= ALIKE for pair in pairs if pair.figures and pair.rating == rating]
        if alike:
            yield RatingCount(rating, len(alike), sum(alike))


def _agreement(name: ShareName, pairs: Sequence[PairFigures]) -> Agreement:
    count = sum(map(_SHARES[name], pairs))
    return Agreement(name, count, share_of(count, len(pairs)))


def _measure(name: MeasureName, pairs: Sequence[PairFigures]) -> Measure:
    of = _MEASURES[name]
    primary, shadow = (fmean(map(of, sides)) for sides in ([p.primary for p in pairs], [p.shadow for p in pairs]))
    difference = mean_of([of(pair.shadow) - of(pair.primary) for pair in pairs])
    return Measure(name, primary, shadow, difference, difference.estimate / primary if primary else None)
