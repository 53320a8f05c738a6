"""Conversations: their messages, the protocol of their stores, and the history that a model is given."""

from oracle.agent.conversations.history import ModelHistory, history_for_model
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.conversations.protocol import (
    Conversation,
    ConversationMessage,
    Conversations,
    Exchange,
    Role,
    UnknownConversationError,
)
from oracle.agent.conversations.steps import ConversationStep
from oracle.agent.conversations.titles import one_line, title_of

__all__ = [
    "Conversation",
    "ConversationMessage",
    "ConversationStep",
    "Conversations",
    "Exchange",
    "MemoryConversations",
    "ModelHistory",
    "Role",
    "UnknownConversationError",
    "history_for_model",
    "one_line",
    "title_of",
]
