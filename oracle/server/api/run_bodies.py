"""Runs as clients get them: how each stands, and the figures that a list shows."""

from collections import OrderedDict
from dataclasses import asdict
from typing import Any, Final

from bt_runtime.text import iso
from oracle.core.encoding import from_json, to_json
from oracle.runs.record.events import TurnFinished
from oracle.runs.record.reading import read_on
from oracle.runs.record.record import Record
from oracle.runs.storage.log import EventLog
from oracle.runs.storage.records import RunRecord
from oracle.server.api.auth import Caller
from oracle.server.api.errors import bounded

LONGEST_QUESTION: Final = 300
_MOST_KNOWN: Final = 1_000


class TurnCounts:
    """How far runs under way have come, from the turns in their logs; each turn is read once."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Record] = OrderedDict()  # the oldest use first

    async def of(self, run: RunRecord, log: EventLog) -> Record:
        """The turns so far.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        known = await read_on(self._known.pop(run.id, Record()), log, run.id, kinds={TurnFinished.kind})
        self._known[run.id] = known
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return known


async def body_of(run: RunRecord, log: EventLog, progress: TurnCounts, caller: Caller) -> dict[str, Any]:
    """A run as the caller gets it.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    error = run.error or {}
    turns, tokens, estimated, model = run.turns, run.tokens_used, run.tokens_estimated, run.model_used
    if run.status != "finished":
        known = await progress.of(run, log)
        turns, tokens, estimated, model = known.turns, known.tokens, known.tokens_estimated, known.model or None
    took_s = None if run.finished_at is None else round(max(0.0, run.finished_at - run.created_at), 3)
    # The greatest number of turns is the user's, or that of the tree if it is lower.
    own: int = run.limits.get("max_iterations", 0)
    of_tree = run.input.get("turn_limit")
    return {
        "run_id": run.id,
        "user_id": run.user_id,
        "context_id": run.context_id,
        "question": bounded(str(run.input.get("question", "")), most=LONGEST_QUESTION),
        "status": run.status,
        "created_at": iso(run.created_at),
        "deadline_at": iso(run.deadline_at),
        "finished_at": None if run.finished_at is None else iso(run.finished_at),
        "duration_s": took_s,
        "tree": {"name": run.tree, "version": run.tree_sha},
        "turns": turns or 0,
        "tokens_used": tokens or 0,
        "tokens_estimated": bool(estimated),
        "model_used": model,
        "termination_reason": run.termination_reason,
        "error": error.get("error"),
        "error_type": error.get("error_type"),
        "cause": error.get("cause") if caller.is_operator else None,
        "cause_detail": error.get("detail") if caller.is_operator else None,
        "limits": dict(run.limits),
        "turn_limit": min(own, of_tree) if isinstance(of_tree, int) else own,
        "shadow_of": run.shadow_of,
        "feedback": run.feedback and asdict(run.feedback),
        "trace_id": run.trace_id,
        "summary": None if run.summary is None else run.summary.to_json(),
        "kept": run.kept,
        "forgotten": run.kept != "whole",
    }


def end_for(end: bytes, caller: Caller) -> bytes:
    """Why a run ended, as JSON, for this caller: only operators read the cause, which names settings and hosts."""
    if caller.is_operator or b'"cause":""' in end:
        return end
    facts = from_json(end)
    return to_json(facts | {"cause": ""}) if facts else end
