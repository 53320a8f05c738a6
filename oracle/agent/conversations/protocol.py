"""Conversations: the data that is kept of them, and the protocol of their stores.

Besides the answer, a conversation keeps a run's notifications, and its tool calls with their results.

This is bounded, because a conversation outlives its runs: results and arguments are shortened, with a mark that says
how much is missing, and at most `MOST_CALLS` calls are kept. The run's stream has them whole for as long as its texts
are kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol, runtime_checkable

from bt_runtime.text.data import dataclass
from oracle.classify.types import QueryClassification
from oracle.core.chunks import ErrorType, Source, SystemNotice, ToolCall, ToolCalled, ToolReturned
from oracle.core.encoding import scrub, to_json
from oracle.core.errors import NotFoundError
from oracle.llm.protocol import Message

MOST_CALLS = 200
"""Tool calls that are kept of one query."""
ATTACHED = "an attachment"
"""What stands for a file beside a question, among the names of tools."""
SUMMARIZED = "earlier messages"
"""What stands for messages whose tool calls are not at hand."""
RESULT_CHARS = 2_000
"""Characters that are kept of the result of a call."""
ARGUMENTS_CHARS = 2_000
"""The same for the arguments of a call, as JSON."""


@dataclass(frozen=True, slots=True)
class ConversationStep:
    """A notification, a tool call or a result.

    Args:
        at: ISO 8601, UTC.
    """

    at: str
    chunk: SystemNotice | ToolCalled | ToolReturned


def notices_of(steps: Sequence[ConversationStep]) -> Iterator[SystemNotice]:
    """The notifications, in order."""
    return (step.chunk for step in steps if isinstance(step.chunk, SystemNotice))


def tool_calls_of(steps: Sequence[ConversationStep]) -> list[dict[str, Any]]:
    """Each tool call with its result, as JSON objects with the field names of the chunks."""
    results = {step.chunk.tool_call_id: step.chunk for step in steps if isinstance(step.chunk, ToolReturned)}
    calls = [(step.at, step.chunk.tool_call) for step in steps if isinstance(step.chunk, ToolCalled)]
    return [_use(at, call, results.get(call.id)) for at, call in calls[:MOST_CALLS]]


def _use(at: str, call: ToolCall, result: ToolReturned | None) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": _arguments(call.arguments),
        "tool_result": shortened(result.tool_result, RESULT_CHARS) if result else "",
        "is_error": result is None or result.is_error,
        "duration_ms": result.duration_ms if result else 0,
        "timestamp": at,
    }


def shortened(text: str, most_chars: int) -> str:
    """The text, or its beginning with a mark that says how much is missing."""
    if len(text) <= most_chars:
        return text
    return f"{text[:most_chars]}\n[... {len(text) - most_chars:,} more characters are not kept here]"


def _arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(to_json(dict(arguments))) <= ARGUMENTS_CHARS:
        return arguments
    names = list(arguments)[:20]
    share = ARGUMENTS_CHARS // len(names)
    return {shortened(scrub(name), 100): _value(arguments[name], share) for name in names}


def _value(value: object, most_chars: int) -> object:
    text = value if isinstance(value, str) else to_json(value).decode()
    return value if len(text) <= most_chars else shortened(text, most_chars)


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
        metadata: sources, reason and tool calls of an answer; the chunk of a notification. A question has its
            attachments, and without an answer the tool calls of its run.
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

    @property
    def read_before(self) -> tuple[str, ...]:
        """Names of the tools that its queries have called, and of what else they have read."""
        metadata = [message.metadata for message in self.messages if message.role != "system"]
        names = {str(call["name"]) for each in metadata for call in each.get("tool_calls", ())}
        names |= {ATTACHED for each in metadata if each.get("attachments")}
        return (*sorted(names), *([SUMMARIZED] if self.earlier else ()))


@dataclass(frozen=True, slots=True)
class ModelHistory:
    """The part of a conversation that goes to the model.

    Args:
        messages: alternating, none empty; the first is the user's, the last the model's.
        omitted: number of earlier messages of user and model that are left out.
        shortened: whether the texts of the newest exchange were shortened in the middle.
        tokens: of the texts, and of the names of files.
        ends: for each question of `messages`, how many messages of user and model the conversation has up to its
            answer, or up to what the summary covers.
        is_summarized: the first question and answer are a summary.
    """

    messages: tuple[Message, ...] = ()
    omitted: int = 0
    shortened: bool = False
    tokens: int = 0
    ends: tuple[int, ...] = ()
    is_summarized: bool = False


class HistoryMaker(Protocol):
    """Chooses what of a conversation goes to the model again."""

    def __call__(
        self, messages: Sequence[ConversationMessage], *, most_tokens: int, earlier: int = 0, can_attach: bool = False
    ) -> ModelHistory:
        """The messages that go to the provider, of at most `most_tokens` tokens.

        Args:
            messages: the conversation, oldest first.
            most_tokens: the room for them.
            earlier: number of messages of user and model before those.
            can_attach: whether files are sent again; otherwise all of them are named.
        """
        ...


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
        attachments: the files beside the question, each a block (`oracle.llm.protocol`).
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
    attachments: tuple[Mapping[str, Any], ...] = ()

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
        if self.attachments:
            asked["attachments"] = list(self.attachments)
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


@runtime_checkable
class KeptWithRuns(Protocol):
    """Conversations in the same database as the runs, so that the commit that ends a run can add its answer."""

    def appending(self, user_id: str, context_id: str, exchange: Exchange) -> Callable[[Any], object]:
        """The same as `append`, for a transaction of that database."""
        ...
