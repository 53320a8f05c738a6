"""The protocols of classifiers; the package `oracle.classify` itself is the default `Classifier`.

All but the encoder are pure functions of their arguments, because a replay calls them again and must get the same
results. They accept any text, also empty, do not wait and must not raise.
"""

from typing import Literal, Protocol

from oracle.classify.types import IntentShares, QueryClassification, QueryShares, ResponseIntent, Source

EncoderState = Literal["off", "loading", "ready", "slow", "missing", "corrupt", "failed"]
"""`off`: not wanted. `slow`: paused, and tried again later. `missing`, `corrupt`, `failed`: it could not be loaded."""


class Classifier(Protocol):
    """Classifies questions and responses; an object or a module with these functions."""

    def classify_query_with(
        self, text: str, encoded: QueryShares | None, *, previous: QueryClassification | None = None
    ) -> QueryClassification:
        """Classify a question.

        Args:
            text: the user's message.
            encoded: the encoder's shares; `None`: it did not answer.
            previous: the classification of the conversation's last question; `None` if there is none.
        """
        ...

    def sources_spoken_of(self, text: str) -> frozenset[Source]:
        """The sources that a text most likely speaks of, such as what a model says that it lacks."""
        ...

    def classify_response_with(self, text: str, encoded: IntentShares | None) -> ResponseIntent:
        """Classify the visible text of a response that has no usable signal; `encoded` as above."""
        ...

    def asks_user(self, text: str) -> bool:
        """Whether the visible text of a response ends with a question to the user."""
        ...

    def announces(self, text: str) -> bool:
        """Whether the visible text of a response ends with what the model is about to look for."""
        ...


class IntentClassifier(Protocol):
    """Determines the intent of a response that has no signal."""

    @property
    def name(self) -> str:
        """The classifier's name for the audit record."""
        ...

    def classify(self, text: str) -> ResponseIntent:
        """Classify a response; any text, also empty. Must be quick and must not raise."""
        ...


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
