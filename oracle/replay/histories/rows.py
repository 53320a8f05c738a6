"""What the row of a run says about it."""

from oracle.replay.histories.model import RunFacts
from oracle.runs.storage.records import RunRecord


def run_facts(record: RunRecord) -> RunFacts:
    """The facts of a run's row."""
    error = record.error or {}
    return RunFacts(
        id=record.id,
        user_id=record.user_id,
        context_id=record.context_id,
        question=str(record.input.get("question", "")),
        status=record.status,
        created_at=record.created_at,
        finished_at=record.finished_at,
        tree=record.tree,
        tree_version=record.tree_sha,
        model=record.model_used,
        turns=record.turns or 0,
        tokens_used=record.tokens_used or 0,
        tokens_estimated=bool(record.tokens_estimated),
        termination_reason=record.termination_reason,
        error=error.get("error"),
        limits=dict(record.limits),
        kept=record.kept,
        feedback=record.feedback,
        shadow_of=record.shadow_of,
    )
