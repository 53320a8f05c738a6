"""The end of a query, for every kind of control: explain why it stopped, save the exchange, send `Done`."""

from collections.abc import Mapping
from typing import Any

import structlog

from bt_runtime.text.data import dataclass
from oracle.agent import notices
from oracle.agent.conversations.protocol import Conversations, Exchange, KeptWithRuns
from oracle.agent.ending import control_failed
from oracle.agent.run import AgentRun
from oracle.core.chunks import Done, Failed, TerminationReason
from oracle.core.encoding import from_json
from oracle.decision import rules
from oracle.llm.protocol import ModelFault

log = structlog.get_logger(__name__)


def explain_stop(run: AgentRun) -> None:
    """Tell the user why the query stopped, where it did not just complete.

    A notification for limits and lack of progress, an error chunk when something failed, and the closing sentence,
    which is part of the answer. Does nothing the second time.
    """
    if run.ending.is_explained:
        return
    run.ending.is_explained = True
    reason = settle_reason(run)
    if run.fault is not None and reason == "error":
        run.output.fail(Failed(_for_user(run.fault, run), run.fault.error_type))
        _log_cause(run.fault, run)
    if not rules.is_true(reason, run.state):
        run.output.notify(notices.own_stop_notice(reason))
        run.output.say_sentence(notices.own_stop_sentence(reason), reason=reason)
        return
    notice = notices.stop_notice(reason, run.state)
    if notice is not None:
        run.output.notify(notice)
    sentence = notices.closing_sentence(reason, run.state, detail=_detail(run, reason))
    if sentence is not None:
        run.output.say_sentence(sentence, reason=reason)


def _detail(run: AgentRun, reason: TerminationReason) -> str:
    """The part of the closing sentence that is not numbers."""
    if reason == "token_budget":
        last = run.turn.outcome
        is_full = last is not None and last.stop_reason == "model_context_window_exceeded"
        return "the conversation fills the model's context window" if is_full else ""
    return _for_user(run.fault, run) if run.fault else run.ending.blocker


def _for_user(fault: ModelFault, run: AgentRun) -> str:
    """The message for the user. It has a reference if operators can find more under it."""
    return f"{fault.message} Reference: {run.query.run_id}." if fault.cause else fault.message


def _log_cause(fault: ModelFault, run: AgentRun) -> None:
    if fault.cause:
        log.error(
            "query.failed",
            run_id=run.query.run_id,
            error_type=fault.error_type,
            problem=fault.cause,
            detail=dict(fault.detail),
        )


def settle_reason(run: AgentRun) -> TerminationReason:
    """Why the query stopped: the reason that was given, if the facts support it.

    `completed` needs an answer, and `user_cancelled` a user who cancelled; a control that ends without a reason has
    completed if the model had answered and no node had failed. A query whose turns brought no text is `stuck`, and so
    is one that ends without a reason when the model had asked for another turn or was cut off. Else something failed:
    the provider in the last turn, or the control itself.
    """
    reason, blame = _verdict(run)
    if reason == "completed" and run.query.output_schema is not None and not _has_output(run):
        reason, blame = "error", "it ended without an answer that fits the schema, or with other text beside it"
    if reason == "error" and run.fault is None:
        run.ending.fault = control_failed(run.query.tree, blame)
    run.stop(reason)
    run.state = run.state.settled(reason)
    return reason


def _verdict(run: AgentRun) -> tuple[TerminationReason, str]:
    """The actual reason, and the control's fault if the reason is `error` and nothing else failed."""
    written, ending, problem = run.state.termination_reason, run.ending, run.ending.problem
    match written:
        case None | "completed" if _wrote_nothing(run):
            ending.note_blocker(_obstacle(run))
            return "stuck", ""
        case None if _is_left_without_a_turn(run):
            ending.note_blocker(_obstacle(run))
            return "stuck", ""
        case None if run.fault is not None or problem or not run.state.answered:
            return "error", problem or "it ended before the model had answered"
        case None | "completed" if not run.output.answer.strip():
            return "error", problem if ending.has_lost_control else "it stopped before there was an answer"
        case "completed" if ending.has_lost_control and not run.state.answered:
            return "error", problem
        case "user_cancelled" if not run.state.cancelled:
            return "error", "it said that the user had cancelled, but nobody had"
        case "error":
            return "error", problem or "it gave no reason"
        case _:
            return written or "completed", ""


