"""The shares of the rules and of the encoder together.

They are a log-linear pool: the share of a label is proportional to `rules ** a * encoder ** b`. The encoder is an
English one, so a text without a common English word has exponents of its own. They are in `mix.json`, fitted on texts
that neither side was trained on, so that the pool is calibrated; `benchmarks.encoder_training` writes the file. All are
pure functions of the text and of the encoder's shares, which a run records: so a recorded run comes to the same result
without an encoder.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from oracle.classify.tokens import MAX_CHARS

MIX = Path(__file__).with_name("mix.json")
LEAST_SHARE = 0.001
"""A smaller share counts as this: neither side is ever beyond doubt."""
_ENGLISH = re.compile(
    r"\b(?:the|of|this|that|what|which|how|why|where|when|who|my|our|your|you|it|are|does|did|has|have|can|could"
    r"|should|and|for|from|with|about|i|not|please|thanks|any|all|let|ok|good)\b",
    re.IGNORECASE,
)
"""Common words that the other languages of the lexicon do not have."""

Label = TypeVar("Label", bound=str)


def is_english(text: str) -> bool:
    """Whether a text has a common English word; one long beyond reading is judged by its beginning."""
    return _ENGLISH.search(text[:MAX_CHARS]) is not None


def pooled(rules: Mapping[Label, float], encoded: Mapping[Label, float], a: float, b: float) -> dict[Label, float]:
    """The pool of both sides' shares with these exponents, for all labels of the rules; they add up to 1."""
    parts = {
        label: max(share, LEAST_SHARE) ** a * max(encoded.get(label, 0.0), LEAST_SHARE) ** b
        for label, share in rules.items()
    }
    whole = sum(parts.values())
    return {label: part / whole for label, part in parts.items()}


def exponents(kind: Literal["query", "intent"], *, is_english: bool) -> tuple[float, float]:
    """The exponents of the rules' and of the encoder's shares."""
    own = _mix()[kind if is_english else "other_languages"]
    return own["rules"], own["encoder"]


@cache
def _mix() -> Mapping[str, Mapping[str, float]]:
    found: Mapping[str, Mapping[str, float]] = json.loads(MIX.read_text("utf-8"))
    return found
