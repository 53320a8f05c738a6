"""Whether what an event has led to depends on how many tokens are used.

Kinds that are not known here are taken to depend on them.
"""

from collections.abc import Sequence
from typing import Any, Final

from bt_runtime.nodes import Node
from oracle.decision import AgentState
from oracle.nodes.llm_turn import LlmTurn

_BLIND: Final = frozenset(
    {
        *("sequence", "selector", "finally", "loop", "subtree", "force_success", "force_failure", "inverter"),
        *("parallel", "if", "switch", "guarded", "once", "repeat", "retry", "timeout", "for_each", "wait", "cooldown"),
        *("condition", "set", "notify", "say", "stop", "classify_response", "explain_stop", "finish", "on_halt"),
        *("cancelled", "turn_budget", "deadline", "no_progress", "error_limit", "offer_all_reading_tools"),
        *("refuse_tools", "grant_turn", "note", "require_answer", "judge_context", "hold_back_calls"),
    }
)
"""Kinds that do nothing by the tokens that are used, but for what their expressions read."""
_ASKS_FOR_A_TURN: Final = "try_strategy"
"""The kind that asks whether the limits leave another turn, as the key `turn_left` does."""
_ASKS_FOR_THE_BUDGET: Final = "token_budget"
"""The kind that asks whether the budget is used up."""


class TokenWatch:
    """Notes which nodes have done something by the tokens that are used, since an event.

    Args:
        nodes: of the live tree, in order.
    """

    def __init__(self, nodes: Sequence[Node[Any]]) -> None:
        kinds = [node.definition.kind for node in nodes]
        self._turns = frozenset(node.index for node in nodes if isinstance(node, LlmTurn))
        self._readers = frozenset(at for at, kind in enumerate(kinds) if kind not in {*_BLIND, _ASKS_FOR_A_TURN})
        self._figures = frozenset(at for at in self._readers if kinds[at] != _ASKS_FOR_THE_BUDGET) - self._turns
        self._asking = frozenset(at for at, kind in enumerate(kinds) if kind == _ASKS_FOR_A_TURN)
        self.begin()

    def begin(self) -> None:
        """Forget what was before; an event happens."""
        self._is_read = self._is_asked = self.has_read_figures = False

    def note(self, visited: Sequence[int], *, has_spent: bool) -> None:
        """Note the nodes that a tick has visited.

        Args:
            visited: their indices, in order.
            has_spent: tokens were counted since the event, before the tick. Else nodes that were ticked before a turn
                ended in this tick have seen the tokens from before the event.
        """
        end = -1 if has_spent else next((at for at, index in enumerate(visited) if index in self._turns), len(visited))
        after = visited[end + 1 :]
        self._is_read = self._is_read or not self._readers.isdisjoint(after)
        self._is_asked = self._is_asked or not self._asking.isdisjoint(after)
        self.has_read_figures = self.has_read_figures or not self._figures.isdisjoint(visited)

    def decide(self, state: AgentState, read: set[str]) -> bool:
        """Whether the tokens of the event may have decided anything.

        Args:
            state: after the event. Once all turns are used there is none left, whatever the tokens.
            read: the keys that nodes have read since the event.
        """
        asks_for_a_turn = self._is_asked or "turn_left" in read
        return (
            self._is_read
            or "tokens_used" in read
            or (asks_for_a_turn and state.turn < state.turn_limit)
            or state.termination_reason == "token_budget"
        )
