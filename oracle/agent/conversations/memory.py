"""Conversations in memory: for `oracle ask`, and for tests."""

from collections.abc import Callable
from dataclasses import replace

from oracle.agent.conversations.protocol import Conversation, Exchange


class MemoryConversations:
    """Keeps conversations in memory, for the life of the process.

    Args:
        new_id: makes the id of a new conversation.
    """

    def __init__(self, *, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._kept: dict[tuple[str, str], Conversation] = {}

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        """Begin a conversation."""
        conversation = Conversation(self._new_id(), user_id, project_id)
        self._kept[user_id, conversation.context_id] = conversation
        return conversation

    async def load(self, user_id: str, context_id: str) -> Conversation | None:
        """The user's conversation with that id, or `None`."""
        return self._kept.get((user_id, context_id))

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        """Add a query and its answer; does nothing if they were added before.

        Raises:
            KeyError: the user has no such conversation.
        """
        before = self._kept[user_id, context_id]
        if any(message.metadata.get("run_id") == exchange.run_id for message in before.messages):
            return
        self._kept[user_id, context_id] = replace(
            before,
            messages=(*before.messages, *exchange.messages()),
            classification=exchange.classification or before.classification,
            had_tool_errors=exchange.had_tool_errors,
        )
