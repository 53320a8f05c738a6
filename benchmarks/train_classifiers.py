"""Trains the weights of the classifiers on the labelled data.

`python -m benchmarks.train_classifiers` writes the weights files of `oracle.classify` from `tests/data/labelled`; the
same examples give the same weights. Files named `queries*.jsonl` contain `{"query", "query_type", "must"?, "any"?}`,
`questions.jsonl` questions that are labelled with their tools alone, files named `agent_responses*.jsonl`
`{"response", "signal"}`, one object a line. The shares are calibrated: the weights are divided by the temperature that
fits the cross-validated shares best.
"""

import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from oracle.classify.response import response_features
from oracle.classify.types import SIGNALS
from oracle.classify.weights import RESPONSE_WEIGHTS, Weights, probabilities
from oracle.domains.code import TYPES
from oracle.domains.code.features import features
from oracle.domains.code.reading import read
from oracle.domains.code.weights import QUERY_TYPES, QUERY_WEIGHTS, SOURCE_WEIGHTS, SOURCES

LABELLED = Path(__file__).resolve().parent.parent / "tests" / "data" / "labelled"
FOLDS = 5
LEAST_WEIGHT = 0.1
"""Features whose weights are all smaller are not written: they change nothing but the size of the file."""
TEMPERATURES = tuple(step / 20 for step in range(8, 41))
Labelled = tuple[str, str]
Example = tuple[frozenset[str], str]
SourceExample = tuple[frozenset[str], frozenset[str]]


FIRST_SEARCHED = TYPES.needs | {"action": ("write",), "documentation": ("vault",)}
_LEARNED = ("word:", "pair:")


@dataclass(frozen=True)
class Fit:
    """How weights are fitted; chosen by cross-validation, and for queries on sets of authors who are left out.

    Attributes:
        softness: the inverse of the regularization's strength.
        least_examples: features of fewer examples get no weight.
        rarity: a feature of n examples is scaled by n to the power of -rarity, so that a common one counts less.
        learned: the scale of words and pairs of words; the features that a person named have 1.
    """

    softness: float
    least_examples: int
    rarity: float
    learned: float = 1.0

    def scales(self, counts: Counter[str], names: Sequence[str]) -> np.ndarray:
        """The scale of each feature; a smaller one is a stronger regularization."""
        return np.array(
            [counts[name] ** -self.rarity * (self.learned if name.startswith(_LEARNED) else 1) for name in names]
        )


QUERY_FIT = Fit(softness=20.0, least_examples=3, rarity=0.5, learned=0.5)
SOURCE_FIT = Fit(softness=1.0, least_examples=3, rarity=0.0, learned=0.6)
RESPONSE_FIT = Fit(softness=20.0, least_examples=1, rarity=0.15)


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


