"""The end of a run whose worker is gone, from what its log tells.

Rules:

- What was said stays, and numbers go on after the last one.
- A run whose answer its own worker had finished ends with its true reason: only `done` was missing.
- Every other one ends as `error`: open tool calls are answered (of one that writes nobody knows whether it was carried
  out, and the answer says so: decision 32), an `error` chunk says that it was interrupted, the
  closing sentence is part of the answer (decision 10), and the answer is saved in the conversation once (decision 9).
- What a recovery has written that was itself interrupted is not written again.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast

import structlog

from bt_runtime import Clock
from bt_runtime.text import iso
from oracle.agent.notices import quoted
from oracle.chunks import Chunk, Content, Done, Failed, TerminationReason, ToolReturned, write_chunk
from oracle.classify import classify_query
from oracle.conversations import Conversation, Exchange, Step
from oracle.models.protocol import ModelFault
from oracle.runs.failures import error_record
from oracle.runs.story import BREAK, Story
from oracle.runs.waiting import until_written
from oracle.storage import RunEnd, RunLog, RunRecord, Store

log = structlog.get_logger(__name__)

INTERRUPTED = Failed("The service was interrupted before the answer was complete. Please ask again.", "interrupted")
CALL_INTERRUPTED = "Interrupted: the service stopped before this call had ended."
WRITE_INTERRUPTED = (
    "Interrupted: the service stopped before this call had ended. It is not known whether it was carried out; "
    "check that before it is repeated."
)

_PAGE = 1000  # events read at a time


@dataclass(frozen=True, slots=True)
class Ending:
    """What must be added to a run.

    Args:
        chunks: those that are missing, without `done`.
        reason: of `done`.
        answer: the whole of it, as it will be then.
        failed: the error that ended the run; `None` if none did.
        fault: what operators read of it; `None` if nothing more is known.
    """

    chunks: tuple[Chunk, ...]
    reason: TerminationReason
    answer: str
    failed: Failed | None
    fault: ModelFault | None = None


def decide(_record: RunRecord, _story: Story) -> Literal["end"]:
    """What is to become of an interrupted run. For now every one is ended; going on with it would be decided here."""
    return "end"


def ending_of(story: Story, *, saved_as: str | None, writes: Callable[[str], bool]) -> Ending:
    """What must be added to a run to end it.

    Args:
        story: its log so far.
        writes: whether a tool of that name may have changed something.
        saved_as: the reason with which the conversation keeps its answer; `None`: it does not keep it.
    """
    answered = tuple(
        ToolReturned(call_id, WRITE_INTERRUPTED if writes(tool) else CALL_INTERRUPTED, is_error=True, duration_ms=0)
        for call_id, tool in story.open_calls.items()
    )
    reason = saved_as or _reason_told(story)
    if reason is not None:
        return Ending(answered, cast("TerminationReason", reason), story.text, story.failed, story.fault)
    failed = story.failed or INTERRUPTED
    said: list[Chunk] = [*answered]
    if story.failed is None:
        said.append(failed)
    if story.contents and story.contents[-1] != BREAK:
        said.append(Content(BREAK))
    said.append(Content(_sentence(failed)))
    text = story.text + "".join(chunk.content for chunk in said if isinstance(chunk, Content))
    return Ending(tuple(said), "error", text, failed, story.fault)


def _reason_told(story: Story) -> str | None:
    """The reason that the answer itself has told as its last sentence; `None` if it has told none."""
    if not story.last_sentence.startswith("Stopped: "):  # a model may say that too, but has no reason written down
        return None
    if story.failed is not None:
        return "error" if story.last_sentence == _sentence(story.failed) else None
    return story.reason


def _sentence(failed: Failed) -> str:
    return f"Stopped: {quoted(failed.error).rstrip('.')}."


class Recovery:
    """Ends runs from their logs.

    Args:
        store: where they are; each must have been taken over by this worker.
        default_model: what `done` names as the model where no turn has told.
        writes: whether a tool of that name may have changed something.
        clock: monotonic time.
        now: seconds since the epoch.
    """

    def __init__(
        self,
        store: Store,
        *,
        default_model: str,
        writes: Callable[[str], bool],
        clock: Clock,
        now: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._store = store
        self._default_model = default_model
        self._writes = writes
        self._now = now

    async def end(self, record: RunRecord) -> Done:
        """End the run.

        Once something of it is under way to the log it is waited for, however long the store cannot be written: read
        again before that, the log would not have it.

        Raises:
            RunLostError: another worker has it.
            StoreUnavailableError: the log cannot be read or written for now; to be tried again.
        """
        await self._store.write(lambda _: None)  # what this process itself has said of it is there then
        story = await self._read(record.id)
        ways = {"end": self._end}
        return await ways[decide(record, story)](record, story)

    async def _end(self, record: RunRecord, story: Story) -> Done:
        conversation = await self._store.conversations.load(record.user_id, record.context_id)
        saved_as = _saved_as(conversation, record.id, story)
        ending = ending_of(story, saved_as=saved_as, writes=self._writes)
        exchange = None
        if saved_as is None and conversation is not None:
            exchange = self._exchange(record, story, ending, conversation)
        done = self._done(record, story, ending)
        writer = self._store.log.writer(record, seq=story.seq, chunk_n=story.chunk_n)
        with closing(writer):
            await self._write(writer, record, ending, exchange, done)
        log.info("run.recovered", run_id=record.id, reason=done.termination_reason, was_saved=saved_as is not None)
        return done

    async def _write(
        self, writer: RunLog, record: RunRecord, ending: Ending, exchange: Exchange | None, done: Done
    ) -> None:
        for chunk in ending.chunks:
            writer.chunk(write_chunk(chunk))
        if exchange is not None:
            await self._store.conversations.append(record.user_id, record.context_id, exchange)
        finish = partial(writer.finish, write_chunk(done), _end_of(done, ending))
        await until_written(finish, clock=self._clock)

    async def _read(self, run_id: str) -> Story:
        story = Story()
        while page := await self._store.log.events(run_id, after_seq=story.seq, limit=_PAGE):
            for event in page:
                story.add(event)
        return story

    def _exchange(self, record: RunRecord, story: Story, ending: Ending, conversation: Conversation) -> Exchange:
        question, now = str(record.input["question"]), iso(self._now())
        answered = [Step(now, chunk) for chunk in ending.chunks if isinstance(chunk, ToolReturned)]
        return Exchange(
            question=question,
            answer=ending.answer,
            asked_at=iso(record.created_at),
            answered_at=now,
            termination_reason=ending.reason,
            run_id=record.id,
            sources=tuple(story.sources),
            steps=(*story.steps, *answered),
            classification=classify_query(question, previous=conversation.classification),
            had_tool_errors=story.had_tool_errors,
            error_type=None if ending.failed is None else ending.failed.error_type,
        )

    def _done(self, record: RunRecord, story: Story, ending: Ending) -> Done:
        unended = story.uncounted_tokens if ending.failed is not None else 0
        return Done(
            termination_reason=ending.reason,
            tokens_used=story.tokens + unended,
            tokens_estimated=story.tokens_estimated or unended > 0,
            model_used=story.model or record.input.get("model") or self._default_model,
            context_id=record.context_id,
            run_id=record.id,
            turns=story.turns,
        )


def _saved_as(conversation: Conversation | None, run_id: str, story: Story) -> str | None:
    """The reason with which the conversation keeps the run's answer; `None` if it does not keep it."""
    kept = [each for each in conversation.messages if each.metadata.get("run_id") == run_id] if conversation else []
    if not kept:
        return None
    told = [each.metadata["termination_reason"] for each in kept if "termination_reason" in each.metadata]
    return str(told[-1]) if told else story.reason or "user_cancelled"  # an empty answer has no message


def _end_of(done: Done, ending: Ending) -> RunEnd:
    return RunEnd(
        termination_reason=done.termination_reason,
        answer=ending.answer,
        turns=done.turns,
        tokens_used=done.tokens_used,
        tokens_estimated=done.tokens_estimated,
        model_used=done.model_used,
        error=error_record(ending.failed, ending.fault),
    )
