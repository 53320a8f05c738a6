"""The accuracy of the classifiers: per labelled set and cross-validated, with a reliability table.

Run `.venv/bin/python benchmarks/eval_classify.py`; `--errors` also lists what was wrong.
"""

import argparse
import random
from collections import Counter
from pathlib import Path

from oracle.classify import classify_query
from oracle.classify.response import SIGNALS
from oracle.classify.training import load_labelled, query_examples, response_examples, train_queries, train_responses
from oracle.classify.types import QUERY_TYPES
from oracle.classify.weights import probabilities

LABELLED = Path(__file__).resolve().parent.parent / "tests" / "data" / "labelled"
FOLDS = 10
BINS = ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 0.97), (0.97, 1.01))


class Task:
    """A classifier's labelled sets (the given one, two fresh ones) and how it is trained."""

    def __init__(self, stem, labels, make_examples, train):
        self.names = (stem, f"{stem}_fresh_dev", f"{stem}_fresh_heldout")
        self.labels, self.train = labels, train
        self.texts, self.rows = {}, {}
        for name in self.names:
            labelled = load_labelled(LABELLED / f"{name}.jsonl")
            self.texts[name] = [text for text, _ in labelled]
            self.rows[name] = make_examples(labelled)

    def judged(self, weights, rows, texts):
        """Tuples of text, right label, given label, confidence."""
        found = []
        for (features, label), text in zip(rows, texts, strict=True):
            shares = probabilities(weights, features, self.labels)
            best = max(self.labels, key=lambda one: shares[one])
            found.append((text, label, best, shares[best]))
        return found

    def held_out(self, tested, trained):
        weights = self.train([row for name in trained for row in self.rows[name]])
        return self.judged(weights, self.rows[tested], self.texts[tested])

    def cross_validated(self):
        rows = [row for name in self.names for row in self.rows[name]]
        texts = [text for name in self.names for text in self.texts[name]]
        order = list(range(len(rows)))
        random.Random(1).shuffle(order)
        found = []
        for fold in range(FOLDS):
            out = order[fold::FOLDS]
            weights = self.train([rows[at] for at in sorted(set(order) - set(out))])
            found += self.judged(weights, [rows[at] for at in out], [texts[at] for at in out])
        return found


def share_right(found):
    right = sum(label == best for _, label, best, _ in found)
    return f"{right}/{len(found)} = {100 * right / len(found):.1f} %"


def print_reliability(found):
    print("confidence   right/items   share   mean confidence")
    for low, high in BINS:
        inside = [item for item in found if low <= item[3] < high]
        if inside:
            right = sum(label == best for _, label, best, _ in inside)
            mean = sum(item[3] for item in inside) / len(inside)
            share = right / len(inside)
            print(f"{low:.2f}-{min(high, 1):.2f}    {right:4}/{len(inside):<4}     {share:.2f}    {mean:.2f}")


def print_confusion(found, labels):
    counts = Counter((label, best) for _, label, best, _ in found)
    print("expected \\ given         " + " ".join(f"{name[:6]:>7}" for name in labels))
    for label in labels:
        print(f"{label:24} " + " ".join(f"{counts[label, best]:7}" for best in labels))


def report(task, *, show_errors):
    given, dev, heldout = task.names
    print(f"\n== {given}")
    print(f"{given}, trained on the fresh sets only: ", share_right(task.held_out(given, (dev, heldout))))
    print(f"{dev}, trained on the given set only: ", share_right(task.held_out(dev, (given,))))
    print(f"{heldout}, trained on the other two: ", share_right(task.held_out(heldout, (given, dev))))
    found = task.cross_validated()
    print(f"all, {FOLDS}-fold cross-validated: ", share_right(found))
    for name in task.names:
        own = set(task.texts[name])
        print(f"  of which {name}: ", share_right([item for item in found if item[0] in own]))
    print_reliability(found)
    print_confusion(found, task.labels)
    for text, label, best, confidence in found if show_errors else ():
        if label != best:
            print(f"{label} -> {best} {confidence:.2f}  {text!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="list what was judged wrong")
    show_errors = parser.parse_args().errors
    final = load_labelled(LABELLED / "final_queries.jsonl")
    right = sum(classify_query(text).query_type == label for text, label in final)
    print(f"final_queries (never trained on), with the shipped weights:  {right}/{len(final)}")
    report(Task("queries", QUERY_TYPES, query_examples, train_queries), show_errors=show_errors)
    report(Task("agent_responses", SIGNALS, response_examples, train_responses), show_errors=show_errors)


if __name__ == "__main__":
    main()
