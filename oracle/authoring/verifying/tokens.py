"""Whether what an event has led to depends on how many tokens are used.

Kinds that declare no facts are taken to depend on them.
"""

from collections.abc import Sequence
from typing import Any, Final

from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.nodes.base import Node
from oracle.agent.nodes.roles import ASKS_MODEL, LIMITS_TOKENS, RUNS_CALLS, TRIES_STRATEGY, WARNS_NEAR_LIMITS
from oracle.decision import AgentState

_BY_TOKENS: Final = frozenset({ASKS_MODEL, LIMITS_TOKENS, WARNS_NEAR_LIMITS, RUNS_CALLS, CALLS_HOST})
"""The roles of kinds that may do something by how many tokens are used."""


class TokenWatch:
    """Notes which nodes have done something by the tokens that are used, since an event.

    Args:
        nodes: of the live tree, in order.
    """

    def __init__(self, nodes: Sequence[Node[Any]]) -> None:
        self._turns = frozenset(node.index for node in nodes if ASKS_MODEL in node.facts.roles)
        self._readers = frozenset(node.index for node in nodes if _reads_tokens(node))
        asking = frozenset(node.index for node in nodes if LIMITS_TOKENS in node.facts.roles)
        self._figures = self._readers - asking - self._turns
        self._asking = frozenset(node.index for node in nodes if TRIES_STRATEGY in node.facts.roles)
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


def _reads_tokens(node: Node[Any]) -> bool:
    facts = node.facts
    return facts.reads is None or "tokens_used" in facts.reads or not _BY_TOKENS.isdisjoint(facts.roles)
