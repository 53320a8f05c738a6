"""What the log says of signals: figures, never the model's words. Those are in the run's audit, by turn and digest."""

from hashlib import sha256
from typing import get_args

import structlog

from oracle.signals import SignalRecord, SignalType

log = structlog.get_logger(__name__)

_TYPES = frozenset(get_args(SignalType))
_DIGEST_CHARS = 16


def log_signal(record: SignalRecord, *, run_id: str) -> None:
    """Log a record of the audit, and a warning where the signal did not count or not as it was written.

    The warning has the block's length in characters and its SHA-256 (16 hexadecimal digits), with which the record can
    be found in the audit.
    """
    kind = record.type if record.type is None or record.type in _TYPES else "unknown"  # it may be any text
    event = {"run_id": run_id, "turn": record.turn, "type": kind, "outcome": record.outcome}
    log.info("signal.recorded", **event, confidence=record.confidence, action=record.action)
    if record.warnings:
        raw = (record.raw_xml or "").encode("utf-8", "surrogatepass")
        digest = sha256(raw).hexdigest()[:_DIGEST_CHARS]
        log.warning(
            "signal.doubtful",
            **event,
            warnings=len(record.warnings),
            characters=len(record.raw_xml or ""),
            digest=digest,
        )
