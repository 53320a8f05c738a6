"""What is kept of a conversation, and the boundary behind which it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from oracle.chunks import Source, SystemNotice
from oracle.classify import QueryClassification


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """One message as a client fetches it.

    Args:
        role: who said it; `system` is a notification and never goes to the model.
        content: the visible text.
        at: ISO 8601, UTC.
        metadata: sources and reason of an answer; type and numbers of a notification.
    """

    role: Literal["user", "assistant", "system"]
    content: str
    at: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, oldest message first.

    Args:
        context_id: its name.
        user_id: whose it is.
        project_id: a label that conversations are listed by.
        messages: all of them.
        classification: of the latest query, which a bare follow-up inherits.
        had_tool_errors: the latest query met tool errors.
    """

    context_id: str
    user_id: str
    project_id: str | None = None
    messages: tuple[ConversationMessage, ...] = ()
    classification: QueryClassification | None = None
    had_tool_errors: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one query adds to its conversation.

    Args:
        question: the user's.
        answer: the content chunks joined; empty if nothing was said.
        asked_at: ISO 8601, UTC.
        answered_at: the same.
        termination_reason: why the query ended.
        run_id: which query it was.
        sources: sent along with the answer.
        notices: system notifications, in order.
        classification: of the question.
        had_tool_errors: it met tool errors.
    """

    question: str
    answer: str
    asked_at: str
    answered_at: str
    termination_reason: str
    run_id: str
    sources: tuple[Source, ...] = ()
    notices: tuple[SystemNotice, ...] = ()
    classification: QueryClassification | None = None
    had_tool_errors: bool = False

    def messages(self) -> tuple[ConversationMessage, ...]:
        """The question, the notifications, and the answer if there is one."""
        said = [ConversationMessage("user", self.question, self.asked_at, {"run_id": self.run_id})]
        said += [
            ConversationMessage("system", each.system_message, each.timestamp, each.to_wire()) for each in self.notices
        ]
        if self.answer:
            metadata = {
                "run_id": self.run_id,
                "termination_reason": self.termination_reason,
                "sources": [source.to_wire() for source in self.sources],
            }
            said.append(ConversationMessage("assistant", self.answer, self.answered_at, metadata))
        return tuple(said)


class Conversations(Protocol):
    """Where conversations are kept. A user never learns whether another user's conversation exists."""

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        """Begin a conversation."""
        ...

    async def load(self, user_id: str, context_id: str) -> Conversation | None:
        """The user's conversation of that name, or `None`."""
        ...

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        """Add a query and its answer; nothing if the query's are there already.

        Raises:
            KeyError: the user has no such conversation.
        """
        ...
