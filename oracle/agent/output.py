"""The output stream of a query; every chunk passes here, so its rules hold for every control.

- The answer is the content chunks joined; nothing else adds to it.
- The texts of several turns are joined by a chunk of two line breaks.
- A source is sent once; a tool call that was announced gets exactly one result.
- Every question to a person is closed before `Done`: it is withdrawn if nobody has answered.
- `Done` is sent once, and nothing after it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import ConversationStep
from oracle.agent.notices import Notice
from oracle.core.chunks import (
    Answer,
    Answered,
    ApprovalRequested,
    Chunk,
    Closing,
    Content,
    Done,
    Failed,
    Interrupt,
    QuestionAsked,
    Source,
    SourceFound,
    SystemNotice,
    TerminationReason,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.decision import canonical_arguments
from signals import as_plain_text

_PARAGRAPH = "\n\n"


@dataclass(slots=True)
class Output:
    """The stream of one query.

    Args:
        emit: takes each chunk at once; must not wait.
        timestamp: the time now, as ISO 8601 in UTC.
    """

    emit: Callable[[Chunk], None]
    timestamp: Callable[[], str]
    remarks: int = 0
    """Notifications, questions and sentences of the control's own so far."""
    sources: list[Source] = field(default_factory=list)
    steps: list[ConversationStep] = field(default_factory=list)
    pending: dict[str, Interrupt] = field(default_factory=dict)
    """What people were asked and have not answered, by id."""
    is_done: bool = False
    goes_on: bool = False
    """The text of the next turn follows without a paragraph: it is the rest of a lost turn's text."""
    is_closed: bool = False
    """The sentence that says why the query has stopped was sent: no text follows, not even that of a parallel turn."""
    _texts: list[str] = field(default_factory=list)
    _open_calls: dict[str, None] = field(default_factory=dict)
    _seen_sources: set[tuple[str, str, int | None]] = field(default_factory=set)
    _paragraph_due: bool = False
    _orphans: dict[str, tuple[str, str]] = field(default_factory=dict)  # calls whose turn was lost: name and arguments

    @property
    def answer(self) -> str:
        """All content so far."""
        return "".join(self._texts)

    def say(self, text: str, *, reason: TerminationReason | None = None) -> None:
        """Emit a piece of the answer; line breaks come before the first one after `new_paragraph`.

        Args:
            text: the piece; an empty one is not sent.
            reason: why the query stops, in the sentence that says so.
        """
        if not text or self.is_done or self.is_closed:
            return
        if self._paragraph_due:
            self._paragraph_due = False
            if self._texts:
                self.say(_PARAGRAPH)
        self._texts.append(text)
        if reason is None:
            self.emit(Content(text))
        else:
            self.is_closed = True
            self.emit(Closing(text, reason))

    def begin_turn(self) -> None:
        """A turn begins: its text is a separate paragraph, unless it continues the text of a lost turn."""
        self._paragraph_due = not self.goes_on

    def new_paragraph(self) -> None:
        """Begin a new paragraph with the next piece of text."""
        self._paragraph_due = True

    def say_sentence(self, sentence: str, *, reason: TerminationReason | None = None) -> None:
        """A sentence of the control, in a separate paragraph and chunk.

        It may quote tool calls, errors and the model, so no signal can begin in it. One without a reason is not sent
        after the sentence that says why the query has stopped, which is the last of the answer.
        """
        if self.is_closed and reason is None:
            return
        self.remarks += 1
        self.goes_on = False
        self.new_paragraph()
        self.say(as_plain_text(sentence), reason=reason)

    def notify(self, notice: Notice) -> None:
        """A system notification of the control, now."""
        self.remarks += 1
        self.inform(notice)

    def inform(self, notice: Notice) -> None:
        """A system notification that is not the control's, now."""
        chunk = SystemNotice(
            notice.system_type, notice.message, notice.severity, self.timestamp(), metadata=notice.metadata
        )
        self._step(chunk)

    def call_tool(self, chunk: ToolCalled) -> None:
        """A tool call; it needs a result from now on."""
        self._open_calls[chunk.tool_call.id] = None
        self._step(chunk)

    def claim(self, name: str, arguments: Mapping[str, Any]) -> str | None:
        """The id of a call that a lost turn has announced, for the same call of the turn that repeats it; or `None`."""
        if not self._orphans:
            return None
        wanted = (name, canonical_arguments(arguments))
        found = next((call_id for call_id, call in self._orphans.items() if call == wanted), None)
        if found is not None:
            del self._orphans[found]
        return found

    def drop_orphans(self, why: str) -> None:
        """Answer the calls of lost turns that nothing has repeated."""
        for call_id in self._orphans:
            self.return_tool(ToolReturned(call_id, why, is_error=True, duration_ms=0))
        self._orphans.clear()

    def restore(self, sent: Answer, steps: Iterable[ConversationStep], *, orphans: Iterable[ToolCall]) -> None:
        """Continue after the chunks that another process has sent; none of them is sent again.

        Args:
            sent: all of it.
            steps: of it, those that the conversation keeps.
            orphans: the calls without a result whose turn was lost.
        """
        self._texts, self.sources, self.steps = list(sent.texts), list(sent.sources), list(steps)
        self._seen_sources = {(source.source_type, source.path, source.line) for source in sent.sources}
        self._open_calls = dict.fromkeys(call.id for call in sent.open_calls)
        self._orphans = {call.id: (call.name, canonical_arguments(call.arguments)) for call in orphans}
        self._paragraph_due = False
        self.pending = {interrupt.id: interrupt for interrupt in sent.pending}

    def return_tool(self, chunk: ToolReturned) -> None:
        """The result of a call; a second one is not sent."""
        if chunk.tool_call_id in self._open_calls:
            del self._open_calls[chunk.tool_call_id]
            self._step(chunk)

    def ask(self, chunk: ApprovalRequested | QuestionAsked) -> None:
        """A person is asked; the question needs an answer from now on."""
        self.remarks += 1
        self.pending[chunk.interrupt.id] = chunk.interrupt
        self._send(chunk)

    def answer_person(self, chunk: Answered) -> None:
        """The decision of a person, or another outcome of the question."""
        if self.pending.pop(chunk.interrupt.id, None) is None:  # nobody was asked, because it was allowed earlier
            self.remarks += 1
        self._send(chunk)

    def cite(self, source: Source) -> None:
        """A source, unless it was sent before."""
        key = (source.source_type, source.path, source.line)
        if key not in self._seen_sources:
            self._seen_sources.add(key)
            self.sources.append(source)
            self._send(SourceFound(source))

    def fail(self, chunk: Failed) -> None:
        """The query failed."""
        self._send(chunk)

    def close_calls(self, why: str) -> None:
        """Answer every call that is still open."""
        self._orphans.clear()
        for call_id in tuple(self._open_calls):
            self.return_tool(ToolReturned(call_id, why, is_error=True, duration_ms=0))

    def withdraw(self, interrupt_ids: Iterable[str]) -> None:
        """Withdraw these questions."""
        for interrupt in [self.pending[each] for each in interrupt_ids if each in self.pending]:
            self.answer_person(Answered(replace(interrupt, status="withdrawn")))

    def finish(self, done: Done) -> None:
        """The last chunk; a second one is not sent."""
        if not self.is_done:
            self.close_calls("Not run: work on this question has ended.")
            if self.pending:
                self.withdraw(tuple(self.pending))
            self._send(done)
            self.is_done = True

    def think(self, text: str) -> None:
        """A piece of the model's thinking."""
        self._send(Thinking(text))

    def _step(self, chunk: SystemNotice | ToolCalled | ToolReturned) -> None:
        """Send a chunk that the conversation keeps in addition to the answer."""
        self.steps.append(ConversationStep(self.timestamp(), chunk))
        self._send(chunk)

    def _send(self, chunk: Chunk) -> None:
        if not self.is_done:
            self.emit(chunk)
