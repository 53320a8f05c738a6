"""The tool `recall`: finds messages of a query's conversation by words, or reads them by number.

A query can only recall its own conversation: the conversation and the user come from the query, never from the
arguments. `oracle.features.long_conversations.reading` reads it, if there is a store.
"""

from dataclasses import replace
from typing import Annotated, Any, Final

from oracle.agent.run import AgentRun
from oracle.tools import ToolError, ToolResult, tool
from oracle.tools.keys import calling_query

NAME: Final = "long-conversations"
NOTHING: Final = "Nothing was said in this conversation before."


@tool(
    group="conversation",
    when_to_use="For what was said earlier in this conversation and is not in front of you, word for word.",
    name="recall",
    query_types=(),
    labels={"reads": ["private", "untrusted"]},  # what earlier tools have brought, too
)
async def _recall(
    query: Annotated[str, "Words that were said, or a question; leave it out to read an exchange."] = "",
    exchange: Annotated[int, "The number of an exchange, from 1: the whole of it is returned."] = 0,
) -> ToolResult:
    """Find what was said earlier in this conversation: passages with their exchanges, or one whole exchange."""
    if not query.strip() and exchange < 1:
        raise ToolError("give query, words to search for, or exchange, a number from 1.")
    run: AgentRun | None = calling_query()
    sayings: Any = None if run is None else run.equipment.hooks.parts.get(NAME)
    if run is None or sayings is None:
        return ToolResult(NOTHING, is_empty=True)
    whose = run.query.user_id, run.query.context_id
    found: ToolResult = await (sayings.exchange(*whose, exchange) if exchange >= 1 else sayings.find(*whose, query))
    return found


recall: Final = replace(_recall, on_demand=True)
