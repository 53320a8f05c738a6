"""The record of a query's outcomes and signals, in addition to its chunks and tick records."""

from collections.abc import Sequence
from typing import Protocol

from bt_runtime import Outcome
from oracle.signals import SignalRecord


class Journal(Protocol):
    """Where a query's outcomes and signals are kept."""

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Make outcomes durable before the control gets them (`bt_runtime.Journal`).

        Their values are `TurnOutcome`, `ToolsOutcome`, or JSON data of the tree's other nodes.
        """
        ...

    def signal(self, record: SignalRecord) -> None:
        """A signal of the model, and what the control did about it; must not wait."""
        ...


class NoJournal:
    """Keeps nothing: for queries that live in memory only."""

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Forget them."""

    def signal(self, record: SignalRecord) -> None:
        """Forget it."""
