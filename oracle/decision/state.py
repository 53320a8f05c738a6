"""`AgentState`: all that the control of a query knows, immutable; a transition makes a new one.

Fields: 012's data model and 020's key entities, as settled by decision 21. Times are passed in, never read from a
clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

from oracle.chunks import TerminationReason
from oracle.decision.config import AgentConfig
from oracle.decision.progress import Action

RECENT_ACTIONS = 9
"""A cycle of three actions seen three times (decision 11)."""


@dataclass(frozen=True, kw_only=True)
class AgentState:
    """Where a query stands.

    Args:
        user_id: whose query it is.
        project_id: a label of the conversation.
        config: the limits in force.
        max_turns: the tree's own limit of LLM turns; `None` means it has none.
        max_seconds: the tree's own limit of time; `None` means it has none.
        turn: finished LLM turns.
        tokens_used: counted as the budget counts them.
        tokens_estimated: at least one turn's tokens are an estimate.
        broken_turns: turns in a row that failed or were interrupted, up to now.
        start_time: when the query began, in seconds of the run's clock.
        elapsed_seconds: time since then, as passed in.
        recent_actions: the last nine tool calls with their results, oldest first.
        error_streak: tool errors in a row, up to now.
        error_streak_since: the turn in which that row began.
        error_streak_until: the turn of its latest error.
        last_error: text of the latest tool error.
        cancelled: a cancel was requested.
        budget_cut: the token budget cut the last response off, or pays for no turn after it.
        answered: the last turn ended with text and without tool calls, and asks for no other turn.
        empty_turns: turns in a row, up to now, that brought neither text nor tool calls.
        termination_reason: why the query has ended; `None` while it goes on.
        turn_warned: the iteration warning has been sent.
        token_warned: the token warning has been sent.
        signals: the types of the signals so far, in order.
        tools_tried: names of the tools that were called.
        sources_tried: groups of tools that were called (`code`, `vault`, …).
        extensions: for workflow modules; the core does not look inside.
    """

    user_id: str
    config: AgentConfig
    project_id: str | None = None
    max_turns: int | None = None
    max_seconds: float | None = None
    turn: int = 0
    tokens_used: int = 0
    tokens_estimated: bool = False
    broken_turns: int = 0
    start_time: float = 0.0
    elapsed_seconds: float = 0.0
    recent_actions: tuple[Action, ...] = ()
    error_streak: int = 0
    error_streak_since: int = 0
    error_streak_until: int = 0
    last_error: str = ""
    cancelled: bool = False
    budget_cut: bool = False
    answered: bool = False
    empty_turns: int = 0
    termination_reason: TerminationReason | None = None
    turn_warned: bool = False
    token_warned: bool = False
    signals: tuple[str, ...] = ()
    tools_tried: frozenset[str] = frozenset()
    sources_tried: frozenset[str] = frozenset()
    extensions: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def turn_limit(self) -> int:
        """The effective limit of turns: the user's or the tree's, whichever is lower; at least 1 (decision 1)."""
        own = self.config.max_iterations
        return own if self.max_turns is None else max(1, min(own, self.max_turns))

    @property
    def time_limit_s(self) -> float:
        """The effective limit of time: the user's or the tree's, whichever is lower."""
        own = self.config.timeout_seconds
        return own if self.max_seconds is None else min(own, self.max_seconds)

    @property
    def tokens_left(self) -> int:
        """What the budget still pays for; never negative."""
        return max(0, self.config.token_budget - self.tokens_used)

    @property
    def is_terminal(self) -> bool:
        """Whether the query has ended."""
        return self.termination_reason is not None

    @property
    def iteration_percent(self) -> float:
        """Turns used, as a percentage of the effective limit."""
        return 100 * self.turn / self.turn_limit

    @property
    def token_percent(self) -> float:
        """Tokens used, as a percentage of the budget."""
        return 100 * self.tokens_used / self.config.token_budget

    def _with(self, **changes: Any) -> Self:  # noqa: ANN401  any of the fields
        """The same state with some fields replaced: `dataclasses.replace` at a tenth of the cost."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.update(changes)
        return other

    def after_turn(
        self,
        *,
        tokens: int,
        estimated: bool,
        answered: bool,
        signal: str | None = None,
        budget_cut: bool = False,
        empty: bool = False,
    ) -> Self:
        """A turn has finished."""
        return self._with(
            turn=self.turn + 1,
            broken_turns=0,
            tokens_used=self.tokens_used + tokens,
            tokens_estimated=self.tokens_estimated or estimated,
            answered=answered,
            budget_cut=budget_cut,
            empty_turns=self.empty_turns + 1 if empty else 0,
            signals=(*self.signals, signal) if signal else self.signals,
        )

    def after_side_turn(self, *, tokens: int, estimated: bool, budget_cut: bool) -> Self:
        """A turn beside the answer has finished: it is paid for, and says nothing of where the answer stands."""
        return self._with(
            turn=self.turn + 1,
            broken_turns=0,
            tokens_used=self.tokens_used + tokens,
            tokens_estimated=self.tokens_estimated or estimated,
            budget_cut=self.budget_cut or budget_cut,
        )

    def at(self, elapsed_seconds: float, *, cancelled: bool) -> Self:
        """The same state at a later time."""
        return self._with(elapsed_seconds=elapsed_seconds, cancelled=self.cancelled or cancelled)

    def changed_by_control(self, changed: "AgentState") -> Self:
        """What a decision tree's hook may change: the history of actions, the marks of warnings, its own data.

        The limits and what counts against them stay as they are, whatever the hook answers.
        """
        return self._with(**{name: getattr(changed, name) for name in _OF_THE_CONTROL})

    def after_server_tools(self, names: Iterable[str], *, sources: Iterable[str]) -> Self:
        """The provider has run tools of its own within a turn; they are no actions, but they were tried."""
        return self._with(tools_tried=self.tools_tried.union(names), sources_tried=self.sources_tried.union(sources))

    def after_broken_turn(self, *, tokens: int, estimated: bool) -> Self:
        """A turn was interrupted or failed: its tokens count, the turn does not."""
        return self._with(
            broken_turns=self.broken_turns + 1,
            tokens_used=self.tokens_used + tokens,
            tokens_estimated=self.tokens_estimated or (estimated and tokens > 0),
        )

    def after_tool_result(self, action: Action, *, error: str = "", source: str | None = None) -> Self:
        """A tool call that was run has ended; `error` is its text if it failed, `source` its group."""
        streak = self.error_streak + 1 if action.is_error else 0
        return self._with(
            recent_actions=(*self.recent_actions, replace(action, turn=self.turn))[-RECENT_ACTIONS:],
            error_streak=streak,
            error_streak_since=self.turn if streak == 1 else self.error_streak_since,
            error_streak_until=self.turn if streak else self.error_streak_until,
            last_error=error if action.is_error else self.last_error,
            tools_tried=self.tools_tried | {action.tool},
            sources_tried=self.sources_tried | {source} if source else self.sources_tried,
        )

    def extended(self, **extensions: Any) -> Self:  # noqa: ANN401  a module's own data
        """With a workflow module's data; everything else is as before (012 FR-015)."""
        return self._with(extensions=MappingProxyType({**self.extensions, **extensions}))


_OF_THE_CONTROL = (
    "recent_actions",
    "error_streak",
    "error_streak_since",
    "error_streak_until",
    "last_error",
    "turn_warned",
    "token_warned",
    "tools_tried",
    "sources_tried",
    "extensions",
)
"""The fields that a decision tree's hooks may change."""
