"""Oracle BT: an LLM agent whose control is a YAML tree, for chat products to put behind their chat.

    async with open_oracle(read_settings()) as oracle:
        query = await oracle.open(Ask("How does the login work?"), emit=print)
        await query.run()

The names below are loaded when they are first used, so that importing a part (`oracle.classify`) loads no other.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from oracle.core.loading import check_neighbours, lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.agent.answering import ActiveQuery, Ask, Oracle
    from oracle.agent.conversations.protocol import UnknownConversationError
    from oracle.core.errors import OracleError, UserError
    from oracle.decision import AgentConfig, AgentState, DecisionTree, decision_tree
    from oracle.server.settings.fields import Settings
    from oracle.server.settings.reading import SettingsError, read_settings
    from oracle.server.wiring.agent import Fittings, build_oracle, open_oracle

__all__ = [
    "ActiveQuery",
    "AgentConfig",
    "AgentState",
    "Ask",
    "DecisionTree",
    "Fittings",
    "Oracle",
    "OracleError",
    "Settings",
    "SettingsError",
    "UnknownConversationError",
    "UserError",
    "build_oracle",
    "decision_tree",
    "open_oracle",
    "read_settings",
]

_HOMES = {
    "oracle.agent.answering": "ActiveQuery Ask Oracle",
    "oracle.agent.conversations.protocol": "UnknownConversationError",
    "oracle.decision": "AgentConfig AgentState DecisionTree decision_tree",
    "oracle.core.errors": "OracleError UserError",
    "oracle.server.settings.fields": "Settings",
    "oracle.server.settings.reading": "SettingsError read_settings",
    "oracle.server.wiring.agent": "Fittings build_oracle open_oracle",
}


check_neighbours(Path(__file__).parents[1])
__getattr__ = lazy_door(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
