"""The figures of many conversations under the three controls, each beside that of the control of before.

Intervals are percentiles of a bootstrap over conversations: the same ones are drawn for both controls of a comparison.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeVar

from benchmarks.habits.players import PlayerName
from benchmarks.habits.playing import Played
from benchmarks.habits.scores import Score

DRAWS = 1_000
LEVEL = 0.95

T = TypeVar("T")
Loss = Literal["detection", "limits", "short"]
"""How an answer was lost: the control ended the query for what it had detected, a limit of the user ended it, or the
agent answered before it had everything."""

Pair = tuple[Score, Score]
"""A conversation under a control, and under the control of before."""


@dataclass(frozen=True)
class Figure:
    """A share, with its interval; `None` where there is nothing to compare."""

    value: float
    low: float
    high: float

    def as_percent(self) -> str:
        return f"{100 * self.value:.0f} % [{100 * self.low:.0f}, {100 * self.high:.0f}]"


@dataclass(frozen=True)
class Summary:
    """Conversations under one control.

    Args:
        conversations: how many.
        calls: tool calls that were run, a conversation.
        unneeded_calls: those that the answer did not need, a conversation.
        turns: a conversation.
        unneeded_turns: those that brought nothing, a conversation.
        tokens: a conversation.
        fewer_calls: the share of the unneeded calls of before that is saved; `None` if there were none.
        fewer_calls_of_whole: the same, where both answers are complete.
        fewer_turns: the share of the unneeded turns of before that is saved.
        within_budget: conversations of which no query was ended by a limit.
        complete: conversations with every fact in the answers.
        lost: answers that were complete before and are not now, by how they were lost.
        won: answers that are complete now and were not before.
    """

    conversations: int
    calls: float
    unneeded_calls: float
    turns: float
    unneeded_turns: float
    tokens: float
    fewer_calls: Figure | None
    fewer_calls_of_whole: Figure | None
    fewer_turns: Figure | None
    within_budget: Figure
    complete: Figure
    lost: Mapping[Loss, int]
    won: int


def pairs_of(played: Iterable[Played], player: PlayerName) -> list[Pair]:
    """Each conversation under a control, beside the same one under the control of before."""
    scores = {(each.conversation.name, each.obedience, each.player): each.score for each in played}
    return [
        (score, scores[name, obedience, "legacy"]) for (name, obedience, by), score in scores.items() if by == player
    ]


def summary(pairs: Sequence[Pair]) -> Summary:
    """The figures of a control.

    Args:
        pairs: at least one conversation.
    """
    whole = [(now, before) for now, before in pairs if now.is_complete and before.is_complete]
    losses = [loss for now, before in pairs if (loss := loss_of(now, before))]
    return Summary(
        conversations=len(pairs),
        calls=_mean(now.calls for now, _ in pairs),
        unneeded_calls=_mean(now.unneeded_calls for now, _ in pairs),
        turns=_mean(now.turns for now, _ in pairs),
        unneeded_turns=_mean(now.unneeded_turns for now, _ in pairs),
        tokens=_mean(now.tokens for now, _ in pairs),
        fewer_calls=saved_share(pairs, lambda each: each.unneeded_calls),
        fewer_calls_of_whole=saved_share(whole, lambda each: each.unneeded_calls),
        fewer_turns=saved_share(pairs, lambda each: each.unneeded_turns),
        within_budget=_share([now.is_within_budget for now, _ in pairs]),
        complete=_share([now.is_complete for now, _ in pairs]),
        lost={kind: losses.count(kind) for kind in ("detection", "limits", "short")},
        won=sum(now.is_complete and not before.is_complete for now, before in pairs),
    )


def loss_of(now: Score, before: Score) -> Loss | None:
    """How an answer that was complete before has been lost; `None` if it has not."""
    if now.is_complete or not before.is_complete:
        return None
    if {"no_progress", "error_limit", "stuck"} & set(now.reasons):
        return "detection"
    return "short" if now.is_within_budget else "limits"


def saved_share(pairs: Sequence[Pair], cost: Callable[[Score], int]) -> Figure | None:
    """One less the ratio of the sums."""
    costs = [(cost(now), cost(before)) for now, before in pairs]
    if not sum(before for _, before in costs):
        return None

    def saved(drawn: Sequence[tuple[int, int]]) -> float:
        before = sum(each for _, each in drawn)
        return 1 - sum(each for each, _ in drawn) / before if before else 0.0

    return figure(costs, saved)


def _share(holds: Sequence[bool]) -> Figure:
    return figure(holds, lambda drawn: sum(drawn) / len(drawn))


def figure(items: Sequence[T], of: Callable[[Sequence[T]], float]) -> Figure:
    dice = Random(20_260_320)
    drawn = sorted(of(dice.choices(items, k=len(items))) for _ in range(DRAWS))
    tail = round(DRAWS * (1 - LEVEL) / 2)
    return Figure(of(items), drawn[tail], drawn[-tail - 1])


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)
