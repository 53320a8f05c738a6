"""Learned weights of named features, and the probabilities computed from them.

A weights file maps each feature to one number per label, in the order of the labels. It is written by
`benchmarks.train_classifiers` and is data: to change it, change the examples or the features and train
again (docs/internals/classification.md).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import add
from pathlib import Path
from typing import TypeVar

import orjson

Weights = Mapping[str, tuple[float, ...]]
Label = TypeVar("Label", bound=str)
RESPONSE_WEIGHTS = Path(__file__).with_name("response_weights.json")


@cache
def load_weights(path: Path) -> Weights:
    """The weights in a file; read once."""
    return {name: tuple(row) for name, row in orjson.loads(path.read_bytes()).items()}


def probabilities(weights: Weights, features: Iterable[str], labels: Sequence[Label]) -> dict[Label, float]:
    """The probability of each label; they add up to 1. Features without weights are ignored."""
    totals = _totals(weights, features, len(labels))
    highest = max(totals)
    shares = [math.exp(total - highest) for total in totals]
    whole = sum(shares)
    return {label: share / whole for label, share in zip(labels, shares, strict=True)}


def chances(weights: Weights, features: Iterable[str], labels: Sequence[Label]) -> dict[Label, float]:
    """The chance of each label by itself, 0 to 1: any number of them may hold."""
    totals = _totals(weights, features, len(labels))
    return {label: (1 + math.tanh(total / 2)) / 2 for label, total in zip(labels, totals, strict=True)}


def _totals(weights: Weights, features: Iterable[str], count: int) -> list[float]:
    totals = [0.0] * count
    # Sorted, because a set's order differs between processes and so would the last digits of the sums.
    for row in filter(None, map(weights.get, sorted(features))):
        totals = list(map(add, totals, row))
    return totals


def worth(weights: Weights, feature: str, at: int) -> float:
    """The weight of a feature for the label with an index; 0 if there is none."""
    row = weights.get(feature)
    return row[at] if row is not None else 0.0
