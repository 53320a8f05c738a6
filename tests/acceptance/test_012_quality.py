"""Figures that 012 asks for, measured on labelled data (SC-007)."""

import json
from pathlib import Path

from oracle.decision import detect_no_progress

TRACES = Path(__file__).parents[1] / "data" / "labelled" / "action_traces.jsonl"


def test_012_sc_007_no_progress_is_detected_in_95_percent_with_under_5_percent_false_alarms() -> None:
    rows = [json.loads(line) for line in TRACES.read_text(encoding="utf-8").splitlines() if line.strip()]
    stuck = [row for row in rows if row["stuck"]]
    working = [row for row in rows if not row["stuck"]]
    found = sum(detect_no_progress(row["trace"]) for row in stuck)
    false_alarms = sum(detect_no_progress(row["trace"]) for row in working)
    assert found / len(stuck) >= 0.95
    assert false_alarms / len(working) < 0.05