def rows_of(path: Path) -> list[dict]:
    """The objects in a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def load_labelled(path: Path) -> list[Labelled]:
    """Texts and their labels from a file of JSON lines, queries or responses."""
    return [
        (row["query"], row["query_type"]) if "query" in row else (row["response"], row["signal"])
        for row in rows_of(path)
    ]


def query_examples(labelled: Iterable[Labelled]) -> list[Example]:
    """The features of queries."""
    return [(features(read(text)), label) for text, label in labelled]


def response_examples(labelled: Iterable[Labelled]) -> list[Example]:
    """The features of agent responses."""
    return [(response_features(text), label) for text, label in labelled]


def source_examples() -> list[SourceExample]:
    """The features of all questions for training, and the groups of tools that are of use for each."""
    paths = [LABELLED / "questions.jsonl", *sorted(LABELLED.glob("queries*.jsonl"))]
    return [source_example(row) for path in paths for row in rows_of(path)]


def source_example(row: dict) -> SourceExample:
    """The features of one; where it has a type alone, the groups that the type searches first are of use."""
    useful = [*row["must"], *row["any"]] if "must" in row else FIRST_SEARCHED[row["query_type"]]
    return features(read(row.get("query") or row["q"])), frozenset(useful)


def train(rows: Sequence[Example], *, labels: Sequence[str], fit: Fit) -> Weights:
    """Train weights for labels of which each example has one."""
    table = _Table.of(rows, fit)
    found = np.zeros((len(labels), len(table.names)))
    at, coefficients = table.fitted([labels.index(label) for _, label in rows])
    found[at] = coefficients if len(at) > 2 else np.vstack([-coefficients, coefficients]) / 2
    return table.weights(found)


def train_sources(rows: Sequence[SourceExample]) -> Weights:
    """Train weights for the sources, each by itself."""
    table = _Table.of(rows, SOURCE_FIT)
    return table.weights(np.vstack([table.fitted([source in useful for _, useful in rows])[1] for source in SOURCES]))


@dataclass(frozen=True)
class _Table:
    """Examples as a sparse matrix, a row each; a feature that is present has its scale."""

    names: Sequence[str]
    scales: np.ndarray
    matrix: csr_matrix
    softness: float

    @classmethod
    def of(cls, rows: Sequence[tuple[frozenset[str], object]], fit: Fit) -> "_Table":
        counts = Counter(name for found, _ in rows for name in found)
        names = sorted(name for name, count in counts.items() if count >= fit.least_examples)
        index = {name: at for at, name in enumerate(names)}
        scales = fit.scales(counts, names)
        active = [sorted(index[name] for name in found if name in index) for found, _ in rows]
        columns = np.array([at for row in active for at in row])
        ends = np.cumsum([0, *map(len, active)])
        matrix = csr_matrix((scales[columns], columns, ends), shape=(len(rows), len(names)))
        return cls(names, scales, matrix, fit.softness)

    def fitted(self, given: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The classes that are given, and the coefficients of each; of two classes those of the second."""
        model = LogisticRegression(C=self.softness, max_iter=2000, fit_intercept=False).fit(self.matrix, given)
        return model.classes_, model.coef_

    def weights(self, rows: np.ndarray) -> Weights:
        """A row of coefficients for each label, as weights."""
        return {name: tuple(column) for name, column in zip(self.names, (rows * self.scales).T.tolist(), strict=True)}


def train_queries(rows: Sequence[Example]) -> Weights:
    """Train the weights for query types."""
    return train(rows, labels=QUERY_TYPES, fit=QUERY_FIT)


def train_responses(rows: Sequence[Example]) -> Weights:
    """Train the weights for the signals of responses."""
    return train(rows, labels=SIGNALS, fit=RESPONSE_FIT)


def _divided(count: int, folds: int) -> Iterable[tuple[list[int], list[int]]]:
    """The places of the examples to train on, and of those to judge, of each fold."""
    order = list(range(count))
    random.Random(1).shuffle(order)
    for fold in range(folds):
        out = set(order[fold::folds])
        yield sorted(set(order) - out), sorted(out)


def cross_validated(rows: Sequence[Example], *, labels: Sequence[str], fit: Fit, folds: int = FOLDS) -> list[Judged]:
    """Every example, judged by weights that were trained on the other folds."""
    judged = []
    for inside, out in _divided(len(rows), folds):
        weights = train([rows[at] for at in inside], labels=labels, fit=fit)
        judged += [Judged(at, rows[at][1], probabilities(weights, rows[at][0], labels)) for at in out]
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


def calibrated(rows: Sequence[Example], *, labels: Sequence[str], fit: Fit) -> Weights:
    """Weights whose shares are as large as they are often right."""
    temperature = best_temperature(cross_validated(rows, labels=labels, fit=fit))
    weights = train(rows, labels=labels, fit=fit)
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


def main(folder: Path | None = None) -> None:
    """Train on all labelled files and write the weights to a folder; by default to where the product ships them."""
    queries = [row for path in sorted(LABELLED.glob("queries*.jsonl")) for row in load_labelled(path)]
    responses = [row for path in sorted(LABELLED.glob("agent_responses*.jsonl")) for row in load_labelled(path)]
    save(calibrated(query_examples(queries), labels=QUERY_TYPES, fit=QUERY_FIT), _in(folder, QUERY_WEIGHTS))
    save(calibrated(response_examples(responses), labels=SIGNALS, fit=RESPONSE_FIT), _in(folder, RESPONSE_WEIGHTS))
    save(train_sources(source_examples()), _in(folder, SOURCE_WEIGHTS))


def _in(folder: Path | None, shipped: Path) -> Path:
    return shipped if folder is None else folder / shipped.name


if __name__ == "__main__":
    main()
