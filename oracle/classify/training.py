"""Learning the weights: multinomial logistic regression over named features, by averaged AdaGrad, without numpy.

The same examples give the same weights. Run as a module with a folder of labelled files to write both weights files:
`python -m oracle.classify.training tests/data/labelled`. Files named `queries*.jsonl` contain
`{"query", "query_type"}`, files named `agent_responses*.jsonl` contain `{"response", "signal"}`, one object per line.
"""

import json
import math
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from oracle.classify.features import features
from oracle.classify.prior import PRIOR, RESPONSE_PRIOR
from oracle.classify.reading import read
from oracle.classify.response import SIGNALS, response_features
from oracle.classify.types import QUERY_TYPES
from oracle.classify.weights import QUERY_WEIGHTS, RESPONSE_WEIGHTS, Weights

QUERY_PULL = 0.1
RESPONSE_PULL = 0.03
"""How strongly a weight is regularized towards its prior at each example in which its feature occurs (chosen by
cross-validation)."""
EPOCHS = 40
RATE = 0.2
LEAST_WEIGHT = 0.03
"""Smaller weights are not written: they change nothing but the size of the file."""
_FIRST_GRADIENT = 0.01

Labelled = tuple[str, str]
Example = tuple[frozenset[str], str]
Prior = Mapping[str, Mapping[str, float]]


def load_labelled(path: Path) -> list[Labelled]:
    """Texts and their labels from a file of JSON lines, queries or responses."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    return [(row["query"], row["query_type"]) if "query" in row else (row["response"], row["signal"]) for row in rows]


def query_examples(labelled: Sequence[Labelled]) -> list[Example]:
    """The features of queries."""
    return [(features(read(text)), label) for text, label in labelled]


def response_examples(labelled: Sequence[Labelled]) -> list[Example]:
    """The features of agent responses."""
    return [(response_features(text), label) for text, label in labelled]


def train_queries(rows: Sequence[Example]) -> Weights:
    """Train the weights for query types."""
    return train(rows, labels=QUERY_TYPES, prior=PRIOR, pull=QUERY_PULL)


def train_responses(rows: Sequence[Example]) -> Weights:
    """Train the weights for the signals of responses."""
    return train(rows, labels=SIGNALS, prior=RESPONSE_PRIOR, pull=RESPONSE_PULL)


def train(rows: Sequence[Example], *, labels: Sequence[str], prior: Prior, pull: float, seed: int = 0) -> Weights:
    """Train weights for labels, regularized towards the prior and averaged over the second half of the epochs."""
    names = sorted({name for found, _ in rows for name in found} | set(prior))
    index = {name: at for at, name in enumerate(names)}
    start = [[prior.get(name, {}).get(label, 0.0) for name in names] for label in labels]
    weights = [list(row) for row in start]
    squares = [[_FIRST_GRADIENT] * len(names) for _ in labels]
    sums = [[0.0] * len(names) for _ in labels]
    data = [(sorted(index[name] for name in found), labels.index(label)) for found, label in rows]
    shuffle = random.Random(seed).shuffle  # noqa: S311  - an order of examples, not a secret
    for epoch in range(EPOCHS):
        shuffle(data)
        for active, kind in data:
            _step(weights, squares, start, active, kind, pull)
        if epoch >= EPOCHS // 2:
            for total, row in zip(sums, weights, strict=True):
                total[:] = [one + other for one, other in zip(total, row, strict=True)]
    rounds = EPOCHS - EPOCHS // 2
    return {name: tuple(row[at] / rounds for row in sums) for name, at in index.items()}


def _step(
    weights: list[list[float]],
    squares: list[list[float]],
    start: list[list[float]],
    active: Sequence[int],
    label: int,
    pull: float,
) -> None:
    """Apply one example's gradient, in place."""
    scores = [sum([row[at] for at in active]) for row in weights]
    highest = max(scores)
    shares = [math.exp(score - highest) for score in scores]
    whole = sum(shares)
    for kind, row in enumerate(weights):
        error = shares[kind] / whole - (kind == label)
        square, prior = squares[kind], start[kind]
        for at in active:
            gradient = error + pull * (row[at] - prior[at])
            square[at] += gradient * gradient
            row[at] -= RATE * gradient / math.sqrt(square[at])


def save(weights: Weights, path: Path) -> None:
    """Write weights, one feature per line."""
    rows = {name: [round(weight, 2) for weight in row] for name, row in sorted(weights.items())}
    lines = [
        f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items() if max(map(abs, row)) >= LEAST_WEIGHT
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def main(folder: Path) -> None:
    """Train on all labelled files of a folder and write the weights that the product ships."""
    queries = [row for path in sorted(folder.glob("queries*.jsonl")) for row in load_labelled(path)]
    responses = [row for path in sorted(folder.glob("agent_responses*.jsonl")) for row in load_labelled(path)]
    save(train_queries(query_examples(queries)), QUERY_WEIGHTS)
    save(train_responses(response_examples(responses)), RESPONSE_WEIGHTS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
