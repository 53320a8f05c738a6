"""The figures of docs/trust.md that come from files of this repository."""

import json
import re
from pathlib import Path

from benchmarks.evidence import found_in, items_of, touches

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "benchmarks" / "claims"
PAGE = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")


def lines_of(path: str):
    return [json.loads(line) for line in (ROOT / "benchmarks" / path).read_text(encoding="utf-8").splitlines()]


def test_the_verdicts_of_the_readers_are_those_of_the_page():
    trees = lines_of("readers/trees.jsonl")
    assert {each["tree"] for each in trees} == {path.stem for path in (ROOT / "benchmarks/readers/trees").iterdir()}
    assert [each["broken"] for each in trees].count(True) == 30
    for reader in ("first", "second", "third", "fourth"):
        right = [(each["readers"][reader]["verdict"] == "broken") == each["broken"] for each in trees]
        row = re.search(rf"^\| {reader} reader.* \| (\d+) of 60 .* \| (\d+) of 30 \|$", PAGE, re.MULTILINE)
        assert row is not None
        doubted = [not good for good, each in zip(right, trees, strict=True) if not each["broken"]]
        assert (int(row[1]), int(row[2])) == (right.count(True), doubted.count(True))


def test_the_claims_that_the_rules_find_in_the_sets_that_changed_them_are_those_of_the_page():
    names = ("first.jsonl", "second.jsonl", "third.jsonl", "fourth.jsonl", "fifth.jsonl", "models.jsonl.gz")
    *written, models = [[(item, found_in(item)) for item in items_of(CLAIMS / name)] for name in names]
    answers = [each for of_set in written for each in of_set]
    hits = [any(touches(item, each) for each in found) for item, found in answers if item["false_claim"]]
    alarms = [bool(found) for item, found in answers if not item["false_claim"]]
    said = re.search(r"now find (\d+) of their 150 false claims and doubt (\d+) of their 150", PAGE)
    assert said is not None
    assert (int(said[1]), int(said[2])) == (hits.count(True), alarms.count(True))
    assert len(hits) == len(alarms) == 150
    doubted = re.search(r"doubt (\d+) of the 70 answers of models", PAGE)
    assert doubted is not None
    assert (int(doubted[1]), 70) == (sum(bool(found) for _, found in models), len(models))
