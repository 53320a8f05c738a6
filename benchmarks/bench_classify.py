"""Measures the classifiers on text of authors that training has not seen: accuracy, calibration, worth of features.

The sets that are kept aside are never trained on, and their items were not looked at while rules were written. Each
set for training is judged by weights from the other sets, because items of one author resemble each other. Run
`.venv/bin/python -m benchmarks.bench_classify --errors` to list what was wrong in the sets for training.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.train_classifiers import (
    LABELLED,
    QUERY_FIT,
    RESPONSE_FIT,
    Example,
    Fit,
    Judged,
    Labelled,
    best_temperature,
    load_labelled,
    query_examples,
    response_examples,
    rows_of,
    tempered,
    train,
)
from oracle.classify import query_shares, response_shares
from oracle.classify.types import SIGNALS
from oracle.classify.weights import probabilities
from oracle.domains.code.weights import QUERY_TYPES

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
    "words": r"word:",
    "pairs of words": r"pair:",
    "words and pairs": r"word:|pair:",
}
RESPONSE_GROUPS = {
    "words": r"word:",
    "denial and itself": r"itself:",
    "length": r"sentences:",
}


@dataclass(frozen=True)
class Task:
    """A classifier.

    Attributes:
        sets: names of the labelled sets for training, each of one author.
        kept: names of the sets that are kept aside.
        labels: in the order of the weights.
        fit: how weights are trained.
        examples: from texts to features.
        shares: what the product says of a text.
        groups: patterns of the features of each group.
    """

    sets: tuple[str, ...]
    kept: tuple[str, ...]
    labels: Sequence[str]
    fit: Fit
    examples: Callable[[list[Labelled]], list[Example]]
    shares: Callable[[str], dict[str, float]]
    groups: dict[str, str]

    def judged(self, trained_on: list[Example], rows: list[Example]) -> list[Judged]:
        """Examples, judged by weights from others."""
        weights = train(trained_on, labels=self.labels, fit=self.fit)
        return [Judged(at, label, probabilities(weights, found, self.labels)) for at, (found, label) in enumerate(rows)]


QUERIES = Task(
    sets=tuple(path.stem for path in sorted(LABELLED.glob("queries*.jsonl"))),
    kept=("heldout_queries", "exam_queries", "exam2_queries", "final_queries", "unseen_queries"),
    labels=QUERY_TYPES,
    fit=QUERY_FIT,
    examples=query_examples,
    shares=query_shares,
    groups=QUERY_GROUPS,
)
RESPONSES = Task(
    sets=("agent_responses", "agent_responses_fresh_dev", "agent_responses_fresh_heldout"),
    kept=("mix_responses",),
    labels=SIGNALS,
    fit=RESPONSE_FIT,
    examples=response_examples,
    shares=response_shares,
    groups=RESPONSE_GROUPS,
)


def load(name: str) -> list[Labelled]:
    return load_labelled(LABELLED / f"{name}.jsonl")


def questions_with_types(name: str) -> list[Labelled]:
    """Those of the questions labelled with their tools whose kind says their type."""
    return [(row["q"], _KINDS[row["kind"]]) for row in rows_of(LABELLED / f"{name}.jsonl") if row["kind"] in _KINDS]


def in_languages(name: str, *, english: bool) -> list[Labelled]:
    """The queries of a set in English, or those in other languages."""
    rows = rows_of(LABELLED / f"{name}.jsonl")
    return [(row["query"], row["query_type"]) for row in rows if (row.get("lang", "en") == "en") == english]


def without(rows: list[Example], group: str) -> list[Example]:
    """The examples without the features of a group."""
    pattern = re.compile(group)
    return [(frozenset(name for name in found if not pattern.match(name)), label) for found, label in rows]


def share_right(judged: Sequence[Judged]) -> float:
    return sum(each.is_right for each in judged) / len(judged)


def report(task: Task, *, show_errors: bool) -> None:
    print_kept_aside(task)
    texts = {name: load(name) for name in task.sets}
    examples = {name: task.examples(texts[name]) for name in task.sets}
    judged = {}
    print("each set for training, by weights from the other sets:")
    for name, rows in examples.items():
        others = [row for other in task.sets if other != name for row in examples[other]]
        judged[name] = task.judged(others, rows)
        print(f"    {name:34} {100 * share_right(judged[name]):5.1f} % of {len(rows)}")
    print_reliability([each for rows in judged.values() for each in rows])
    print_groups(task, [row for rows in examples.values() for row in rows])
    for name, rows in judged.items() if show_errors else ():
        for each in rows:
            if not each.is_right:
                print(f"{each.label} -> {each.given} {each.shares[each.given]:.2f}  {texts[name][each.at][0]!r}")


def print_kept_aside(task: Task) -> None:
    """How the shipped weights do on what no training has seen."""
    print("kept aside, by the shipped weights:")
    for name in task.kept:
        right = [Judged(0, label, dict(task.shares(text))).is_right for text, label in load(name)]
        print(f"    {name:34} {100 * sum(right) / len(right):5.1f} % of {len(right)}")


def print_groups(task: Task, examples: list[Example]) -> None:
    """What the sets that are kept aside lose without each group of features."""
    kept = task.examples([row for name in task.kept for row in load(name)])
    whole = share_right(task.judged(examples, kept))
    print(f"kept aside, all: {100 * whole:.1f} % of {len(kept)}; without the group  accuracy      change")
    for name, group in task.groups.items():
        less = share_right(task.judged(without(examples, group), without(kept, group)))
        print(f"    {name:20} {100 * less:5.1f} %  {100 * (less - whole):+8.1f}")


def print_reliability(judged: Sequence[Judged]) -> None:
    temperature = best_temperature(judged)
    shares = [(max(tempered(each.shares, temperature).values()), each.is_right) for each in judged]
    print(f"confidence   right/items   share   (temperature {temperature:.2f})")
    for low, high in BINS:
        inside = [is_right for share, is_right in shares if low <= share < high]
        if inside:
            right, items = sum(inside), len(inside)
            print(f"{low:.2f}-{min(high, 1):.2f}    {right:4}/{items:<4}     {right / items:.2f}")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="list what was judged wrong")
    show_errors = parser.parse_args(arguments).errors
    for name, task in (("queries", QUERIES), ("responses", RESPONSES)):
        print(f"\n-- {name}")
        report(task, show_errors=show_errors)


if __name__ == "__main__":
    main(sys.argv[1:])
