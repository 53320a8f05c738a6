"""Measures the classifiers: accuracy on unseen texts, calibration, and what each group of features is worth.

Accuracy is cross-validated over all labelled sets; `final_queries`, `unseen_queries` and the questions that are
labelled with their tools are never trained on. Run `.venv/bin/python -m benchmarks.bench_classify --errors` to list
what was wrong in cross-validation.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.train_classifiers import (
    LABELLED,
    QUERY_PULL,
    RESPONSE_PULL,
    Example,
    Judged,
    Labelled,
    best_temperature,
    cross_validated,
    load_labelled,
    query_examples,
    response_examples,
    tempered,
)
from oracle.classify import query_shares
from oracle.classify.response import SIGNALS
from oracle.classify.types import QUERY_TYPES

BINS = ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 0.97), (0.97, 1.01))
_KINDS = {
    "code_question": "code",
    "decision_question": "documentation",
    "outside_question": "research",
    "chat": "conversational",
    "action": "action",
}
QUERY_GROUPS = {
    "pieces of code": r"code_sign|sign:",
    "tags of words": r"tag:",
    "amount of content": r"content:",
    "question words": r"ask:",
    "commands": r"do:",
    "phrases": r"like:",
}
RESPONSE_GROUPS = {
    "words": r"word:",
    "denial and itself": r"itself:",
    "length": r"sentences:",
}


@dataclass(frozen=True)
class Task:
    """A classifier: its labelled sets, its labels, how texts become examples, and its groups of features."""

    sets: tuple[str, ...]
    labels: Sequence[str]
    pull: float
    examples: Callable[[list[Labelled]], list[Example]]
    groups: dict[str, str]

    def judged(self, rows: list[Example]) -> list[Judged]:
        return cross_validated(rows, labels=self.labels, pull=self.pull)


QUERIES = Task(
    ("queries", "queries_fresh_dev", "queries_fresh_heldout", "queries_fresh_more"),
    QUERY_TYPES,
    QUERY_PULL,
    query_examples,
    QUERY_GROUPS,
)
RESPONSES = Task(
    ("agent_responses", "agent_responses_fresh_dev", "agent_responses_fresh_heldout"),
    SIGNALS,
    RESPONSE_PULL,
    response_examples,
    RESPONSE_GROUPS,
)


def questions_with_types(name: str) -> list[Labelled]:
    """Those of the questions labelled with their tools whose kind says their type."""
    rows = map(json.loads, (LABELLED / f"{name}.jsonl").read_text("utf-8").splitlines())
    return [(row["q"], _KINDS[row["kind"]]) for row in rows if row["kind"] in _KINDS]


def unseen(*, english: bool) -> list[Labelled]:
    """The unseen queries in English, or those in other languages."""
    rows = map(json.loads, (LABELLED / "unseen_queries.jsonl").read_text("utf-8").splitlines())
    return [(row["query"], row["query_type"]) for row in rows if (row["lang"] == "en") == english]


def without(rows: list[Example], group: str) -> list[Example]:
    """The examples without the features of a group."""
    pattern = re.compile(group)
    return [(frozenset(name for name in found if not pattern.match(name)), label) for found, label in rows]


def share_right(judged: Sequence[Judged]) -> float:
    return sum(each.is_right for each in judged) / len(judged)


def report(task: Task, *, show_errors: bool) -> None:
    texts = {name: load_labelled(LABELLED / f"{name}.jsonl") for name in task.sets}
    labelled = [row for name in task.sets for row in texts[name]]
    rows = task.examples(labelled)
    judged = sorted(task.judged(rows), key=lambda each: each.at)
    whole, start = share_right(judged), 0
    print(f"cross-validated: {100 * whole:.1f} % of {len(rows)}")
    for name in task.sets:
        own = judged[start : start + len(texts[name])]
        start += len(own)
        print(f"    {name:34} {100 * share_right(own):5.1f} % of {len(own)}")
    print_reliability(judged)
    print("without the group      accuracy      change")
    for name, group in task.groups.items():
        less = share_right(task.judged(without(rows, group)))
        print(f"    {name:20} {100 * less:5.1f} %  {100 * (less - whole):+8.1f}")
    for each in judged if show_errors else ():
        if not each.is_right:
            print(f"{each.label} -> {each.given} {each.shares[each.given]:.2f}  {labelled[each.at][0]!r}")


def print_reliability(judged: Sequence[Judged]) -> None:
    temperature = best_temperature(judged)
    shares = [(max(tempered(each.shares, temperature).values()), each.is_right) for each in judged]
    print(f"confidence   right/items   share   (temperature {temperature:.2f})")
    for low, high in BINS:
        inside = [is_right for share, is_right in shares if low <= share < high]
        if inside:
            right, items = sum(inside), len(inside)
            print(f"{low:.2f}-{min(high, 1):.2f}    {right:4}/{items:<4}     {right / items:.2f}")


def print_never_trained_on() -> None:
    """How the shipped weights do on what no training has seen."""
    print("with the shipped weights, on queries that are never trained on:")
    for name, labelled in (
        ("final_queries", load_labelled(LABELLED / "final_queries.jsonl")),
        ("unseen_queries in English", unseen(english=True)),
        ("unseen_queries in others", unseen(english=False)),
        ("questions", questions_with_types("questions")),
        ("questions_heldout", questions_with_types("questions_heldout")),
    ):
        right = sum(Judged(at, label, dict(query_shares(text))).is_right for at, (text, label) in enumerate(labelled))
        print(f"    {name:34} {100 * right / len(labelled):5.1f} % of {len(labelled)}")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="list what was judged wrong")
    show_errors = parser.parse_args(arguments).errors
    print_never_trained_on()
    for name, task in (("queries", QUERIES), ("responses", RESPONSES)):
        print(f"\n-- {name}")
        report(task, show_errors=show_errors)


if __name__ == "__main__":
    main(sys.argv[1:])
