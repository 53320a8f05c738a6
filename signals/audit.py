"""The audit of signals: every signal, malformed and ignored ones too, and what the control did."""

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from .model import SignalBase
from .reader import BlockReading, Clock, utc_now
from .response import ParsedResponse, describe

Outcome = Literal["accepted", "ignored", "malformed", "absent"]


class SignalRecord(BaseModel):
    """One signal of one turn, or the fact that the turn had none.

    Args:
        turn: the LLM turn of the response, from 1.
        outcome: `accepted`: it was the response's signal; `ignored`: a later one; `malformed`: an invalid signal;
            `absent`: the response had no signal block.
        type: as declared, in lower case, also of a malformed signal; `None` if there is none or it is unreadable.
        confidence: 0.0-1.0; `None` unless the signal is well-formed.
        fields: the fields of its type that were given.
        raw_xml: the block as the model wrote it; `None` for `absent`.
        warnings: the reader's warnings.
        action: what the control did, in its own terms (`another_turn`, `fallback`, ...); empty if unknown.
        at: the time at which the signal was read, with its time zone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn: int = Field(ge=1)
    outcome: Outcome
    type: str | None = None
    confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    fields: dict[str, Any] = Field(default_factory=dict)
    raw_xml: str | None = None
    warnings: tuple[str, ...] = ()
    action: str = ""
    at: AwareDatetime

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object."""
        return self.model_dump(mode="json")


class SignalAudit:
    """The records of one run, in order."""

    def __init__(self) -> None:
        self._records: list[SignalRecord] = []

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[SignalRecord]:
        return iter(self._records)

    @property
    def records(self) -> tuple[SignalRecord, ...]:
        """All records so far."""
        return tuple(self._records)

    def append(self, record: SignalRecord) -> None:
        """Add a record."""
        self._records.append(record)

    def append_response(
        self, parsed: ParsedResponse, *, turn: int, action: str, now: Clock = utc_now
    ) -> tuple[SignalRecord, ...]:
        """Add a record for each signal block of a response, or one of its absence; return what was added.

        Args:
            parsed: the response.
            turn: the LLM turn, from 1.
            action: what the control did about the response's signal, or because there was no well-formed one; all
                other blocks next to an accepted signal get `ignored`.
            now: the clock for records without a signal's own time.
        """
        added = tuple(records_of(parsed, turn=turn, action=action, now=now))
        self._records += added
        return added

    def to_json(self) -> str:
        """All records as a JSON array."""
        return json.dumps([record.to_json() for record in self._records], ensure_ascii=False)


def records_of(parsed: ParsedResponse, *, turn: int, action: str, now: Clock = utc_now) -> Iterator[SignalRecord]:
    """The records of one response; see `SignalAudit.append_response`."""
    if not parsed.readings:
        yield SignalRecord(turn=turn, outcome="absent", action=action, at=now())
        return
    accepted = next((reading for reading in parsed.readings if reading.signal is not None), None)
    for reading in parsed.readings:
        counts = reading is accepted
        taken = action if counts or accepted is None else "ignored"
        yield _record(reading, counts=counts, turn=turn, action=taken, now=now)


def _record(reading: BlockReading, *, counts: bool, turn: int, action: str, now: Clock) -> SignalRecord:
    signal = reading.signal
    warnings = describe(reading, counts=counts)
    if signal is None:
        return SignalRecord(
            turn=turn,
            outcome="malformed",
            type=reading.declared_type,
            raw_xml=reading.raw_xml,
            warnings=warnings,
            action=action,
            at=now(),
        )
    return SignalRecord(
        turn=turn,
        outcome="accepted" if counts else "ignored",
        type=signal.type,
        confidence=signal.confidence,
        fields=signal.model_dump(mode="json", exclude={*SignalBase.model_fields, "type"}, exclude_none=True),
        raw_xml=signal.raw_xml,
        warnings=warnings,
        action=action,
        at=signal.timestamp,
    )
