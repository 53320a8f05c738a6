"""Forks of conversations, as the calls make them."""

from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.runs.record.reading import read_opened
from oracle.runs.storage.conversation_pages import ConversationSummary
from oracle.server.api.parts import ServiceParts


async def fork(parts: ServiceParts, user_id: str, context_id: str, *, before_run: str | None) -> ConversationSummary:
    """Begin a conversation with the messages that another one had before a run; `None`: with all that it has.

    Raises:
        UnknownConversationError: the user has no such conversation, or the run is not part of it.
    """
    opened = None if before_run is None else await read_opened(parts.store.log, before_run)
    forked = await parts.store.conversations.fork(
        user_id,
        context_id,
        before_run=before_run,
        classification=None if opened is None else opened.previous,
        had_tool_errors=opened is not None and opened.previous_errors,
    )
    if forked is None:
        raise UnknownConversationError(context_id)
    return forked
