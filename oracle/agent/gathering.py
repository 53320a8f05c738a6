"""What the tools of a query have found, as far as the agent and its nodes need it.

`Gathering` does not judge: nothing is ever enough, and no call is held back. Subclasses judge; `Equipment.gathering`
makes one for each query, by default that of `oracle.gathering`.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Final, Literal, get_args

from bt_runtime.text.data import dataclass
from oracle.agent.outcomes import CallResult
from oracle.decision import AgentState
from oracle.llm.protocol import ToolUse
from oracle.tools.registry import ToolRegistry
from signals import Signal

SufficiencyReason = Literal["nothing_new", "said_so", "nothing_found", "answered"]
REASONS: Final[tuple[SufficiencyReason, ...]] = get_args(SufficiencyReason)


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """A verdict on what was gathered.

    Args:
        reason: why more calls bring nothing; empty: they may bring something.
        is_firm: more was tried after that without success, so that only a new lead is worth a call.
    """

    reason: SufficiencyReason | Literal[""] = ""
    is_firm: bool = False

    @property
    def suffices(self) -> bool:
        """Whether the answer can be given now, as well as it will be."""
        return bool(self.reason)


OPEN: Final = Sufficiency()


@dataclass(frozen=True)
class Findings:
    """The results of a query's calls, as nodes show them and trees read them.

    Args:
        tried: every call that was run, oldest first.
        sources: the paths that were cited.
        dry_turns: consecutive turns of tools, up to now, that brought nothing new.
        groups_found: the groups of tools in which something was found.
        failed_tools: names of the tools whose last call failed.
        empty_searches: what was searched for and not found, in the model's words.
    """

    tried: tuple[object, ...] = ()
    sources: frozenset[str] = frozenset()
    dry_turns: int = 0
    groups_found: tuple[str, ...] = ()
    failed_tools: tuple[str, ...] = ()
    empty_searches: tuple[str, ...] = ()


@dataclass(slots=True)
class Gathering:
    """The gathering of one query: a pure function of the method calls below, so that runs can be repeated.

    Args:
        gathered: what is known from its tools; replaced, never mutated.
        verdict: whether that suffices, as judged last.
        held_back: why calls of the last turn are not to be run, by their ids.
        refused_calls: calls that were held back since anything new was found.
        answer_due: the next turn of the answer is without tools.
        strategies: of the fallback that were tried, in order.
        calls_before: how many calls had been run when the last of them was chosen.
    """

    gathered: Findings = Findings()
    verdict: Sufficiency = OPEN
    held_back: dict[str, str] = field(default_factory=dict)
    refused_calls: int = 0
    answer_due: bool = False
    strategies: tuple[str, ...] = ()
    calls_before: int = 0

    @property
    def calls_since_strategy(self) -> int:
        """The calls that were run since the last strategy was chosen; without one, all."""
        return len(self.gathered.tried) - self.calls_before

    def choose(self, strategy: str) -> None:
        """Remember that a strategy of the fallback begins here."""
        self.strategies = (*self.strategies, strategy)
        self.calls_before = len(self.gathered.tried)

    def begin_turn(self, question: str) -> None:  # noqa: ARG002  for what judges by it
        """A turn of the answer has ended, with new calls."""
        self.held_back.clear()
        self.answer_due = False

    def take(self, results: Sequence[CallResult], tools: ToolRegistry, *, turn: int, signal: Signal | None) -> None:
        """Take over the results of a turn's tools.

        Args:
            results: one for each call of the turn, in the order of the calls.
            tools: knows each tool's group, and whether it writes.
            turn: its number.
            signal: of the same turn, if it had one.
        """

    def judge(self, *, turn: int) -> None:
        """Set `verdict` by what was gathered up to this turn; does not raise."""

    def hold_back(
        self, calls: Sequence[ToolUse], tools: ToolRegistry, state: AgentState, *, signal: Signal | None, words: str
    ) -> None:
        """Put into `held_back` the calls that need not be run.

        Args:
            calls: the open ones of the last turn.
            tools: knows each tool's group, and whether it writes.
            state: where the query stands.
            signal: of the same turn, if it had one.
            words: what the model reads in their place, after the reason.
        """
