"""The encoder beside the heuristics: what it says of texts, and both together.

Both together are a log-linear pool of their shares: the share of a label is proportional to `rules ** a * encoder **
b`. The encoder is an English one, so a text without a common English word has exponents of its own. They are in
`mix.json`, fitted on texts that neither side was trained on, so that the pool is calibrated;
`benchmarks.encoder_training` writes the file. All are pure functions of the text and of the encoder's shares, which a
run records: so a recorded run comes to the same result without an encoder.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypeVar

from oracle.classify.query import classify_query, query_shares
from oracle.classify.response import ResponseIntent, classify_response, response_shares
from oracle.classify.tokens import MAX_CHARS
from oracle.classify.types import QueryClassification, QueryType
from signals import SignalType

QueryShares: TypeAlias = Mapping[QueryType, float]
"""The share of each type of query; they add up to 1."""
IntentShares: TypeAlias = Mapping[SignalType, float]
"""The share of each state of the work, as a type of signal; they add up to 1."""

EncoderState = Literal["off", "loading", "ready", "slow", "missing", "corrupt", "failed"]
"""`off`: not wanted. `slow`: it rests, and is tried again. `missing`, `corrupt`, `failed`: it could not be loaded."""


class Encoder(Protocol):
    """Reads texts by what they mean. Everything works without it, so it may answer `None` at any time."""

    @property
    def state(self) -> EncoderState:
        """Whether it answers, and if not, why."""
        ...

    async def query_shares(self, text: str) -> QueryShares | None:
        """The types of a query; `None` if they are not known within a tenth of a second. Does not raise."""
        ...

    async def intent_shares(self, text: str) -> IntentShares | None:
        """The states of the work that a response tells of; `None` as above. Does not raise."""
        ...


class NoEncoder:
    """Heuristics answer alone."""

    state: EncoderState = "off"

    async def query_shares(self, text: str) -> None:
        """Nothing."""

    async def intent_shares(self, text: str) -> None:
        """Nothing."""


NO_ENCODER = NoEncoder()


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


def classify_query_with(
    text: str, encoded: Mapping[QueryType, float] | None, *, previous: QueryClassification | None = None
) -> QueryClassification:
    """Classify a query by rules and encoder.

    Args:
        text: the user's message.
        encoded: the encoder's shares; `None`: the rules decide alone.
        previous: the classification of the conversation's last question; `None` if there is none.
    """
    if encoded is None:
        return classify_query(text, previous=previous)
    shares = pooled(query_shares(text), encoded, *exponents("query", is_english=is_english(text)))
    return classify_query(text, previous=previous, shares=shares)


def classify_response_with(text: str, encoded: Mapping[SignalType, float] | None) -> ResponseIntent:
    """Classify a response that has no signal, by rules and encoder.

    Args:
        text: the visible text of the response.
        encoded: the encoder's shares; `None`: the rules decide alone.
    """
    alone = classify_response(text)
    if encoded is None or not any(character.isalpha() for character in text):
        return alone
    shares = pooled(response_shares(text), encoded, *exponents("intent", is_english=is_english(text)))
    signal = max(shares, key=lambda label: shares[label])
    return ResponseIntent(signal, round(shares[signal], 4))


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
