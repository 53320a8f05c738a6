"""What is measured of each answer, with intervals, and which differences are beyond chance.

- Shares have Wilson intervals, means a bootstrap over the conversations; at 95 %.
- Two sides are compared conversation by conversation. The interval of the change is a bootstrap over the pairs; its
  p-value is that of a sign-flip test. A change is **beyond chance** if it is significant after Holm's correction
  for all figures of the comparison, and **perhaps** if it is significant alone: without any change, one figure in
  twenty would be.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random

from benchmarks.eval.questions import BY_NAME, fitting_signals
from benchmarks.eval.record import Answer, Turn
from benchmarks.habits.summary import Figure, figure

LEVEL = 0.05
_Z = 1.96
_FLIPS = 2_000
_STOPPED = re.compile(r"^\W*Stopped:", re.MULTILINE)
_ASKS = re.compile(r"\?[\s*_)\"'”]{0,20}\Z")

Pairs = Sequence[tuple[Answer, Answer]]


@dataclass(frozen=True)
class Measure:
    """A figure of an answer.

    Args:
        name: for the tables.
        of: the figure; `None` where the answer has none.
        aim: what is asked for, with its number in the specifications.
        is_share: yes or no.
        places: after the decimal point; of a share, of the percentage.
    """

    name: str
    of: Callable[[Answer], float | None]
    aim: str = ""
    is_share: bool = False
    places: int = 1

    def shown(self, value: float, *, sign: str = "") -> str:
        return f"{self._bare(value, sign)} %" if self.is_share else self._bare(value, sign)

    def shown_with_interval(self, found: Figure, *, sign: str = "") -> str:
        return f"{self.shown(found.value, sign=sign)} [{self._bare(found.low, sign)}, {self._bare(found.high, sign)}]"

    def _bare(self, value: float, sign: str) -> str:
        shown = round(100 * value if self.is_share else value, self.places) + 0.0  # no negative zero
        return f"{shown:{sign},.{self.places}f}"

    def values(self, answers: Sequence[Answer]) -> list[float]:
        return [value for answer in answers if (value := self.of(answer)) is not None]


def ends_with_its_signal(turn: Turn) -> bool:
    """Whether the text ends with one well-formed signal, outside of a fence."""
    ends = turn.text.rstrip().lower().endswith(("</signal>", "/>"))
    return ends and turn.parsed.signal is not None and len(turn.parsed.readings) == 1


def signals(answer: Answer) -> list[str]:
    """The signal of each response without tool calls; empty where there is none."""
    found = [turn.parsed.signal for turn in _responses(answer)]
    return [signal.type if signal else "" for signal in found]


def _responses(answer: Answer) -> list[Turn]:
    return [turn for turn in answer.turns if not turn.calls]


def _fits(answer: Answer) -> bool:
    task = BY_NAME[answer.task]
    fitting = fitting_signals(task, is_complete=answer.score.is_complete)
    found = signals(answer)
    return bool(found) and found[-1] in fitting and (task.parts == 1 or "need_turn" in found)


def _all(holds: Iterable[object]) -> bool | None:
    """Whether it holds for all of them; `None` if there are none."""
    known = list(holds)
    return all(known) if known else None


def _asks_with_partial(answer: Answer) -> float | None:
    asking = [turn for turn in _responses(answer) if _ASKS.search(turn.parsed.text.rstrip()[-200:])]
    return _all(turn.parsed.signal and turn.parsed.signal.type == "partial_answer" for turn in asking)


def _looks_where_needed(answer: Answer) -> bool:
    needed = {group for each in BY_NAME[answer.task].questions for fact in each.facts for group in fact.groups}
    called = {group for query in answer.queries for group in query.groups}
    return bool(needed & called) if needed else not called


def _first_words(answer: Answer) -> float | None:
    times = [query.first_words_s for query in answer.queries if query.first_words_s is not None]
    return sum(times) / len(times) if times else None


def _says_stopped(answer: Answer) -> bool:
    """Whether the model has written a sentence that only the control writes."""
    return any(_STOPPED.search(turn.parsed.text) for turn in answer.turns)


def _prompt_tokens(answer: Answer) -> float | None:
    return answer.turns[0].prompt_tokens if answer.turns else None


def _share(name: str, of: Callable[[Answer], float | None], aim: str) -> Measure:
    return Measure(name, of, aim, is_share=True, places=0)


MEASURES: tuple[Measure, ...] = (
    _share("complete answers", lambda each: each.score.is_complete, "tree >= loop: 020 SC-005"),
    _share("ended within the budget", lambda each: each.score.is_within_budget, "99 %: 020 SC-004"),
    Measure("tool calls", lambda each: each.score.calls),
    Measure("unneeded calls", lambda each: each.score.unneeded_calls, "half of legacy: 020 SC-003"),
    Measure("turns", lambda each: each.score.turns),
    Measure("unneeded turns", lambda each: each.score.unneeded_turns, "30 % under legacy: 012 SC-006"),
    Measure("tokens but those read from the cache", lambda each: each.score.tokens, places=0),
    Measure("cents", lambda each: 100 * each.spent.dollars, places=2),
    Measure("seconds to the first words, a question", _first_words),
    Measure("seconds to the end", lambda each: sum(query.seconds for query in each.queries)),
    _share("all responses have a signal", lambda each: _all(signals(each)), "95 %: 020 SC-002"),
    _share("the signal at the end fits", _fits, "95 %: 020 SC-002"),
    _share("one signal each, at its very end", lambda each: _all(map(ends_with_its_signal, _responses(each))), "95 %"),
    _share("questions to the user: partial_answer", _asks_with_partial, "all"),
    _share("tools if and only if needed", _looks_where_needed, "all"),
    _share("`Stopped:` written by the model", _says_stopped, "none"),
    Measure("tokens of the prompt", _prompt_tokens, "8,000 at most", places=0),
)


def estimate(measure: Measure, answers: Sequence[Answer]) -> Figure | None:
    """The mean of a measure with its interval; `None` if no answer has it."""
    values = measure.values(answers)
    if not values:
        return None
    return _wilson(sum(values), len(values)) if measure.is_share else figure(values, _mean)


@dataclass(frozen=True)
class Change:
    """A figure on two sides.

    Args:
        before, after: the means of both sides, over the same conversations.
        change: after less before.
        chance: the probability of a change as large if neither side were better.
    """

    measure: Measure
    before: float
    after: float
    change: Figure
    chance: float

    @property
    def has_moved(self) -> bool:
        """Whether any conversation has."""
        return self.change.low != 0 or self.change.high != 0


def changes(pairs: Pairs, measures: Sequence[Measure] = MEASURES) -> list[Change]:
    """The changes of all measures that both sides have."""
    found: list[Change] = []
    for measure in measures:
        both = [(measure.of(before), measure.of(after)) for before, after in pairs]
        known = [(before, after) for before, after in both if before is not None and after is not None]
        if known:
            by = [after - before for before, after in known]
            before, after = _mean([each for each, _ in known]), _mean([each for _, each in known])
            found.append(Change(measure, before, after, figure(by, _mean), _sign_flips(by)))
    return found


def verdicts(found: Sequence[Change]) -> list[str]:
    """Of each change: `beyond chance`, `perhaps` or nothing."""
    ranked = sorted(range(len(found)), key=lambda index: found[index].chance)
    says, holds = [""] * len(found), True
    for rank, index in enumerate(ranked):
        holds = holds and found[index].chance <= LEVEL / (len(found) - rank)
        says[index] = "beyond chance" if holds else "perhaps" if found[index].chance <= LEVEL else ""
    return says


def flips(pairs: Pairs) -> Mapping[str, tuple[Answer, Answer]]:
    """The conversations whose answers are complete on one side only."""
    return {
        before.task: (before, after) for before, after in pairs if before.score.is_complete != after.score.is_complete
    }


def _sign_flips(differences: Sequence[float]) -> float:
    moved = [each for each in differences if each]
    least, dice = abs(sum(moved)) * (1 - 1e-9), Random(20_260_320)
    sums = (sum(each if dice.getrandbits(1) else -each for each in moved) for _ in range(_FLIPS))
    return (1 + sum(abs(each) >= least for each in sums)) / (1 + _FLIPS)


def _wilson(hits: float, count: int) -> Figure:
    share, spread = hits / count, _Z**2 / count
    centre = (share + spread / 2) / (1 + spread)
    half = _Z * sqrt(share * (1 - share) / count + spread / (4 * count)) / (1 + spread)
    return Figure(share, max(0.0, centre - half), min(1.0, centre + half))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
