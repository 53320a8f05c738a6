"""The measure of the matcher counts claims that are found, and alarms."""

import json

from benchmarks.evidence import main, wilson


def test_found_claims_and_alarms_are_counted(tmp_path, capsys) -> None:
    one = {"question": "Save it.", "calls": [], "answer": "Sure. I saved it to a.md."}
    items = [{"id": "a", **one, "false_claim": "I saved it to a.md."}, {"id": "b", **one, "false_claim": None}]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    main([str(tmp_path / "set.jsonl")])
    said = capsys.readouterr().out
    assert "false claims found                             1 of 1" in said
    assert "true answers with an alarm                     1 of 1" in said
    assert "alarm   b: I saved it to a.md." in said


def test_the_interval_is_wilsons() -> None:
    assert [round(each, 3) for each in wilson(27, 30)] == [0.744, 0.965]