def _wrote_nothing(run: AgentRun) -> bool:
    """Whether the model finished a turn, the answer has no text, and nothing else went wrong."""
    return run.turn.outcome is not None and not _has_failed(run) and not run.output.answer.strip()


def _has_output(run: AgentRun) -> bool:
    """Whether the answer is what the query's schema asks for, and nothing else."""
    last = run.turn.outcome
    return last is not None and last.is_answer and run.output.answer == last.text


def _is_left_without_a_turn(run: AgentRun) -> bool:
    """Whether the last response is not a whole answer and calls no tools, and nothing else went wrong."""
    last = run.turn.outcome
    return last is not None and not (last.calls or run.state.answered or _has_failed(run))


def _has_failed(run: AgentRun) -> bool:
    return run.fault is not None or bool(run.ending.node_errors)


def _obstacle(run: AgentRun) -> str:
    """Why the last turn was not the answer."""
    last = run.turn.outcome
    if last is None:
        return ""
    if last.interrupted or last.is_lost:
        return "the model's last turn was interrupted"
    if last.cut_off:
        return "the model's last response was cut off"
    if last.calls:
        return "the model called tools and wrote no answer"
    return "the model asked for another turn" if last.has_text else "the model's last response was empty"


def _kept_files(run: AgentRun) -> tuple[Mapping[str, Any], ...]:
    """The files of the question; marked if the provider refused the question, which a file may have caused."""
    is_refused = run.fault is not None and run.fault.kind in ("bad_request", "context_too_large")
    if is_refused and run.state.termination_reason == "error":
        return tuple({**each, "is_refused": True} for each in run.query.attachments)
    return run.query.attachments


@dataclass(frozen=True, slots=True)
class Closer:
    """Ends queries, and keeps the exchange of each in its conversation."""

    conversations: Conversations

    async def finish(self, run: AgentRun, *, asked_at: str) -> None:
        """Explain the stop unless that was done, save the exchange, then send `Done`; does nothing the second time.

        `Done` is sent as well if the exchange cannot be saved, after an error chunk.
        """
        if run.output.is_done:
            return
        explain_stop(run)
        run.output.close_calls("Not run: work on this question has ended.")
        try:
            await self._save(run, asked_at=asked_at)
        except Exception as error:  # noqa: BLE001  told to the user, and logged
            self.end_unsaved(run, error)
        else:
            self._send_done(run)

    def end_unsaved(self, run: AgentRun, error: Exception) -> None:
        """Say that the exchange could not be saved, and send `Done`, also if an earlier `Done` reached nobody."""
        log.error("answer.not_saved", run_id=run.query.run_id, context_id=run.query.context_id, exc_info=error)
        run.output.is_done = False
        run.output.fail(Failed("The answer could not be saved in the conversation.", "internal"))
        run.state = run.state.settled("error")
        run.output.say_sentence("Stopped: the answer could not be saved in the conversation.", reason="error")
        self._send_done(run)

    def _send_done(self, run: AgentRun) -> None:
        done = Done(
            termination_reason=run.state.termination_reason or "completed",
            tokens_used=run.state.tokens_used,
            tokens_estimated=run.state.tokens_estimated,
            model_used=run.model_used,
            context_id=run.query.context_id,
            run_id=run.query.run_id,
            turns=run.state.turn,
            usage=run.usage.or_none(),
            output=from_json(run.output.answer)
            if run.query.output_schema is not None and run.state.termination_reason == "completed"
            else None,
        )
        run.output.finish(done)

    async def _save(self, run: AgentRun, *, asked_at: str) -> None:
        exchange = Exchange(
            question=run.query.question,
            answer=run.output.answer,
            asked_at=asked_at,
            answered_at=run.equipment.timestamp(),
            termination_reason=run.state.termination_reason or "completed",
            run_id=run.query.run_id,
            sources=tuple(run.output.sources),
            steps=tuple(run.output.steps),
            classification=run.classification,
            had_tool_errors=bool(run.state.last_error),
            attachments=_kept_files(run),
            error_type=run.fault.error_type if run.fault and run.state.termination_reason == "error" else None,
        )
        user_id, context_id = run.query.user_id, run.query.context_id
        kept = self.conversations
        if not (isinstance(kept, KeptWithRuns) and run.journal.with_end(kept.appending(user_id, context_id, exchange))):
            await kept.append(user_id, context_id, exchange)
