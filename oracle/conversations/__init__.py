"""Conversations: their messages, the protocol of their stores, and the history that a model is given."""

from oracle.conversations.history import History, history_for_model
from oracle.conversations.memory import MemoryConversations
from oracle.conversations.protocol import (
    Conversation,
    ConversationMessage,
    Conversations,
    Exchange,
    Role,
    UnknownConversationError,
)
from oracle.conversations.steps import Step
from oracle.conversations.titles import one_line, title_of

__all__ = [
    "Conversation",
    "ConversationMessage",
    "Conversations",
    "Exchange",
    "History",
    "MemoryConversations",
    "Role",
    "Step",
    "UnknownConversationError",
    "history_for_model",
    "one_line",
    "title_of",
]
