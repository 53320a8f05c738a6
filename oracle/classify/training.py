"""Learning the weights: multinomial logistic regression over the named features, by averaged AdaGrad, without numpy.

It is deterministic: same examples, same weights. Run as a module with files of labelled queries to write `weights.json`:
`python -m oracle.classify.training tests/data/labelled/queries*.jsonl`.
"""

import json
import math
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from oracle.classify.features import features
from oracle.classify.prior import PRIOR
from oracle.classify.reading import read
from oracle.classify.types import QUERY_TYPES, QueryType
from oracle.classify.weights import WEIGHTS_FILE, Weights

PULL = 0.1
"""How strongly a weight is drawn to its prior at each example in which its feature occurs (chosen by cross-validation)."""
EPOCHS = 40
RATE = 0.2
_FIRST_GRADIENT = 0.01

Example = tuple[frozenset[str], QueryType]


def load_labelled(path: Path) -> list[tuple[str, QueryType]]:
    """Queries and their labels from a file of JSON lines `{"query": …, "query_type": …}`."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    return [(row["query"], row["query_type"]) for row in rows]


def examples(labelled: Sequence[tuple[str, QueryType]]) -> list[Example]:
    """Their features."""
    return [(features(read(text)), query_type) for text, query_type in labelled]


def train(
    rows: Sequence[Example],
    *,
    prior: Mapping[str, Mapping[QueryType, float]] = PRIOR,
    pull: float = PULL,
    epochs: int = EPOCHS,
    seed: int = 0,
) -> Weights:
    """Weights that tell the rows' types, staying near the prior; averaged over the second half of the epochs."""
    names = sorted({name for found, _ in rows for name in found} | set(prior))
    index = {name: at for at, name in enumerate(names)}
    start = [[prior.get(name, {}).get(query_type, 0.0) for name in names] for query_type in QUERY_TYPES]
    weights = [list(row) for row in start]
    squares = [[_FIRST_GRADIENT] * len(names) for _ in QUERY_TYPES]
    sums = [[0.0] * len(names) for _ in QUERY_TYPES]
    data = [(sorted(index[name] for name in found), QUERY_TYPES.index(label)) for found, label in rows]
    shuffle = random.Random(seed).shuffle  # noqa: S311  - an order of examples, no secret
    for epoch in range(epochs):
        shuffle(data)
        for active, label in data:
            _step(weights, squares, start, active, label, pull)
        if epoch >= epochs // 2:
            for total, row in zip(sums, weights, strict=True):
                total[:] = [one + other for one, other in zip(total, row, strict=True)]
    rounds = epochs - epochs // 2
    return {name: tuple(row[at] / rounds for row in sums) for name, at in index.items()}


def _step(
    weights: list[list[float]],
    squares: list[list[float]],
    start: list[list[float]],
    active: Sequence[int],
    label: int,
    pull: float,
) -> None:
    """One example's correction, in place."""
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


def save(weights: Weights, path: Path = WEIGHTS_FILE) -> None:
    """Write weights, one feature a line, without those that hardly count."""
    rows = {name: [round(weight, 3) for weight in row] for name, row in sorted(weights.items())}
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items() if max(map(abs, row)) >= 0.01]  # noqa: PLR2004
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def main(paths: Sequence[str]) -> None:
    """Train on the files and write the weights that the product ships."""
    labelled = [row for path in paths for row in load_labelled(Path(path))]
    save(train(examples(labelled)))


if __name__ == "__main__":
    main(sys.argv[1:])
