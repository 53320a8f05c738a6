"""Trains the weights of the classifiers: multinomial logistic regression over named features, by averaged AdaGrad.

`python -m benchmarks.train_classifiers` writes both weights files of `oracle.classify` from `tests/data/labelled`; the
same examples give the same weights. Files named `queries*.jsonl` contain `{"query", "query_type"}`, files named
`agent_responses*.jsonl` contain `{"response", "signal"}`, one object a line. The shares are calibrated: the weights are
divided by the temperature that fits the cross-validated shares best.
"""

import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from oracle.classify.features import features
from oracle.classify.reading import read
from oracle.classify.response import SIGNALS, response_features
from oracle.classify.types import QUERY_TYPES
from oracle.classify.weights import FOLDER, QUERY_WEIGHTS, RESPONSE_WEIGHTS, Weights, probabilities

LABELLED = Path(__file__).resolve().parent.parent / "tests" / "data" / "labelled"
QUERY_PULL = 0.03
RESPONSE_PULL = 0.005
"""How strongly a weight is regularized towards zero at each example in which its feature occurs (chosen by
cross-validation)."""
LEAST_EXAMPLES = 2
"""Features of fewer examples get no weight."""
EPOCHS = 20
FOLDS = 5
RATE = 0.2
LEAST_WEIGHT = 0.05
"""Features whose weights are all smaller are not written: they change nothing but the size of the file."""
TEMPERATURES = tuple(step / 20 for step in range(8, 41))
_FIRST_GRADIENT = 0.01

Labelled = tuple[str, str]
Example = tuple[frozenset[str], str]


@dataclass(frozen=True)
class Judged:
    """An example that training had not seen: its place among the examples, its label, and the share of each label."""

    at: int
    label: str
    shares: dict[str, float]

    @property
    def given(self) -> str:
        """The label with the largest share."""
        return max(self.shares, key=self.shares.__getitem__)

    @property
    def is_right(self) -> bool:
        return self.given == self.label


def load_labelled(path: Path) -> list[Labelled]:
    """Texts and their labels from a file of JSON lines, queries or responses."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    return [(row["query"], row["query_type"]) if "query" in row else (row["response"], row["signal"]) for row in rows]


def query_examples(labelled: Iterable[Labelled]) -> list[Example]:
    """The features of queries."""
    return [(features(read(text)), label) for text, label in labelled]


def response_examples(labelled: Iterable[Labelled]) -> list[Example]:
    """The features of agent responses."""
    return [(response_features(text), label) for text, label in labelled]


def train_queries(rows: Sequence[Example]) -> Weights:
    """Train the weights for query types."""
    return train(rows, labels=QUERY_TYPES, pull=QUERY_PULL)


def train_responses(rows: Sequence[Example]) -> Weights:
    """Train the weights for the signals of responses."""
    return train(rows, labels=SIGNALS, pull=RESPONSE_PULL)


def train(rows: Sequence[Example], *, labels: Sequence[str], pull: float, seed: int = 0) -> Weights:
    """Train weights for labels, regularized towards zero and averaged over the second half of the epochs."""
    counts = Counter(name for found, _ in rows for name in found)
    names = sorted(name for name, count in counts.items() if count >= LEAST_EXAMPLES)
    index = {name: at for at, name in enumerate(names)}
    weights = [[0.0] * len(names) for _ in labels]
    squares = [[_FIRST_GRADIENT] * len(names) for _ in labels]
    sums = [[0.0] * len(names) for _ in labels]
    data = [(sorted(index[name] for name in found if name in index), labels.index(label)) for found, label in rows]
    shuffle = random.Random(seed).shuffle
    for epoch in range(EPOCHS):
        shuffle(data)
        for active, kind in data:
            _step(weights, squares, active, kind, pull)
        if epoch >= EPOCHS // 2:
            for total, row in zip(sums, weights, strict=True):
                total[:] = [one + other for one, other in zip(total, row, strict=True)]
    rounds = EPOCHS - EPOCHS // 2
    return {name: tuple(row[at] / rounds for row in sums) for name, at in index.items()}


def _step(
    weights: list[list[float]], squares: list[list[float]], active: Sequence[int], label: int, pull: float
) -> None:
    """Apply one example's gradient, in place."""
    scores = [sum([row[at] for at in active]) for row in weights]
    highest = max(scores)
    shares = [math.exp(score - highest) for score in scores]
    whole = sum(shares)
    for kind, row in enumerate(weights):
        error = shares[kind] / whole - (kind == label)
        square = squares[kind]
        for at in active:
            gradient = error + pull * row[at]
            square[at] += gradient * gradient
            row[at] -= RATE * gradient / math.sqrt(square[at])


def cross_validated(rows: Sequence[Example], *, labels: Sequence[str], pull: float, folds: int = FOLDS) -> list[Judged]:
    """Every example, judged by weights that were trained on the other folds."""
    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    judged = []
    for fold in range(folds):
        out = set(order[fold::folds])
        weights = train([rows[at] for at in sorted(set(order) - out)], labels=labels, pull=pull)
        judged += [Judged(at, rows[at][1], probabilities(weights, rows[at][0], labels)) for at in sorted(out)]
    return judged


def tempered(shares: dict[str, float], temperature: float) -> dict[str, float]:
    """The shares of weights that are divided by a temperature."""
    raised = {label: share ** (1 / temperature) for label, share in shares.items()}
    whole = sum(raised.values())
    return {label: share / whole for label, share in raised.items()}


def best_temperature(judged: Sequence[Judged]) -> float:
    """The temperature with which the shares of the right labels are likeliest."""

    def loss(temperature: float) -> float:
        return -sum(math.log(max(tempered(each.shares, temperature)[each.label], 1e-9)) for each in judged)

    return min(TEMPERATURES, key=loss)


def calibrated(rows: Sequence[Example], *, labels: Sequence[str], pull: float) -> Weights:
    """Weights whose shares are as large as they are often right."""
    temperature = best_temperature(cross_validated(rows, labels=labels, pull=pull))
    weights = train(rows, labels=labels, pull=pull)
    return {name: tuple(weight / temperature for weight in row) for name, row in weights.items()}


def save(weights: Weights, path: Path) -> None:
    """Write weights, one feature per line."""
    rows = {name: [round(weight, 2) for weight in row] for name, row in sorted(weights.items())}
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(row, separators=(',', ':'))}"
        for name, row in rows.items()
        if max(map(abs, row)) >= LEAST_WEIGHT
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def main(folder: Path = FOLDER) -> None:
    """Train on all labelled files and write the weights; by default to where the product ships them."""
    queries = [row for path in sorted(LABELLED.glob("queries*.jsonl")) for row in load_labelled(path)]
    responses = [row for path in sorted(LABELLED.glob("agent_responses*.jsonl")) for row in load_labelled(path)]
    save(calibrated(query_examples(queries), labels=QUERY_TYPES, pull=QUERY_PULL), folder / QUERY_WEIGHTS.name)
    save(calibrated(response_examples(responses), labels=SIGNALS, pull=RESPONSE_PULL), folder / RESPONSE_WEIGHTS.name)


if __name__ == "__main__":
    main()
