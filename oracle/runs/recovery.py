"""Ends a run whose worker is gone, from its log.

Rules:

- Sent chunks stay, and the chunk numbers continue after the last one.
- A run whose answer is complete, or gives the reason for its end, ends with that reason: only `done` was missing.
- Every other run ends as `error`: open tool calls get a result (which says of a call that writes that it may have been
  carried out), an `error` chunk says that the run was interrupted, the closing sentence is part of the answer, and the
  answer is saved in the conversation once.
- A recovery that was itself interrupted does not write the same chunks again.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import KW_ONLY
from typing import cast

import structlog

from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import Conversation, ConversationStep, Exchange
from oracle.agent.notices import error_sentence
from oracle.agent.outcomes import WRITE_UNKNOWN
from oracle.agent.tracing import NO_TRACES, RunTrace, TracedEnd, Traces
from oracle.classify.types import QueryClassification, QueryShares
from oracle.core.chunks import (
    Chunk,
    Closing,
    Content,
    Done,
    Failed,
    TerminationReason,
    TokenUsage,
    ToolCall,
    ToolReturned,
    write_chunk,
)
from oracle.llm.protocol import ModelFault
from oracle.runs.live import run_end
from oracle.runs.record.events import append_chunk
from oracle.runs.record.reading import read_on
from oracle.runs.record.record import Record
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.run_log import RunLog
from oracle.runs.storage.store import Store

log = structlog.get_logger(__name__)

INTERRUPTED = Failed("The service was interrupted before the answer was complete. Please ask again.", "interrupted")
CALL_INTERRUPTED = "Interrupted: the service stopped before this call had ended."

_PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class RunEnding:
    """What must be added to a run.

    Args:
        chunks: those that are missing, without `done`.
        reason: the termination reason that `done` will give.
        answer: the whole text, those chunks included.
        failed: the error that ended the run; `None` if none did.
        fault: details of it for operators; `None` if nothing more is known.
    """

    chunks: tuple[Chunk, ...]
    reason: TerminationReason
    answer: str
    failed: Failed | None
    fault: ModelFault | None = None


def ending_of(
    recorded: Record,
    *,
    saved_as: TerminationReason | None,
    writes: Callable[[str], bool],
    fault: ModelFault | None = None,
) -> RunEnding:
    """What must be added to a run to end it.

    Args:
        recorded: its log so far.
        saved_as: the reason with which the conversation has its answer; `None`: the conversation does not have it.
        writes: whether a tool of that name may have changed something.
        fault: why it cannot continue; `None`: it was only interrupted.
    """
    answer = recorded.answer
    results = [_interrupted(call, writes=writes(call.name)) for call in answer.open_calls]
    reason = saved_as or answer.stopped
    if reason is not None:
        return RunEnding(tuple(results), reason, answer.text, answer.failed, recorded.fault)
    failed = answer.failed or (INTERRUPTED if fault is None else Failed(fault.message, fault.error_type))
    failure = [] if answer.failed else [failed]
    gap = [Content(_PARAGRAPH)] if answer.texts and answer.texts[-1] != _PARAGRAPH else []
    closing = [*gap, Closing(error_sentence(failed.error), "error")]
    text = answer.text + "".join(chunk.content for chunk in closing)
    return RunEnding((*results, *failure, *closing), "error", text, failed, fault or recorded.fault)


def _interrupted(call: ToolCall, *, writes: bool) -> ToolReturned:
    text = WRITE_UNKNOWN if writes else CALL_INTERRUPTED
    return ToolReturned(call.id, text, is_error=True, duration_ms=0)


def remade_trace(traces: Traces, run: RunRecord, *, model: str) -> RunTrace:
    """The trace of a run whose process died; `model`: the configured one."""
    return traces.remake(
        run.input.get("trace") or {},
        tree=run.tree,
        version=run.tree_sha,
        model=str(run.input.get("model") or model),
        began_at=run.created_at,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Recovery:
    """Ends runs from their logs.

    Args:
        store: has the runs; this worker must have taken over each of them.
        default_model: the model that `done` names if no turn has finished.
        writes: whether a tool of that name may have changed something.
        now: seconds since the epoch.
        classified: classifies a question: its text, the encoder's shares, and the classification of the one before.
        traces: end the trace of a run with it.
    """

    store: Store
    _: KW_ONLY
    default_model: str
    writes: Callable[[str], bool]
    now: Callable[[], float]
    classified: Callable[[str, QueryShares | None, QueryClassification | None], QueryClassification]
    traces: Traces = NO_TRACES

    async def end(self, record: RunRecord, *, fault: ModelFault | None = None) -> Done:
        """End the run; `fault`: why it cannot continue, if more is known than that it was interrupted.

        Once writing has begun, this waits for it, however long the store is unavailable: if the log were read again
        before that, what is still to be written would be missing from it.

        Raises:
            RunLostError: another worker owns it.
            StoreUnavailableError: the log cannot be read or written at present; try again.
        """
        await self.store.write(lambda _: None)  # then the log has what this process has written of it
        recorded = await read_on(Record(), self.store.log, record.id)
        conversation = await self.store.conversations.load(record.user_id, record.context_id)
        saved_as = _saved_as(conversation, record.id, recorded)
        ending = ending_of(recorded, saved_as=saved_as, writes=self.writes, fault=fault)
        exchange = None
        if saved_as is None and conversation is not None:
            exchange = self._exchange(record, recorded, ending, conversation)
        done = self._done(record, recorded, ending)
        writer = self.store.log.writer(record, seq=recorded.seq, chunk_n=recorded.chunk_n)
        with closing(writer):
            await self._write(writer, record, recorded, ending, exchange, done)
        log.info("run.recovered", run_id=record.id, reason=done.termination_reason, was_saved=saved_as is not None)
        self._end_trace(record, ending, done)
        return done

    async def _write(
        self,
        writer: RunLog,
        record: RunRecord,
        recorded: Record,
        ending: RunEnding,
        exchange: Exchange | None,
        done: Done,
    ) -> None:
        for chunk in ending.chunks:
            append_chunk(writer, chunk)
        if exchange is not None:
            await self.store.conversations.append(record.user_id, record.context_id, exchange)
        said, fault = ending.answer, ending.fault
        end = run_end(done, answer=said, failed=ending.failed, fault=fault, record=recorded, rest=ending.chunks)
        await writer.finish(write_chunk(done), end)

    def _end_trace(self, record: RunRecord, ending: RunEnding, done: Done) -> None:
        trace = remade_trace(self.traces, record, model=self.default_model)
        failed = ending.failed if ending.reason == "error" else None
        trace.opened(run_id=record.id, context_id=record.context_id)
        trace.ended(
            TracedEnd(
                reason=done.termination_reason,
                turns=done.turns,
                tokens=done.tokens_used,
                model=done.model_used,
                error_type=failed.error_type if failed else "",
                error=ending.fault.cause if ending.fault and failed else "",
                question=str(record.input.get("question", "")),
                answer=lambda: ending.answer,
            )
        )

    def _exchange(self, record: RunRecord, recorded: Record, ending: RunEnding, conversation: Conversation) -> Exchange:
        question, now = str(record.input["question"]), iso(self.now())
        encoded = None if recorded.opened is None else recorded.opened.encoded
        answered = [ConversationStep(now, chunk) for chunk in ending.chunks if isinstance(chunk, ToolReturned)]
        return Exchange(
            question=question,
            answer=ending.answer,
            asked_at=iso(record.created_at),
            answered_at=now,
            termination_reason=ending.reason,
            run_id=record.id,
            sources=tuple(recorded.answer.sources),
            steps=(*recorded.steps, *answered),
            classification=self.classified(question, encoded, conversation.classification),
            had_tool_errors=recorded.had_tool_errors,
            error_type=None if ending.failed is None else ending.failed.error_type,
        )

    def _done(self, record: RunRecord, recorded: Record, ending: RunEnding) -> Done:
        unended = recorded.uncounted_tokens if ending.failed is not None else 0
        return Done(
            termination_reason=ending.reason,
            tokens_used=recorded.tokens + unended,
            tokens_estimated=recorded.tokens_estimated or unended > 0,
            model_used=recorded.model or record.input.get("model") or self.default_model,
            context_id=record.context_id,
            run_id=record.id,
            turns=recorded.turns,
            usage=(recorded.usage + TokenUsage(output_tokens=unended)).or_none(),
        )


def _saved_as(conversation: Conversation | None, run_id: str, recorded: Record) -> TerminationReason | None:
    """The reason with which the conversation has the run's answer; `None` if it does not have it."""
    kept = [each for each in conversation.messages if each.metadata.get("run_id") == run_id] if conversation else []
    if not kept:
        return None
    reasons = [each.metadata["termination_reason"] for each in kept if "termination_reason" in each.metadata]
    if not reasons:  # an empty answer has no message
        return recorded.reason or "user_cancelled"
    return cast("TerminationReason", reasons[-1])
