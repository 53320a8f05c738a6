"""The learned weights of the features, and the probabilities that follow from them.

`weights.json` maps each feature to five numbers, in the order of `QUERY_TYPES`. It is written by `oracle.classify.training` and is data:
to change it, change the examples or the features and train again (docs/classification.md).
"""

import json
import math
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from oracle.classify.types import QUERY_TYPES, QueryType

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
Weights = Mapping[str, tuple[float, ...]]
_NOTHING = (0.0,) * len(QUERY_TYPES)


@cache
def load_weights() -> Weights:
    """The weights that the product ships."""
    return {name: tuple(row) for name, row in json.loads(WEIGHTS_FILE.read_text("utf-8")).items()}


def probabilities(weights: Weights, features: Iterable[str]) -> dict[QueryType, float]:
    """How likely each type is; they add up to 1."""
    totals = [0.0] * len(QUERY_TYPES)
    # Sorted, because a set's order differs between processes and so would the last digits of the sums (020 SC-010).
    for feature in sorted(features):
        for at, weight in enumerate(weights.get(feature, _NOTHING)):
            totals[at] += weight
    highest = max(totals)
    shares = [math.exp(total - highest) for total in totals]
    whole = sum(shares)
    return {query_type: share / whole for query_type, share in zip(QUERY_TYPES, shares, strict=True)}
