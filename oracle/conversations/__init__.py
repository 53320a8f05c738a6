"""Conversations behind a boundary that a database fills as well: what was said, and by whom."""

from oracle.conversations.memory import MemoryConversations
from oracle.conversations.protocol import Conversation, ConversationMessage, Conversations, Exchange, history_for_model

__all__ = [
    "Conversation",
    "ConversationMessage",
    "Conversations",
    "Exchange",
    "MemoryConversations",
    "history_for_model",
]
