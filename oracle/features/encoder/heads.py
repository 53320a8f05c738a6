"""From a text's vector to shares of labels: linear discriminants over centred vectors.

A head is as good as centred class prototypes with a common, shrunk covariance, which is a closed form: no epochs, no
random numbers, milliseconds for a thousand exemplars. It was compared with cosines to prototypes and to the three
nearest exemplars, which need all vectors at hand and are two to six points worse (docs/encoder.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

SHRINKAGE = 1.0
"""How much of the mean variance is added to each variance; chosen by cross-validation, flat between 0.3 and 3."""
LEAST_SHARE = 0.001
"""A share is never less, so that no text is evidence beyond doubt."""


@dataclass(frozen=True, slots=True)
class Head:
    """A linear map from vectors to labels.

    Args:
        labels: in the order of the columns.
        mean: of the exemplars' vectors, which is subtracted first.
        weights: a row for each number of a vector, a column for each label.
        bias: what is added to the score of each label.
        sharpness: what scores are multiplied with before they become shares, so that these are calibrated.
    """

    labels: tuple[str, ...]
    mean: Matrix
    weights: Matrix
    bias: Matrix
    sharpness: float

    @classmethod
    def fit(cls, vectors: Matrix, given: Sequence[str], labels: Sequence[str], *, sharpness: float) -> "Head":
        """The head of labelled exemplars.

        Args:
            vectors: a row for each exemplar.
            given: their labels.
            labels: all labels; each has an exemplar.
            sharpness: what scores are multiplied with before they become shares.
        """
        mean = vectors.mean(axis=0)
        rows = _of_length_1(vectors - mean)
        at = np.array([labels.index(label) for label in given])
        classes = np.array([rows[at == label].mean(axis=0) for label in range(len(labels))])
        inside = rows - classes[at]
        covariance = inside.T @ inside / len(rows)
        covariance += SHRINKAGE * np.trace(covariance) / len(covariance) * np.eye(len(covariance), dtype=np.float32)
        weights = np.linalg.solve(covariance, classes.T)
        bias = -0.5 * np.sum(classes.T * weights, axis=0)
        return cls(tuple(labels), mean, weights.astype(np.float32), bias.astype(np.float32), sharpness)

    def shares(self, vector: Matrix) -> dict[str, float]:
        """The share of each label, to four digits; they add up to 1 but for rounding."""
        scores = self.scores(vector[None, :])[0] * self.sharpness
        shares = np.exp(scores - scores.max())
        shares = np.maximum(shares / shares.sum(), LEAST_SHARE)
        shares /= shares.sum()
        return {label: round(float(share), 4) for label, share in zip(self.labels, shares, strict=True)}

    def scores(self, vectors: Matrix) -> Matrix:
        """The scores of all labels (columns) for vectors (rows), before `sharpness`."""
        found: Matrix = _of_length_1(vectors - self.mean) @ self.weights + self.bias
        return found

    def to_data(self) -> dict[str, Any]:
        """As data of a JSON file, with four significant digits."""
        return {
            "labels": list(self.labels),
            "sharpness": self.sharpness,
            "bias": _digits(self.bias),
            "mean": _digits(self.mean),
            "weights": [_digits(column) for column in self.weights.T],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Head":
        """What `to_data` has made."""
        return cls(
            labels=tuple(data["labels"]),
            mean=np.array(data["mean"], np.float32),
            weights=np.array(data["weights"], np.float32).T.copy(),
            bias=np.array(data["bias"], np.float32),
            sharpness=float(data["sharpness"]),
        )


def _of_length_1(rows: Matrix) -> Matrix:
    found: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return found


def _digits(numbers: Matrix) -> list[float]:
    return [float(f"{number:.4g}") for number in numbers.tolist()]
