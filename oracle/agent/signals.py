"""The model's signals in one query: the state that the control reads, and the record of what it did about each."""

from dataclasses import field
from hashlib import sha256
from typing import get_args

import structlog

from bt_runtime.text.data import dataclass
from oracle.agent.journal import QueryJournal
from oracle.agent.outcomes import TurnOutcome
from oracle.classify.protocol import Classifier
from oracle.classify.types import ResponseIntent
from signals import NeedTurn, ParsedResponse, Signal, SignalAudit, SignalRecord, SignalType

log = structlog.get_logger(__name__)

_TYPES = frozenset(get_args(SignalType))
_DIGEST_CHARS = 16
SAME_REASON_LIMIT = 3
"""The same reason this many times in a row counts as a loop."""


@dataclass(slots=True)
class SignalLog:
    """Signals of one query.

    Args:
        audit: every signal so far.
        latest: the last turn's signal; `None` if it had none that counts.
        malformed: whether the last turn had a signal that could not be read.
        intent: how the fallback reads the last turn; `None` if it was not consulted.
        turns_without: consecutive turns without a signal.
        same_reason: how many times in a row `need_turn` gave the same reason.
        announcements: consecutive responses that only announce what the model will do.
    """

    run_id: str
    journal: QueryJournal
    audit: SignalAudit = field(default_factory=SignalAudit)
    latest: Signal | None = None
    malformed: bool = False
    intent: ResponseIntent | None = None
    turns_without: int = 0
    same_reason: int = 0
    announcements: int = 0
    last_reason: str = ""
    _unsettled: tuple[ParsedResponse, int] | None = None

    def take(self, outcome: TurnOutcome, *, turn: int, classifier: Classifier) -> None:
        """Take over the signals of a turn of the answer; `settle` records them, because what follows is not known yet.

        Args:
            outcome: how the turn ended; the signals of one that failed or was interrupted are recorded at once.
            turn: its number.
            classifier: knows how a response ends.
        """
        self.intent = None
        if outcome.is_lost and not outcome.is_broken:  # the text that follows is the rest of the same response
            self._unsettled, self.latest, self.malformed = None, None, False
            return
        if outcome.is_broken:
            self.record(outcome, turn=turn, action="error" if outcome.fault else "interrupted")
            return
        self._unsettled = None if outcome.parsed is None else (outcome.parsed, turn)
        self.latest = signal = outcome.signal
        self.malformed = outcome.malformed_signal
        self.turns_without = 0 if signal else self.turns_without + 1
        reason = " ".join(signal.reason.casefold().split()) if isinstance(signal, NeedTurn) else ""
        self.same_reason = self.same_reason + 1 if reason and reason == self.last_reason else int(bool(reason))
        self.last_reason = reason
        self.announcements = self.announcements + 1 if outcome.announces(classifier) else 0

    def settle(self, action: str) -> None:
        """Record what the control did about the last turn's signals; does nothing the second time."""
        unsettled, self._unsettled = self._unsettled, None
        if unsettled is not None:
            parsed, turn = unsettled
            if self.intent is None:
                self._append(parsed, turn=turn, action=action)
                return
            self._append(parsed, turn=turn, action=f"fallback: {action}")
            log.info(
                "fallback.decided",
                run_id=self.run_id,
                turn=turn,
                action=action,
                doubt=self.doubt,
                intent=self.intent.signal_type,
                confidence=round(self.intent.confidence, 3),
            )

    @property
    def doubt(self) -> str:
        """Why the last turn's signal is doubtful and a fallback is consulted."""
        if self.malformed:
            return "malformed"
        if self.same_reason >= SAME_REASON_LIMIT:
            return "same_reason"
        if self.latest is None:
            return "no_signal"
        return "stuck" if self.latest.type == "stuck" else "confidence"

    def record(self, outcome: TurnOutcome, *, turn: int, action: str) -> None:
        """Record the signals of a turn that the control does not act on, if it has any."""
        if outcome.parsed is not None and outcome.parsed.readings:
            self._append(outcome.parsed, turn=turn, action=action)

    def _append(self, parsed: ParsedResponse, *, turn: int, action: str) -> None:
        for record in self.audit.append_response(parsed, turn=turn, action=action):
            self.journal.signal(record)
            _log(record, run_id=self.run_id)


def _log(record: SignalRecord, *, run_id: str) -> None:
    """Log the figures of a record, and a warning if the signal was ignored or corrected; never the model's words.

    The warning has the block's length in characters and its SHA-256 (16 hexadecimal digits), by which the record can be
    found in the audit.
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
