"""`AgentState`: the state of a query as its control sees it, immutable.

Rules:

- Each transition is a method here, and returns the next state; nothing else makes one.
- The constructor refuses values that no query can have. Transitions start from a valid state and skip that check.
- Times are passed in, never read from a clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Self, get_args

from bt_runtime.text.data import dataclass
from oracle.core.chunks import TerminationReason
from oracle.decision.config import AgentConfig
from oracle.decision.progress import ToolAction

RECENT_ACTIONS = 9
"""A cycle of three actions seen three times."""


@dataclass(frozen=True, kw_only=True)
class AgentState:
    """The state of one query.

    Args:
        max_turns: the control's own limit of LLM turns; `None` means it has none.
        max_seconds: the control's own time limit; `None` means it has none.
        tokens_used: tokens so far, as the budget counts them.
        tokens_estimated: whether the tokens of at least one turn are an estimate.
        broken_turns: consecutive turns, up to now, that failed or were interrupted.
        start_time: when the query began, in seconds of the run's clock.
        elapsed_seconds: the time since then.
        recent_actions: the last nine tool calls with their results, oldest first.
        error_streak: consecutive tool errors, up to now.
        error_streak_since: the turn of the first error of that streak.
        error_streak_until: the turn of its latest error.
        last_error: text of the latest tool error.
        budget_cut: whether the token budget truncated the last response, or does not pay for another turn.
        limit_reached: a limit beyond the query that the user has reached, in words; empty: none.
        answered: whether the last turn ended with text and without tool calls, and asks for no other turn.
        empty_turns: consecutive turns, up to now, that brought neither text nor tool calls.
        repeated_turns: consecutive turns, up to now, whose text only repeats what was said.
        termination_reason: why the query has ended; `None` while it is running.
        signals: types of the signals so far, in order.
        tools_tried: names of the tools that were called.
        sources_tried: groups of the tools that were called (`code`, `vault`, …).
        extensions: data of workflow modules, which the core does not read.

    Raises:
        TypeError: `config` is no `AgentConfig`.
        ValueError: a count or a time is negative, `user_id` is empty, there are more than nine recent actions, or the
            termination reason is unknown.
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
    recent_actions: tuple[ToolAction, ...] = ()
    error_streak: int = 0
    error_streak_since: int = 0
    error_streak_until: int = 0
    last_error: str = ""
    cancelled: bool = False
    budget_cut: bool = False
    limit_reached: str = ""
    answered: bool = False
    empty_turns: int = 0
    repeated_turns: int = 0
    termination_reason: TerminationReason | None = None
    turn_warned: bool = False
    token_warned: bool = False
    signals: tuple[str, ...] = ()
    tools_tried: frozenset[str] = frozenset()
    sources_tried: frozenset[str] = frozenset()
    extensions: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not isinstance(self.config, AgentConfig):
            raise TypeError(f"config must be an AgentConfig, not {self.config!r}")
        if not self.user_id:
            raise ValueError("user_id must not be empty")
        for name in _NEVER_NEGATIVE:
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, not {getattr(self, name)!r}")
        if len(self.recent_actions) > RECENT_ACTIONS:
            raise ValueError(f"recent_actions must hold at most {RECENT_ACTIONS}, not {len(self.recent_actions)}")
        if self.termination_reason is not None and self.termination_reason not in _REASONS:
            known = ", ".join(_REASONS)
            raise ValueError(f"termination_reason must be one of {known}, not {self.termination_reason!r}")

    @property
    def turn_limit(self) -> int:
        """The effective turn limit: the user's or the control's, whichever is lower; at least 1."""
        own = self.config.max_iterations
        return own if self.max_turns is None or self.max_turns >= own else max(1, self.max_turns)

    @property
    def time_limit_s(self) -> float:
        """The effective time limit: the user's or the control's, whichever is lower."""
        own = self.config.timeout_seconds
        return own if self.max_seconds is None else min(own, self.max_seconds)

    @property
    def tokens_left(self) -> int:
        """The tokens that remain of the budget; never negative."""
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

    def changed(self, **changes: Any) -> Self:  # noqa: ANN401  any of the fields
        """The next state: `dataclasses.replace` without the constructor, at a tenth of the cost."""
        other = object.__new__(type(self))
        object.__setattr__(other, "__dict__", self.__dict__ | changes)
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
        repeats: bool = False,
    ) -> Self:
        """A turn has finished."""
        return self.changed(
            turn=self.turn + 1,
            broken_turns=0,
            tokens_used=self.tokens_used + tokens,
            tokens_estimated=self.tokens_estimated or estimated,
            answered=answered,
            budget_cut=budget_cut,
            empty_turns=self.empty_turns + 1 if empty else 0,
            repeated_turns=self.repeated_turns + 1 if repeats else 0,
            signals=(*self.signals, signal) if signal else self.signals,
        )

    def after_side_turn(self, *, tokens: int, estimated: bool, budget_cut: bool) -> Self:
        """A turn that is not part of the answer has finished: it counts, and `answered` stays as it is."""
        return self.changed(
            turn=self.turn + 1,
            broken_turns=0,
            tokens_used=self.tokens_used + tokens,
            tokens_estimated=self.tokens_estimated or estimated,
            budget_cut=self.budget_cut or budget_cut,
        )

    def after_broken_turn(self, *, tokens: int, estimated: bool) -> Self:
        """A turn was interrupted or failed: its tokens count, the turn does not."""
        return self.changed(
            broken_turns=self.broken_turns + 1,
            tokens_used=self.tokens_used + tokens,
            tokens_estimated=self.tokens_estimated or (estimated and tokens > 0),
        )

    def after_lost_turn(self, *, tokens: int) -> Self:
        """A turn is to go on where the process that read it has died: its tokens count, the turn does not."""
        return self.changed(tokens_used=self.tokens_used + tokens, tokens_estimated=True, answered=False)

    def after_server_tools(self, names: Iterable[str], *, sources: Iterable[str]) -> Self:
        """The provider has run tools of its own within a turn; they are not actions, but they were tried."""
        return self.changed(tools_tried=self.tools_tried.union(names), sources_tried=self.sources_tried.union(sources))

    def after_tool_result(self, action: ToolAction, *, error: str = "", source: str | None = None) -> Self:
        """A tool call has been run.

        Args:
            action: the call with its result.
            error: the result's text, if the call failed.
            source: the tool's group.
        """
        streak = self.error_streak + 1 if action.is_error else 0
        return self.changed(
            recent_actions=(*self.recent_actions, action.in_turn(self.turn))[-RECENT_ACTIONS:],
            error_streak=streak,
            error_streak_since=self.turn if streak == 1 else self.error_streak_since,
            error_streak_until=self.turn if streak else self.error_streak_until,
            last_error=error if action.is_error else self.last_error,
            tools_tried=_with(self.tools_tried, action.tool),
            sources_tried=_with(self.sources_tried, source) if source else self.sources_tried,
        )

    def at(self, elapsed_seconds: float, *, cancelled: bool = False) -> Self:
        """The same state at a later time."""
        return self.changed(elapsed_seconds=elapsed_seconds, cancelled=self.cancelled or cancelled)

    def after_cancel(self) -> Self:
        """A cancel was requested."""
        return self.changed(cancelled=True)

    def after_budget_cut(self) -> Self:
        """The token budget does not pay for the turn that the control wants next."""
        return self.changed(budget_cut=True)

    def after_limit(self, words: str) -> Self:
        """The user has reached a limit beyond the query; the same object without one, or with an earlier one."""
        return self.changed(limit_reached=words) if words and not self.limit_reached else self

    def after_warnings(self, *, turn: bool, token: bool) -> Self:
        """Warnings have been sent; the same object if there were none."""
        if not (turn or token):
            return self
        return self.changed(turn_warned=self.turn_warned or turn, token_warned=self.token_warned or token)

    def with_turn_limit(self, limit: int) -> Self:
        """The control allows this many turns at most; the same object if the effective limit is not above that."""
        return self.changed(max_turns=limit) if limit < self.turn_limit else self

    def with_time_limit(self, seconds: float) -> Self:
        """The control allows this much time."""
        return self.changed(max_seconds=seconds)

    def stopped(self, reason: TerminationReason) -> Self:
        """The query stops; the first reason counts."""
        return self if self.is_terminal else self.changed(termination_reason=reason)

    def settled(self, reason: TerminationReason) -> Self:
        """The query has ended for this reason, whichever was given before."""
        return self.changed(termination_reason=reason)

    def changed_by_control(self, changed: "AgentState") -> Self:
        """The state after a decision tree's hook: its changes to the action history, the warnings and its own data.

        Limits, and what counts against them, stay as they are.
        """
        return self if changed is self else self.changed(**{name: getattr(changed, name) for name in _OF_THE_CONTROL})

    def extended(self, **extensions: Any) -> Self:  # noqa: ANN401  a module's own data
        """With a workflow module's data added to `extensions`."""
        return self.changed(extensions=MappingProxyType({**self.extensions, **extensions}))


def _with(names: frozenset[str], name: str) -> frozenset[str]:
    """With a name; the same object if it is among them."""
    return names if name in names else names | {name}


_REASONS = get_args(TerminationReason)
_NEVER_NEGATIVE = (
    "turn",
    "tokens_used",
    "broken_turns",
    "elapsed_seconds",
    "error_streak",
    "error_streak_since",
    "error_streak_until",
    "empty_turns",
    "repeated_turns",
)
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
