"""Conversations and their messages, and the protocol of a store that keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from oracle.agent.conversations.steps import ConversationStep, notices_of, tool_calls_of
from oracle.classify import QueryClassification
from oracle.core.chunks import ErrorType, Source
from oracle.core.errors import NotFoundError

Role = Literal["user", "assistant", "system"]


class UnknownConversationError(NotFoundError, ValueError):
    """The user has no conversation of this name.

    Args:
        context_id: the name.
    """

    detail = "There is no such conversation."

    def __init__(self, context_id: str) -> None:
        super().__init__(f"there is no conversation {context_id!r}; leave it out to begin one")
        self.context_id = context_id


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """One message as a client fetches it.

    Args:
        role: its author; `system` is a notification and never goes to the model.
        content: the visible text.
        at: ISO 8601, UTC.
        metadata: sources, reason and tool calls of an answer; the chunk of a notification. A question without an
            answer has the tool calls of its run.
    """

    role: Role
    content: str
    at: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, oldest message first.

    Args:
        context_id: its id.
        user_id: its owner.
        project_id: a label by which conversations can be listed.
        messages: the latest ones, as many as a history may need.
        classification: of the latest query; a short follow-up question inherits it.
        had_tool_errors: whether a tool failed in the latest query.
        earlier: number of messages of user and model before those.
        grants: names of the tools that a person has allowed for it.
    """

    context_id: str
    user_id: str
    project_id: str | None = None
    messages: tuple[ConversationMessage, ...] = ()
    classification: QueryClassification | None = None
    had_tool_errors: bool = False
    earlier: int = 0
    grants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one query adds to its conversation.

    Args:
        question: the user's.
        answer: the content chunks, joined; may be empty.
        asked_at: ISO 8601, UTC.
        answered_at: the same.
        termination_reason: why the query ended.
        sources: sent along with the answer.
        steps: system notifications, tool calls and their results, in order.
        had_tool_errors: whether a tool failed.
        error_type: of the error that ended it; `None` if none did.
    """

    question: str
    answer: str
    asked_at: str
    answered_at: str
    termination_reason: str
    run_id: str
    sources: tuple[Source, ...] = ()
    steps: tuple[ConversationStep, ...] = ()
    classification: QueryClassification | None = None
    had_tool_errors: bool = False
    error_type: ErrorType | None = None

    def messages(self) -> tuple[ConversationMessage, ...]:
        """The question, the notifications, and the answer if there is one."""
        calls = tool_calls_of(self.steps)
        asked: dict[str, Any] = {"run_id": self.run_id}
        answered = asked | {
            "termination_reason": self.termination_reason,
            "sources": [source.to_wire() for source in self.sources],
        }
        if calls:
            (answered if self.answer else asked)["tool_calls"] = calls
        messages = [ConversationMessage("user", self.question, self.asked_at, asked)]
        messages += [
            ConversationMessage("system", each.system_message, each.timestamp, each.to_wire())
            for each in notices_of(self.steps)
        ]
        if self.answer:
            if self.error_type is not None:
                answered["error_type"] = self.error_type
            messages.append(ConversationMessage("assistant", self.answer, self.answered_at, answered))
        return tuple(messages)


class Conversations(Protocol):
    """A store of conversations. A user cannot find out whether another user's conversation exists."""

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        """Begin a conversation."""
        ...

    async def load(self, user_id: str, context_id: str) -> Conversation | None:
        """The user's conversation with that id, or `None`."""
        ...

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        """Add a query and its answer; does nothing if they were added before.

        Raises:
            KeyError: the user has no such conversation.
        """
        ...
