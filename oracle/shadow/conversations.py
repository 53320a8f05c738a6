"""The conversation of a shadow: what its primary knew, and nothing is added to it."""

from dataclasses import dataclass, replace

from oracle.conversations import Conversation, Exchange


@dataclass(frozen=True, slots=True)
class BorrowedConversation:
    """A conversation as it was before a run (`oracle.conversations.Conversations`).

    Args:
        conversation: with the messages before the run, and what its question inherited.
    """

    conversation: Conversation

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        """The same: a shadow begins none."""
        return replace(self.conversation, user_id=user_id, project_id=project_id)

    async def load(self, user_id: str, context_id: str) -> Conversation | None:
        """The conversation, under the name of the shadow's own."""
        return replace(self.conversation, user_id=user_id, context_id=context_id)

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        """Keep nothing: the user sees only the primary."""
