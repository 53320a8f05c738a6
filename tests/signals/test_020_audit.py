"""All signals are logged and auditable, malformed and ignored ones too (020 FR-009, SC-009)."""

# ruff: noqa: N802 - requirements are cited as the specification writes them

import json
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

import signals

NOON = datetime(2026, 1, 8, 12, tzinfo=UTC)
NEED = "<signal type='need_turn' confidence='0.8'><reason>why</reason></signal>"
BAD = "<signal type='Stuck'></signal>"


def at_noon():
    return NOON


def records(text, *, turn=1, action="another_turn"):
    audit = signals.SignalAudit()
    added = audit.append_response(signals.parse(text, now=at_noon), turn=turn, action=action, now=at_noon)
    assert audit.records == added
    return audit


def test_020_SC_009_accepted_ignored_and_malformed_signals_are_all_recorded():
    audit = records(f"{BAD} text {NEED} text {NEED}")
    assert [(r.outcome, r.type, r.confidence, r.action) for r in audit] == [
        ("malformed", "stuck", None, "ignored"),
        ("accepted", "need_turn", 0.8, "another_turn"),
        ("ignored", "need_turn", 0.8, "ignored"),
    ]
    assert [r.raw_xml for r in audit] == [BAD, NEED, NEED]
    assert "malformed" in audit.records[0].warnings[-1]
    assert "ignored" in audit.records[2].warnings[-1]


def test_a_malformed_signal_alone_records_the_action_of_the_control():
    (record,) = records(BAD, action="fallback")
    assert (record.outcome, record.action) == ("malformed", "fallback")


def test_a_turn_without_a_signal_is_recorded_as_such():
    (record,) = records("text", turn=3, action="finish")
    assert (record.turn, record.outcome, record.type, record.raw_xml, record.at) == (3, "absent", None, None, NOON)


def test_the_audit_is_json():
    (loaded,) = json.loads(records(f"é {NEED}").to_json())
    assert loaded == {
        "turn": 1,
        "outcome": "accepted",
        "type": "need_turn",
        "confidence": 0.8,
        "fields": {"reason": "why"},
        "raw_xml": NEED,
        "warnings": [],
        "action": "another_turn",
        "at": "2026-01-08T12:00:00Z",
    }
    assert signals.SignalRecord.model_validate(loaded) == records(f"é {NEED}").records[0]


@pytest.mark.parametrize(
    "text", ["<signal type='need_turn' reason='\ud800\x00'/>", "<signal type='\ud800'/>", "<signal type='x'>\ud800"]
)
def test_characters_that_no_database_accepts_are_replaced(text):
    audit = records(text)
    encoded = audit.to_json().encode()
    assert b"\\u0000" not in encoded
    assert "\ufffd" in audit.records[0].raw_xml


def test_records_are_frozen_and_validated():
    (record,) = records("text")
    with pytest.raises(ValidationError):
        record.turn = 2
    with pytest.raises(ValidationError, match="turn"):
        signals.SignalRecord(turn=0, outcome="absent", at=NOON)


def test_a_single_record_can_be_appended():
    audit = signals.SignalAudit()
    audit.append(signals.SignalRecord(turn=1, outcome="absent", at=NOON))
    assert len(audit) == 1
