"""What a pair of runs comes to: figures, means and shares with intervals; and the tools of a shadow.

The tools of a shadow change nothing:

- A call that the primary has made, of the same tool with the same arguments, is answered from its recorded result, and
  the n-th such call from the n-th result; the last one is given again.
- Any other call of a tool that only reads is run.
- Any other call of a tool that writes is noted, and answered with a neutral text.
- The provider's own tools, such as its web search, only read, and are run by the provider.

Intervals are of 95 %: a mean of differences has Student's t interval over the pairs, each of them one question under
both controls; a share has Wilson's. Neither needs random numbers: a report of the same pairs always says the same.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import zip_longest
from math import sqrt
from statistics import fmean, stdev
from typing import Any, Final, NamedTuple

from bt_runtime.text.data import dataclass
from oracle.agent.outcomes import TurnOutcome
from oracle.core.search.query import IDENTIFIER, STOP_WORDS, keys, stem, tokens
from oracle.decision import canonical_arguments
from oracle.features.shadow.pairs import Decision, DecisionKind, PairFigures, PairParting, SideFigures
from oracle.runs.record.record import Record
from oracle.runs.storage.records import RunRecord
from oracle.tools import Tool, ToolRegistry, ToolResult

_Z: Final = 1.959964
_T: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131),
    *(2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""The 97.5 % quantiles of Student's t with 1, 2, 3, … degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % confidence interval; no bounds where there are too few pairs for one."""

    estimate: float
    low: float | None
    high: float | None


def mean_of(values: Sequence[float]) -> Interval:
    """The mean with Student's t interval; at least one value."""
    mean = fmean(values)
    if len(values) < 2:
        return Interval(mean, None, None)
    half = _t(len(values) - 1) * stdev(values) / sqrt(len(values))
    return Interval(mean, mean - half, mean + half)


def share_of(count: int, total: int) -> Interval:
    """A share from 0 to 1 with Wilson's interval; of at least one."""
    share, square = count / total, _Z * _Z
    scale = 1 + square / total
    centre = (share + square / (2 * total)) / scale
    half = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total)) / scale
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


def _t(degrees: int) -> float:
    """Beyond the table the first terms of the expansion by the degrees of freedom, exact to three decimals there."""
    if degrees <= len(_T):
        return _T[degrees - 1]
    first = (_Z**3 + _Z) / (4 * degrees)
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * degrees * degrees)
    return _Z + first + second


ACCEPTED: Final = ToolResult("The call was accepted.")
"""The answer to a call that would have changed something."""

Call = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]


@dataclass(slots=True)
class Ledger:
    """What became of the calls of a shadow.

    Args:
        answered: the number of calls that were answered from the primary's results.
        ran: calls of tools that only read.
        would_call: names of the writing tools, one for each call that was not made.
    """

    answered: int = 0
    ran: int = 0
    would_call: list[str] = field(default_factory=list)


class _Recorded:
    """The results of the primary's calls, by tool and arguments, in order."""

    def __init__(self, primary: Record) -> None:
        self._results: dict[tuple[str, str], deque[ToolResult]] = defaultdict(deque)
        for called, result in primary.tool_results():
            key = called.call.name, canonical_arguments(called.call.arguments)
            self._results[key].append(result)

    def take(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult | None:
        """The result of such a call; `None` if the primary has made none."""
        left = self._results.get((tool, canonical_arguments(arguments)))
        if not left:
            return None
        return left.popleft() if len(left) > 1 else left[0]


def shadow_tools(tools: ToolRegistry, primary: Record, ledger: Ledger) -> ToolRegistry:
    """The same tools for the shadow of a run.

    Args:
        tools: those that the user has.
        primary: the record of the primary.
        ledger: takes each call.
    """
    recorded = _Recorded(primary)
    return tools.remade([replace(tool, call=_shadowed(tool, recorded, ledger)) for tool in tools.tools])


def _shadowed(tool: Tool, recorded: _Recorded, ledger: Ledger) -> Call:
    async def call(arguments: Mapping[str, Any]) -> ToolResult:
        known = recorded.take(tool.name, arguments)
        if known is not None:
            ledger.answered += 1
            return known
        if tool.writes:
            ledger.would_call.append(tool.name)
            return ACCEPTED
        ledger.ran += 1
        return await tool.call(arguments)

    return call


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
