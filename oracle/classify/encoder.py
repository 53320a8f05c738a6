"""What the agent asks an encoder for, and what it gets where there is none."""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from oracle.classify import QueryType
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
