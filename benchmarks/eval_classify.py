"""How often the classifiers are right: cross-validated, per labelled set, with a reliability table.

Run `.venv/bin/python benchmarks/eval_classify.py`; `--errors` also lists what was wrong.
"""

import argparse
import random
from collections import Counter
from pathlib import Path

from oracle.classify.training import Example, examples, load_labelled, train
from oracle.classify.types import QUERY_TYPES
from oracle.classify.weights import probabilities

LABELLED = Path(__file__).resolve().parent.parent / "tests" / "data" / "labelled"
SETS = ("queries", "queries_fresh_dev", "queries_fresh_heldout")
FOLDS = 10
Judged = tuple[str, str, str, float]  # text, right label, given label, confidence


def judged(weights, rows: list[Example], texts: list[str]) -> list[Judged]:
    found = []
    for (features, label), text in zip(rows, texts, strict=True):
        shares = probabilities(weights, features)
        best = max(QUERY_TYPES, key=lambda query_type: shares[query_type])
        found.append((text, label, best, shares[best]))
    return found


def cross_validated(rows: list[Example], texts: list[str]) -> list[Judged]:
    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    found: list[Judged] = []
    for fold in range(FOLDS):
        out = set(order[fold::FOLDS])
        weights = train([rows[at] for at in order if at not in out])
        found += judged(weights, [rows[at] for at in sorted(out)], [texts[at] for at in sorted(out)])
    return found


def share_right(found: list[Judged]) -> str:
    right = sum(label == best for _, label, best, _ in found)
    return f"{right}/{len(found)} = {100 * right / len(found):.1f} %"


def reliability(found: list[Judged]) -> None:
    print("\nconfidence   right/items   share   mean confidence")
    for low, high in ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 0.97), (0.97, 1.01)):
        inside = [item for item in found if low <= item[3] < high]
        if inside:
            right = sum(label == best for _, label, best, _ in inside)
            mean = sum(item[3] for item in inside) / len(inside)
            print(f"{low:.2f}-{min(high, 1):.2f}    {right:4}/{len(inside):<4}     {right / len(inside):.2f}    {mean:.2f}")


def confusion(found: list[Judged]) -> None:
    counts = Counter((label, best) for _, label, best, _ in found)
    print("\nright \\ given   " + " ".join(f"{name[:6]:>7}" for name in QUERY_TYPES))
    for label in QUERY_TYPES:
        print(f"{label:15} " + " ".join(f"{counts[label, best]:7}" for best in QUERY_TYPES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="list the queries that were judged wrong")
    show_errors = parser.parse_args().errors
    sets = {name: load_labelled(LABELLED / f"{name}.jsonl") for name in SETS}
    rows = {name: examples(labelled) for name, labelled in sets.items()}
    texts = {name: [text for text, _ in labelled] for name, labelled in sets.items()}

    print("Trained on the two fresh sets only, tested on the given one:")
    weights = train(rows["queries_fresh_dev"] + rows["queries_fresh_heldout"])
    print("  queries:", share_right(judged(weights, rows["queries"], texts["queries"])))
    print("Trained on the given set only, tested on the fresh ones:")
    weights = train(rows["queries"])
    for name in SETS[1:]:
        print(f"  {name}:", share_right(judged(weights, rows[name], texts[name])))
    print("Trained on all but the held-out set, tested on it:")
    weights = train(rows["queries"] + rows["queries_fresh_dev"])
    print("  queries_fresh_heldout:", share_right(judged(weights, rows[SETS[2]], texts[SETS[2]])))

    every_row = [row for name in SETS for row in rows[name]]
    every_text = [text for name in SETS for text in texts[name]]
    found = cross_validated(every_row, every_text)
    print(f"{FOLDS}-fold cross-validation over all three:", share_right(found))
    for name in SETS:
        own = set(texts[name])
        print(f"  {name}:", share_right([item for item in found if item[0] in own]))
    reliability(found)
    confusion(found)
    if show_errors:
        for text, label, best, confidence in found:
            if label != best:
                print(f"{label[:5]} -> {best[:5]} {confidence:.2f}  {text!r}")


if __name__ == "__main__":
    main()
