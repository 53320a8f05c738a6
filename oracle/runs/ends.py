"""What is kept and logged of the end of a run."""

from collections.abc import Mapping
from typing import Any

import structlog

from oracle.core.chunks import Done, Failed, TokenUsage
from oracle.llm.protocol import ModelFault
from oracle.runs.storage.records import RunEnd, RunSummary

log = structlog.get_logger(__name__)


def run_end(done: Done, *, answer: str, failed: Failed | None, fault: ModelFault | None, summary: RunSummary) -> RunEnd:
    """The end of a run as its row keeps it.

    Args:
        done: the last chunk.
        answer: the content chunks, joined.
        failed: the last error chunk; `None` if there was none.
        fault: what ended the query, as far as it is known.
        summary: its figures.
    """
    return RunEnd(
        termination_reason=done.termination_reason,
        answer=answer,
        turns=done.turns,
        tokens_used=done.tokens_used,
        tokens_estimated=done.tokens_estimated,
        model_used=done.model_used,
        error=_error(failed, fault),
        summary=summary,
        usage=done.usage or TokenUsage(),
    )


def log_end(done: Done, *, tree: str, **more: object) -> None:
    """Log the end of a run."""
    log.info(
        "run.finished",
        tree=tree,
        reason=done.termination_reason,
        turns=done.turns,
        tokens=done.tokens_used,
        model=done.model_used,
        **more,
    )


def _error(failed: Failed | None, fault: ModelFault | None) -> Mapping[str, Any] | None:
    """The JSON object `{error, error_type, cause?, detail?}`: for the user, and for operators."""
    if failed is None:
        return None
    error: dict[str, Any] = {"error": failed.error, "error_type": failed.error_type}
    if fault is not None and fault.error_type == failed.error_type and fault.cause:
        error |= {"cause": fault.cause, "detail": dict(fault.detail)}
    return error
